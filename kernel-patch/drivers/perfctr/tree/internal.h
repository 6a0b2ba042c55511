/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions and structs that the files of the room tree/ share. */
#ifndef _PERFCTR_TREE_INTERNAL_H
#define _PERFCTR_TREE_INTERNAL_H

#include "../cpu/cpu.h"
#include "tree.h"

/* The arguments of a change of control, and the objects that it replaces. */
struct perfctr_install {
	struct perfctr_hw_control *hw;	/* in: the new control; out: the one that it replaces */
	struct perfctr_thresholds *thresholds;	/* in: the new ones; out: the replaced ones */
	u32 flags;			/* PERFCTR_CONTROL_* */
	struct perfctr_page __percpu *shared;	/* in: for TOTALS; out: NULL if ctx has them */
	struct perfctr_page *old_page;	/* out: the page that ctx no longer uses, or NULL */
	u64 seed;			/* of the random parts of the tree's periods */
};

/*
 * shared.c: the page of each CPU, for a control with PERFCTR_CONTROL_TOTALS.
 *
 * perfctr_make_shared() allocates the pages: 0 or -ENOMEM. perfctr_free_shared() frees pages that
 * no context has taken over. These two and perfctr_sharing() need no lock. The other functions, up
 * to perfctr_unshare(), require the tree's lock.
 *
 * perfctr_pay_for_shared() charges the pages to the owner of the tree's descriptor: 0 or -EMFILE.
 * perfctr_pay_back_shared() uncharges pages that no context has taken over.
 * perfctr_start_shared() and perfctr_stop_shared() return -ESRCH if no thread shares ctx.
 * perfctr_add_shared() returns whether all sums are of one instant.
 */
int perfctr_make_shared(struct perfctr_install *install);
void perfctr_free_shared(struct perfctr_install *install);
int perfctr_pay_for_shared(struct perfctr_context *ctx, const struct perfctr_install *install);
void perfctr_pay_back_shared(struct perfctr_context *ctx, const struct perfctr_install *install);
u32 perfctr_sharing(const struct perfctr_context *ctx);	/* number of threads */
int perfctr_start_shared(struct perfctr_context *ctx);
int perfctr_stop_shared(struct perfctr_context *ctx);
bool perfctr_add_shared(struct perfctr_context *ctx, struct perfctr_counts *counts);
int perfctr_unshare(struct perfctr_context *ctx);
/* Makes task a sharer of ctx. task is not born yet, and interrupts are off. */
void perfctr_share(struct perfctr_context *ctx, struct task_struct *task,
		   struct perfctr_thread *thread);
/*
 * perfctr_leave_shared() removes current's shared context from current, with interrupts off. The
 * caller then ends the share by perfctr_drop_share(), with interrupts on. perfctr_remove_sharer()
 * does both for another thread, unless the thread's context is not shared, or is not only (NULL:
 * any). It returns the context, with the reference that the thread had, or NULL.
 *
 * A deserted context is started, but no thread shares it any more. After any of these calls the
 * caller must stop a deserted context, under the tree's lock.
 */
void perfctr_leave_shared(void);
void perfctr_drop_share(struct perfctr_context *ctx, struct task_struct *task);
struct perfctr_context *perfctr_remove_sharer(struct task_struct *task,
					      struct perfctr_context *only);
bool perfctr_is_deserted(const struct perfctr_context *ctx);

/*
 * record.c: records of members that have exited. make, fill and free need no lock. keep, next, lose
 * and drop require the tree's lock, or the last reference to the tree.
 */
struct perfctr_kept_record *perfctr_make_record(struct perfctr_context *ctx,
						struct task_struct *task);
void perfctr_fill_record(struct perfctr_kept_record *record, const struct perfctr_context *ctx);
void perfctr_free_record(struct perfctr_kept_record *record);	/* NULL is fine */
void perfctr_keep_record(struct perfctr_tree *tree, struct perfctr_kept_record *record);
int perfctr_tree_next_record(struct perfctr_tree *tree, struct perfctr_exit_record *record);
void perfctr_tree_lose_record(struct perfctr_tree *tree, const struct perfctr_exit_record *record);
void perfctr_drop_records(struct perfctr_tree *tree);

/*
 * state.c, under the tree's lock: may the caller see the sums, or map the page? 0 or -EACCES;
 * perfctr_may_map() also -EOPNOTSUPP, for a shared context.
 */
int perfctr_may_see(const struct perfctr_context *ctx);
int perfctr_may_map(struct perfctr_context *ctx);

/* state.c */
void perfctr_state_init(struct perfctr_context *ctx, const struct perfctr_hw_control *hw);
void perfctr_follow(struct perfctr_context *ctx);	/* the thread cannot be switched */
void perfctr_add_sums(const struct perfctr_context *ctx, struct perfctr_counts *counts);
int perfctr_read_own(struct perfctr_context *ctx, struct perfctr_counts *counts);

/*
 * context.c: calls fn(ctx, live, arg) as perfctr_call_task() does for the context's thread. Returns
 * fn's result, or -ESRCH if the context is attached to no thread.
 */
typedef int (*perfctr_call_fn)(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_call(struct perfctr_context *ctx, perfctr_call_fn fn, void *arg);

/* state.c: for perfctr_call() */
int perfctr_move_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_start_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_stop_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_install_fn(struct perfctr_context *ctx, bool live, void *arg);
int perfctr_read_fn(struct perfctr_context *ctx, bool live, void *arg);

/* page.c */
void perfctr_update_mappings(struct perfctr_context *ctx);

/*
 * hold.c. perfctr_may_hold() and perfctr_hold_for() require the tree's lock, the others no lock.
 * perfctr_drop_hold() and perfctr_release_hold() may sleep.
 */
int perfctr_may_hold(const struct perfctr_hw_control *hw);
int perfctr_hold(struct perfctr_hw_control *hw, struct perfctr_control *control);
void perfctr_drop_hold(struct perfctr_hw_control *hw);
int perfctr_hold_for(struct perfctr_context *ctx);
void perfctr_hold_too(struct perfctr_context *ctx, struct perfctr_hw_control *hw);
void perfctr_release_hold(struct perfctr_context *ctx);

/* context.c */
struct perfctr_context *perfctr_alloc(gfp_t gfp);	/* in no tree; NULL: no memory */
void perfctr_discard(struct perfctr_context *ctx); /* frees an unused one; does not sleep */
struct perfctr_tree *perfctr_alloc_tree(void);
int perfctr_attach(struct perfctr_context *ctx, struct task_struct *task);
void perfctr_forget_task(struct perfctr_context *ctx, struct task_struct *task);
void perfctr_detach_here(struct perfctr_context *ctx);
void perfctr_detach_done(struct perfctr_context *ctx);
int perfctr_detach(struct perfctr_context *ctx);

#endif
