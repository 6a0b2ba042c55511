/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The virtual counters of a context on this CPU, with interrupts off.
 *
 * A virtual counter is bias + hardware value while its thread runs and the page's sum while it
 * does not. Counters are never set to a thread's value: entering computes a new bias from what the
 * hardware holds, so the cheapest switch writes one MSR to stop and one to start. They are set to
 * 0 only where user space could otherwise read what another one counted, and before they wrap.
 *
 * All functions are inline: a switch executes most of them. A loop that a switch executes copies
 * its bound to a local, because the compiler assumes that stores to the page may change it.
 */
#ifndef _PERFCTR_COUNTERS_H
#define _PERFCTR_COUNTERS_H

#include <linux/mm_types.h>
#include "../machine/percpu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "internal.h"

static inline void clear_slots(struct perfctr_cpu *cpu, u64 slots)
{
	perfctr_pmu->clear(slots);
	cpu->clears++;
}

static inline void set_bias(struct perfctr_page_counter *c, u64 value)
{
	c->bias = c->sum - value;
	c->ticket += PERFCTR_NEXT_TICKET;
	c->recheck = c->ticket;
}

static __always_inline void fold_counters(const struct perfctr_cpu *cpu,
					  struct perfctr_context *ctx)
{
	struct perfctr_page_counter *c = perfctr_page_here(ctx)->counter;
	u32 n = ctx->hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		c[i].sum = c[i].bias + cpu->value[i];
}

/* A hardware counter must not wrap while a bias is in use: bias + value would jump back. */
static __always_inline bool prevent_wrap_of(struct perfctr_cpu *cpu,
					    const struct perfctr_hw_event *e, u64 *value)
{
	if (likely(*value <= e->most))
		return false;
	clear_slots(cpu, BIT_ULL(e->slot));
	*value = 0;
	return true;
}

static __always_inline bool prevent_wrap(struct perfctr_cpu *cpu,
					 const struct perfctr_hw_control *hw)
{
	bool cleared = false;
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		cleared |= prevent_wrap_of(cpu, &hw->event[i], &cpu->value[i]);
	return cleared;
}

static __always_inline void set_biases(const struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page_counter *c = perfctr_page_here(ctx)->counter;
	u32 n = ctx->hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		set_bias(&c[i], cpu->value[i]);
}

static __always_inline bool has_counters_here(const struct perfctr_cpu *cpu,
					      const struct perfctr_context *ctx)
{
	return ctx->hw->n_events && likely(!cpu->mute);
}

/* What the thread would read itself is not its count. It has to take the sum. */
static inline void forbid_fast_reads(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

/* A waiting thread's counters may be used by others: its counts are its sums alone. */
static inline void set_waiting_biases(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		set_bias(&page->counter[i], 0);
}

static __always_inline u64 space_of(const struct perfctr_context *ctx)
{
	const struct mm_struct *mm = ctx->shared ? NULL : ctx->task->mm;

	return mm ? mm->context.ctx_id : 0;
}

/*
 * The context.ctx_id of the address space whose threads may see the hardware counts of ctx; 0: no
 * thread may. Threads of one address space read each other's memory, and so each other's pages. A
 * shared context counts many threads, none of which may see the counts of the others.
 */
static __always_inline u64 seen_by(const struct perfctr_context *ctx)
{
	u64 id = space_of(ctx);

	return unlikely(ctx->hw->counts_kernel) && READ_ONCE(ctx->shown_to) != id ? 0 : id;
}

/*
 * From now on the owner may see counts. If the owner changes, or is 0, what was own becomes
 * foreign. Also called when a thread leaves: since it entered it may have executed a file or
 * begun to exit.
 */
static __always_inline void change_owner(struct perfctr_cpu *cpu, u64 owner)
{
	if (cpu->owner == owner && owner)
		return;
	cpu->owner = owner;
	cpu->foreign |= cpu->own;
	cpu->own = 0;
}

/* ctx's thread is about to run, or runs, and is counted in kernel mode. */
static inline void keep_secret(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	cpu->secret = !seen_by(ctx);
	if (cpu->secret && perfctr_user_rdpmc())
		perfctr_update_pce();
}

static inline struct perfctr_context *started_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context);

	return ctx && ctx->started ? ctx : NULL;
}

static inline bool is_entered(const struct perfctr_context *ctx)
{
	return ctx->shared ? perfctr_page_here(ctx)->flags & PERFCTR_PAGE_STARTED : ctx->started;
}

/*
 * The context of a thread that runs here, if it is counted: one that is shared may be started and
 * not have been entered on this CPU yet, or be stopped and not have been left.
 */
static inline struct perfctr_context *entered_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context) ?:
				      this_cpu_read(perfctr_cpu.left);

	return ctx && is_entered(ctx) ? ctx : NULL;
}

#endif
