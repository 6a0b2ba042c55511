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

/* The current thread is counted. */
static void scrub_running_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	change_owner(cpu, context_owner_id(ctx));
	cpu->own |= ctx->hw->slots;
	if (!cpu->foreign)
		return;
	if (unlikely(ctx->hw->interrupts)) {
		perfctr_clear_periods(cpu, ctx, cpu->foreign);
	} else {
		perfctr_page_begin(page);
		perfctr_fold_and_clear(cpu, page, ctx->hw, cpu->foreign);
		perfctr_page_end(page);
	}
	cpu->foreign = 0;
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
		scrub_running_context(cpu, entered_context(perfctr_thread(current)));
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
