// SPDX-License-Identifier: GPL-2.0-only
/*
 * What RDPMC of user mode may find in the counters of this CPU: counts of the threads of one
 * address space, or zeros.
 */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <asm/mmu_context.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

/* The counters are stopped. Code in mm may RDPMC, but not find counts of others. */
void perfctr_scrub_cpu(struct perfctr_cpu *cpu, const struct mm_struct *mm)
{
	u64 slots = cpu->foreign;

	if (cpu->owner != mm->context.ctx_id)
		slots |= cpu->own;
	if (!slots)
		return;
	clear_slots(cpu, slots);
	cpu->foreign = 0;
	cpu->own &= ~slots;
}

/* ctx runs, and its sums are up to date. */
static void clear_foreign(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	clear_slots(cpu, cpu->foreign);
	cpu->foreign = 0;
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
}

/* Counters without a period begin again from 0; counters with one go on where they were. */
static noinline void scrub_specially(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	perfctr_cpu_freeze(ctx->hw->slots);
	perfctr_page_begin(ctx->page);
	perfctr_sum_periods(cpu, ctx, true);
	clear_foreign(cpu, ctx);
	perfctr_begin_periods(cpu, ctx);
	perfctr_page_end(ctx->page);
	perfctr_run_periods(cpu, ctx);
}

/* The current thread is counted. */
static void scrub_running(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	change_owner(cpu, seen_by(ctx));
	cpu->own |= ctx->hw->slots;
	if (!cpu->foreign)
		return;
	if (unlikely(ctx->hw->interrupts)) {
		scrub_specially(cpu, ctx);
		return;
	}
	if (ctx->hw->counts_kernel)	/* user mode stands still by itself */
		perfctr_cpu_freeze(ctx->hw->slots);
	perfctr_page_begin(page);
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	fold_counters(cpu, ctx);
	clear_foreign(cpu, ctx);
	set_biases(cpu, ctx);
	perfctr_page_end(page);
	if (ctx->hw->counts_kernel)
		perfctr_cpu_thaw();
}

/*
 * CR4.PCE is about to be set for mm: at a switch of address spaces (current is still the thread
 * before), or because a thread of mm has mapped a page while this one runs.
 */
void perfctr_rdpmc_enabled(struct mm_struct *mm)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	if (cpu->paused)
		return;
	if (!cpu->enabled) {
		perfctr_scrub_cpu(cpu, mm);
	} else if (!current->mm || current->mm == mm) {
		/* It has no mm any more while it exits: others of its process may run here next. */
		scrub_running(cpu, entered_context(perfctr_thread(current)));
	}
	if (perfctr_is_gated())
		perfctr_gate_scrub();
	/* Otherwise the switch that is under way scrubs when the thread before has left. */
}

/*
 * Since the thread runs its page may have been mapped, or it may have executed a file: its address
 * space is another one. Interrupts off.
 */
void perfctr_cpu_renew_secret(void)
{
	const struct perfctr_context *ctx = entered_context(perfctr_thread(current));
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	if (cpu->enabled && ctx && ctx->hw->counts_kernel)
		keep_secret(cpu, ctx);
}

/*
 * What RDPMC of the counter would show the current thread if it were allowed, after what is not its
 * own is cleared; 0 for counters that it does not count with.
 */
u64 perfctr_cpu_rdpmc(u32 counter)
{
	struct perfctr_context *ctx = started_context(perfctr_thread(current));
	u32 i, n = ctx && !ctx->shared && !perfctr_cpu_is_secret() ? ctx->hw->n_events : 0;

	lockdep_assert_irqs_disabled();
	for (i = 0; i < n; i++) {
		const struct perfctr_page_counter *c = &ctx->page->counter[i];

		if (ctx->hw->event[i].rdpmc != counter)
			continue;
		if (!perfctr_cpu_paused()) {
			perfctr_rdpmc_enabled(current->mm);
			perfctr_cpu_fold(ctx);
		}
		return c->sum - c->bias;
	}
	return 0;
}
