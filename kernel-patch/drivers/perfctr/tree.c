// SPDX-License-Identifier: GPL-2.0-only
/*
 * A context and those that the children of its thread inherited from it. A member that exits adds
 * what it and its exited children counted to its parent and hands its children over to it, so that
 * every count is in exactly one place at any time.
 *
 * The tree's lock may be held for long, by who reads a large tree. Births and exits do not wait for
 * it but queue themselves; each caller sees those that were queued before it got the lock.
 */
#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/perfctr_hooks.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include "perfctr.h"

static void add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts)
{
	u32 i;

	sum->flags |= counts->flags & PERFCTR_COUNTS_DISTURBED;
	sum->n_counters = max(sum->n_counters, counts->n_counters);
	sum->tsc += counts->tsc;
	sum->switches += counts->switches;
	sum->migrations += counts->migrations;
	for (i = 0; i < counts->n_counters; i++)
		sum->counter[i] += counts->counter[i];
	if (static_branch_unlikely(&perfctr_kinds))
		perfctr_kind_add(sum->kind_tsc, counts->kind_tsc);
}

/* The next after pos of top and all below it, parents before children; NULL at the end. */
static struct perfctr_context *next_member(struct perfctr_context *top, struct perfctr_context *pos)
{
	if (!list_empty(&pos->children))
		return list_first_entry(&pos->children, struct perfctr_context, sibling);
	while (pos != top && list_is_last(&pos->sibling, &pos->parent->children))
		pos = pos->parent;
	return pos == top ? NULL : list_next_entry(pos, sibling);
}

#define for_each_member(pos, top) \
	for (pos = (top); pos; pos = next_member(top, pos))

/* Members that were born since, parents before their children. Under the tree's lock. */
static void link_born(struct perfctr_tree *tree)
{
	struct llist_node *born;
	struct perfctr_context *ctx, *next;

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
static void hand_over(struct perfctr_context *ctx)
{
	struct perfctr_context *parent = ctx->parent, *child;
	struct perfctr_counts own = {};

	list_for_each_entry(child, &ctx->children, sibling)
		child->parent = parent;
	list_splice_tail_init(&ctx->children, &parent->children);
	list_del_init(&ctx->sibling);
	ctx->parent = NULL;
	if (ctx->generation != parent->generation)
		return;
	perfctr_copy_counts(ctx, &own);
	add_counts(&parent->exited, &own);
	add_counts(&parent->exited, &ctx->exited);
}

static void take_gone(struct perfctr_context *ctx)
{
	struct perfctr_tree *tree = ctx->tree;

	if (ctx->parent)
		hand_over(ctx);
	if (ctx->generation == tree->generation)
		perfctr_keep_record(tree, ctx->record);
	else
		perfctr_free_record(ctx->record);
	ctx->record = NULL;
	atomic_dec(&tree->n_gone);
	perfctr_put(ctx);
}

/* Under the tree's lock. Who has gone was born before: so those are taken first and linked last. */
static void catch_up(struct perfctr_tree *tree)
{
	struct llist_node *gone = llist_reverse_order(llist_del_all(&tree->gone));
	struct perfctr_context *ctx, *next;

	link_born(tree);
	llist_for_each_entry_safe(ctx, next, gone, gone) {
		take_gone(ctx);
		cond_resched();
	}
}

int perfctr_lock_tree(struct perfctr_tree *tree)
{
	if (mutex_lock_killable(&tree->lock))
		return -EINTR;
	catch_up(tree);
	return 0;
}

/* For those who left while somebody else had the lock, who does it otherwise. */
static void try_catch_up(struct perfctr_tree *tree)
{
	while (!llist_empty(&tree->gone) && mutex_trylock(&tree->lock)) {
		catch_up(tree);
		mutex_unlock(&tree->lock);
		smp_mb();	/* the lock before the queue: others fill it, then try the lock */
	}
}

void perfctr_unlock_tree(struct perfctr_tree *tree)
{
	mutex_unlock(&tree->lock);
	smp_mb();	/* as above */
	try_catch_up(tree);
}

/* For current, which is not given another control, stopped or detached meanwhile. */
static bool inherits(const struct perfctr_context *parent)
{
	return parent && parent->inherit &&
	       parent->generation == READ_ONCE(parent->tree->generation);
}

/*
 * current has a context and makes task. What can fail or sleep is done now; that nobody knows of
 * it yet makes it easy to undo.
 */
int perfctr_fork_task(struct task_struct *task)
{
	const struct perfctr_context *parent;
	struct perfctr_context *ctx;
	bool wanted;

	local_irq_disable();
	wanted = inherits(current->thread.perfctr);
	local_irq_enable();
	if (!wanted)
		return 0;
	ctx = perfctr_alloc();
	if (!ctx)
		return -ENOMEM;
	local_irq_disable();
	parent = current->thread.perfctr;
	if (inherits(parent)) {
		perfctr_page_set_events(ctx->page, parent->hw);
		ctx->prepared = parent->hw->id;
	}
	local_irq_enable();
	task->thread.perfctr = ctx;
	return 0;
}

/* ctx is nobody's but task's, and task nobody's but current's, whose context is parent. */
static void add_member(struct perfctr_context *parent, struct perfctr_context *ctx,
		       struct task_struct *task)
{
	perfctr_hw_get(parent->hw);
	ctx->hw = parent->hw;
	if (ctx->prepared != ctx->hw->id)
		perfctr_page_set_events(ctx->page, ctx->hw);
	ctx->tree = parent->tree;
	refcount_inc(&ctx->tree->refs);
	ctx->inherit = true;
	ctx->generation = parent->generation;
	ctx->parent = parent;
	ctx->task = task;
	WRITE_ONCE(task->thread.perfctr, ctx);
	if (parent->started) {
		perfctr_hold_too(ctx, ctx->hw);
		perfctr_start_fn(ctx, false, NULL);
	}
	llist_add(&ctx->born, &ctx->tree->born);
}

/*
 * current has a context or a mark, or had one when it began to make task, which cannot fail to be
 * born any more and which nobody has seen. Locks are held: this must not sleep. It takes current's
 * context as it is now, and with interrupts off that stays so.
 */
void perfctr_born_task(struct task_struct *task)
{
	struct perfctr_context *ctx = task->thread.perfctr, *parent;
	unsigned long flags;

	task->thread.perfctr = NULL;
	local_irq_save(flags);
	parent = current->thread.perfctr;
	if (ctx && inherits(parent)) {
		add_member(parent, ctx, task);
		ctx = NULL;
	}
	perfctr_group_join(task);
	local_irq_restore(flags);
	if (ctx)
		perfctr_discard(ctx);
}

/*
 * Under the tree's lock. The member may be about to leave by itself: its counts are final then,
 * too. What it made before it was detached is linked: later it makes no members.
 */
static void end_member(struct perfctr_context *ctx)
{
	perfctr_detach(ctx);
	link_born(ctx->tree);
	if (ctx->parent)
		hand_over(ctx);
}

/* All but those of a generation. They end before their children, so that none can escape. */
static void end_members_below(struct perfctr_context *top, u64 but)
{
	struct perfctr_context *child, *next;
	bool again;

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

/* ctx is current's. Who is told later that current has ended finds its counts in the tree. */
static void leave(struct perfctr_context *ctx)
{
	struct perfctr_kept_record *record = perfctr_make_record(ctx);
	struct perfctr_tree *tree = ctx->tree;

	if (perfctr_detach(ctx)) {	/* who has done it lets the tree know */
		perfctr_free_record(record);
		return;
	}
	if (record)
		perfctr_fill_record(record, ctx);
	ctx->record = record;
	refcount_inc(&ctx->refs);
	atomic_inc(&tree->n_gone);
	llist_add(&ctx->gone, &tree->gone);
	try_catch_up(tree);
	if (atomic_read(&tree->n_gone) > MAX_GONE) {
		mutex_lock(&tree->lock);
		catch_up(tree);
		perfctr_unlock_tree(tree);
	}
}

/* task is current, which exits or executes a file, or a thread whose birth failed. */
void perfctr_detach_task(struct task_struct *task)
{
	struct perfctr_context *ctx;

	if (task != current) {
		perfctr_put(task->thread.perfctr);
		task->thread.perfctr = NULL;
		return;
	}
	perfctr_group_drop(!(task->flags & PF_EXITING));
	ctx = perfctr_find(task);
	if (!ctx)
		return;
	leave(ctx);
	perfctr_put(ctx);
}

/* Ends the thread's membership of a tree, whoever made it; another context can take its place. */
void perfctr_evict(struct task_struct *task)
{
	struct perfctr_context *ctx = perfctr_find(task);

	if (!ctx)
		return;
	mutex_lock(&ctx->tree->lock);
	catch_up(ctx->tree);
	end_member(ctx);
	perfctr_unlock_tree(ctx->tree);
	perfctr_put(ctx);
}

void perfctr_set_payer(struct perfctr_tree *tree, struct perfctr_owner *owner)
{
	mutex_lock(&tree->lock);
	perfctr_drop_records(tree);
	tree->payer = owner;
	perfctr_unlock_tree(tree);
}

/* The owner's descriptor is closed: nobody can read the tree as a whole any more. */
void perfctr_close(struct perfctr_context *ctx)
{
	struct perfctr_tree *tree = ctx->tree;

	mutex_lock(&tree->lock);
	catch_up(tree);
	WRITE_ONCE(tree->generation, tree->generation + 1);
	perfctr_detach(ctx);
	link_born(tree);
	end_members_below(ctx, 0);
	tree->root = NULL;
	perfctr_unlock_tree(tree);
}

/* Mappings of the old page show from now on what it holds when the thread's counting stops. */
static int renew_page(struct perfctr_context *ctx)
{
	ctx->next_page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!ctx->next_page)
		return -ENOMEM;
	perfctr_page_init(ctx->next_page);
	return 0;
}

/* The page that was replaced, or that found no use. */
static void free_next_page(struct perfctr_context *ctx)
{
	free_page((unsigned long)ctx->next_page);
	ctx->next_page = NULL;
}

/* Stops ctx, and its thread's children from becoming members of the control before. */
static int replace(struct perfctr_context *ctx, struct perfctr_install *install)
{
	int err = 0;

	if (install->hw->counts_kernel && ctx->page_is_users)
		err = renew_page(ctx);
	if (!err)
		err = perfctr_call(ctx, perfctr_install_fn, install);
	if (!err && ctx->next_page)
		ctx->page_is_users = false;
	free_next_page(ctx);
	return err;
}

static int start_member(struct perfctr_context *ctx)
{
	int err = perfctr_hold_for(ctx) ?: perfctr_call(ctx, perfctr_start_fn, NULL);

	if (err)
		perfctr_let_go(ctx);
	return err;
}

static int stop_member(struct perfctr_context *ctx)
{
	int err = perfctr_call(ctx, perfctr_stop_fn, NULL);

	perfctr_let_go(ctx);
	return err;
}

/*
 * What the new control wants is held before the one before is lost. The members of that one end
 * when there are no more of them to come.
 */
static int install(struct perfctr_context *ctx, struct perfctr_install *install,
		   struct perfctr_control *control)
{
	bool start = !(install->flags & PERFCTR_CONTROL_STOPPED);
	struct perfctr_hw_control *hw = install->hw;
	int err = start ? perfctr_may_hold(hw) ?: perfctr_hold(hw, control) : 0;

	if (err)
		return err;
	err = replace(ctx, install);
	if (!err)
		perfctr_let_go(ctx);
	else if (start)
		perfctr_drop_hold(hw);
	if (err)
		return err;
	perfctr_update_mappings(ctx);
	ctx->tree->revoked = false;
	perfctr_drop_records(ctx->tree);
	memset(&ctx->exited, 0, sizeof(ctx->exited));
	ctx->exited.n_counters = ctx->hw->n_events;
	link_born(ctx->tree);
	end_members_below(ctx, ctx->generation);
	if (start) {
		err = start_member(ctx);
		perfctr_drop_hold(hw);
	}
	return err;
}

int perfctr_install(struct perfctr_context *ctx, struct perfctr_hw_control *hw,
		    struct perfctr_control *control)
{
	struct perfctr_install change = { .hw = hw, .flags = control->flags };
	int err = perfctr_lock_tree(ctx->tree);

	if (!err) {
		err = install(ctx, &change, control);
		perfctr_unlock_tree(ctx->tree);
	}
	perfctr_hw_put(change.hw);
	return err;
}

/*
 * -ESRCH when all of them have exited. What a member makes after its own call is born as the call
 * left it; what it made before is linked and has its turn after it.
 */
static int call_tree(struct perfctr_context *ctx, int (*fn)(struct perfctr_context *ctx))
{
	struct perfctr_context *pos;
	int result, err = -ESRCH;

	for_each_member(pos, ctx) {
		result = fn(pos);
		if (result != -ESRCH)
			err = result;
		link_born(ctx->tree);
		cond_resched();
	}
	return err;
}

int perfctr_start(struct perfctr_context *ctx)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = perfctr_may_see(ctx) ?: perfctr_may_hold(ctx->hw) ?: call_tree(ctx, start_member);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

int perfctr_stop(struct perfctr_context *ctx)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = call_tree(ctx, stop_member);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/* How many members hold counters, which, and the root's thread. */
u32 perfctr_count_holding(struct perfctr_tree *tree, u64 *counters, s32 *tid)
{
	struct perfctr_context *pos;
	struct task_struct *task;
	u32 n = 0;

	if (perfctr_lock_tree(tree))
		return 0;
	if (tree->root) {
		for_each_member(pos, tree->root)
			n += READ_ONCE(pos->held) && pos->hw->n_events;
		*counters = tree->root->hw ? tree->root->hw->slots : 0;
		task = perfctr_get_task(tree->root);
		*tid = task ? task_pid_nr_ns(task, task_active_pid_ns(current)) : 0;
		if (task)
			put_task_struct(task);
	}
	perfctr_unlock_tree(tree);
	return n;
}

static bool is_holding(struct perfctr_context *top)
{
	struct perfctr_context *pos;

	for_each_member(pos, top)
		if (READ_ONCE(pos->held))
			return true;
	return false;
}

/* All that hold hardware stop, and may be started again. */
void perfctr_revoke_tree(struct perfctr_tree *tree)
{
	struct perfctr_context *root;

	mutex_lock(&tree->lock);
	catch_up(tree);
	root = tree->root;
	if (root && root->hw && root->hw->n_events) {
		/* Before it is: a record of who leaves now tells it. */
		WRITE_ONCE(tree->revoked, tree->revoked || is_holding(root));
		call_tree(root, stop_member);
	}
	perfctr_unlock_tree(tree);
}

/* Adds ctx's own sums. True when its thread ran elsewhere meanwhile. */
static bool add_own(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	struct perfctr_counts own = {};
	int live = perfctr_call(ctx, perfctr_read_fn, &own);

	if (live == -ESRCH)
		perfctr_copy_counts(ctx, &own);	/* detached: nothing changes any more */
	else
		counts->members++;
	add_counts(counts, &own);
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

static bool is_below(const struct perfctr_context *pos, const struct perfctr_context *top)
{
	while (pos && pos != top)
		pos = pos->parent;
	return pos;
}

/*
 * Members of top that were born while it was walked. Their parents may have left before the walk
 * came to them, so without these a tree that lives could be seen empty.
 */
static u32 count_born(const struct perfctr_context *top)
{
	struct perfctr_context *pos;
	u32 n = 0;

	llist_for_each_entry(pos, READ_ONCE(top->tree->born.first), born)
		n += is_below(pos, top);
	return n;
}

static bool add_tree(struct perfctr_context *top, struct perfctr_counts *counts)
{
	struct perfctr_context *pos;
	bool disturbed = false;
	u64 before;
	u32 born;

	before = switches_of_tree(top);
	for_each_member(pos, top) {
		disturbed |= add_own(pos, counts);
		add_counts(counts, &pos->exited);
		cond_resched();
	}
	born = count_born(top);
	counts->members += born;
	return !disturbed && !born && switches_of_tree(top) == before;
}

static void read_sums(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	bool consistent = true;

	switch (counts->scope) {
	case PERFCTR_SCOPE_SELF:
		add_own(ctx, counts);
		break;
	case PERFCTR_SCOPE_CHILDREN:
		add_counts(counts, &ctx->exited);
		break;
	case PERFCTR_SCOPE_TREE:
		consistent = add_tree(ctx, counts);
		break;
	}
	if (ctx->started)
		counts->flags |= PERFCTR_COUNTS_STARTED;
	if (!ctx->task)
		counts->flags |= PERFCTR_COUNTS_EXITED;
	if (ctx->tree->revoked)
		counts->flags |= PERFCTR_COUNTS_REVOKED;
	if (consistent)
		counts->flags |= PERFCTR_COUNTS_CONSISTENT;
}

int perfctr_read(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = perfctr_may_see(ctx);
	if (!err)
		read_sums(ctx, counts);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/* -EAGAIN when there is none. */
int perfctr_take_record(struct perfctr_context *ctx, struct perfctr_record *record)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = perfctr_may_see(ctx) ?: perfctr_next_record(ctx->tree, record);
	perfctr_unlock_tree(ctx->tree);
	return err;
}
