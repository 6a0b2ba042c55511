/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of one CPU: which owner's counts they hold, and which of them run. */
#ifndef _PERFCTR_PERCPU_H
#define _PERFCTR_PERCPU_H

#include <linux/percpu.h>
#include "pmu.h"

struct perfctr_context;
struct seq_file;

struct perfctr_cpu {
	u64 owner;		/* ctx_id of the mm that may see own slots; 0: none */
	u64 control;		/* id of the control in the event registers, 0: none */
	u64 own;		/* slots whose counts the owner may see */
	u64 foreign;		/* slots to clear before user mode may read them */
	u64 enabled;		/* slots that count for the current context; 0: none */
	u64 running;		/* all slots that count, including those of sessions */
	/*
	 * The shared context that the current thread has left on its way to exit, with the counters
	 * running. At the next switch the next member goes on with that context, or else the switch
	 * leaves it. NULL: none.
	 */
	struct perfctr_context *left;
	bool paused;		/* the machine suspends: contexts are not entered or left */
	bool mute;		/* the counters must not be used; set as the CPU comes online */
	bool secret;		/* counts the current thread's kernel mode, which it may not see */
	bool routed;		/* this driver handles the counters' interrupt */
	/* Interrupts of this driver's counters since their budget was renewed: */
	u32 interrupts;
	u64 interrupt_time;	/* their duration in time stamp ticks */
	u64 interrupted;	/* time stamp at the end of the last interrupt */
	u64 last_interrupt;	/* duration of the last interrupt in time stamp ticks */
	u64 tick;		/* jiffies when the budget was renewed */
	/* Statistics since boot, of contexts with events: */
	u64 entries;		/* times a thread's counting began or went on */
	u64 starts;		/* ... and the counters had to be started for it */
	u64 loads;		/* ... and event registers had to be compared */
	/* Statistics since boot, also of sessions: */
	u64 clears;		/* times counters were set to 0 */
	u64 disturbances;	/* times other code was found to have written registers */
	/*
	 * The values of a control's counters when they were last read. They are valid within one
	 * operation, or from the leave to the enter of one switch.
	 */
	u64 value[PERFCTR_MAX_COUNTERS];
	/* If the running context has periods: */
	u64 preset[PERFCTR_MAX_COUNTERS];	/* values that the counters were set to */
	u64 preset_time;			/* time stamp when they were set */
	bool put_off;				/* budget used up: counters do not interrupt */
	/* For the events with periods of all threads: */
	u64 overflowed;		/* time stamp when an overflow was last found */
};

DECLARE_PER_CPU(struct perfctr_cpu, perfctr_cpu);

/*
 * The longest time in microseconds from the stop of a counter to its interrupt. perf_events allows
 * for the same time on AMD.
 */
#define PERFCTR_LATEST_INTERRUPT	50

/* Slots that the gates want to run. perfctr_cpu_follow_gate() makes the hardware run them. */
DECLARE_PER_CPU(u64, perfctr_gate_slots);

/* The following functions are called on the CPU itself with interrupts off. */

/* Runs the counters of the current thread's context and of the open gates, and stops all others. */
static __always_inline void perfctr_cpu_write_enable(struct perfctr_cpu *cpu)
{
	cpu->running = cpu->enabled | __this_cpu_read(perfctr_gate_slots);
	perfctr_pmu->enable(cpu->running);
}

/*
 * Called when the slots that are to run may have changed. Writes the hardware once, or not at all.
 */
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

/*
 * Returns whether the CPU is mute. Any CPU may ask; the CPU in question neither comes online nor
 * goes offline meanwhile.
 */
static inline bool perfctr_cpu_is_mute(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_cpu.mute, cpu));
}

/* Returns whether RDPMC would show counts of kernel mode that the current thread may not see. */
static inline bool perfctr_cpu_is_secret(void)
{
	return this_cpu_read(perfctr_cpu.secret);
}

/* Clears the overflow status of counters that are stopped. Their interrupts have been handled. */
static inline void perfctr_cpu_acknowledge(u64 slots)
{
	if (perfctr_pmu->acknowledge)
		perfctr_pmu->acknowledge(slots);
}

void perfctr_cpu_freeze(u64 slots);	/* until perfctr_cpu_thaw() or _write_enable() */
void perfctr_cpu_thaw(void);
void perfctr_cpu_forget(u64 slots);
void perfctr_cpu_reset(void);
void perfctr_cpu_give_interrupts(void);
bool perfctr_cpu_may_interrupt(void);

/* May be called anywhere. */
void perfctr_cpu_show(struct seq_file *m, unsigned int cpu);	/* prints one line */
u64 perfctr_disturbances(void);	/* of all CPUs, since boot */
u32 perfctr_mute_cpus(void);	/* the number of those that are online */
bool perfctr_cpu_has_interrupts(unsigned int cpu);	/* whether its interrupt is routed here */

#endif
