/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interfaces between the files of the room cpu/. Unless a comment says otherwise, all functions run
 * on the CPU itself with interrupts off.
 */
#ifndef _PERFCTR_CPU_INTERNAL_H
#define _PERFCTR_CPU_INTERNAL_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include "../machine/percpu.h"
#include "cpu.h"

struct perfctr_signals;

/* The reasons why a gate looks at each switch to a marked thread. any is 0 if it need not. */
union perfctr_gate_special {
	struct {
		unsigned int n_traced;	/* sessions with a trace */
		atomic_t n_late;	/* marks with sessions to admit; other CPUs write it too */
	};
	u64 any;
};

/* gate.c, for switch.c */
DECLARE_PER_CPU(union perfctr_gate_special, perfctr_gate_special);
bool perfctr_gate_turn(struct task_struct *prev, struct task_struct *next);
void perfctr_gate_settle(struct task_struct *next, u64 now);
void perfctr_gate_scrub(void);
void perfctr_gate_tick(u64 now, bool intact);	/* intact: registers unchanged */
void perfctr_gate_pause(bool pause);

/*
 * interrupt.c: the operations of accumulator.h for a context with periods.
 *
 * enter: the counters are stopped, and value[] has their values. leave: the same, and they are
 * folded into the sums. The callers of both are between perfctr_page_begin() and
 * perfctr_page_end().
 *
 * The other functions stop the counters, and start them again unless the thread waits for RESUME.
 * tick: intact and the result are those of tick_context() in fold.c.
 */
void perfctr_enter_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_leave_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_clear_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, u64 slots);
bool perfctr_tick_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact);

/* isolation.c: no context runs on this CPU, and code in mm may execute RDPMC. */
void perfctr_scrub_cpu(struct perfctr_cpu *cpu, const struct mm_struct *mm);

/*
 * threshold.c: only for a context that has periods. cpu->value[i] has the value of the counter of
 * event i, either raw or continued beyond an overflow.
 */
bool perfctr_thresholds_unwrap(struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw);
void perfctr_thresholds_carry(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_thresholds_pass(struct perfctr_context *ctx, bool late);
void perfctr_thresholds_preset(struct perfctr_cpu *cpu, const struct perfctr_context *ctx,
			       bool put_off);

/* A thread has counted to the end of one or more periods of an event. */
struct perfctr_passed {
	u32 event;
	bool kernel;		/* the event counts kernel mode */
	bool told;		/* by an interrupt, at this moment */
	u64 periods;
	u64 late;		/* events since the end of the last period */
	u64 weight;		/* events from the last end reported before to this one */
};

/*
 * overflow_signal.c, for threshold.c. perfctr_make_signals(), perfctr_free_signals(),
 * perfctr_signals_bytes() and perfctr_lost_signals() may be called anywhere. For
 * perfctr_end_signals() the thread runs here, or the caller keeps it from running. For
 * perfctr_signal() the task runs here, or has run here until now.
 */
struct perfctr_signals *perfctr_make_signals(const struct perfctr_hw_control *hw, gfp_t gfp);
size_t perfctr_signals_bytes(void);
void perfctr_end_signals(struct perfctr_signals *signals);
void perfctr_free_signals(struct perfctr_signals *signals);
void perfctr_signal(struct perfctr_signals *signals, struct task_struct *task, u32 events);
u32 perfctr_lost_signals(const struct perfctr_signals *signals);

/* sample.c, for threshold.c */
void perfctr_sample(const struct perfctr_context *ctx, const struct perfctr_passed *passed);

/*
 * interrupt_limits.c: the first and the last call in an interrupt. start: the time stamp when it
 * began.
 */
void perfctr_interrupt_begins(struct perfctr_cpu *cpu, u64 start);
void perfctr_interrupt_ends(struct perfctr_cpu *cpu, u64 start);
/* Returns whether counters must not interrupt again before the next tick. */
bool perfctr_interrupted_enough(const struct perfctr_cpu *cpu);
/*
 * Renews the budget of interrupts: at a tick, or when a context with periods is first entered after
 * one.
 */
void perfctr_renew_interrupts(struct perfctr_cpu *cpu);

#endif
