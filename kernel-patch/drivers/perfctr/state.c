// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a context's control, start, stop and read do. The functions that end in _fn run by
 * perfctr_call(): the thread is not switched meanwhile.
 */
#include <linux/err.h>
#include <linux/sched.h>
#include "perfctr.h"

/* A thread's own read must not combine a bias with a hardware counter that counts for others. */
static void forbid_self_reads(struct perfctr_page *page)
{
	u32 i;

	page->tsc.recheck = ~page->tsc.ticket;
	for (i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

void perfctr_page_init(struct perfctr_page *page)
{
	page->size = sizeof(*page);
	page->abi_version = PERFCTR_ABI_VERSION;
	page->cpu = U32_MAX;
	if (perfctr_features() & PERFCTR_FEATURE_RDPMC)
		page->flags = PERFCTR_PAGE_RDPMC;
	forbid_self_reads(page);
}

static int start_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (!ctx->hw)
		return -EINVAL;
	if (ctx->started)
		return 0;
	ctx->started = true;
	perfctr_page_begin(ctx->page);
	ctx->page->flags |= PERFCTR_PAGE_STARTED;
	perfctr_page_end(ctx->page);
	set_tsk_thread_flag(ctx->task, TIF_PERFCTR);
	if (live)
		perfctr_cpu_enter(ctx);
	return 0;
}

int perfctr_stop_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (!ctx->started)
		return 0;
	if (live)
		perfctr_cpu_leave(ctx);
	ctx->started = false;
	clear_tsk_thread_flag(ctx->task, TIF_PERFCTR);
	perfctr_page_begin(ctx->page);
	ctx->page->flags &= ~PERFCTR_PAGE_STARTED;
	forbid_self_reads(ctx->page);
	perfctr_page_end(ctx->page);
	return 0;
}

int perfctr_start(struct perfctr_context *ctx)
{
	return perfctr_call(ctx, start_fn, NULL);
}

int perfctr_stop(struct perfctr_context *ctx)
{
	return perfctr_call(ctx, perfctr_stop_fn, NULL);
}

struct install {
	struct perfctr_hw_control *hw;	/* in: the new one; out: the one it replaces */
	bool start;
};

static int install_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	struct perfctr_page *page = ctx->page;
	struct install *install = arg;
	u32 i;

	perfctr_stop_fn(ctx, live, NULL);
	swap(ctx->hw, install->hw);

	perfctr_page_begin(page);
	page->tsc.sum = 0;
	for (i = 0; i < PERFCTR_MAX_COUNTERS; i++) {
		struct perfctr_page_counter *c = &page->counter[i];

		c->sum = 0;
		c->ticket = (c->ticket & ~(u64)U32_MAX) + PERFCTR_NEXT_TICKET;
		if (i < ctx->hw->n_events)
			c->ticket |= ctx->hw->event[i].rdpmc;
	}
	page->n_counters = ctx->hw->n_events;
	page->switches = 0;
	page->migrations = 0;
	page->cpu = U32_MAX;
	forbid_self_reads(page);
	perfctr_page_end(page);

	return install->start ? start_fn(ctx, live, NULL) : 0;
}

int perfctr_install(struct perfctr_context *ctx, struct perfctr_hw_control *hw, bool start)
{
	struct install install = { .hw = hw, .start = start };
	int err = 0;

	mutex_lock(&ctx->control_lock);
	if (hw->n_events && !ctx->reserved) {
		err = perfctr_reserve();
		ctx->reserved = !err;
	}
	if (!err)
		err = perfctr_call(ctx, install_fn, &install);
	if (ctx->reserved && !(ctx->hw && ctx->hw->n_events)) {
		perfctr_release();
		ctx->reserved = false;
	}
	mutex_unlock(&ctx->control_lock);
	perfctr_hw_put(install.hw);
	return err;
}

static void copy_counts(const struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	const struct perfctr_page *page = ctx->page;
	u32 i;

	counts->flags = ctx->started ? PERFCTR_COUNTS_STARTED : 0;
	counts->n_counters = page->n_counters;
	counts->tsc = page->tsc.sum;
	counts->switches = page->switches;
	counts->migrations = page->migrations;
	for (i = 0; i < page->n_counters; i++)
		counts->counter[i] = page->counter[i].sum;
}

static int read_fn(struct perfctr_context *ctx, bool live, void *arg)
{
	if (live && ctx->started)
		perfctr_cpu_fold(ctx);
	copy_counts(ctx, arg);
	return 0;
}

void perfctr_read(struct perfctr_context *ctx, struct perfctr_counts *counts)
{
	if (!perfctr_call(ctx, read_fn, counts))
		return;
	copy_counts(ctx, counts);	/* detached: nothing changes any more */
	counts->flags |= PERFCTR_COUNTS_EXITED;
}
