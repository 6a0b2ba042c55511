/* SPDX-License-Identifier: GPL-2.0-only */
/* Contexts and trees, as the context switch and the room tree/ use them. */
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

/* How the ends of a tree's periods deviate from multiples of the period. */
struct perfctr_variation {
	bool phase;		/* PERFCTR_CONTROL_PHASE */
	u32 jitter;		/* percent */
	u64 chosen;		/* seed chosen by the user; 0: none */
	u64 seed;		/* seed of this control */
	atomic64_t threads;	/* threads that have begun to count under it */
};

/*
 * The state that a context shares with all contexts inherited from it. A birth never waits for the
 * lock: it queues the context, and the next holder of the lock brings the tree up to date. An exit
 * that finds the lock taken queues the context, too, and waits only if very many exits are queued.
 */
struct perfctr_tree {
	refcount_t refs;		/* one for each context */
	struct list_head list;		/* in the list of all trees */
	struct perfctr_opener opener;
	struct llist_head born;		/* members not linked yet, youngest first */
	struct llist_head gone;		/* members that have left, last first */
	atomic_t n_gone;		/* members in gone */
	u64 generation;			/* of the root's control; no member's is higher */
	bool keep_records;
	struct mutex lock;	/* protects parents, children, exited sums, controls, records */
	struct perfctr_context *root;	/* NULL before it is attached, and after it is closed */
	struct list_head records;	/* of members that have exited, oldest first */
	u32 n_records;
	u32 lost_records;
	struct perfctr_owner *payer;	/* of the tree's memory: owner of the root's descriptor */
	bool revoked;		/* by the administrator, since the last control */
	bool incomplete;	/* since the last control, some thread is missing as a member */
	struct pid_namespace *ns;	/* for the thread numbers in records */
	struct perfctr_variation variation;
	struct perfctr_sampling *sampling;	/* NULL: the tree is not sampled */
	wait_queue_head_t wait;		/* for records and samples */
};

/*
 * The virtual counters of one thread. The thread holds a reference while the context is attached,
 * and each open file holds one. The thread is watched while the context is started or the thread is
 * marked.
 *
 * A shared context (tree/shared.c) is the context of all threads of its tree. Each of these threads
 * holds a reference and is watched all the time, and the counters are in one page for each CPU.
 *
 * hw, thresholds, started, inherit, generation and page change only while the thread cannot be
 * switched: in perfctr_call(), or by the thread itself with interrupts off. In a detached context
 * they change under the tree's lock, and so does started in a shared context. Before its thread is
 * born, a context is in no tree, and no other thread can find it.
 */
struct perfctr_context {
	refcount_t refs;
	spinlock_t lock;		/* protects task; nests inside the tree's lock */
	struct task_struct *task;	/* attached thread; NULL when detached */
	struct perfctr_hw_control *hw;	/* NULL before the first control */
	struct perfctr_page *page;	/* state; of page size once a process has mapped it */
	u64 generation;			/* of its control; less than the tree's: an older control */
	bool started;
	bool inherit;			/* new threads become members */
	bool leaving;			/* its thread detaches it; it is still in the tree */
	struct perfctr_page __percpu *shared;	/* a page for each CPU; NULL: not shared */
	atomic_t sharers;		/* threads that share it, except the root's */
	struct list_head mappings;	/* mappings of the page, protected by lock */
	u64 shown_to;			/* ctx_id of its thread's mm if that maps page, else 0 */
	struct perfctr_thresholds *thresholds;	/* if hw has periods */

	struct perfctr_tree *tree;
	struct llist_node born;
	struct llist_node gone;
	struct perfctr_kept_record *record;	/* if the thread has left; NULL: none */
	struct perfctr_hw_control *held; /* by tree/hold.c; NULL: none; dropped by xchg() */
	/* The following are protected by the tree's lock: */
	struct perfctr_context *parent;	/* nearest living ancestor, or the root */
	struct list_head children;	/* contexts whose parent is this context */
	struct list_head sibling;	/* in the parent's list of children */
	bool page_is_users;		/* a process that maps it may not count kernel mode */
	struct perfctr_counts exited;	/* sums of exited members below */

	/* The state until a process maps page: as many bytes as the machine's counters need. */
	u64 state[] ____cacheline_aligned;
};

/* Returns whether ctx's state is in a page of its own, which processes may have mapped. */
static inline bool perfctr_has_page(const struct perfctr_context *ctx)
{
	return ctx->page != (const struct perfctr_page *)ctx->state;
}

static inline bool perfctr_has_periods(const struct perfctr_context *ctx)
{
	return ctx->hw && ctx->hw->interrupts;
}

/* Returns the page that ctx counts into on this CPU. Interrupts are off. */
static __always_inline struct perfctr_page *perfctr_page_here(const struct perfctr_context *ctx)
{
	return unlikely(ctx->shared) ? this_cpu_ptr(ctx->shared) : ctx->page;
}

#endif
