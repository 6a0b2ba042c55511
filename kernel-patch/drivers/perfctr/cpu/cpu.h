/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room cpu/: what a CPU does at a switch, a tick and an interrupt of its counters.
 *
 * page.c	state pages, which have the sums and biases of everything that counts
 * accumulator.c	brings the sums of a page up to date while its counters run
 * sums.c	adds up the state pages of all CPUs
 * switch.c	contexts at a context switch
 * fold.c	running contexts, for a reader and at the tick
 * interrupt.c	counters of events with periods, and their interrupt
 * isolation.c	what RDPMC in user mode may find in the counters
 * gate.c	sessions at a context switch: which of their counters run for which thread
 * call.c	calls a function while a thread cannot be switched
 * threshold.c	when the periods of events end
 * interrupt_limits.c	how often counters may interrupt
 * overflow_signal.c	signals at the end of periods
 * sample.c	samples at the end of periods
 * trace.c	the record that a session writes at each change of thread
 * ring.c	rings of records, which users map and empty
 * buffer.c	memory that users map
 *
 * context.h, gate.h and page.h have the objects; internal.h, accumulator.h and counters.h are for
 * the files of this room.
 */
#ifndef _PERFCTR_CPU_H
#define _PERFCTR_CPU_H

#include "context.h"
#include "gate.h"

struct mm_struct;
struct vm_area_struct;

/*
 * The context switch and the tick look at watched threads only. The caller makes sure that the
 * task's context and mark do not change meanwhile.
 */
static inline void perfctr_update_flag(struct task_struct *task)
{
	const struct perfctr_context *ctx = perfctr_thread(task)->context;

	perfctr_watch(task, (ctx && (ctx->started || ctx->shared)) || perfctr_live_mark(task));
}

/*
 * call.c: calls fn(task, live, arg) with interrupts off while the thread cannot be switched. If the
 * thread runs and its CPU is not paused, the call is made on that CPU with live true; otherwise
 * live is false. Returns the result of fn. The caller may sleep; fn must not.
 */
typedef int (*perfctr_task_fn)(struct task_struct *task, bool live, void *arg);
int perfctr_call_task(struct task_struct *task, perfctr_task_fn fn, void *arg);

/*
 * switch.c, fold.c, isolation.c, interrupt.c: called with interrupts off on the CPU that runs the
 * context's thread.
 */
void perfctr_switch(struct task_struct *prev, struct task_struct *next);
/* prev and next stay in the registers in which the tracepoint's probe has got them. */
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
 * gate.c: returns whether a session counts kernel mode with a counter of this CPU that RDPMC shows.
 * Interrupts are off.
 */
bool perfctr_gate_shows_kernel(void);

/*
 * threshold.c: perfctr_make_thresholds() returns the thresholds of hw's events with nothing counted
 * yet, or NULL if there is no memory. spare: with a second set, for a child.
 */
struct perfctr_thresholds *perfctr_make_thresholds(const struct perfctr_hw_control *hw, bool spare,
						   gfp_t gfp);
size_t perfctr_thresholds_bytes(void);
void perfctr_free_thresholds(struct perfctr_thresholds *thresholds);	/* NULL is fine */
void perfctr_vary_thresholds(struct perfctr_thresholds *thresholds,
			     const struct perfctr_hw_control *hw,
			     struct perfctr_variation *variation);
void perfctr_fit_thresholds(struct perfctr_context *ctx, struct perfctr_context *parent,
			    bool same_process);

/* threshold.c: these add nothing for a context without periods. */
void perfctr_add_periods(const struct perfctr_context *ctx, struct perfctr_periods *periods);
void perfctr_add_exited_periods(const struct perfctr_context *ctx,
				struct perfctr_periods *periods);
/*
 * threshold.c, under the tree's lock: from has exited. Both contexts have one control with periods.
 */
void perfctr_hand_over_periods(const struct perfctr_context *from, struct perfctr_context *to);

/*
 * threshold.c: the thread runs here, or the caller keeps it from running. perfctr_waits() returns
 * whether the thread waits for RESUME.
 */
bool perfctr_waits(const struct perfctr_context *ctx);
void perfctr_end_wait(struct perfctr_context *ctx);
/*
 * threshold.c, under the same condition: from now on no signal is sent at the end of a period, and
 * no thread waits for RESUME. NULL is fine.
 */
void perfctr_hush_thresholds(struct perfctr_thresholds *thresholds);

/* sample.c */
int perfctr_check_samples(const struct perfctr_samples_args *args);
int perfctr_begin_sampling(struct perfctr_tree *tree, struct perfctr_samples_args *args);
void perfctr_end_sampling(struct perfctr_tree *tree);
int perfctr_may_sample(const struct perfctr_tree *tree, const struct perfctr_hw_control *hw);
void perfctr_clear_samples(struct perfctr_tree *tree, u32 n_counters);
int perfctr_mmap_samples(struct perfctr_tree *tree, struct vm_area_struct *vma,
			 unsigned long offset);
int perfctr_consume_samples(struct perfctr_tree *tree, const struct perfctr_consume *consume);
int perfctr_read_sampled(struct perfctr_tree *tree, struct perfctr_sampled *sampled);
__poll_t perfctr_poll_samples(struct perfctr_tree *tree);

#endif
