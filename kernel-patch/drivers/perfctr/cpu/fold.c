// SPDX-License-Identifier: GPL-2.0-only
/* The sums of a context that runs are brought up to date: for a reader, and at the tick. */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/tsc.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

/* The values that have just been read become sums. */
static void publish_sums(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	fold_counters(cpu, ctx);
	if (prevent_wrap(cpu, ctx->hw))
		set_biases(cpu, ctx);
}

static __always_inline void fold_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (has_counters_here(cpu, ctx)) {
		perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
		publish_sums(cpu, ctx);
	}
	perfctr_page_end(page);
}

static noinline void fold_specially(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	perfctr_cpu_freeze(ctx->hw->slots);
	if (ctx->hw->interrupts) {
		perfctr_fold_periods(cpu, ctx, true);
		perfctr_run_periods(cpu, ctx);
	} else {
		fold_context(cpu, ctx);
		perfctr_cpu_thaw();
	}
}

/* Brings the sums of a running context up to date, all counters as of one instruction. */
void perfctr_cpu_fold(struct perfctr_context *ctx)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	if (unlikely(ctx->hw->special && !cpu->mute))
		fold_specially(cpu, ctx);
	else
		fold_context(cpu, ctx);
}

static bool is_to_clear(const struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw)
{
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		if (cpu->value[i] > hw->event[i].most)
			return true;
	return false;
}

/* True: no counter has gone back. A counter that has was written by others; its loss stays lost. */
static __always_inline bool read_forward(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					 bool periods)
{
	u64 before[PERFCTR_MAX_COUNTERS];
	u32 n = ctx->hw->n_events;
	bool forward = true;
	u32 i;

	memcpy(before, cpu->value, n * sizeof(*before));
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	if (periods)
		forward = perfctr_thresholds_unwrap(cpu, ctx->hw);
	for (i = 0; i < n; i++) {
		struct perfctr_page_counter *c = &perfctr_page_here(ctx)->counter[i];

		if (likely(cpu->value[i] >= before[i]))
			continue;
		c->sum = c->bias + before[i];
		set_bias(c, cpu->value[i]);
		forward = false;
	}
	return forward;
}

/*
 * The values that have just been read become sums. Counters of kernel mode run meanwhile: before
 * any is cleared they stand still, and are read anew.
 */
static void fold_running(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	bool freeze = ctx->hw->counts_kernel && is_to_clear(cpu, ctx->hw);

	if (freeze) {
		perfctr_cpu_freeze(ctx->hw->slots);
		perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	}
	publish_sums(cpu, ctx);
	if (freeze)
		perfctr_cpu_thaw();
}

/* intact: no register was written by others. Returns whether no counter was, either. */
static bool fold_by_tick(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (has_counters_here(cpu, ctx)) {
		intact &= read_forward(cpu, ctx, false);
		fold_running(cpu, ctx);
		if (!intact)
			page->flags |= PERFCTR_PAGE_DISTURBED;
	}
	perfctr_page_end(page);
	return intact;
}

/*
 * Likewise of events with periods. Where an interrupt was lost, with or without somebody else's
 * help, the next ones are ours again.
 */
static bool fold_periods_by_tick(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact)
{
	struct perfctr_page *page = ctx->page;

	perfctr_cpu_freeze(ctx->hw->slots);
	perfctr_route_interrupts(true);
	perfctr_renew_interrupts(cpu);
	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (likely(!perfctr_waits(ctx))) {
		intact &= read_forward(cpu, ctx, true);
		fold_counters(cpu, ctx);
		perfctr_thresholds_pass(ctx, true);
	}
	perfctr_begin_periods(cpu, ctx);
	if (!intact)
		page->flags |= PERFCTR_PAGE_DISTURBED;
	perfctr_page_end(page);
	perfctr_run_periods(cpu, ctx);
	return intact;
}

/* The mark of a group that has died since costs its thread nothing any more. */
static void drop_dead_mark(void)
{
	if (perfctr_thread(current)->mark && !perfctr_live_mark(current))
		perfctr_update_flag(current);
}

/*
 * A thread that never switches is folded by the tick: once is enough in half a counter's period.
 *
 * Nobody else is to touch the counters that the driver has, but parts of the kernel that do not
 * reserve them do: interrupts of processor trace, virtual machines. They are found out here.
 */
void perfctr_tick_current(void)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	struct perfctr_context *ctx = entered_context(perfctr_thread(current));
	bool intact = true;

	lockdep_assert_irqs_disabled();
	if (cpu->paused)
		return;
	if (cpu->running)
		intact = perfctr_pmu->intact(cpu->running);
	if (ctx && ctx->hw->interrupts && !cpu->mute)
		intact &= fold_periods_by_tick(cpu, ctx, intact);
	else if (ctx)
		intact &= fold_by_tick(cpu, ctx, intact);
	if (unlikely(!intact)) {
		cpu->disturbances++;
		if (perfctr_is_gated())
			perfctr_gate_disturbed();
	}
	if (perfctr_is_gated())
		perfctr_gate_tick(rdtsc());
	drop_dead_mark();
}
