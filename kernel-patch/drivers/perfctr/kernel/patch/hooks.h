/* SPDX-License-Identifier: GPL-2.0-only */
/* The patch: a thread's context and mark are in its thread_struct; TIF_PERFCTR: it is watched. */
#ifndef _PERFCTR_HOOKS_PATCH_H
#define _PERFCTR_HOOKS_PATCH_H

#include <linux/perfctr_hooks.h>
#include <asm/mmu_context.h>
#include <asm/tlbflush.h>

#define PERFCTR_PORT_FEATURES	0
#define PERFCTR_ASKING_DISTURBS	false
#define PERFCTR_TELLS_TO_THE_END	true
#define PERFCTR_EXCHANGE	noinline

static __always_inline struct perfctr_thread *perfctr_thread(const struct task_struct *task)
{
	return (struct perfctr_thread *)&task->thread.perfctr;
}

static __always_inline bool perfctr_is_gated(void)
{
	return static_branch_unlikely(&perfctr_gated);
}

static inline void perfctr_watch(struct task_struct *task, bool watch)
{
	if (watch)
		set_tsk_thread_flag(task, TIF_PERFCTR);
	else
		clear_tsk_thread_flag(task, TIF_PERFCTR);
}

static __always_inline bool perfctr_user_rdpmc(void)
{
	return this_cpu_read(cpu_tlbstate.cr4) & X86_CR4_PCE;
}

static __always_inline bool perfctr_next_may_rdpmc(const struct task_struct *prev,
						   const struct task_struct *next)
{
	return perfctr_user_rdpmc();
}

static __always_inline void perfctr_switch_begins(const struct task_struct *next)
{
}

static __always_inline void perfctr_switch_ends(struct perfctr_thread *from)
{
}

static __always_inline void perfctr_thread_left(struct perfctr_thread *thread)
{
}

static inline atomic_t *perfctr_rdpmc_pages(struct mm_struct *mm)
{
	return &mm->context.perfctr_rdpmc_pages;
}

/* perfctr_may_access() asks the security modules, under exec_update_lock. */
static inline int perfctr_ask_access(struct task_struct *task, unsigned int mode)
{
	return 0;
}

static __always_inline bool perfctr_switch_has_more(struct task_struct *prev,
						    struct task_struct *next)
{
	unsigned long tif = read_task_thread_flags(prev) | read_task_thread_flags(next);

	return (tif & _TIF_WORK_CTXSW_PREV) != _TIF_PERFCTR;
}

static inline bool perfctr_switch_is_ours(struct task_struct *prev, struct task_struct *next)
{
	return test_tsk_thread_flag(prev, TIF_PERFCTR) || test_tsk_thread_flag(next, TIF_PERFCTR);
}

static inline void perfctr_switch_rest(struct task_struct *prev, struct task_struct *next)
{
	__switch_to_xtra(prev, next);
}

static inline void perfctr_code_get(void)
{
}

static inline void perfctr_code_put(void)
{
}

#endif
