// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control, start, stop and read of one context. Functions with names that end in _fn are called by
 * perfctr_call(): the thread is not switched meanwhile.
 */
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tick.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "../kernel/owner.h"
#include "internal.h"

static struct perfctr_page *own_state(struct perfctr_context *ctx)
{
	return (struct perfctr_page *)ctx->state;
}

/* Initializes ctx's state, in ctx's own memory: stopped, with nothing counted yet. */
void perfctr_state_init(struct perfctr_context *ctx, const struct perfctr_hw_control *hw)
{
	perfctr_page_init(own_state(ctx), hw);
	ctx->page = own_state(ctx);
}

/*
 * arg: a blank page, which holds ctx's state from now on. The old state keeps its contents, for
 * readers without a lock. If the thread runs, it leaves the old state and enters the new one.
 */
int perfctr_move_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	struct perfctr_page *page = arg;
	bool runs = live && ctx->started;

	if (runs)
		perfctr_cpu_leave(ctx);
	perfctr_page_move(page, ctx->page);
	smp_store_release(&ctx->page, page);	/* after the page's contents */
	if (runs)
		perfctr_cpu_enter(ctx);
	return 0;
}

int perfctr_may_see(const struct perfctr_context *ctx)
{
	return ctx->hw && ctx->hw->counts_kernel ? perfctr_may_count_kernel() : 0;
}

/*
 * The mapping outlives this check. If the caller may not count kernel mode, the page must never
 * contain counts of kernel mode: page_is_users records this.
 */
int perfctr_may_map(struct perfctr_context *ctx)
{
	int err = ctx->shared ? -EOPNOTSUPP : perfctr_may_see(ctx);

	lockdep_assert_held(&ctx->tree->lock);
	if (!err && !ctx->page_is_users)
		ctx->page_is_users = perfctr_may_count_kernel();
	return err;
}

/*
 * The tick must fold a counter before its value has more bits than the thread reads. Therefore the
 * tick must not stop where the thread runs alone on a nohz_full CPU.
 */
static void keep_tick(const struct perfctr_context *ctx)
{
	if ((ctx->started || ctx->shared) && ctx->hw->n_events)
		tick_dep_set_task(ctx->task, TICK_DEP_BIT_PERF_EVENTS);
	else
		tick_dep_clear_task(ctx->task, TICK_DEP_BIT_PERF_EVENTS);
}

/* Makes the switch and the tick watch ctx's thread, or not, as ctx's new state requires. */
void perfctr_follow(struct perfctr_context *ctx)
{
	perfctr_update_flag(ctx->task);
	keep_tick(ctx);
}

int perfctr_start_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (!ctx->hw)
		return -EINVAL;
	if (ctx->started)
		return 0;
	ctx->started = true;
	if (!ctx->hw->interrupts) {
		perfctr_page_begin(ctx->page);
		ctx->page->flags |= PERFCTR_PAGE_STARTED;
		perfctr_page_end(ctx->page);
	}
	perfctr_follow(ctx);
	if (live) {
		perfctr_cpu_enter(ctx);
		perfctr_update_pce();	/* the thread may have mapped a page */
	}
	return 0;
}

int perfctr_stop_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (!ctx->started)
		return 0;
	if (live)
		perfctr_cpu_leave(ctx);
	ctx->started = false;
	perfctr_end_wait(ctx);
	perfctr_follow(ctx);
	perfctr_page_begin(ctx->page);
	ctx->page->flags &= ~PERFCTR_PAGE_STARTED;
	perfctr_page_forbid_reads(ctx->page);
	perfctr_page_end(ctx->page);
	return 0;
}

/* The control of the root's own page under PERFCTR_CONTROL_TOTALS: this page shows no counts. */
static const struct perfctr_hw_control no_events;

/*
 * arg: struct perfctr_install. Replaces ctx's control, and leaves ctx stopped. The thread is not
 * switched meanwhile. Therefore each of its children is born under either the old or the new
 * control, and the child's generation tells which.
 */
int perfctr_install_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	struct perfctr_install *install = arg;
	struct perfctr_tree *tree = ctx->tree;

	perfctr_stop_fn(ctx, live, NULL);
	swap(ctx->hw, install->hw);
	swap(ctx->thresholds, install->thresholds);
	perfctr_hush_thresholds(install->thresholds);
	if (ctx->hw->counts_kernel && ctx->page_is_users) {
		install->old_page = ctx->page;
		perfctr_state_init(ctx, NULL);
	}
	swap(ctx->shared, install->shared);
	perfctr_page_clear(ctx->page, ctx->shared ? &no_events : ctx->hw);
	perfctr_follow(ctx);
	ctx->inherit = install->flags & PERFCTR_CONTROL_INHERIT;
	ctx->generation = tree->generation + 1;
	WRITE_ONCE(tree->generation, ctx->generation);
	WRITE_ONCE(tree->keep_records, install->flags & PERFCTR_CONTROL_EXIT_RECORDS);
	tree->variation.phase = install->flags & PERFCTR_CONTROL_PHASE;
	tree->variation.seed = install->seed;
	atomic64_set(&tree->variation.threads, 0);
	if (ctx->thresholds)
		perfctr_vary_thresholds(ctx->thresholds, ctx->hw, &tree->variation);
	WRITE_ONCE(tree->revoked, false);
	return 0;
}

/* Adds ctx's own sums. They do not change meanwhile, but may move to another page. */
void perfctr_add_sums(const struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	perfctr_page_add(READ_ONCE(ctx->page), counts);
}

/* arg: struct perfctr_counts, to add to. Returns 1 if the thread runs, else 0. */
int perfctr_read_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	struct perfctr_counts *counts = arg;

	if (live && ctx->started)
		perfctr_cpu_fold(ctx);
	perfctr_add_sums(ctx, counts);
	if (perfctr_waits(ctx))
		counts->flags |= PERFCTR_COUNTS_WAITING;
	return live;
}

/*
 * Reads ctx if it is current's own. Needs no lock: only current's switches and calls on this CPU
 * change current's own context, and interrupts are off meanwhile. Returns 1 if the sums include
 * kernel mode, else 0; -ESRCH if ctx is not current's, or is shared.
 */
int perfctr_read_own(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	unsigned long flags;
	int kernel = -ESRCH;

	local_irq_save(flags);
	if (perfctr_thread(current)->context == ctx && !ctx->shared) {
		perfctr_read_fn(ctx, !perfctr_cpu_paused(), counts);
		if (ctx->started)
			counts->flags |= PERFCTR_COUNTS_STARTED;
		kernel = ctx->hw && ctx->hw->counts_kernel;
	}
	local_irq_restore(flags);
	return kernel;
}
