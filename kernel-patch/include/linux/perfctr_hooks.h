/* SPDX-License-Identifier: GPL-2.0-only */
/* The core kernel's calls of the perfctr driver. Without CONFIG_PERFCTR they change nothing. */
#ifndef _LINUX_PERFCTR_HOOKS_H
#define _LINUX_PERFCTR_HOOKS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/mm_types.h>

struct pt_regs;
struct task_struct;

#ifdef CONFIG_PERFCTR
#include <linux/jump_label.h>
#include <linux/sched.h>

DECLARE_STATIC_KEY_FALSE(perfctr_gated);	/* some session is started */
DECLARE_STATIC_KEY_FALSE(perfctr_shows_uncore);	/* RDPMC shows counters of the uncore */

void __switch_to_xtra(struct task_struct *prev, struct task_struct *next);	/* the kernel's */
/*
 * Called by the context switch in place of __switch_to_xtra(), which this calls if other flags
 * require it. Interrupts off.
 */
void perfctr_switch(struct task_struct *prev, struct task_struct *next);
/* The slow paths of the functions below. */
int perfctr_prepare_child_task(struct task_struct *child);
void perfctr_add_child_task(struct task_struct *child);
void perfctr_detach_task(struct task_struct *tsk);
void perfctr_exec_task(bool follows);
void perfctr_tick_current(void);
void perfctr_tick_uncore(void);
bool perfctr_may_rdpmc(struct mm_struct *mm);
/*
 * CR4.PCE of this CPU is about to be set for mm: clears counts that are not for mm to see.
 * Interrupts off.
 */
void perfctr_rdpmc_enabled(struct mm_struct *mm);
bool perfctr_emulate_rdpmc(struct pt_regs *regs);

/* perfctr-watchdog.c: is the register reserved? */
bool perfctr_nmi_is_reserved(unsigned int msr);
bool evntsel_nmi_is_reserved(unsigned int msr);

/*
 * The number of strangers: users of the counters, or of their interrupt, that reserve no register.
 * These are Processor Trace, BTS and KVM's mediated PMU. -1: the driver has the counters.
 */
extern atomic_t perfctr_strangers;

/* Lets a stranger use the counters until perfctr_let_out(). False: the driver has them now. */
static inline bool perfctr_let_in(void)
{
	return atomic_inc_unless_negative(&perfctr_strangers);
}

static inline void perfctr_let_out(void)
{
	atomic_dec(&perfctr_strangers);
}

/* The child's thread_struct and flags are copies of its parent's: it has no context or mark yet. */
static inline void perfctr_copy_thread(struct task_struct *child)
{
	child->thread.perfctr.context = NULL;
	child->thread.perfctr.mark = NULL;
	clear_tsk_thread_flag(child, TIF_PERFCTR);
}

/*
 * current creates child, and the creation may still fail. Allocates what perfctr_add_child() will
 * need. May sleep. 0 or -ENOMEM.
 */
static inline int perfctr_prepare_child(struct task_struct *child)
{
	if (unlikely(current->thread.perfctr.context))
		return perfctr_prepare_child_task(child);
	return 0;
}

/*
 * The creation of child cannot fail any more, and no other thread has seen child yet. The caller
 * holds locks: this must not sleep.
 */
static inline void perfctr_add_child(struct task_struct *child)
{
	if (unlikely(current->thread.perfctr.context || current->thread.perfctr.mark ||
		     child->thread.perfctr.context))
		perfctr_add_child_task(child);
}

/* tsk exits, or its creation has failed. */
static inline void perfctr_drop(struct task_struct *tsk)
{
	if (unlikely(tsk->thread.perfctr.context || tsk->thread.perfctr.mark))
		perfctr_detach_task(tsk);
}

/* current executes a file. follows: current may keep its context and its mark. */
static inline void perfctr_exec(bool follows)
{
	if (unlikely(current->thread.perfctr.context || current->thread.perfctr.mark))
		perfctr_exec_task(follows);
}

/* Called at each tick of this CPU. Interrupts off. */
static inline void perfctr_tick(void)
{
	if (unlikely(test_thread_flag(TIF_PERFCTR)) || static_branch_unlikely(&perfctr_gated))
		perfctr_tick_current();
	if (static_branch_unlikely(&perfctr_shows_uncore))
		perfctr_tick_uncore();
}

/* May user code of mm execute RDPMC on this CPU, because perf_events or the driver allows it? */
static inline bool perfctr_rdpmc_allowed(struct mm_struct *mm)
{
	return READ_ONCE(mm->context.rdpmc_allowed) &&
	       (atomic_read(&mm->context.perf_rdpmc_allowed) || perfctr_may_rdpmc(mm));
}

/* Called after a #GP in user mode, interrupts on. May sleep. True: the fault has been handled. */
static inline bool perfctr_fixup_rdpmc(struct pt_regs *regs)
{
	return unlikely(atomic_read(&current->mm->context.perfctr_pages)) &&
	       perfctr_emulate_rdpmc(regs);
}
#else
#define perfctr_switch __switch_to_xtra
static inline bool perfctr_let_in(void) { return true; }
static inline void perfctr_let_out(void) { }
static inline void perfctr_copy_thread(struct task_struct *child) { }
static inline int perfctr_prepare_child(struct task_struct *child) { return 0; }
static inline void perfctr_add_child(struct task_struct *child) { }
static inline void perfctr_drop(struct task_struct *tsk) { }
static inline void perfctr_exec(bool follows) { }
static inline void perfctr_tick(void) { }

static inline bool perfctr_rdpmc_allowed(struct mm_struct *mm)
{
	return atomic_read(&mm->context.perf_rdpmc_allowed);
}

static inline void perfctr_rdpmc_enabled(struct mm_struct *mm) { }
static inline bool perfctr_fixup_rdpmc(struct pt_regs *regs) { return false; }
#endif

#endif
