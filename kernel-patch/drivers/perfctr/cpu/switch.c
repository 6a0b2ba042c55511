// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context switch: updates the sums of the thread that is switched out, and the biases of the
 * thread that is switched in. See accumulator.h.
 */
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <asm/mmu_context.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "counters.h"

/* Sets the biases and starts the counters. value[] has their values. */
static __always_inline void begin_counters(struct perfctr_cpu *cpu, struct perfctr_page *page,
					   const struct perfctr_hw_control *hw)
{
	prevent_wrap(cpu, hw);
	set_biases(cpu, page, hw);
	cpu->own |= hw->slots;
	if (cpu->enabled != hw->slots) {
		cpu->enabled = hw->slots;
		cpu->starts++;
		perfctr_cpu_write_enable(cpu);
	}
}

/* The counters are stopped. They are about to count in kernel mode, or to interrupt. */
static noinline void enter_special_counters(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					    struct perfctr_page *page)
{
	/*
	 * Before the counters are read: if RDPMC stays allowed for another reason,
	 * perfctr_update_pce() clears counters.
	 */
	if (ctx->hw->counts_kernel)
		keep_secret(cpu, ctx);
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	if (ctx->hw->interrupts)
		perfctr_enter_periods(cpu, ctx);
	else
		begin_counters(cpu, page, ctx->hw);
}

/*
 * On a mute CPU a context counts time but no events. If the context has events, its page says that
 * counts are missing. The counters of this CPU may belong to other users, so the thread's own reads
 * return the sums, as for a stopped context.
 */
static noinline void enter_mute_cpu(const struct perfctr_context *ctx, struct perfctr_page *page)
{
	perfctr_kind_mute(page, true);
	if (!ctx->hw->n_events)
		return;
	page->flags |= PERFCTR_PAGE_DISTURBED;
	page->flags &= ~PERFCTR_PAGE_STARTED;
	set_waiting_biases(page);
	forbid_fast_reads(page);
}

static noinline void leave_mute_cpu(const struct perfctr_context *ctx, struct perfctr_page *page)
{
	perfctr_kind_mute(page, false);
	if (!ctx->shared && !ctx->hw->interrupts)
		page->flags |= PERFCTR_PAGE_STARTED;
}

/* The counters are stopped, or count only user mode, and so stand still here in the kernel. */
static __always_inline void enter_counters(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					   struct perfctr_page *page)
{
	const struct perfctr_hw_control *hw = ctx->hw;
	/* leave_context() has just read them into value[], for a thread with the same control. */
	bool known = cpu->enabled && cpu->control == hw->id;

	cpu->entries++;
	if (cpu->control != hw->id) {
		perfctr_cpu_take();
		cpu->control = hw->id;
		cpu->loads++;
		perfctr_pmu->load(hw);
	}
	change_owner(cpu, context_owner_id(ctx));
	/*
	 * A bias reveals the counter's value to every process that has mapped the page, even
	 * without RDPMC.
	 */
	if (cpu->foreign && (perfctr_user_rdpmc() || perfctr_has_page(ctx))) {
		clear_slots(cpu, cpu->foreign);
		cpu->foreign = 0;
		known = false;
	}
	if (!known) {
		if (unlikely(hw->special)) {
			enter_special_counters(cpu, ctx, page);
			return;
		}
		perfctr_read_counters(perfctr_pmu, hw, cpu->value);
	}
	begin_counters(cpu, page, hw);
}

static __always_inline void enter_page_on_cpu(struct perfctr_page *page, u64 now, bool switched)
{
	u32 number = raw_smp_processor_id();

	page->switches += switched;
	if (page->cpu != number) {
		page->migrations += switched && page->cpu != U32_MAX;
		page->cpu = number;
		if (static_branch_unlikely(&perfctr_kinds))
			perfctr_kind_enter(page);
	}
	set_bias(&page->tsc, now);
}

static __always_inline void enter_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					  u64 now, bool switched)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	if (ctx->shared) {
		WRITE_ONCE(page->flags, page->flags | PERFCTR_PAGE_COUNTING);
		smp_wmb();	/* flags before switches, as perfctr_sum_cpus() reads them */
	}
	enter_page_on_cpu(page, now, switched);
	if (has_counters_here(cpu, ctx))
		enter_counters(cpu, ctx, page);
	else if (unlikely(cpu->mute))
		enter_mute_cpu(ctx, page);
	perfctr_page_end(page);
}

/* The counters are stopped, and folded into the sums. Returns the ctx_id of their owner. */
static noinline u64 leave_special_counters(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	if (ctx->hw->interrupts)
		perfctr_leave_periods(cpu, ctx);
	return context_owner_id(ctx);
}

static __always_inline void leave_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					  u64 now, bool stop)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	if (ctx->shared) {
		WRITE_ONCE(page->flags, page->flags & ~PERFCTR_PAGE_COUNTING);
		cpu->left = NULL;
	}
	page->tsc.sum = page->tsc.bias + now;
	if (has_counters_here(cpu, ctx)) {
		if (stop) {
			cpu->enabled = 0;
			cpu->secret = false;
			perfctr_cpu_write_enable(cpu);
		}
		perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
		fold_counters(cpu, page, ctx->hw);
		change_owner(cpu, unlikely(ctx->hw->special) ? leave_special_counters(cpu, ctx) :
							       context_space_id(ctx));
	} else if (unlikely(cpu->mute)) {
		leave_mute_cpu(ctx, page);
	}
	perfctr_page_end(page);
}

/*
 * Counters of user mode stand still in the kernel, so a switch between two threads that count
 * nothing else need not stop them. Counters of kernel mode must stop: they all have to stop at one
 * instruction, and start at one. Counters that interrupt must stop to be preset, because each
 * thread has its own distance to the next threshold.
 */
static bool may_counters_run_on(const struct perfctr_hw_control *out,
				const struct perfctr_hw_control *in)
{
	return in->n_events && !in->special && !out->special;
}

/* marked: the thread for which the gates turn; NULL: they do not turn. */
static void change_context(struct perfctr_cpu *cpu, struct perfctr_context *out,
			   struct perfctr_context *in, struct task_struct *marked)
{
	u64 now = rdtsc();

	if (out)
		leave_context(cpu, out, now, !in || !may_counters_run_on(out->hw, in->hw));
	if (in)
		enter_context(cpu, in, now, true);
	if (marked) {
		perfctr_cpu_follow_gate();
		perfctr_gate_settle(marked, now);
	}
}

static __always_inline void switch_contexts(struct task_struct *prev, struct task_struct *next,
					    struct perfctr_context *out, struct perfctr_context *in)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	bool turned = false;

	if (unlikely(cpu->paused))
		return;
	if (perfctr_is_gated())
		turned = perfctr_gate_turn(prev, next);
	if (PERFCTR_TELLS_TO_THE_END && cpu->left && out == in && !turned &&
	    !perfctr_next_may_rdpmc(prev, next)) {
		cpu->left = NULL;
		return;
	}
	if (out || in || turned)
		change_context(cpu, out, in, turned ? next : NULL);
	if (next->mm && perfctr_next_may_rdpmc(prev, next)) {
		if (!cpu->enabled)
			perfctr_scrub_cpu(cpu, next->mm);
		if (perfctr_is_gated())
			perfctr_gate_scrub();
	}
}

/* from: prev's entry. out: prev's entered context. in: next's started one. Both may be NULL. */
static noinline void switch_contexts_slowly(struct task_struct *prev, struct task_struct *next,
					    struct perfctr_thread *from,
					    struct perfctr_context *out, struct perfctr_context *in)
{
	perfctr_switch_begins(next);
	switch_contexts(prev, next, out, in);
	perfctr_switch_ends(from);
}

static __always_inline void exchange_counter(struct perfctr_cpu *cpu, struct perfctr_page *left,
					     struct perfctr_page *entered,
					     const struct perfctr_hw_control *hw, u32 i, u64 value)
{
	left->counter[i].sum = left->counter[i].bias + value;
	prevent_wrap_of(cpu, &hw->event[i], &value);
	cpu->value[i] = value;
	set_bias(&entered->counter[i], value);
}

/*
 * Switches between two threads that have the same control, each with a page of its own. If they
 * count user mode only, the counters run on, and one pass leaves prev and enters next. Otherwise,
 * or if counters must be cleared or gates may turn, this takes the slow path.
 */
static PERFCTR_EXCHANGE void exchange_threads(struct task_struct *prev, struct task_struct *next,
					      struct perfctr_thread *from,
					      struct perfctr_context *out,
					      struct perfctr_context *in)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	const struct perfctr_hw_control *hw = in->hw;
	struct perfctr_page *left, *entered;
	u32 i, n;
	u64 now;

	/* If slots are enabled, out is started and the CPU is not paused. */
	if (!cpu->enabled || !in->started || hw->special ||
	    perfctr_is_gated())
		goto slowly;
	if (cpu->foreign || prev->mm != next->mm || !next->mm) {
		if (perfctr_next_may_rdpmc(prev, next) || perfctr_has_page(in))
			goto slowly;
		/* The next leave_context() sets the owner. */
		cpu->foreign |= cpu->own;
	}
	cpu->entries++;
	left = out->page;
	entered = in->page;
	n = hw->n_events;
	now = rdtsc();
	perfctr_page_begin(left);
	perfctr_page_begin(entered);
	left->tsc.sum = left->tsc.bias + now;
	enter_page_on_cpu(entered, now, true);
	if (unlikely(perfctr_pmu->read)) {
		perfctr_pmu->read(hw, cpu->value);
		for (i = 0; i < n; i++)
			exchange_counter(cpu, left, entered, hw, i, cpu->value[i]);
	} else {
		for (i = 0; i < n; i++) {
			u64 value;

			value = perfctr_rdpmc(hw->event[i].rdpmc);
			exchange_counter(cpu, left, entered, hw, i, value);
		}
	}
	perfctr_page_end(entered);
	perfctr_page_end(left);
	perfctr_thread_left(from);
	return;
slowly:
	switch_contexts_slowly(prev, next, from, out->started ? out : NULL,
			       in->started ? in : NULL);
}

/*
 * Returns whether a switch between the threads changes nothing: both bear the same mark or share
 * the context ctx, and no gate has to look at each switch. A started context or session does not
 * rely on this switch: START and STOP interrupt each CPU that runs such a thread.
 */
static __always_inline bool is_counted_alike(const struct perfctr_thread *from,
					     const struct perfctr_thread *to,
					     const struct perfctr_context *ctx)
{
	if (ctx && !perfctr_is_gated())
		return true;
	return from->mark == to->mark && (ctx || from->mark) &&
	       !this_cpu_read(perfctr_gate_special.any);
}

static noinline void switch_threads_with_rest(struct task_struct *prev, struct task_struct *next,
					      struct perfctr_thread *from,
					      const struct perfctr_thread *to)
{
	if (perfctr_switch_is_ours(prev, next))
		switch_contexts_slowly(prev, next, from, entered_context(from),
				       started_context(to));
	perfctr_switch_rest(prev, next);
}

/*
 * Called if prev or next is watched: that thread has a started or shared context or a mark, or is
 * an idle thread that a session distinguishes from other threads. current may be prev or next.
 */
static __always_inline void switch_watched_threads(struct task_struct *prev,
						   struct task_struct *next,
						   struct perfctr_thread *from,
						   const struct perfctr_thread *to)
{
	struct perfctr_context *out, *in;

	lockdep_assert_irqs_disabled();
	if (unlikely(perfctr_switch_has_more(prev, next))) {
		switch_threads_with_rest(prev, next, from, to);
		return;
	}
	out = from->context;
	in = to->context;
	if (out == in) {
		if (is_counted_alike(from, to, out) && !perfctr_next_may_rdpmc(prev, next)) {
			perfctr_thread_left(from);
			return;
		}
	} else if (out && in && out->hw == in->hw) {
		exchange_threads(prev, next, from, out, in);
		return;
	}
	switch_contexts_slowly(prev, next, from, entered_context(from), started_context(to));
}

#ifdef PERFCTR_SWITCH_FINDS_THREADS
void perfctr_switch_threads(struct perfctr_thread *from, const struct perfctr_thread *to,
			    struct task_struct *prev, struct task_struct *next)
{
	switch_watched_threads(prev, next, from, to);
}

void perfctr_switch_one(struct perfctr_thread *from, const struct perfctr_thread *to,
			struct task_struct *prev, struct task_struct *next)
{
	switch_contexts_slowly(prev, next, from, entered_context(from), started_context(to));
}
#else
void perfctr_switch(struct task_struct *prev, struct task_struct *next)
{
	switch_watched_threads(prev, next, perfctr_thread(prev), perfctr_thread(next));
}
#endif

void perfctr_cpu_enter(struct perfctr_context *ctx)
{
	lockdep_assert_irqs_disabled();
	enter_context(this_cpu_ptr(&perfctr_cpu), ctx, rdtsc(), false);
}

void perfctr_cpu_leave(struct perfctr_context *ctx)
{
	lockdep_assert_irqs_disabled();
	leave_context(this_cpu_ptr(&perfctr_cpu), ctx, rdtsc(), true);
}

/* The current thread is left, and entered again, as if another thread ran in between. */
void perfctr_cpu_pause(bool pause)
{
	const struct perfctr_thread *thread = perfctr_thread(current);
	struct perfctr_context *ctx;

	lockdep_assert_irqs_disabled();
	if (pause == perfctr_cpu_paused())
		return;
	ctx = pause ? entered_context(thread) : started_context(thread);
	if (pause) {
		if (ctx)
			perfctr_cpu_leave(ctx);
		perfctr_gate_pause(true);
	}
	__this_cpu_write(perfctr_cpu.paused, pause);
	if (!pause) {
		if (ctx)
			perfctr_cpu_enter(ctx);
		perfctr_gate_pause(false);
	}
}
