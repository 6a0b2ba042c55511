/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room cpu/: what a CPU does at a switch, a tick and an interrupt of its counters.
 *
 * page.c	state pages: the sums and biases of everything that counts
 * accumulator.c	brings the sums of a page up to date while its counters run
 * sums.c	adds up the state pages of all CPUs
 * switch.c	contexts at a context switch
 * fold.c	folds running contexts, for a reader and at the tick
 * interrupt.c	counters of events with periods, and their interrupt
 * isolation.c	what RDPMC in user mode may find in the counters
 * gate.c	sessions at a context switch: which of their counters run for which thread
 * call.c	calls a function while a thread cannot be switched
 * threshold.c	when the periods of events end
 * interrupt_limits.c	how often counters may interrupt
 * overflow_signal.c	signals at the end of periods
 * sample.c	samples at the end of periods
 * trace.c	the records that a session writes: at switches, at ticks and when it stops
 * ring.c	rings of records, which users map and empty
 * buffer.c	memory that users map
 *
 * context.h, gate.h and page.h define the objects; internal.h, accumulator.h and counters.h are for
 * the files of this room.
 */
#ifndef _PERFCTR_CPU_H
#define _PERFCTR_CPU_H

#include "context.h"
#include "gate.h"

struct mm_struct;
struct vm_area_struct;

/*
 * Watches task, or stops watching it: the context switch and the tick look at watched threads only.
 * The caller keeps the task from being switched, and its context and mark from changing.
 */
static inline void perfctr_update_flag(struct task_struct *task)
{
	const struct perfctr_context *ctx = perfctr_thread(task)->context;

	perfctr_watch(task, (ctx && (ctx->started || ctx->shared)) || perfctr_live_mark(task));
}

/*
 * call.c: calls fn(task, live, arg) with interrupts off while the thread cannot be switched, and
 * returns the result of fn. live: this CPU runs the thread, and is not paused. The caller holds a
 * reference to task and is allowed to sleep; fn must not sleep. A thread that another CPU runs
 * costs an interrupt of that CPU.
 */
typedef int (*perfctr_task_fn)(struct task_struct *task, bool live, void *arg);
int perfctr_call_task(struct task_struct *task, perfctr_task_fn fn, void *arg);

/*
 * switch.c, fold.c, isolation.c, interrupt.c: called with interrupts off on the CPU that runs the
 * context's thread.
 *
 * switch: the patch's switch from prev to next. tick_current: folds everything that this CPU
 * counts, and checks whether other code has written the registers. rdpmc_enabled: called before
 * CR4.PCE is set for mm. cpu_enter, cpu_leave: start and stop counting for ctx between two
 * switches. cpu_fold: brings the sums of ctx up to date; ctx is entered on this CPU. cpu_pause: the
 * CPU stops counting before its counters lose their contents, and counts again afterwards.
 * cpu_renew_secret: called after the mappings of current's page, or its address space, may have
 * changed. cpu_rdpmc: emulates RDPMC for current. interrupt: handles the counters' interrupt.
 */
void perfctr_switch(struct task_struct *prev, struct task_struct *next);
/*
 * The module's switch. from and to are the entries of prev and next. prev and next come last, to
 * stay in the registers in which the tracepoint passes them to its probe.
 */
void perfctr_switch_threads(struct perfctr_thread *from, const struct perfctr_thread *to,
			    struct task_struct *prev, struct task_struct *next);
/* As perfctr_switch_threads(), where from or to is the entry of a thread that is not watched. */
void perfctr_switch_one(struct perfctr_thread *from, const struct perfctr_thread *to,
			struct task_struct *prev, struct task_struct *next);
void perfctr_tick_current(void);
void perfctr_rdpmc_enabled(struct mm_struct *mm);
void perfctr_cpu_enter(struct perfctr_context *ctx);
void perfctr_cpu_leave(struct perfctr_context *ctx);
void perfctr_cpu_fold(struct perfctr_context *ctx);
void perfctr_cpu_pause(bool pause);
void perfctr_cpu_renew_secret(void);
u64 perfctr_cpu_rdpmc(u32 counter);
void perfctr_interrupt(void);

/*
 * gate.c: returns whether a session counts kernel mode in a counter of this CPU that RDPMC shows.
 * Interrupts are off.
 */
bool perfctr_gate_shows_kernel(void);

/*
 * threshold.c: perfctr_make_thresholds() returns the thresholds of hw's events with nothing counted
 * yet, or NULL if there is no memory. spare: with a second set, for a child.
 */
struct perfctr_thresholds *perfctr_make_thresholds(const struct perfctr_hw_control *hw, bool spare,
						   gfp_t gfp);
size_t perfctr_thresholds_bytes(void);	/* the most that one context needs */
void perfctr_free_thresholds(struct perfctr_thresholds *thresholds);	/* NULL is fine */
/* Applies phase and jitter to thresholds with nothing counted yet. */
void perfctr_vary_thresholds(struct perfctr_thresholds *thresholds,
			     const struct perfctr_hw_control *hw,
			     struct perfctr_variation *variation);
/*
 * Gives ctx, which is not in the tree yet, thresholds of parent's control, which has periods.
 * Called by parent's thread with interrupts off. same_process: both threads share signal handlers.
 */
void perfctr_fit_thresholds(struct perfctr_context *ctx, struct perfctr_context *parent,
			    bool same_process);

/*
 * threshold.c: perfctr_add_periods() adds ctx's own periods to periods,
 * perfctr_add_exited_periods() those of exited members below ctx. A context without periods adds
 * nothing.
 */
void perfctr_add_periods(const struct perfctr_context *ctx, struct perfctr_periods *periods);
void perfctr_add_exited_periods(const struct perfctr_context *ctx,
				struct perfctr_periods *periods);
/*
 * threshold.c, under the tree's lock: adds the periods of from, which has exited, to those of
 * exited members below to. Both contexts have the same control, which has periods.
 */
void perfctr_hand_over_periods(const struct perfctr_context *from, struct perfctr_context *to);

/*
 * threshold.c: called on the CPU that runs the thread, or by a caller that keeps the thread from
 * running. perfctr_waits() returns whether the thread waits for RESUME. perfctr_end_wait() ends the
 * wait of a context that is not entered, or does nothing.
 */
bool perfctr_waits(const struct perfctr_context *ctx);
void perfctr_end_wait(struct perfctr_context *ctx);
/*
 * threshold.c, under the same condition: from now on no signal is sent at the end of a period, and
 * no thread waits for RESUME. NULL is fine.
 */
void perfctr_hush_thresholds(struct perfctr_thresholds *thresholds);

/*
 * sample.c: check returns 0, -EINVAL, -EOPNOTSUPP, or -EACCES for large rings without CAP_PERFMON.
 * begin is called under the tree's lock before the first control; it fills in the results in args,
 * and returns 0, -EBUSY, -ENOMEM or an error of perfctr_charge(). end sleeps for RCU; no member
 * counts any more, and none will.
 */
int perfctr_check_samples(const struct perfctr_samples_args *args);
int perfctr_begin_sampling(struct perfctr_tree *tree, struct perfctr_samples_args *args);
void perfctr_end_sampling(struct perfctr_tree *tree);
/*
 * sample.c, under the tree's lock. may_sample returns -EACCES if hw counts kernel mode and the
 * caller that made the rings may not, else 0. clear_samples empties the rings: the tree has a new
 * control, under which nothing has been counted yet, and no member counts under an older one.
 */
int perfctr_may_sample(const struct perfctr_tree *tree, const struct perfctr_hw_control *hw);
void perfctr_clear_samples(struct perfctr_tree *tree, u32 n_counters);
/*
 * sample.c: calls of the descriptor that made the tree. mmap and consume return the errors of
 * perfctr_rings_mmap() and perfctr_rings_consume(), and -EINVAL if the tree is not sampled.
 * read_sampled returns -ENOENT then; sampled is zero except for its size. mmap and read_sampled
 * return -EACCES if the caller may not see the samples. All but poll may sleep.
 */
int perfctr_mmap_samples(struct perfctr_tree *tree, struct vm_area_struct *vma,
			 unsigned long offset);
int perfctr_consume_samples(struct perfctr_tree *tree, const struct perfctr_consume *consume);
int perfctr_read_sampled(struct perfctr_tree *tree, struct perfctr_sampled *sampled);
__poll_t perfctr_poll_samples(struct perfctr_tree *tree);

#endif
