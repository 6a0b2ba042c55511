// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees: a context and all contexts inherited from it are made, controlled, started, stopped, read
 * and closed as one.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include "../session/session.h"
#include "../machine/machine.h"
#include "../kernel/owner.h"
#include "internal.h"
#include "members.h"

static struct perfctr_context *alloc_root(void)
{
	struct perfctr_context *ctx = perfctr_alloc(GFP_KERNEL);

	if (!ctx)
		return NULL;
	perfctr_state_init(ctx, NULL);
	ctx->tree = perfctr_alloc_tree();
	if (!ctx->tree) {
		perfctr_put(ctx);
		return NULL;
	}
	ctx->generation = ctx->tree->generation;
	return ctx;
}

/* Makes a context for task, stopped: the root of a new tree. Errors: those of perfctr_attach(). */
struct perfctr_context *perfctr_open_tree(struct task_struct *task)
{
	struct perfctr_context *ctx = alloc_root();
	int err;

	if (!ctx)
		return ERR_PTR(-ENOMEM);
	err = perfctr_attach(ctx, task);
	if (err) {
		perfctr_put(ctx);
		return ERR_PTR(err);
	}
	perfctr_lock_tree_unkillable(ctx->tree);
	ctx->tree->root = ctx;
	perfctr_unlock_tree(ctx->tree);
	return ctx;
}

void perfctr_set_payer(struct perfctr_tree *tree, struct perfctr_owner *owner)
{
	perfctr_lock_tree_unkillable(tree);
	perfctr_drop_records(tree);
	tree->payer = owner;
	perfctr_unlock_tree(tree);
}

static int close_tree_locked(struct perfctr_context *ctx)
{
	struct perfctr_tree *tree = ctx->tree;
	int err;

	lockdep_assert_held(&tree->lock);
	WRITE_ONCE(tree->generation, tree->generation + 1);
	err = ctx->shared ? perfctr_unshare(ctx) : 0;
	if (err)
		return err;
	perfctr_detach(ctx);
	perfctr_link_born(tree);
	perfctr_end_members_below(ctx, 0);
	tree->root = NULL;
	return 0;
}

/*
 * Ends the tree, whose owner has closed its descriptor: detaches all members. -EINTR: the caller is
 * being killed, and some members are left. Another thread has to call this again.
 */
int perfctr_tree_close(struct perfctr_context *ctx)
{
	int err;

	perfctr_lock_tree_unkillable(ctx->tree);
	err = close_tree_locked(ctx);
	perfctr_unlock_tree(ctx->tree);
	if (!err)
		perfctr_end_sampling(ctx->tree);
	return err;
}

/* -EBUSY: ctx has a control already, or the tree is sampled already. */
int perfctr_open_samples(struct perfctr_context *ctx, struct perfctr_samples_args *args)
{
	int err = perfctr_check_samples(args) ?: perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = ctx->hw ? -EBUSY : perfctr_begin_sampling(ctx->tree, args);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/*
 * Stops ctx and gives it the new control. From then on no child of the thread is born under the old
 * control. If ctx gives up its page, the processes that have mapped the page continue to see the
 * sums at which ctx was stopped.
 */
static int replace_context_control(struct perfctr_context *ctx, struct perfctr_install *install)
{
	int err;

	if (install->hw->interrupts) {
		install->thresholds = perfctr_make_thresholds(install->hw, true, GFP_KERNEL);
		if (!install->thresholds)
			return -ENOMEM;
		install->seed = ctx->tree->variation.chosen ?: get_random_u64();
	}
	err = perfctr_call(ctx, perfctr_install_fn, install);
	perfctr_free_thresholds(install->thresholds);
	if (install->old_page) {
		ctx->page_is_users = false;
		free_page((unsigned long)install->old_page);
	}
	return err;
}

static int start_member(struct perfctr_context *ctx)
{
	int err;

	if (ctx->shared)
		return perfctr_start_shared(ctx);
	err = perfctr_hold_for(ctx) ?: perfctr_call(ctx, perfctr_start_fn, NULL);
	if (err)
		perfctr_release_hold(ctx);
	return err;
}

static int stop_member(struct perfctr_context *ctx)
{
	int err;

	if (ctx->shared)
		return perfctr_stop_shared(ctx);
	err = perfctr_call(ctx, perfctr_stop_fn, NULL);
	perfctr_release_hold(ctx);
	return err;
}

/*
 * Takes the hold for the new control before it replaces the old one. Ends the members of the old
 * control afterwards, when no more of them can be born. Under the tree's lock.
 */
static int install_control_locked(struct perfctr_context *ctx, struct perfctr_install *install,
				  struct perfctr_control *control)
{
	bool start = !(install->flags & PERFCTR_CONTROL_STOPPED);
	struct perfctr_hw_control *hw = install->hw;
	int err = start ? perfctr_may_hold(hw) ?: perfctr_hold(hw, control) : 0;

	lockdep_assert_held(&ctx->tree->lock);
	if (err)
		return err;
	if (ctx->shared)
		err = perfctr_unshare(ctx);
	if (!err)
		err = replace_context_control(ctx, install);
	if (!err)
		perfctr_release_hold(ctx);
	else if (start)
		perfctr_drop_hold(hw);
	if (err)
		return err;
	perfctr_update_mappings(ctx);
	WRITE_ONCE(ctx->tree->incomplete, false);
	perfctr_drop_records(ctx->tree);
	memset(&ctx->exited, 0, sizeof(ctx->exited));
	ctx->exited.n_counters = ctx->hw->n_events;
	perfctr_link_born(ctx->tree);
	perfctr_end_members_below(ctx, ctx->generation);
	perfctr_clear_samples(ctx->tree, ctx->hw->n_events);
	if (start) {
		err = start_member(ctx);
		perfctr_drop_hold(hw);
	}
	return err;
}

/*
 * Removes a dead mark from the root's thread. Children do not inherit a dead mark: if the root kept
 * it, a switch between the root and another member could not be skipped.
 */
static void forget_mark(struct perfctr_context *ctx)
{
	struct task_struct *task = perfctr_get_task(ctx);

	if (!task)
		return;
	perfctr_mark_forget(task);
	put_task_struct(task);
}

int perfctr_install(struct perfctr_context *ctx, struct perfctr_hw_control *hw,
		    struct perfctr_control *control)
{
	struct perfctr_install change = { .hw = hw, .flags = control->flags };
	int err = perfctr_make_shared(&change) ?: perfctr_lock_tree(ctx->tree);

	if (!err) {
		err = READ_ONCE(ctx->task) ? perfctr_may_sample(ctx->tree, hw) : -ESRCH;
		if (err == -EACCES)
			perfctr_blame_kernel(control);
		if (!err)
			err = perfctr_pay_for_shared(ctx, &change);
		if (!err) {
			err = install_control_locked(ctx, &change, control);
			perfctr_pay_back_shared(ctx, &change);
		}
		if (!err && ctx->shared)
			forget_mark(ctx);
		perfctr_unlock_tree(ctx->tree);
	}
	perfctr_free_shared(&change);
	perfctr_hw_put(change.hw);
	return err;
}

/* control is zero except for its size. -ENOENT: ctx has none yet. */
int perfctr_tree_get_control(struct perfctr_context *ctx, struct perfctr_control *control)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	if (ctx->hw) {
		control->flags = (ctx->started ? 0 : PERFCTR_CONTROL_STOPPED) |
				 (ctx->inherit ? PERFCTR_CONTROL_INHERIT : 0) |
				 (ctx->shared ? PERFCTR_CONTROL_TOTALS : 0) |
				 (ctx->tree->variation.phase ? PERFCTR_CONTROL_PHASE : 0) |
				 (ctx->tree->keep_records ? PERFCTR_CONTROL_EXIT_RECORDS : 0);
		perfctr_tell_control(ctx->hw, control);
	} else {
		err = -ENOENT;
	}
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/*
 * Calls fn for ctx and all members below it. A child that a member creates after fn was called for
 * the member is born in the state that fn left. A child created before is linked into the tree, and
 * fn is called for the child after its parent. -ESRCH: all members have exited.
 */
static int call_tree(struct perfctr_context *ctx, int (*fn)(struct perfctr_context *ctx))
{
	struct perfctr_context *pos;
	int result, err = -ESRCH;

	for_each_member(pos, ctx) {
		result = fn(pos);
		if (result != -ESRCH)
			err = result;
		perfctr_link_born(ctx->tree);
		cond_resched();
	}
	return err;
}

/* Takes a hold before it starts the first member, so that either all members start or none does. */
static int start_tree_locked(struct perfctr_context *ctx)
{
	struct perfctr_hw_control *hw = ctx->hw;
	int err = hw ? perfctr_may_see(ctx) ?: perfctr_may_hold(hw) : -EINVAL;

	lockdep_assert_held(&ctx->tree->lock);
	if (err)
		return err;
	err = perfctr_hold(hw, NULL);
	if (err)
		return err;
	err = call_tree(ctx, start_member);
	perfctr_drop_hold(hw);
	return err;
}

int perfctr_tree_start(struct perfctr_context *ctx)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = start_tree_locked(ctx);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

int perfctr_tree_stop(struct perfctr_context *ctx)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = call_tree(ctx, stop_member);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/* Returns how many members hold counters. *counters: which; *tid: the root's thread, 0: exited. */
u32 perfctr_count_holding(struct perfctr_tree *tree, u64 *counters, s32 *tid)
{
	struct perfctr_context *pos;
	struct task_struct *task;
	u32 n = 0;

	if (perfctr_lock_tree(tree))
		return 0;
	if (tree->root) {
		for_each_member(pos, tree->root) {
			if (READ_ONCE(pos->held) && pos->hw->n_events)
				n += pos->shared ? perfctr_sharing(pos) : 1;
			cond_resched();
		}
		*counters = tree->root->hw ? tree->root->hw->slots : 0;
		task = perfctr_get_task(tree->root);
		*tid = task ? task_pid_nr_ns(task, task_active_pid_ns(current)) : 0;
		if (task)
			put_task_struct(task);
	}
	perfctr_unlock_tree(tree);
	return n;
}

static bool has_holding_member(struct perfctr_context *top)
{
	struct perfctr_context *pos;

	for_each_member(pos, top) {
		if (READ_ONCE(pos->held))
			return true;
		cond_resched();
	}
	return false;
}

/* Stops all members that hold counters. They may be started again. */
int perfctr_revoke_tree(struct perfctr_tree *tree)
{
	struct perfctr_context *root;
	int err = perfctr_lock_tree(tree);

	if (err)
		return err;
	root = tree->root;
	if (root && root->hw && root->hw->n_events) {
		/* Before the stop: the records of members that exit from now on have the flag. */
		WRITE_ONCE(tree->revoked, tree->revoked || has_holding_member(root));
		call_tree(root, stop_member);
	}
	perfctr_unlock_tree(tree);
	return 0;
}

/* Adds ctx's own sums. True: ctx's thread was running, and is not the caller. */
static bool add_own_counts(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	int live = perfctr_call(ctx, perfctr_read_fn, counts);

	if (live == -ESRCH)
		perfctr_add_sums(ctx, counts);	/* detached: the sums are final */
	counts->members += live != -ESRCH || READ_ONCE(ctx->leaving);
	return live == 1 && ctx->task != current;
}

static u64 switches_of_tree(struct perfctr_context *top)
{
	struct perfctr_context *pos;
	u64 switches = 0;

	for_each_member(pos, top) {
		switches += READ_ONCE(pos->page->switches);
		cond_resched();
	}
	return switches;
}

static bool is_member_below(const struct perfctr_context *pos, const struct perfctr_context *top)
{
	while (pos && pos != top)
		pos = pos->parent;
	return pos;
}

/*
 * Counts the members below top that were born during a walk over top. A parent may have exited
 * before the walk reached it: without its children a living tree could look empty.
 */
static u32 count_born(const struct perfctr_context *top)
{
	struct perfctr_context *pos;
	u32 n = 0;

	lockdep_assert_held(&top->tree->lock);
	llist_for_each_entry(pos, READ_ONCE(top->tree->born.first), born)
		n += is_member_below(pos, top);
	return n;
}

static bool add_tree_counts(struct perfctr_context *top, struct perfctr_counts *counts)
{
	struct perfctr_context *pos;
	bool disturbed = false;
	u64 before;
	u32 born;

	before = switches_of_tree(top);
	for_each_member(pos, top) {
		disturbed |= add_own_counts(pos, counts);
		perfctr_add_counts(counts, &pos->exited);
		cond_resched();
	}
	born = count_born(top);
	counts->members += born;
	return !disturbed && !born && switches_of_tree(top) == before;
}

static u32 flags_of_tree(const struct perfctr_tree *tree)
{
	return (READ_ONCE(tree->revoked) ? PERFCTR_COUNTS_REVOKED : 0) |
	       (READ_ONCE(tree->incomplete) ? PERFCTR_COUNTS_INCOMPLETE : 0);
}

static void read_sums(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	bool exited = !READ_ONCE(ctx->task);	/* read before the sums: if true, they are final */
	bool consistent = true;

	switch (counts->scope) {
	case PERFCTR_SCOPE_SELF:
		add_own_counts(ctx, counts);
		break;
	case PERFCTR_SCOPE_CHILDREN:
		perfctr_add_counts(counts, &ctx->exited);
		break;
	case PERFCTR_SCOPE_TREE:
		consistent = ctx->shared ? perfctr_add_shared(ctx, counts) :
					   add_tree_counts(ctx, counts);
		break;
	}
	if (ctx->started)
		counts->flags |= PERFCTR_COUNTS_STARTED;
	if (exited)
		counts->flags |= PERFCTR_COUNTS_EXITED;
	counts->flags |= flags_of_tree(ctx->tree);
	if (consistent)
		counts->flags |= PERFCTR_COUNTS_CONSISTENT;
}

/* -ESRCH: ctx is another thread's, or shared. */
static int read_own_sums(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	int kernel = perfctr_read_own(ctx, counts);

	if (kernel < 0)
		return kernel;
	counts->members = 1;
	counts->flags |= PERFCTR_COUNTS_CONSISTENT | flags_of_tree(ctx->tree);
	return kernel ? perfctr_may_count_kernel() : 0;
}

int perfctr_tree_read(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	int err = -ESRCH;

	if (counts->scope == PERFCTR_SCOPE_SELF)
		err = read_own_sums(ctx, counts);
	if (err != -ESRCH)
		return err;
	err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = perfctr_may_see(ctx);
	if (!err && ctx->shared && counts->scope != PERFCTR_SCOPE_TREE)
		err = -EOPNOTSUPP;
	if (!err)
		read_sums(ctx, counts);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/*
 * Takes the oldest record of ctx's tree. -EAGAIN: there is none. *generation: the generation of the
 * control under which the record was kept.
 */
int perfctr_take_record(struct perfctr_context *ctx, struct perfctr_exit_record *record,
			u64 *generation)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	*generation = ctx->tree->generation;
	err = perfctr_may_see(ctx) ?: perfctr_tree_next_record(ctx->tree, record);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/*
 * The caller has taken record, and could not deliver it. The record counts as lost, unless a new
 * control has dropped all records since then.
 */
void perfctr_lose_record(struct perfctr_context *ctx, const struct perfctr_exit_record *record,
			 u64 generation)
{
	perfctr_lock_tree_unkillable(ctx->tree);
	if (generation == ctx->tree->generation)
		perfctr_tree_lose_record(ctx->tree, record);
	perfctr_unlock_tree(ctx->tree);
}
