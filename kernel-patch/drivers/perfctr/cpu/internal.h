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

/* Why a CPU's gate looks at each switch to a marked thread. any is 0 if it need not look. */
union perfctr_gate_special {
	struct {
		unsigned int n_traced;	/* sessions with a trace */
		atomic_t n_late;	/* marks with sessions to admit; other CPUs write it too */
	};
	u64 any;
};

/*
 * gate.c, for switch.c and fold.c. turn: chooses the slots that run for next; called before the
 * switch writes anything. If turn returns true, the switch runs these slots and calls settle,
 * which brings the sums of the sessions up to date. now: the time stamp of the switch or tick.
 * scrub: folds and clears the counters of sessions, before code runs that may execute RDPMC. tick:
 * intact says that no other code has written the registers. pause: see perfctr_cpu_pause().
 */
DECLARE_PER_CPU(union perfctr_gate_special, perfctr_gate_special);
bool perfctr_gate_turn(struct task_struct *prev, struct task_struct *next);
void perfctr_gate_settle(struct task_struct *next, u64 now);
void perfctr_gate_scrub(void);
void perfctr_gate_tick(u64 now, bool intact);
void perfctr_gate_pause(bool pause);

/*
 * interrupt.c: the operations of accumulator.h for a context with periods.
 *
 * enter presets the counters and starts them: the caller has stopped them and read them into
 * value[]. leave passes thresholds: the caller has stopped and read the counters, and has folded
 * value[] into the sums. The callers of both are between perfctr_page_begin() and
 * perfctr_page_end().
 *
 * The other functions stop the counters, and start them again unless the thread waits for RESUME.
 * clear: removes all counts from the counters of slots; those with a period are preset again. tick:
 * intact and the result are those of tick_context() in fold.c.
 */
void perfctr_enter_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_leave_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_clear_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, u64 slots);
bool perfctr_tick_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact);

/*
 * isolation.c: clears counts of other address spaces, before code in mm runs that may execute
 * RDPMC. No context runs on this CPU.
 */
void perfctr_scrub_cpu(struct perfctr_cpu *cpu, const struct mm_struct *mm);

/*
 * threshold.c: only for a context that has periods. cpu->value[i] has the value of the counter of
 * event i, either raw or continued beyond an overflow.
 *
 * unwrap: continues values beyond overflows; false: other code has written a counter. carry: does
 * the same after a fold, corrects the sums, and marks the page as disturbed. pass: notices the
 * thresholds that the sums have passed; late: no interrupt has reported the end of a period.
 * preset: sets each counter with a period to overflow at its next threshold; put_off: no counter
 * shall interrupt before the next switch or tick.
 */
bool perfctr_thresholds_unwrap(struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw);
void perfctr_thresholds_carry(struct perfctr_cpu *cpu, struct perfctr_context *ctx);
void perfctr_thresholds_pass(struct perfctr_context *ctx, bool late);
void perfctr_thresholds_preset(struct perfctr_cpu *cpu, const struct perfctr_context *ctx,
			       bool put_off);

/* One or more periods of an event that have ended, as one sample reports them. */
struct perfctr_passed {
	u32 event;
	bool kernel;		/* the event counts kernel mode */
	bool told;		/* an interrupt reports the end now; false: a fold found it */
	u64 periods;		/* periods that have ended */
	u64 late;		/* events since the end of the last of them */
	u64 weight;		/* events from the end in the previous report to this end */
};

/*
 * overflow_signal.c, for threshold.c. perfctr_make_signals() returns the signals of hw's events, or
 * NULL if there is no memory; perfctr_lost_signals() returns how many were not sent. These two,
 * perfctr_free_signals() and perfctr_signals_bytes() may be called anywhere. perfctr_end_signals()
 * prevents further signals: it is called on the CPU that runs the thread, or by a caller that keeps
 * the thread from running. perfctr_signal() sends the signals of events (bit i: event i) to task,
 * which runs here, or has run here until now.
 */
struct perfctr_signals *perfctr_make_signals(const struct perfctr_hw_control *hw, gfp_t gfp);
size_t perfctr_signals_bytes(void);
void perfctr_end_signals(struct perfctr_signals *signals);
void perfctr_free_signals(struct perfctr_signals *signals);
void perfctr_signal(struct perfctr_signals *signals, struct task_struct *task, u32 events);
u32 perfctr_lost_signals(const struct perfctr_signals *signals);

/*
 * sample.c, for threshold.c: writes a sample to this CPU's ring if the tree is sampled. The sums
 * are up to date.
 */
void perfctr_sample(const struct perfctr_context *ctx, const struct perfctr_passed *passed);

/*
 * interrupt_limits.c: called first and last in an interrupt of the counters. start: the time stamp
 * at which the interrupt began.
 */
void perfctr_interrupt_begins(struct perfctr_cpu *cpu, u64 start);
void perfctr_interrupt_ends(struct perfctr_cpu *cpu, u64 start);
/* Returns whether counters must not interrupt again before the next tick. */
bool perfctr_interrupted_enough(const struct perfctr_cpu *cpu);
/*
 * Renews the CPU's budget of interrupts. Called at a tick, and when a context with periods is first
 * entered after a tick.
 */
void perfctr_renew_interrupts(struct perfctr_cpu *cpu);

#endif
