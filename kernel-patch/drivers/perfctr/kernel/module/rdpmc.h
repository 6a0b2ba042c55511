/* SPDX-License-Identifier: GPL-2.0-only */
/* The module: RDPMC in user mode. */
#ifndef _PERFCTR_RDPMC_MODULE_H
#define _PERFCTR_RDPMC_MODULE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "threads.h"

struct pt_regs;

/* The thread that this CPU is switching to, or NULL. Its address space is not loaded yet. */
DECLARE_PER_CPU(const struct task_struct *, perfctr_switching_to);
/* Reasons why a thread may RDPMC without permission of perf_events. any is 0 if there is none. */
union perfctr_rdpmc_reasons {
	struct {
		atomic_t n_spaces;	/* address spaces with mapped state pages */
		bool always;		/* all processes may RDPMC, or it is unknown if they may */
	};
	u64 any;
};

extern union perfctr_rdpmc_reasons perfctr_rdpmc_reasons;
bool perfctr_learn_always(void);	/* true: "always" could not be learned, try again later */
bool perfctr_has_space(const struct mm_struct *mm);	/* does mm have mapped state pages? */
/*
 * A fault of user mode, in a function that must not sleep. True: the code at the fault is not in
 * memory, and the thread looks at it before it returns to user mode.
 */
bool perfctr_wait_for_code(struct pt_regs *regs);

/* Will the kernel allow, or possibly allow, RDPMC when it switches to next's address space? */
static __always_inline bool perfctr_rdpmc_shows(const struct task_struct *next)
{
	return next->mm && (READ_ONCE(perfctr_rdpmc_reasons.always) ||
			    atomic_read(&next->mm->context.perf_rdpmc_allowed));
}

/*
 * Clears mm's perf_rdpmc_allowed if the driver has this CPU's counters. perf_events has no counters
 * to map then: a nonzero value is a copy of the parent's, made by fork. Interrupts off.
 */
void perfctr_forget_noted(struct mm_struct *mm);

static __always_inline void perfctr_forget_perf(struct mm_struct *mm)
{
	if (mm && unlikely(atomic_read(&mm->context.perf_rdpmc_allowed)))
		perfctr_forget_noted(mm);
}

/* The slow path of perfctr_next_may_rdpmc(). */
bool perfctr_find_user_rdpmc(const struct task_struct *next);

/*
 * If next keeps the address space of prev, CR4.PCE decides. Otherwise the kernel sets CR4.PCE by
 * its own rule, and the driver handles the faults of address spaces that have state pages.
 */
static __always_inline bool perfctr_next_may_rdpmc(const struct task_struct *prev,
						   const struct task_struct *next)
{
	const struct mm_struct *mm = next->mm;

	return unlikely(mm == prev->active_mm || READ_ONCE(perfctr_rdpmc_reasons.any) ||
			(mm && atomic_read(&mm->context.perf_rdpmc_allowed))) &&
	       perfctr_find_user_rdpmc(next);
}

/* The CPU is about to switch to next, on a path that calls perfctr_user_rdpmc(). */
static __always_inline void perfctr_switch_begins(const struct task_struct *next)
{
	__this_cpu_write(perfctr_switching_to, next);
}

/* from: the entry of the thread that the CPU leaves, or perfctr_nobody. */
static __always_inline void perfctr_switch_ends(struct perfctr_thread *from)
{
	__this_cpu_write(perfctr_switching_to, NULL);
	if (from->task)
		perfctr_thread_left(from);
}

#endif
