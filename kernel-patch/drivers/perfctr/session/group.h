/* SPDX-License-Identifier: GPL-2.0-only */
/* Groups, and the marks of their threads. */
#ifndef _PERFCTR_GROUP_H
#define _PERFCTR_GROUP_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "../kernel/hooks.h"
#include "../perfctr.h"

/*
 * References: one by the descriptor, one by each session of it, one by each thread that bears its
 * mark. When the first two are gone it is dead: its mark is none, whoever still bears it.
 */
struct perfctr_group {
	struct rcu_head rcu;
	refcount_t refs;
	atomic_t holders;	/* descriptor and sessions */
	atomic_t members;	/* threads that bear the mark */
	bool used;		/* somebody bore it */
	bool dead;
	bool incomplete;	/* a thread should bear the mark and does not */
	bool privileged;	/* made with CAP_PERFMON */
	u64 id;
	wait_queue_head_t wait;	/* for members to become 0 */
	/* Those that come to a CPU with the first member that runs there: */
	raw_spinlock_t lock;		/* of CPUs that admit sessions, inside the scheduler's */
	struct list_head sessions;	/* started */
	/* CPUs that may have some to admit; changes by them, and by who starts and stops: */
	unsigned long late[];
};

/*
 * The mark of a group that is dead is none: NULL. Under RCU, or where task's mark cannot change: it
 * cannot be switched, or is current, interrupts off.
 */
static inline struct perfctr_group *perfctr_live_mark(const struct task_struct *task)
{
	struct perfctr_group *group = READ_ONCE(perfctr_thread(task)->mark);

	return group && !READ_ONCE(group->dead) ? group : NULL;
}

/* The context switch and the tick look at such threads alone. Where no mark changes. */
static inline void perfctr_update_flag(struct task_struct *task)
{
	const struct perfctr_context *ctx = perfctr_thread(task)->context;

	perfctr_watch(task, (ctx && (ctx->started || ctx->shared)) || perfctr_live_mark(task));
}

long perfctr_ioctl_group(void __user *user);
long perfctr_ioctl_mark(void __user *user);
struct perfctr_group *perfctr_group_from_fd(int fd);	/* a holder's reference, or an error */
void perfctr_group_let_go(struct perfctr_group *group);	/* a holder's */
/* The child's mark is current's from now on. thread: NULL, there was no memory for one. */
void perfctr_group_join(struct task_struct *child, struct perfctr_thread *thread);
void perfctr_group_forget(struct task_struct *task);	/* a dead one */
void perfctr_group_drop(struct perfctr_thread *thread, bool exec);	/* current's */

#endif
