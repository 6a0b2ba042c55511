/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of one CPU: whose counts they hold, and which of them run. */
#ifndef _PERFCTR_PERCPU_H
#define _PERFCTR_PERCPU_H

#include <linux/percpu.h>
#include "pmu.h"

struct perfctr_context;
struct seq_file;

struct perfctr_cpu {
	u64 owner;		/* context.ctx_id of who may see own slots; 0: nobody */
	u64 control;		/* id of the control in the event registers, 0: none */
	u64 own;		/* slots with counts since the owner came */
	u64 foreign;		/* slots to clear before user mode may read them */
	u64 enabled;		/* slots that count for the current thread's context; 0: none */
	u64 running;		/* slots that count at all, sessions' too */
	/*
	 * The shared context that current, which exits, has given up. It counts on until the next
	 * switch: another member goes on with it, or it is left. NULL: none.
	 */
	struct perfctr_context *left;
	bool paused;		/* no context is entered or left: the machine suspends */
	bool mute;		/* the counters are not to be used: decided when the CPU comes */
	bool secret;		/* kernel mode is counted for a thread that may not see it */
	bool routed;		/* the counters' interrupt is ours */
	/* Of ours since the last tick, or since counters began to interrupt in a later one. */
	u32 interrupts;
	u64 interrupt_time;	/* time stamp ticks in them */
	u64 interrupted;	/* time stamp at the end of the last */
	u64 last_interrupt;	/* time stamp ticks in that one */
	u64 tick;		/* jiffies then */
	/* Since boot, of contexts with events: */
	u64 entries;		/* times a thread's counting began or went on */
	u64 starts;		/* ... and the counters had to be started */
	u64 loads;		/* ... and event registers had to be compared and written */
	/* Since boot, of sessions, too: */
	u64 clears;		/* times counters were set to 0 */
	u64 disturbances;	/* times somebody else had written registers */
	/*
	 * What the counters of a control held at the last read. It is valid within one operation,
	 * or from the leave to the enter of one switch.
	 */
	u64 value[PERFCTR_MAX_COUNTERS];
	/* Of the context that runs, if it has periods: */
	u64 preset[PERFCTR_MAX_COUNTERS];	/* what the counters went on from */
	u64 preset_time;			/* time stamp then */
	bool put_off;				/* they will not interrupt: there were too many */
	/* Of events with periods, whoever's: */
	u64 overflowed;		/* time stamp when the last overflow was found in a counter */
};

DECLARE_PER_CPU(struct perfctr_cpu, perfctr_cpu);

/* Microseconds from a counter's stop to its interrupt: what perf_events allows AMD's processors. */
#define PERFCTR_LATEST_INTERRUPT	50

/* Slots that the gates want to run. perfctr_cpu_follow_gate() writes them to the hardware. */
DECLARE_PER_CPU(u64, perfctr_gate_slots);

/* Interrupts off, on the CPU itself, all of them. */

/* Counters run for the current thread's context and for sessions. */
static __always_inline void perfctr_cpu_write_enable(struct perfctr_cpu *cpu)
{
	cpu->running = cpu->enabled | __this_cpu_read(perfctr_gate_slots);
	perfctr_pmu->enable(cpu->running);
}

/* What is to run may have changed: one write, or none. */
static inline void perfctr_cpu_follow_gate(void)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	if (cpu->running != (cpu->enabled | __this_cpu_read(perfctr_gate_slots)))
		perfctr_cpu_write_enable(cpu);
}

static inline bool perfctr_cpu_paused(void)
{
	return __this_cpu_read(perfctr_cpu.paused);
}

/* Of any CPU, which neither comes nor goes meanwhile. */
static inline bool perfctr_cpu_is_mute(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_cpu.mute, cpu));
}

/* RDPMC would show the thread that runs here what it may not see of itself. */
static inline bool perfctr_cpu_is_secret(void)
{
	return this_cpu_read(perfctr_cpu.secret);
}

/* Interrupts of counters that are stopped have been dealt with. */
static inline void perfctr_cpu_acknowledge(u64 slots)
{
	if (perfctr_pmu->acknowledge)
		perfctr_pmu->acknowledge(slots);
}

void perfctr_cpu_freeze(u64 slots);	/* stops some; thaw or write_enable starts them */
void perfctr_cpu_thaw(void);
void perfctr_cpu_forget(u64 slots);
void perfctr_cpu_reset(void);
void perfctr_cpu_give_interrupts(void);
bool perfctr_cpu_may_interrupt(void);

/* Anywhere. */
void perfctr_cpu_show(struct seq_file *m, unsigned int cpu);
u64 perfctr_disturbances(void);	/* of all CPUs, since boot */
u32 perfctr_mute_cpus(void);	/* that are online */
bool perfctr_cpu_has_interrupts(unsigned int cpu);

#endif
