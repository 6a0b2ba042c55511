/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the room cpu/ share. All on the CPU itself with interrupts off, if not said. */
#ifndef _PERFCTR_CPU_INTERNAL_H
#define _PERFCTR_CPU_INTERNAL_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include "../machine/percpu.h"
#include "cpu.h"

struct perfctr_signals;

/* Why a gate looks at each switch to a marked thread; 0: it need not. */
union perfctr_gate_special {
	struct {
		unsigned int n_traced;	/* sessions with a trace */
		atomic_t n_late;	/* groups with sessions to admit; other CPUs write it too */
	};
	u64 any;
};

/* gate.c, for switch.c */
DECLARE_PER_CPU(union perfctr_gate_special, perfctr_gate_special);
bool perfctr_gate_turn(struct task_struct *prev, struct task_struct *next);
void perfctr_gate_settle(struct task_struct *next, u64 now);
void perfctr_gate_scrub(void);
void perfctr_gate_tick(u64 now, bool intact);	/* intact: no register was written by others */
void perfctr_gate_pause(bool pause);

/*
 * interrupt.c: the operations of accumulator.h, where ctx has periods. enter: the counters are
 * stopped, and value[] has what they hold. leave: the same, and the sums have it. Callers of these
 * two are between perfctr_page_begin() and _end(). The others stop the counters and start them
 * again, unless the thread waits for RESUME. tick: intact, and the result, as in fold.c.
 */
void perfctr_enter_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_leave_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_clear_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, u64 slots);
bool perfctr_tick_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact);

/* isolation.c: no context runs, and code in mm may RDPMC. */
void perfctr_scrub_cpu(struct perfctr_cpu *cpu, const struct mm_struct *mm);

/*
 * threshold.c: only for a context that has periods. The value of an event's counter, raw or
 * continued, is at the event's place in cpu->value[].
 */
bool perfctr_thresholds_unwrap(struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw);
void perfctr_thresholds_carry(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_thresholds_pass(struct perfctr_context *ctx, bool late);
void perfctr_thresholds_preset(struct perfctr_cpu *cpu, const struct perfctr_context *ctx,
			       bool put_off);

/* A thread has counted to the end of a period of an event, and perhaps of more periods. */
struct perfctr_passed {
	u32 event;
	bool kernel;		/* the event counts kernel mode */
	bool told;		/* by an interrupt, of this moment */
	u64 periods;
	u64 late;		/* events since the end of the last period */
	u64 weight;		/* events to there from the end of the period before the first */
};

/*
 * overflow_signal.c, for threshold.c. make, free, bytes and lost: anywhere. end: the thread runs
 * here, or is kept from running. signal: the task runs here or has until now.
 */
struct perfctr_signals *perfctr_make_signals(const struct perfctr_hw_control *hw, gfp_t gfp);
size_t perfctr_signals_bytes(void);
void perfctr_end_signals(struct perfctr_signals *signals);
void perfctr_free_signals(struct perfctr_signals *signals);
void perfctr_signal(struct perfctr_signals *signals, struct task_struct *task, u32 events);
u32 perfctr_lost_signals(const struct perfctr_signals *signals);

/* sample.c, for threshold.c */
void perfctr_sample(const struct perfctr_context *ctx, const struct perfctr_passed *passed);

/* interrupt_limits.c: the first and the last that an interrupt does; start: time stamp before. */
void perfctr_interrupt_begins(struct perfctr_cpu *cpu, u64 start);
void perfctr_interrupt_ends(struct perfctr_cpu *cpu, u64 start);
/* No more of them before the next tick? */
bool perfctr_interrupted_enough(const struct perfctr_cpu *cpu);
/* A tick, or the first interrupting context after one: there may be others. */
void perfctr_renew_interrupts(struct perfctr_cpu *cpu);

#endif
