// SPDX-License-Identifier: GPL-2.0-only
/* How many periods of a tree's events are over, and how a thread's wait after a period ends. */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include "../machine/percpu.h"
#include "internal.h"
#include "members.h"

static int add_own_periods_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (live && ctx->started && perfctr_has_periods(ctx))
		perfctr_cpu_fold(ctx);
	perfctr_add_periods(ctx, arg);
	return 0;
}

static void add_own_periods(struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	if (perfctr_call(ctx, add_own_periods_fn, periods) == -ESRCH)
		perfctr_add_periods(ctx, periods);	/* detached: the numbers are final */
}

static void read_periods_locked(struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	struct perfctr_context *pos;

	if (perfctr_has_periods(ctx))
		periods->n_counters = ctx->hw->n_events;
	for_each_member(pos, ctx) {
		if (periods->scope != PERFCTR_SCOPE_CHILDREN)
			add_own_periods(pos, periods);
		if (periods->scope != PERFCTR_SCOPE_SELF)
			perfctr_add_exited_periods(pos, periods);
		if (periods->scope != PERFCTR_SCOPE_TREE)
			break;
		cond_resched();
	}
}

/* periods is zero except for size and scope. 0, -EACCES or -EINTR. */
int perfctr_tree_read_periods(struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = perfctr_may_see(ctx);
	if (!err)
		read_periods_locked(ctx, periods);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/* For perfctr_call(): ends the wait of ctx's thread. -EALREADY: the thread does not wait. */
static int resume_context_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (!perfctr_waits(ctx))
		return -EALREADY;
	if (live)
		perfctr_cpu_leave(ctx);
	perfctr_end_wait(ctx);
	if (live)
		perfctr_cpu_enter(ctx);
	return 0;
}

/* -ESRCH: current is no member of the tree, or has no context of its own. */
static int resume_own_context(const struct perfctr_tree *tree)
{
	struct perfctr_context *ctx;
	unsigned long flags;
	int err = -ESRCH;

	local_irq_save(flags);
	ctx = perfctr_thread(current)->context;
	if (ctx && ctx->tree == tree && !ctx->shared)
		err = resume_context_fn(ctx, !perfctr_cpu_paused(), NULL);
	local_irq_restore(flags);
	return err;
}

/* 0: some member waited, and counts again. -EALREADY: no member waits. -ESRCH: all have exited. */
static int resume_all_members(struct perfctr_context *ctx)
{
	struct perfctr_context *pos;
	int result, err = -ESRCH;

	for_each_member(pos, ctx) {
		result = perfctr_call(pos, resume_context_fn, NULL);
		if (result != -ESRCH && err)
			err = result;
		cond_resched();
	}
	return err;
}

/* Ends the caller's wait or, if the caller is no member, that of all members. */
int perfctr_tree_resume(struct perfctr_context *ctx)
{
	int err = resume_own_context(ctx->tree);

	if (err != -ESRCH)
		return err;
	err = perfctr_lock_tree(ctx->tree);
	if (err)
		return err;
	err = resume_all_members(ctx);
	perfctr_unlock_tree(ctx->tree);
	return err;
}

/*
 * current executes a file, and loses its signal handlers, and with them the code that would end its
 * wait. Therefore the wait ends here, and current gets no more signals.
 */
void perfctr_executes(void)
{
	struct perfctr_context *ctx;

	local_irq_disable();
	ctx = perfctr_thread(current)->context;
	if (ctx && perfctr_has_periods(ctx)) {
		resume_context_fn(ctx, !perfctr_cpu_paused(), NULL);
		perfctr_hush_thresholds(ctx->thresholds);
	}
	local_irq_enable();
}
