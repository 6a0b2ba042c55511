/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts and trees, as the context switch and the room tree/ see them. */
#ifndef _PERFCTR_CONTEXT_H
#define _PERFCTR_CONTEXT_H

#include <linux/cache.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perfctr.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "../kernel/owner.h"
#include "../machine/pmu.h"
#include "page.h"

struct perfctr_kept_record;
struct perfctr_sampling;
struct perfctr_thresholds;
struct pid_namespace;

/* How the ends of a tree's periods differ from the multiples of the period. */
struct perfctr_variation {
	bool phase;		/* PERFCTR_CONTROL_PHASE */
	u32 jitter;		/* percent */
	u64 chosen;		/* seed, by the user; 0: none */
	u64 seed;		/* of this control */
	atomic64_t threads;	/* that have begun with it */
};

/*
 * What a context and all contexts that were inherited from it share. A birth and an exit do not
 * wait for the lock: they queue themselves, and the next holder of the lock brings the tree up to
 * date.
 */
struct perfctr_tree {
	refcount_t refs;		/* one by each context */
	struct list_head list;		/* of all trees */
	struct perfctr_opener opener;
	struct llist_head born;		/* members that are not linked yet, youngest first */
	struct llist_head gone;		/* members that are linked and have left, last first */
	atomic_t n_gone;
	u64 generation;			/* of the root's control; no member has a higher one */
	bool keep_records;
	struct mutex lock;	/* of parents and children, sums of exited, controls, records */
	struct perfctr_context *root;	/* NULL before it is attached, and after it is closed */
	struct list_head records;	/* of members that have exited, oldest first */
	u32 n_records;
	u32 lost_records;
	struct perfctr_owner *payer;	/* owner of the root's descriptor */
	bool revoked;		/* the administrator has stopped it since the last control */
	bool incomplete;	/* since the last control a child is no member for want of memory */
	struct pid_namespace *ns;	/* of the thread numbers in records */
	struct perfctr_variation variation;
	struct perfctr_sampling *sampling;	/* NULL: none */
	wait_queue_head_t wait;		/* for records, and samples */
};

/*
 * The virtual counters of one thread. References: one by the thread while attached, one by each
 * open file. The thread is watched while the context is started, or the thread is marked.
 *
 * If it is shared (tree/shared.c) it is the context of all threads of its tree. Each of them has a
 * reference and is watched all the time, and the counters are in a page of each CPU.
 *
 * hw, thresholds, started, inherit, generation and the page change only by perfctr_call() or in the
 * context switch of the thread. Of a shared context started changes under the tree's lock. Before
 * its thread is born a context is in no tree and nobody finds it.
 */
struct perfctr_context {
	refcount_t refs;
	spinlock_t lock;		/* of task; inside the tree's lock */
	struct task_struct *task;	/* attached to; NULL when detached */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	struct perfctr_page *page;	/* state; a page of memory once somebody has mapped it */
	u64 generation;			/* of the control that it was born under */
	bool started;
	bool inherit;			/* new threads become members */
	bool leaving;			/* its thread detaches it, the tree has not taken it yet */
	struct perfctr_page __percpu *shared;	/* NULL: it is not shared */
	atomic_t sharers;		/* threads that share it, without the root's */
	struct list_head mappings;	/* of the page, under lock */
	u64 shown_to;			/* context.ctx_id of the thread's mm if the page is there */
	struct perfctr_thresholds *thresholds;	/* of hw's periods, if it has any */

	struct perfctr_tree *tree;
	struct llist_node born;
	struct llist_node gone;
	struct perfctr_kept_record *record;	/* if it has left, NULL: none */
	struct perfctr_hw_control *held; /* reserved by tree/hold.c, or NULL; let go by xchg() */
	/* Under the tree's lock: */
	struct perfctr_context *parent;	/* nearest above that has not exited, or the root */
	struct list_head children;	/* contexts whose parent is this context */
	struct list_head sibling;	/* in the parent's children */
	bool page_is_users;		/* its mapper may not count kernel mode */
	struct perfctr_counts exited;	/* sums of the members below that have exited */

	/* What page points to before it is mapped: a page with the machine's counters alone. */
	u64 state[] ____cacheline_aligned;
};

static inline bool perfctr_has_page(const struct perfctr_context *ctx)
{
	return ctx->page != (const struct perfctr_page *)ctx->state;
}

static inline bool perfctr_has_periods(const struct perfctr_context *ctx)
{
	return ctx->hw && ctx->hw->interrupts;
}

/* The page that ctx counts into on this CPU. Interrupts are off. */
static __always_inline struct perfctr_page *perfctr_page_here(const struct perfctr_context *ctx)
{
	return unlikely(ctx->shared) ? this_cpu_ptr(ctx->shared) : ctx->page;
}

#endif
