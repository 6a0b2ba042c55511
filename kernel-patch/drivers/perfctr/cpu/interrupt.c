// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of events with a period. They are preset each time their context is entered, and after
 * each fold and interrupt. Their thread does not read them with RDPMC. value[] has their values,
 * continued beyond an overflow.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <asm/tsc.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

/*
 * Presets counters with a period, and prevents the others from wrapping. The counters are stopped,
 * and the sums are up to date.
 */
static void preset_counters(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	const struct perfctr_hw_control *hw = ctx->hw;
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		if (!perfctr_hw_periods(hw)[i].period)
			prevent_wrap_of(cpu, &hw->event[i], &cpu->value[i]);
	cpu->put_off = perfctr_interrupted_enough(cpu);
	perfctr_thresholds_preset(cpu, ctx, cpu->put_off);
}

/*
 * Presets the counters and sets the biases. The counters are stopped, the sums are up to date, and
 * perfctr_thresholds_pass() has noticed all thresholds that the sums have passed.
 */
static void begin_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	if (unlikely(perfctr_waits(ctx))) {
		set_waiting_biases(ctx->page);
	} else {
		preset_counters(cpu, ctx);
		set_biases(cpu, ctx->page, ctx->hw);
	}
	forbid_fast_reads(ctx->page);
}

/* Called after begin_periods(). Starts the counters unless their thread waits for RESUME. */
static void run_periods(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	cpu->enabled = unlikely(perfctr_waits(ctx)) ? 0 : ctx->hw->slots;
	perfctr_cpu_write_enable(cpu);
}

/* The counters are stopped. late: no interrupt has reported the end of a period. */
static void sum_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool late)
{
	struct perfctr_page *page = ctx->page;

	page->tsc.sum = page->tsc.bias + rdtsc();
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	fold_counters(cpu, page, ctx->hw);
	perfctr_thresholds_carry(cpu, ctx);
	perfctr_thresholds_pass(ctx, late);
}

static void fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool late)
{
	perfctr_page_begin(ctx->page);
	sum_periods(cpu, ctx, late);
	begin_periods(cpu, ctx);
	perfctr_page_end(ctx->page);
}

void perfctr_enter_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	if (!cpu->routed) {
		WRITE_ONCE(cpu->routed, true);
		perfctr_route_interrupts(true);
	}
	if (time_after64(get_jiffies_64(), cpu->tick))
		perfctr_renew_interrupts(cpu);
	begin_periods(cpu, ctx);
	cpu->own |= ctx->hw->slots;
	cpu->starts++;
	run_periods(cpu, ctx);
}

void perfctr_leave_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	perfctr_thresholds_carry(cpu, ctx);
	perfctr_thresholds_pass(ctx, true);
}

void perfctr_fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	perfctr_cpu_freeze(ctx->hw->slots);
	fold_periods(cpu, ctx, true);
	run_periods(cpu, ctx);
}

/*
 * Counters without a period start again from 0. Counters with a period are preset, and so hold no
 * counts of other threads.
 */
void perfctr_clear_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, u64 slots)
{
	perfctr_cpu_freeze(ctx->hw->slots);
	perfctr_page_begin(ctx->page);
	sum_periods(cpu, ctx, true);
	clear_counters(cpu, ctx->hw, slots);
	begin_periods(cpu, ctx);
	perfctr_page_end(ctx->page);
	run_periods(cpu, ctx);
}

/* Routes interrupts to this driver again, in case one was lost, for whatever reason. */
bool perfctr_tick_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact)
{
	struct perfctr_page *page = ctx->page;

	perfctr_cpu_freeze(ctx->hw->slots);
	perfctr_route_interrupts(true);
	perfctr_renew_interrupts(cpu);
	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (likely(!perfctr_waits(ctx))) {
		perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
		intact &= perfctr_thresholds_unwrap(cpu, ctx->hw);
		intact &= fold_counters_forward(cpu, page, ctx->hw);
		perfctr_thresholds_pass(ctx, true);
	}
	begin_periods(cpu, ctx);
	if (!intact)
		page->flags |= PERFCTR_PAGE_DISTURBED;
	perfctr_page_end(page);
	run_periods(cpu, ctx);
	return intact;
}

/*
 * The counters' interrupt. A counter of the previous thread, which has been stopped since, may have
 * caused the interrupt. Then the fold below usually finds no threshold that the current thread has
 * passed, and reports nothing.
 */
void perfctr_interrupt(void)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	struct perfctr_context *ctx = started_context(perfctr_thread(current));
	u64 start = rdtsc();

	lockdep_assert_irqs_disabled();
	if (!cpu->routed)
		return;
	perfctr_interrupt_begins(cpu, start);
	if (ctx && ctx->hw->interrupts && cpu->enabled && !cpu->paused) {
		perfctr_cpu_freeze(ctx->hw->slots);
		fold_periods(cpu, ctx, false);
		perfctr_cpu_acknowledge(ctx->hw->slots);
		perfctr_route_interrupts(true);
		run_periods(cpu, ctx);
	} else {
		perfctr_cpu_acknowledge(~cpu->running);
		perfctr_route_interrupts(true);
	}
	perfctr_interrupt_ends(cpu, start);
}
