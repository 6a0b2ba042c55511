// SPDX-License-Identifier: GPL-2.0-only
/* How many periods of a tree's events are over. */
#include <linux/err.h>
#include <linux/sched.h>
#include "cpu.h"
#include "members.h"

static int add_own_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (live && ctx->started && perfctr_has_periods(ctx))
		perfctr_cpu_fold(ctx);
	perfctr_add_periods(ctx, arg);
	return 0;
}

static void add_own(struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	if (perfctr_call(ctx, add_own_fn, periods) == -ESRCH)
		perfctr_add_periods(ctx, periods);	/* detached: nothing changes any more */
}

static void read_locked(struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	struct perfctr_context *pos;

	if (perfctr_has_periods(ctx))
		periods->n_counters = ctx->hw->n_events;
	for_each_member(pos, ctx) {
		if (periods->scope != PERFCTR_SCOPE_CHILDREN)
			add_own(pos, periods);
		if (periods->scope != PERFCTR_SCOPE_SELF)
			perfctr_add_exited_periods(pos, periods);
		if (periods->scope != PERFCTR_SCOPE_TREE)
			break;
		cond_resched();
	}
}

/* periods is zero but for size and scope. */
int perfctr_read_periods(struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	int err = perfctr_lock_tree(ctx->tree);

	if (err)
		return err;
	err = perfctr_may_see(ctx);
	if (!err)
		read_locked(ctx, periods);
	perfctr_unlock_tree(ctx->tree);
	return err;
}
