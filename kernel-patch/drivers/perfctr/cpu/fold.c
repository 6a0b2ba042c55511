// SPDX-License-Identifier: GPL-2.0-only
/* Brings the sums of a running context up to date, for a reader and at the tick. */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <asm/tsc.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

/* All sums are as of one instruction, if the PMU has a global enable. */
void perfctr_cpu_fold(struct perfctr_context *ctx)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	struct perfctr_page *page = perfctr_page_here(ctx);

	lockdep_assert_irqs_disabled();
	if (unlikely(ctx->hw->interrupts && !cpu->mute)) {
		perfctr_fold_periods(cpu, ctx);
		return;
	}
	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (has_counters_here(cpu, ctx))
		perfctr_fold_at_once(cpu, page, ctx->hw);
	perfctr_page_end(page);
}

/*
 * intact: no other code has written the registers. Returns whether no other code has written the
 * counters either.
 */
static bool tick_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	if (ctx->hw->interrupts && !cpu->mute)
		return perfctr_tick_periods(cpu, ctx, intact);
	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (has_counters_here(cpu, ctx)) {
		/* A reader of a shared context may copy the page after this fold. */
		intact &= perfctr_fold_at_once(cpu, page, ctx->hw);
		if (!intact)
			page->flags |= PERFCTR_PAGE_DISTURBED;
	}
	perfctr_page_end(page);
	return intact;
}

/* If current's mark is dead, switches and ticks need not watch current for it any more. */
static void drop_dead_mark(void)
{
	if (perfctr_thread(current)->mark && !perfctr_live_mark(current))
		perfctr_update_flag(current);
}

/*
 * The tick folds the counters of a thread that is never switched. A fold clears a counter that has
 * reached the upper half of its range, so no wrap is missed if each half takes longer than a tick.
 *
 * No other code should write counters that the driver has reserved. Parts of the kernel that do not
 * reserve counters write to them nevertheless: the interrupts of processor trace, and virtual
 * machines. The tick detects such writes.
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
	if (ctx)
		intact = tick_context(cpu, ctx, intact);
	if (unlikely(!intact))
		cpu->disturbances++;
	if (perfctr_is_gated())
		perfctr_gate_tick(rdtsc(), intact);
	drop_dead_mark();
}
