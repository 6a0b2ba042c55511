// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members of trees: births and exits. A member that exits adds what it and its exited children
 * counted to its parent and hands its children over to it, so that every count is in exactly one
 * place at any time.
 *
 * The tree's lock may be held for long, by who reads a large tree. Births and exits do not wait for
 * it but queue themselves; each caller sees those that were queued before it got the lock.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include "../session/session.h"
#include "../machine/machine.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "internal.h"
#include "members.h"

/* The next after pos of top and all below it, parents before children; NULL at the end. */
struct perfctr_context *perfctr_next_member(struct perfctr_context *top,
					    struct perfctr_context *pos)
{
	lockdep_assert_held(&top->tree->lock);
	if (!list_empty(&pos->children))
		return list_first_entry(&pos->children, struct perfctr_context, sibling);
	while (pos != top && list_is_last(&pos->sibling, &pos->parent->children))
		pos = pos->parent;
	return pos == top ? NULL : list_next_entry(pos, sibling);
}

/* Members that were born since, parents before their children. Under the tree's lock. */
void perfctr_link_born(struct perfctr_tree *tree)
{
	struct llist_node *born;
	struct perfctr_context *ctx, *next;

	lockdep_assert_held(&tree->lock);
	if (llist_empty(&tree->born))
		return;
	born = llist_reverse_order(llist_del_all(&tree->born));
	llist_for_each_entry_safe(ctx, next, born, born)
		list_add_tail(&ctx->sibling, &ctx->parent->children);
}

/*
 * What the detached member counted, and the members below it, now belong to its parent. What it
 * counted under another control than its parent's is nobody's.
 */
static void hand_over_counts(struct perfctr_context *ctx)
{
	struct perfctr_context *parent = ctx->parent, *child;

	lockdep_assert_held(&ctx->tree->lock);
	list_for_each_entry(child, &ctx->children, sibling)
		child->parent = parent;
	list_splice_tail_init(&ctx->children, &parent->children);
	list_del_init(&ctx->sibling);
	ctx->parent = NULL;
	if (ctx->generation != parent->generation)
		return;
	if (unlikely(ctx->hw->interrupts))
		perfctr_hand_over_periods(ctx, parent);
	perfctr_add_sums(ctx, &parent->exited);
	if (ctx->exited.n_counters || ctx->exited.tsc)
		perfctr_add_counts(&parent->exited, &ctx->exited);
}

/* record: of ctx, or NULL. What it counted under a former control nobody wants to know. */
static void settle_record(struct perfctr_context *ctx, struct perfctr_kept_record *record)
{
	if (ctx->generation == ctx->tree->generation)
		perfctr_keep_record(ctx->tree, record);
	else
		perfctr_free_record(record);
}

/* ctx has left by itself. */
static void take_exited_member(struct perfctr_context *ctx)
{
	if (ctx->parent)
		hand_over_counts(ctx);
	settle_record(ctx, ctx->record);
	ctx->record = NULL;
	ctx->leaving = false;
}

static void take_queued_member(struct perfctr_context *ctx)
{
	take_exited_member(ctx);
	atomic_dec(&ctx->tree->n_gone);
	perfctr_put(ctx);
}

/* Under the tree's lock. Who has gone was born before: so those are taken first and linked last. */
static void catch_up_with_members(struct perfctr_tree *tree)
{
	struct llist_node *gone = NULL;
	struct perfctr_context *ctx, *next;

	lockdep_assert_held(&tree->lock);
	if (!llist_empty(&tree->gone))
		gone = llist_reverse_order(llist_del_all(&tree->gone));
	perfctr_link_born(tree);
	llist_for_each_entry_safe(ctx, next, gone, gone) {
		take_queued_member(ctx);
		cond_resched();
	}
}

void perfctr_lock_tree_unkillable(struct perfctr_tree *tree)
{
	mutex_lock(&tree->lock);
	catch_up_with_members(tree);
}

int perfctr_lock_tree(struct perfctr_tree *tree)
{
	if (mutex_lock_killable(&tree->lock))
		return -EINTR;
	catch_up_with_members(tree);
	return 0;
}

/* For those who left while somebody else had the lock, who does it otherwise. */
static void try_catch_up_with_members(struct perfctr_tree *tree)
{
	while (!llist_empty(&tree->gone) && mutex_trylock(&tree->lock)) {
		catch_up_with_members(tree);
		mutex_unlock(&tree->lock);
		smp_mb();	/* the lock before the queue: others fill it, then try the lock */
	}
}

void perfctr_unlock_tree(struct perfctr_tree *tree)
{
	mutex_unlock(&tree->lock);
	smp_mb();	/* as above */
	try_catch_up_with_members(tree);
}

/* For current, which is not given another control, stopped or detached meanwhile. */
static bool is_context_inherited(const struct perfctr_context *parent)
{
	return parent && parent->inherit &&
	       parent->generation == READ_ONCE(parent->tree->generation);
}

/* hw has periods. NULL: no memory. */
static noinline struct perfctr_context *alloc_context_with_periods(struct perfctr_hw_control *hw,
								   gfp_t gfp)
{
	struct perfctr_context *ctx = perfctr_alloc(gfp);

	if (!ctx)
		return NULL;
	ctx->thresholds = perfctr_make_thresholds(hw, false, gfp);
	if (!ctx->thresholds) {
		perfctr_put(ctx);
		return NULL;
	}
	return ctx;
}

/* Its next thread is to be a member, with a context of its own. Interrupts off. */
static bool is_child_context_wanted(const struct perfctr_context *parent)
{
	return is_context_inherited(parent) && !parent->shared;
}

/*
 * current makes a thread. What can fail, or sleep where gfp allows it, is done now; that nobody
 * knows of it yet makes it easy to undo.
 */
struct perfctr_context *perfctr_tree_prepare_child(gfp_t gfp)
{
	struct perfctr_hw_control *periods = NULL;
	const struct perfctr_context *parent;
	struct perfctr_context *ctx;
	bool wanted;

	lockdep_assert_irqs_enabled();
	local_irq_disable();
	parent = perfctr_thread(current)->context;
	wanted = is_child_context_wanted(parent);
	if (wanted && unlikely(parent->hw->interrupts)) {
		periods = parent->hw;
		perfctr_hw_get(periods);
	}
	local_irq_enable();
	if (!wanted)
		return NULL;
	ctx = unlikely(periods) ? alloc_context_with_periods(periods, gfp) : perfctr_alloc(gfp);
	perfctr_hw_put(periods);
	return ctx ?: ERR_PTR(-ENOMEM);
}

/* A new thread of current's process that runs in user mode. */
static bool has_same_handlers(const struct task_struct *task)
{
	return task->tgid == current->tgid && !(task->flags & (PF_IO_WORKER | PF_USER_WORKER));
}

/* ctx is nobody's but task's, and task nobody's but current's, whose context is parent. */
static void add_child_member(struct perfctr_context *parent, struct perfctr_context *ctx,
			     struct task_struct *task, struct perfctr_thread *thread)
{
	perfctr_hw_get(parent->hw);
	ctx->hw = parent->hw;
	if (unlikely(ctx->hw->interrupts))
		perfctr_fit_thresholds(ctx, parent, has_same_handlers(task));
	perfctr_state_init(ctx, ctx->hw);
	ctx->tree = parent->tree;
	refcount_inc(&ctx->tree->refs);
	ctx->inherit = true;
	ctx->generation = parent->generation;
	ctx->parent = parent;
	ctx->task = task;
	WRITE_ONCE(thread->context, ctx);
	if (parent->started) {
		perfctr_hold_too(ctx, ctx->hw);
		perfctr_start_fn(ctx, false, NULL);
	}
	llist_add(&ctx->born, &ctx->tree->born);
}

/* Interrupts off: current's context is taken as it is now. ctx is task's, NULL, or an error. */
static void add_child_now(struct task_struct *task, struct perfctr_context *ctx)
{
	struct perfctr_context *parent = perfctr_thread(current)->context;
	bool shares = is_context_inherited(parent) && parent->shared;
	struct perfctr_context *member = is_child_context_wanted(parent) ? ctx : NULL;
	struct perfctr_thread *thread = NULL;

	lockdep_assert_irqs_disabled();
	if (member || shares || perfctr_live_mark(current))
		thread = perfctr_thread_add_child(task);
	if (thread && !thread->context && shares) {
		perfctr_share(parent, task, thread);
	} else if (thread && !thread->context && !IS_ERR_OR_NULL(member)) {
		add_child_member(parent, member, task, thread);
		ctx = NULL;
	} else if (member || shares) {
		WRITE_ONCE(parent->tree->incomplete, true);
	}
	perfctr_group_join(task, thread);
	perfctr_thread_ready(thread);
	perfctr_thread_put(thread);
	if (!IS_ERR_OR_NULL(ctx))
		perfctr_discard(ctx);
}

/*
 * The birth of task: it cannot fail any more, and task has not run. ctx is the result of
 * perfctr_tree_prepare_child(). NULL means that current did not inherit at that time; if it does
 * now, the context is allocated here, where nothing may sleep. Such a context needs no thresholds:
 * current has got its control since then, with spare ones. With the module other threads can have
 * found task already: it is locked then, and a context or mark that they gave it stays.
 */
void perfctr_tree_add_child(struct task_struct *task, struct perfctr_context *ctx)
{
	unsigned long flags;

	local_irq_save(flags);
	while (!ctx && is_child_context_wanted(perfctr_thread(current)->context)) {
		local_irq_restore(flags);	/* PREEMPT_RT allocates with interrupts on alone */
		ctx = perfctr_alloc(GFP_ATOMIC | __GFP_NOWARN) ?: ERR_PTR(-ENOMEM);
		local_irq_save(flags);
	}
	add_child_now(task, ctx);
	local_irq_restore(flags);
}

/*
 * Under the tree's lock. The member may be about to leave by itself: its counts are final then,
 * too. What it made before it was detached is linked: later it makes no members.
 */
static int end_member(struct perfctr_context *ctx)
{
	int err;

	lockdep_assert_held(&ctx->tree->lock);
	err = perfctr_detach(ctx);
	perfctr_link_born(ctx->tree);
	if (ctx->parent)
		hand_over_counts(ctx);
	return err;
}

/* All but those of a generation. They end before their children, so that none can escape. */
void perfctr_end_members_below(struct perfctr_context *top, u64 but)
{
	struct perfctr_context *child, *next;
	bool again;

	lockdep_assert_held(&top->tree->lock);
	do {
		again = false;
		list_for_each_entry_safe(child, next, &top->children, sibling) {
			if (child->generation == but)
				continue;
			refcount_inc(&child->refs);
			end_member(child);
			perfctr_put(child);
			again = true;
			cond_resched();
		}
	} while (again);
}

/* More that have left than that wait for who has the lock: it makes no progress. */
#define MAX_GONE	1024

/* Somebody has the tree's lock, who may have it for long. */
static void queue_exited_member(struct perfctr_context *ctx)
{
	struct perfctr_tree *tree = ctx->tree;

	refcount_inc(&ctx->refs);
	atomic_inc(&tree->n_gone);
	llist_add(&ctx->gone, &tree->gone);
	try_catch_up_with_members(tree);
	if (atomic_read(&tree->n_gone) > MAX_GONE) {
		perfctr_lock_tree_unkillable(tree);
		perfctr_unlock_tree(tree);
	}
}

/* Who is told later that current has ended finds in the tree what ctx counted, which was its. */
static void leave_tree(struct perfctr_context *ctx)
{
	struct perfctr_tree *tree = ctx->tree;

	ctx->record = perfctr_make_record(ctx);
	if (ctx->record)
		perfctr_fill_record(ctx->record, ctx, current);
	if (mutex_trylock(&tree->lock)) {
		catch_up_with_members(tree);
		take_exited_member(ctx);
		perfctr_unlock_tree(tree);
	} else {
		queue_exited_member(ctx);
	}
}

/* A thread has left ctx, which it shared. On its CPU the counters may still run. */
static void settle_shared_context(struct perfctr_context *ctx)
{
	if (perfctr_is_deserted(ctx)) {
		perfctr_lock_tree_unkillable(ctx->tree);
		if (ctx->shared && perfctr_is_deserted(ctx))
			perfctr_stop_shared(ctx);
		perfctr_unlock_tree(ctx->tree);
	}
	perfctr_put(ctx);
}

/*
 * current's context is not its any more. *shared: was it shared? A control may make it the one or
 * the other at any time until interrupts are off.
 */
static struct perfctr_context *take_own_context(struct perfctr_thread *thread, bool *shared)
{
	struct perfctr_context *ctx;

	local_irq_disable();
	ctx = thread->context;
	*shared = ctx && ctx->shared;
	if (*shared)
		perfctr_leave_shared();
	else if (ctx)
		perfctr_detach_here(ctx);
	local_irq_enable();
	return ctx;
}

static void leave_own_context(struct perfctr_thread *thread)
{
	bool shared;
	struct perfctr_context *ctx = take_own_context(thread, &shared);

	if (!ctx)
		return;
	if (shared) {
		perfctr_drop_share(ctx, current);
		settle_shared_context(ctx);
	} else {
		perfctr_detach_done(ctx);
		leave_tree(ctx);
		perfctr_put(ctx);
	}
}

/* current exits, or executes a file that its context must not follow it into. */
void perfctr_leave(void)
{
	struct perfctr_thread *thread = perfctr_thread_pin(current);

	if (!thread)
		return;
	if (READ_ONCE(thread->mark))
		perfctr_group_drop(thread, !(current->flags & PF_EXITING));
	leave_own_context(thread);
	perfctr_thread_put(thread);
}

static void remove_member(struct perfctr_context *ctx, struct task_struct *task)
{
	struct perfctr_kept_record *record = perfctr_make_record(ctx);

	perfctr_lock_tree_unkillable(ctx->tree);
	if (ctx->shared || end_member(ctx)) {	/* by now, or it leaves by itself */
		perfctr_free_record(record);
	} else {
		if (record)
			perfctr_fill_record(record, ctx, task);
		settle_record(ctx, record);
	}
	perfctr_unlock_tree(ctx->tree);
}

/*
 * Ends the thread's membership of a tree, whoever made it, as its exit would; another context can
 * take its place.
 */
void perfctr_tree_remove_member(struct task_struct *task)
{
	struct perfctr_context *ctx = perfctr_remove_sharer(task, NULL);

	if (ctx) {
		settle_shared_context(ctx);
		return;
	}
	ctx = perfctr_find(task);
	if (!ctx)
		return;
	remove_member(ctx, task);
	perfctr_put(ctx);
}
