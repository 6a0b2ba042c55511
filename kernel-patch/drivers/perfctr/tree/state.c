// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a context's control, start, stop and read do. The functions that end in _fn run by
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

/*
 * A thread's own read must not combine a bias with a hardware counter that counts for others. The
 * bias has had its time: under another control it would tell what was counted under this one.
 */
static void forbid_self_reads(struct perfctr_page *page)
{
	u32 i;

	page->tsc.recheck = ~page->tsc.ticket;
	for (i = 0; i < page->n_counters; i++) {
		page->counter[i].recheck = ~page->counter[i].ticket;
		page->counter[i].bias = 0;
	}
}

static struct perfctr_page *own_state(struct perfctr_context *ctx)
{
	return (struct perfctr_page *)ctx->state;
}

static size_t state_bytes __ro_after_init;

/* As many as the machine has counters are the most events of a control. */
size_t __init perfctr_learn_state_bytes(void)
{
	u32 n = perfctr_pmu ? perfctr_pmu->n_general + perfctr_pmu->n_fixed : 0;

	state_bytes = offsetof(struct perfctr_page, counter[min_t(u32, n, PERFCTR_MAX_COUNTERS)]);
	if (static_branch_unlikely(&perfctr_kinds))	/* what is of kinds is at the end */
		state_bytes = sizeof(struct perfctr_page);
	return state_bytes;
}

size_t perfctr_state_bytes(void)
{
	return state_bytes;
}

static bool allows_rdpmc(const struct perfctr_hw_control *hw)
{
	return !(hw && (hw->partial || hw->interrupts)) &&
	       perfctr_features() & PERFCTR_FEATURE_RDPMC;
}

/* page has room for state_bytes. hw: NULL if there is no control. */
void perfctr_init_page(struct perfctr_page *page, const struct perfctr_hw_control *hw)
{
	u32 i;

	memset64((u64 *)page, 0, state_bytes / sizeof(u64));
	page->size = sizeof(*page);
	page->abi_version = PERFCTR_ABI_VERSION;
	page->cpu = U32_MAX;
	page->flags = allows_rdpmc(hw) ? PERFCTR_PAGE_RDPMC : 0;
	page->n_counters = hw ? hw->n_events : 0;
	for (i = 0; i < page->n_counters; i++)
		page->counter[i].ticket = hw->event[i].rdpmc;
	forbid_self_reads(page);
}

/* ctx's state in its own memory, stopped, nothing counted yet. */
void perfctr_state_init(struct perfctr_context *ctx, const struct perfctr_hw_control *hw)
{
	perfctr_init_page(own_state(ctx), hw);
	ctx->page = own_state(ctx);
}

/* A page of zeroes is one that perfctr_move_fn() takes. */
void perfctr_page_init(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

/*
 * arg: such a page, which holds ctx's state from now on. What was its place stays as it is, for who
 * looks there without a lock. Biases of a time without a page tell what others have left in the
 * counters: the thread enters anew.
 */
int perfctr_move_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	const struct perfctr_page *state = ctx->page;
	struct perfctr_page *page = arg;
	bool runs = live && ctx->started;
	u32 i;

	if (runs)
		perfctr_cpu_leave(ctx);
	memcpy(page, state, offsetof(struct perfctr_page, counter[state->n_counters]));
	for (i = 0; i < page->n_counters; i++)
		page->counter[i].bias = 0;
	if (static_branch_unlikely(&perfctr_kinds)) {
		page->kind = state->kind;
		memcpy(page->kind_tsc, state->kind_tsc, sizeof(page->kind_tsc));
	}
	smp_store_release(&ctx->page, page);	/* what it holds */
	if (runs)
		perfctr_cpu_enter(ctx);
	return 0;
}

/* Counters that have no event any more have been stopped, and stay forbidden. */
static void set_page_events(struct perfctr_page *page, const struct perfctr_hw_control *hw)
{
	u32 i;

	perfctr_page_begin(page);
	page->flags &= ~(PERFCTR_PAGE_DISTURBED | PERFCTR_PAGE_RDPMC);
	if (allows_rdpmc(hw))
		page->flags |= PERFCTR_PAGE_RDPMC;
	page->tsc.sum = 0;
	for (i = hw->n_events; i < page->n_counters; i++)
		page->counter[i].sum = 0;
	for (i = 0; i < hw->n_events; i++) {
		struct perfctr_page_counter *c = &page->counter[i];

		c->sum = 0;
		c->ticket = (c->ticket & ~(u64)U32_MAX) + PERFCTR_NEXT_TICKET;
		c->ticket |= hw->event[i].rdpmc;
	}
	if (static_branch_unlikely(&perfctr_kinds))
		memset(page->kind_tsc, 0, sizeof(page->kind_tsc));
	page->n_counters = hw->n_events;
	page->switches = 0;
	page->migrations = 0;
	page->cpu = U32_MAX;
	forbid_self_reads(page);
	perfctr_page_end(page);
}

int perfctr_may_see(const struct perfctr_context *ctx)
{
	return ctx->hw && ctx->hw->counts_kernel ? perfctr_may_count_kernel() : 0;
}

/* A mapping stays: what its owner may not see must never come into this page. */
int perfctr_may_map(struct perfctr_context *ctx)
{
	int err = ctx->shared ? -EOPNOTSUPP : perfctr_may_see(ctx);

	lockdep_assert_held(&ctx->tree->lock);
	if (!err && !ctx->page_is_users)
		ctx->page_is_users = perfctr_may_count_kernel();
	return err;
}

/*
 * A counter must come under the tick's eyes before its value has more bits than its thread reads,
 * also where the tick stops for a thread that runs alone (nohz_full).
 */
static void keep_tick(const struct perfctr_context *ctx)
{
	if ((ctx->started || ctx->shared) && ctx->hw->n_events)
		tick_dep_set_task(ctx->task, TICK_DEP_BIT_PERF_EVENTS);
	else
		tick_dep_clear_task(ctx->task, TICK_DEP_BIT_PERF_EVENTS);
}

/* ctx's thread is watched as ctx wants it by now. */
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
		perfctr_update_pce();	/* a page may be mapped */
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
	forbid_self_reads(ctx->page);
	perfctr_page_end(ctx->page);
	return 0;
}

/* Its page shows nothing of a context by totals. */
static const struct perfctr_hw_control no_events;

/*
 * arg: struct perfctr_install. Stopped then. All at once: what the thread makes is born either
 * under the old control or under the new one, and its generation tells which.
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
	set_page_events(ctx->page, ctx->shared ? &no_events : ctx->hw);
	perfctr_follow(ctx);
	ctx->inherit = install->flags & PERFCTR_CONTROL_INHERIT;
	ctx->generation = tree->generation + 1;
	WRITE_ONCE(tree->generation, ctx->generation);
	WRITE_ONCE(tree->keep_records, install->flags & PERFCTR_CONTROL_RECORD);
	tree->variation.phase = install->flags & PERFCTR_CONTROL_PHASE;
	tree->variation.seed = install->seed;
	atomic64_set(&tree->variation.threads, 0);
	if (ctx->thresholds)
		perfctr_vary_thresholds(ctx->thresholds, ctx->hw, &tree->variation);
	WRITE_ONCE(tree->revoked, false);
	return 0;
}

static void add_kind_times(const struct perfctr_page *page, struct perfctr_counts *counts)
{
	u64 time[PERFCTR_MAX_KINDS];

	perfctr_kind_times(page, time);
	perfctr_kind_add(counts->kind_tsc, time);
}

/* It does not change meanwhile. */
void perfctr_add_page(const struct perfctr_page *page, struct perfctr_counts *counts)
{
	u32 i;

	if (page->flags & PERFCTR_PAGE_DISTURBED)
		counts->flags |= PERFCTR_COUNTS_DISTURBED;
	counts->n_counters = max(counts->n_counters, page->n_counters);
	counts->tsc += page->tsc.sum;
	counts->switches += page->switches;
	counts->migrations += page->migrations;
	for (i = 0; i < page->n_counters; i++)
		counts->counter[i] += page->counter[i].sum;
	if (static_branch_unlikely(&perfctr_kinds))
		add_kind_times(page, counts);
}

/* ctx's own. It does not count meanwhile, but its page may become another one. */
void perfctr_add_sums(const struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	perfctr_add_page(READ_ONCE(ctx->page), counts);
}

void perfctr_add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts)
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

/* arg: struct perfctr_counts, to add to. Returns 1 when the thread was running, else 0. */
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
 * Returns 1 when kernel mode is among the sums, else 0; -ESRCH when ctx is not current's, or not
 * its alone. Without the tree's lock: what current's own context holds changes by its switches and
 * by calls on its CPU alone.
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
