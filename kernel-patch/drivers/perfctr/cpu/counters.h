/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context that a CPU counts, with interrupts off: who may see what the counters hold. All
 * functions are inline: a switch executes most of them.
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
 * The context.ctx_id of the address space whose threads may see the hardware counts of ctx; 0: no
 * thread may. Threads of one address space read each other's memory, and so each other's pages. A
 * shared context counts many threads, none of which may see the counts of the others.
 */
static __always_inline u64 context_owner_id(const struct perfctr_context *ctx)
{
	u64 id = context_space_id(ctx);

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
 * The context of a thread that runs here, if it is counted: one that is shared may be started and
 * not have been entered on this CPU yet, or be stopped and not have been left.
 */
static inline struct perfctr_context *entered_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context) ?:
				      this_cpu_read(perfctr_cpu.left);

	return ctx && is_context_entered(ctx) ? ctx : NULL;
}

#endif
