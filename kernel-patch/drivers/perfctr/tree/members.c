// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members of trees: births and exits. A member that exits adds its counts and those of its
 * exited children to its parent, and hands its children over to the parent: every count is in
 * exactly one place at any time.
 *
 * A thread that reads a large tree may hold the tree's lock for long. Births and exits do not wait
 * for the lock: they enqueue the context. Each holder of the lock sees all births and exits that
 * were queued before it got the lock.
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

/* Returns the first child, else the next sibling of pos or of its nearest ancestor that has one. */
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

/* The queue of births has the youngest member first, and is reversed. Under the tree's lock. */
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
 * Moves the counts of ctx, which is detached, to ctx's parent, together with the members below ctx.
 * Discards counts under another control than the parent's.
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

/* Keeps ctx's record; NULL counts as lost. Discards a record made under an earlier control. */
static void settle_record(struct perfctr_context *ctx, struct perfctr_kept_record *record)
{
	if (ctx->generation == ctx->tree->generation)
		perfctr_keep_record(ctx->tree, record);
	else
		perfctr_free_record(record);
}

/* The thread of ctx has exited, or left ctx in an exec. Settles ctx's counts and its record. */
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

/*
 * Links and settles the queued members, under the tree's lock. A member enters the queue of births
 * before it enters the queue of exits. If the queue of exits is emptied first and settled last,
 * each of its members has been linked by then.
 */
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

/*
 * Settles members that left while another thread had the lock. If the trylock fails, the new holder
 * of the lock settles them.
 */
static void try_catch_up_with_members(struct perfctr_tree *tree)
{
	while (!llist_empty(&tree->gone) && mutex_trylock(&tree->lock)) {
		catch_up_with_members(tree);
		mutex_unlock(&tree->lock);
		smp_mb();	/* unlock, then read the queue; exits queue, then try the lock */
	}
}

void perfctr_unlock_tree(struct perfctr_tree *tree)
{
	mutex_unlock(&tree->lock);
	smp_mb();	/* as above */
	try_catch_up_with_members(tree);
}

/*
 * Do current's children inherit its context, parent? Interrupts are off, so no other thread changes
 * the context's control, stops it or detaches it meanwhile.
 */
static bool is_context_inherited(const struct perfctr_context *parent)
{
	return parent && parent->inherit &&
	       parent->generation == READ_ONCE(parent->tree->generation);
}

/* For a control with periods. NULL: no memory. */
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

/* Does current's next child become a member with a context of its own? Interrupts are off. */
static bool is_child_context_wanted(const struct perfctr_context *parent)
{
	return is_context_inherited(parent) && !parent->shared;
}

/*
 * current is about to create a thread. Everything that can fail, or may sleep if gfp allows it, is
 * done here, while no other thread knows the context and it is easy to discard.
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

/* Does task belong to current's process, and run in user mode with the same signal handlers? */
static bool has_same_handlers(const struct task_struct *task)
{
	return task->tgid == current->tgid && !(task->flags & (PF_IO_WORKER | PF_USER_WORKER));
}

/*
 * current is still creating task: nobody else can see ctx or change task's context yet. parent is
 * current's context. Interrupts are off.
 */
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

/*
 * Makes task a member of current's tree and mark, as they are now. Interrupts are off. ctx is the
 * context prepared for task, NULL or an error. It is used or discarded.
 */
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
	perfctr_mark_join(task, thread);
	perfctr_thread_ready(thread);
	perfctr_thread_put(thread);
	if (!IS_ERR_OR_NULL(ctx))
		perfctr_discard(ctx);
}

/*
 * The birth of task, whose creation cannot fail any more, and which has not run. ctx is the result
 * of perfctr_tree_prepare_child(). NULL means that the child was not to inherit current's context
 * at that time. If the child is to inherit it now, the child's context is allocated here, where
 * nothing may sleep. Such a context needs no new thresholds: current has got its control since
 * then, and with it a spare set. With the module, other threads may have found task already: the
 * caller holds task_lock(task), and a context or mark that task has been given stays.
 */
void perfctr_tree_add_child(struct task_struct *task, struct perfctr_context *ctx)
{
	unsigned long flags;

	local_irq_save(flags);
	while (!ctx && is_child_context_wanted(perfctr_thread(current)->context)) {
		local_irq_restore(flags);	/* PREEMPT_RT allocates only with interrupts on */
		ctx = perfctr_alloc(GFP_ATOMIC | __GFP_NOWARN) ?: ERR_PTR(-ENOMEM);
		local_irq_save(flags);
	}
	add_child_now(task, ctx);
	local_irq_restore(flags);
}

/*
 * Detaches ctx and hands its counts over to its parent, under the tree's lock. -ESRCH: the thread
 * of ctx is detaching ctx itself, and the counts are final then, too. Links the children that were
 * born before the detach. No more are born after it.
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

/*
 * Ends every member of another generation than but. Parents go first, so that no child born
 * meanwhile is missed.
 */
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

/*
 * If more exits than this are queued, an exit waits for the tree's lock. Otherwise the lock's
 * holder might never catch up.
 */
#define MAX_GONE	1024

/* Another thread has the tree's lock, perhaps for long: enqueues ctx for the lock's holder. */
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

/*
 * Hands over ctx, which current has detached from itself. A thread that learns of current's exit
 * afterwards, as by wait(), finds ctx's counts in the tree.
 */
static void leave_tree(struct perfctr_context *ctx)
{
	struct perfctr_tree *tree = ctx->tree;

	ctx->record = perfctr_make_record(ctx, current);
	if (ctx->record)
		perfctr_fill_record(ctx->record, ctx);
	if (mutex_trylock(&tree->lock)) {
		catch_up_with_members(tree);
		take_exited_member(ctx);
		perfctr_unlock_tree(tree);
	} else {
		queue_exited_member(ctx);
	}
}

/*
 * A thread has left its shared context ctx. Stops ctx if no thread is left, and puts the thread's
 * reference. The counters may still run on the thread's CPU.
 */
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
 * Removes current's context from current, and returns it or NULL. *shared: was it shared? A new
 * control may change this at any time while interrupts are on.
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

/* current exits, or executes a file that changes its ids or that it may not read. */
void perfctr_leave(void)
{
	struct perfctr_thread *thread = perfctr_thread_pin(current);

	if (!thread)
		return;
	if (READ_ONCE(thread->mark))
		perfctr_mark_drop(thread, !(current->flags & PF_EXITING));
	leave_own_context(thread);
	perfctr_thread_put(thread);
}

static void remove_member(struct perfctr_context *ctx, struct task_struct *task)
{
	struct perfctr_kept_record *record = perfctr_make_record(ctx, task);

	perfctr_lock_tree_unkillable(ctx->tree);
	if (ctx->shared || end_member(ctx)) {	/* now shared, or the thread has detached ctx */
		perfctr_free_record(record);
	} else {
		if (record)
			perfctr_fill_record(record, ctx);
		settle_record(ctx, record);
	}
	perfctr_unlock_tree(ctx->tree);
}

/*
 * Ends task's membership of a tree, no matter which process made the tree, as task's exit would.
 * Afterwards task can get another context.
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
