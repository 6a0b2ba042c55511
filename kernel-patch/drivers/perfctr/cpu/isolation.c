// SPDX-License-Identifier: GPL-2.0-only
/*
 * Isolation: in the counters of this CPU, RDPMC in user mode finds either counts of the threads of
 * one address space, or zeros.
 */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <asm/mmu_context.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

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

/* Clears foreign counts from running counters. ctx is current's, and this CPU counts it. */
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
 * CR4.PCE is about to be set for mm, or RDPMC to be emulated. Either the CPU switches to mm
 * (current is still the previous thread), or mm is already loaded.
 *
 * If the previous thread is counted and has another address space, its counters are not cleared
 * here. The switch under way clears them after the thread has been left.
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
		/*
		 * An exiting thread has no mm any more, but other threads of its process may run
		 * here next.
		 */
		scrub_running_context(cpu, entered_context(perfctr_thread(current)));
	}
	if (perfctr_is_gated())
		perfctr_gate_scrub();
}

/*
 * Since the current thread began to run, a process may have mapped its page, or the thread may have
 * executed a file and so have another address space.
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
 * Clears counts that are not the current thread's own, and returns the value that RDPMC of the
 * counter would show the thread if it were allowed. Returns 0 for a counter that the thread does
 * not count with, or if it may not see the counts.
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
