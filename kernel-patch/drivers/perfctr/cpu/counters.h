/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context that a CPU counts, and which address space may see the values of its counters. All
 * functions run with interrupts off, and are inline because a switch executes most of them.
 */
#ifndef _PERFCTR_COUNTERS_H
#define _PERFCTR_COUNTERS_H

#include <linux/mm_types.h>
#include "../machine/percpu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "accumulator.h"
#include "internal.h"

static __always_inline bool has_counters_here(const struct perfctr_cpu *cpu,
					      const struct perfctr_context *ctx)
{
	return ctx->hw->n_events && likely(!cpu->mute);
}

static __always_inline u64 context_space_id(const struct perfctr_context *ctx)
{
	const struct mm_struct *mm = ctx->shared ? NULL : ctx->task->mm;

	return mm ? mm->context.ctx_id : 0;
}

/*
 * Returns the id (context.ctx_id) of the address space that may see the hardware counts of ctx, or
 * 0 if none may. Threads of one address space can read each other's memory, and so each other's
 * pages. A shared context counts many threads, none of which may see the counts of the others.
 * Counts of kernel mode are shown only to an address space that has mapped ctx's page.
 */
static __always_inline u64 context_owner_id(const struct perfctr_context *ctx)
{
	u64 id = context_space_id(ctx);

	return unlikely(ctx->hw->counts_kernel) && READ_ONCE(ctx->shown_to) != id ? 0 : id;
}

/*
 * From now on the threads of owner may see the counts. If the owner changes, or is 0, counts that
 * were own become foreign. Also called when a thread leaves, because the thread may have executed a
 * file or begun to exit since it entered.
 */
static __always_inline void change_owner(struct perfctr_cpu *cpu, u64 owner)
{
	if (cpu->owner == owner && owner)
		return;
	cpu->owner = owner;
	cpu->foreign |= cpu->own;
	cpu->own = 0;
}

/*
 * Forbids RDPMC in user mode if ctx's thread, which runs or is about to run, may not see the counts
 * of its kernel mode.
 */
static inline void keep_secret(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	cpu->secret = !context_owner_id(ctx);
	if (cpu->secret && perfctr_user_rdpmc())
		perfctr_update_pce();
}

static inline struct perfctr_context *started_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context);

	return ctx && ctx->started ? ctx : NULL;
}

static inline bool is_context_entered(const struct perfctr_context *ctx)
{
	return ctx->shared ? perfctr_page_here(ctx)->flags & PERFCTR_PAGE_COUNTING : ctx->started;
}

/*
 * Returns the shared context that current has given up on its way to exit, and that this CPU still
 * counts, or NULL.
 */
static inline struct perfctr_context *context_left_here(void)
{
	return PERFCTR_TELLS_TO_THE_END ? this_cpu_read(perfctr_cpu.left) : NULL;
}

/*
 * Returns the context of a thread that runs here, if this CPU counts it, else NULL. A shared
 * context may be started but not yet entered on this CPU, or stopped but not yet left.
 */
static inline struct perfctr_context *entered_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context) ?: context_left_here();

	return ctx && is_context_entered(ctx) ? ctx : NULL;
}

#endif
