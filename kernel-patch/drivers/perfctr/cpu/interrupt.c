// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of events with a period. They are preset at each entry of their context, and after each
 * interrupt. Their thread does not read them itself, and value[] has what they hold, continued
 * beyond an overflow.
 */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <asm/tsc.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

/* The counters are stopped, and the sums up to date. Those without a period stay as they are. */
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

/* The counters are stopped, and the sums up to date: what they have passed has been noticed. */
void perfctr_begin_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	if (unlikely(perfctr_waits(ctx))) {
		set_waiting_biases(ctx->page);
	} else {
		preset_counters(cpu, ctx);
		set_biases(cpu, ctx);
	}
	forbid_fast_reads(ctx->page);
}

/* ... and then they run, unless their thread waits. */
void perfctr_run_periods(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	cpu->enabled = unlikely(perfctr_waits(ctx)) ? 0 : ctx->hw->slots;
	perfctr_cpu_write_enable(cpu);
}

/* The counters are stopped. */
void perfctr_sum_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool late)
{
	struct perfctr_page *page = ctx->page;

	page->tsc.sum = page->tsc.bias + rdtsc();
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	fold_counters(cpu, ctx);
	perfctr_thresholds_carry(cpu, ctx);
	perfctr_thresholds_pass(ctx, late);
}

/* Then they are to run. */
void perfctr_fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool late)
{
	perfctr_page_begin(ctx->page);
	perfctr_sum_periods(cpu, ctx, late);
	perfctr_begin_periods(cpu, ctx);
	perfctr_page_end(ctx->page);
}

/*
 * The counters' interrupt. It may be that of a counter that has been stopped since, of a thread
 * before: then this one's count has passed nothing.
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
		perfctr_fold_periods(cpu, ctx, false);
		perfctr_cpu_acknowledge(ctx->hw->slots);
		perfctr_route_interrupts(true);
		perfctr_run_periods(cpu, ctx);
	} else {
		perfctr_cpu_acknowledge(~cpu->running);
		perfctr_route_interrupts(true);
	}
	perfctr_interrupt_ends(cpu, start);
}
