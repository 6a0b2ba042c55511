// SPDX-License-Identifier: GPL-2.0-only
/*
 * A context and those that the children of its thread inherited from it. A member that exits adds
 * what it and its exited children counted to its parent and hands its children over to it, so that
 * every count is in exactly one place at any time.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/perfctr_hooks.h>
#include <linux/sched.h>
#include "perfctr.h"

static void add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts)
{
	u32 i;

	sum->n_counters = max(sum->n_counters, counts->n_counters);
	sum->tsc += counts->tsc;
	sum->switches += counts->switches;
	sum->migrations += counts->migrations;
	for (i = 0; i < counts->n_counters; i++)
		sum->counter[i] += counts->counter[i];
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

static int add_member(struct perfctr_context *parent, struct task_struct *task)
{
	struct perfctr_context *ctx = perfctr_alloc(parent->tree);

	if (!ctx)
		return -ENOMEM;
	perfctr_hw_get(parent->hw);
	ctx->hw = parent->hw;
	ctx->inherit = true;
	perfctr_page_set_events(ctx->page, ctx->hw);
	ctx->parent = parent;
	list_add_tail(&ctx->sibling, &parent->children);
	ctx->task = task;
	task->thread.perfctr = ctx;
	if (parent->started)
		perfctr_start_fn(ctx, false, NULL);
	return 0;
}

/* current has a context or a mark and creates task, which nobody sees yet. */
int perfctr_fork_task(struct task_struct *task)
{
	struct perfctr_context *parent = perfctr_find(current);
	int err = 0;

	if (parent) {
		mutex_lock(&parent->tree->lock);
		if (parent->task && parent->inherit)
			err = add_member(parent, task);
		mutex_unlock(&parent->tree->lock);
		perfctr_put(parent);
	}
	/* Nobody takes the mark back from a thread whose creation fails here. */
	if (!err)
		perfctr_group_join(task);
	return err;
}

/* What the detached member counted, and the members below it, now belong to its parent. */
static void hand_over(struct perfctr_context *ctx)
{
	struct perfctr_context *parent = ctx->parent, *child;
	struct perfctr_counts own = {};

	list_for_each_entry(child, &ctx->children, sibling)
		child->parent = parent;
	list_splice_tail_init(&ctx->children, &parent->children);
	list_del_init(&ctx->sibling);
	ctx->parent = NULL;
	perfctr_copy_counts(ctx, &own);
	add_counts(&parent->exited, &own);
	add_counts(&parent->exited, &ctx->exited);
}

/* The caller holds a reference to ctx and the tree's lock. -ESRCH when it had ended before. */
static int end_member(struct perfctr_context *ctx)
{
	int err = perfctr_detach(ctx);

	if (!err && ctx->parent)
		hand_over(ctx);
	return err;
}

static void end_members_below(struct perfctr_context *ctx)
{
	struct perfctr_context *child;

	while (!list_empty(&ctx->children)) {
		child = list_first_entry(&ctx->children, struct perfctr_context, sibling);
		refcount_inc(&child->refs);
		end_member(child);
		perfctr_put(child);
	}
}

/* task is current, which exits or executes a file, or a thread that never ran. */
void perfctr_detach_task(struct task_struct *task)
{
	struct perfctr_context *ctx = perfctr_find(task);

	perfctr_group_drop(task, task == current && !(task->flags & PF_EXITING));
	if (!ctx)
		return;
	mutex_lock(&ctx->tree->lock);
	if (!end_member(ctx) && task == current)
		perfctr_record(ctx, task);
	mutex_unlock(&ctx->tree->lock);
	perfctr_put(ctx);
}

/* Ends the thread's membership of a tree, whoever made it; another context can take its place. */
void perfctr_evict(struct task_struct *task)
{
	struct perfctr_context *ctx = perfctr_find(task);

	if (!ctx)
		return;
	mutex_lock(&ctx->tree->lock);
	end_member(ctx);
	mutex_unlock(&ctx->tree->lock);
	perfctr_put(ctx);
}

void perfctr_set_payer(struct perfctr_tree *tree, struct perfctr_owner *owner)
{
	mutex_lock(&tree->lock);
	perfctr_drop_records(tree);
	tree->payer = owner;
	mutex_unlock(&tree->lock);
}

/* The owner's descriptor is closed: nobody can read the tree as a whole any more. */
void perfctr_close(struct perfctr_context *ctx)
{
	mutex_lock(&ctx->tree->lock);
	end_members_below(ctx);
	perfctr_detach(ctx);
	mutex_unlock(&ctx->tree->lock);
}

/* Mappings of the old page show from now on what it holds when the thread's counting stops. */
static int renew_page(struct perfctr_context *ctx)
{
	ctx->next_page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!ctx->next_page)
		return -ENOMEM;
	perfctr_page_init(ctx->next_page);
	ctx->page_is_users = false;
	return 0;
}

static int install(struct perfctr_context *ctx, struct perfctr_hw_control **hw, u32 flags)
{
	int err;

	/* Who is attached stays so: to detach it takes the tree's lock. */
	if (!ctx->task)
		return -ESRCH;
	if ((*hw)->counts_kernel && ctx->page_is_users) {
		err = renew_page(ctx);
		if (err)
			return err;
	}
	end_members_below(ctx);
	err = perfctr_call(ctx, perfctr_install_fn, hw);
	if (ctx->next_page) {
		free_page((unsigned long)ctx->next_page);
		ctx->next_page = NULL;
	}
	if (!err) {
		ctx->inherit = flags & PERFCTR_CONTROL_INHERIT;
		ctx->tree->keep_records = flags & PERFCTR_CONTROL_RECORD;
		perfctr_drop_records(ctx->tree);
		memset(&ctx->exited, 0, sizeof(ctx->exited));
		ctx->exited.n_counters = ctx->hw->n_events;
		if (!(flags & PERFCTR_CONTROL_STOPPED))
			err = perfctr_call(ctx, perfctr_start_fn, NULL);
	}
	return err;
}

int perfctr_install(struct perfctr_context *ctx, struct perfctr_hw_control *hw, u32 flags)
{
	int err;

	mutex_lock(&ctx->tree->lock);
	err = install(ctx, &hw, flags);
	mutex_unlock(&ctx->tree->lock);
	perfctr_hw_put(hw);
	return err;
}

/* -ESRCH when all of them have exited. */
static int call_tree(struct perfctr_context *ctx, perfctr_call_fn fn)
{
	struct perfctr_context *pos;
	int err = -ESRCH, result;

	mutex_lock(&ctx->tree->lock);
	for_each_member(pos, ctx) {
		result = perfctr_call(pos, fn, NULL);
		if (result != -ESRCH)
			err = result;
	}
	mutex_unlock(&ctx->tree->lock);
	return err;
}

int perfctr_start(struct perfctr_context *ctx)
{
	return call_tree(ctx, perfctr_start_fn);
}

int perfctr_stop(struct perfctr_context *ctx)
{
	return call_tree(ctx, perfctr_stop_fn);
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

	for_each_member(pos, top)
		switches += READ_ONCE(pos->page->switches);
	return switches;
}

static bool add_tree(struct perfctr_context *top, struct perfctr_counts *counts)
{
	struct perfctr_context *pos;
	bool disturbed = false;
	u64 before;

	before = switches_of_tree(top);
	for_each_member(pos, top) {
		disturbed |= add_own(pos, counts);
		add_counts(counts, &pos->exited);
	}
	return !disturbed && switches_of_tree(top) == before;
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
	if (consistent)
		counts->flags |= PERFCTR_COUNTS_CONSISTENT;
}

int perfctr_read(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	int err;

	mutex_lock(&ctx->tree->lock);
	err = perfctr_may_see(ctx);
	if (!err)
		read_sums(ctx, counts);
	mutex_unlock(&ctx->tree->lock);
	return err;
}
