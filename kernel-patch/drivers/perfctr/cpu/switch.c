// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of one CPU: whose counts they hold, and what a context switch does to them.
 *
 * A virtual counter is bias + hardware value while its thread runs and the page's sum while it
 * does not. Counters are never set to a thread's value: entering computes a new bias from what the
 * hardware holds, so the cheapest switch writes one MSR to stop and one to start. They are set to
 * 0 only where user space could otherwise read what another one counted, and before they wrap.
 *
 * Those of events with a period are preset at each entry, and after each interrupt. Their thread
 * does not read them itself, and value[] has what they hold as it goes on beyond an overflow.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <asm/mmu_context.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "internal.h"

static void clear_slots(struct perfctr_cpu *cpu, u64 slots)
{
	perfctr_pmu->clear(slots);
	cpu->clears++;
}

static void set_bias(struct perfctr_page_counter *c, u64 value)
{
	c->bias = c->sum - value;
	c->ticket += PERFCTR_NEXT_TICKET;
	c->recheck = c->ticket;
}

/*
 * What a monitored switch executes is inline, and its loops hold in registers what the compiler
 * believes that they change.
 */
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

static bool is_to_clear(const struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw)
{
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		if (cpu->value[i] > hw->event[i].most)
			return true;
	return false;
}

static __always_inline void set_biases(const struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page_counter *c = perfctr_page_here(ctx)->counter;
	u32 n = ctx->hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		set_bias(&c[i], cpu->value[i]);
}

static __always_inline u64 space_of(const struct perfctr_context *ctx)
{
	const struct mm_struct *mm = ctx->shared ? NULL : ctx->task->mm;

	return mm ? mm->context.ctx_id : 0;
}

/*
 * context.ctx_id of the address space whose threads may see what ctx's hardware counters hold, 0:
 * none may. Threads of one address space read each other's memory, state pages too. What is shared
 * is counted for many, of whom none may see what the others did.
 */
static __always_inline u64 seen_by(const struct perfctr_context *ctx)
{
	u64 id = space_of(ctx);

	return unlikely(ctx->hw->counts_kernel) && READ_ONCE(ctx->shown_to) != id ? 0 : id;
}

/* ctx's thread is about to run, or runs, and is counted in kernel mode. */
static void keep_secret(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	cpu->secret = !seen_by(ctx);
	if (cpu->secret && perfctr_user_rdpmc())
		perfctr_update_pce();
}

/*
 * What is held from now on is owner's, and what was held is not, if that was another one's. At the
 * end of a thread's turn too: it may have executed a file since it entered, or begun to exit.
 */
static __always_inline void change_owner(struct perfctr_cpu *cpu, u64 owner)
{
	if (cpu->owner == owner && owner)
		return;
	cpu->owner = owner;
	cpu->foreign |= cpu->held;
	cpu->held = 0;
}

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

/* What the thread would read itself is not what it counts. */
static void forbid_fast_reads(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

/* The counters hold what value[] has, and begin to run. hw: ctx's. */
static __always_inline void begin_counters(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					   const struct perfctr_hw_control *hw)
{
	prevent_wrap(cpu, hw);
	set_biases(cpu, ctx);
	cpu->held |= hw->slots;
	if (cpu->enabled != hw->slots) {
		cpu->enabled = hw->slots;
		cpu->starts++;
		perfctr_cpu_write_enable(cpu);
	}
}

/* Until it goes on nothing is what its counters hold, which others may use. */
static void set_waiting_biases(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		set_bias(&page->counter[i], 0);
}

/* The counters are stopped, and the sums up to date: what they have passed has been noticed. */
static void begin_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
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
static void run_periods(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	cpu->enabled = unlikely(perfctr_waits(ctx)) ? 0 : ctx->hw->slots;
	perfctr_cpu_write_enable(cpu);
}

/* The counters are stopped. They will count in kernel mode, or interrupt. */
static noinline void enter_specially(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	/* First: where RDPMC stays allowed all the same, counters are cleared. */
	if (ctx->hw->counts_kernel)
		keep_secret(cpu, ctx);
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	if (ctx->hw->interrupts) {
		if (!cpu->routed) {
			WRITE_ONCE(cpu->routed, true);
			perfctr_route_interrupts(true);
		}
		if (time_after64(get_jiffies_64(), cpu->tick))
			perfctr_renew_interrupts(cpu);
		begin_periods(cpu, ctx);
		cpu->held |= ctx->hw->slots;
		cpu->starts++;
		run_periods(cpu, ctx);
	} else {
		begin_counters(cpu, ctx, ctx->hw);
	}
}

/*
 * On a mute CPU a context counts time and no events, and its page says that events are missing. The
 * counters are somebody else's: who reads the page here takes the sums, as of one that is stopped.
 */
static noinline void enter_mute(const struct perfctr_context *ctx, struct perfctr_page *page)
{
	page->flags |= PERFCTR_PAGE_DISTURBED;
	if (!ctx->shared)
		page->flags &= ~PERFCTR_PAGE_STARTED;
	set_waiting_biases(page);
	forbid_fast_reads(page);
}

static noinline void leave_mute(const struct perfctr_context *ctx, struct perfctr_page *page)
{
	if (!ctx->shared && !ctx->hw->interrupts)
		page->flags |= PERFCTR_PAGE_STARTED;
}

static __always_inline bool has_counters_here(const struct perfctr_cpu *cpu,
					      const struct perfctr_context *ctx)
{
	return ctx->hw->n_events && likely(!cpu->mute);
}

/* The counters are stopped, or count user mode only and so nothing here. */
static __always_inline void enter_counters(struct perfctr_cpu *cpu,
					   struct perfctr_context *ctx)
{
	const struct perfctr_hw_control *hw = ctx->hw;
	/* Read when the thread before left, under the same control. */
	bool known = cpu->enabled && cpu->control == hw->id;

	cpu->entries++;
	if (cpu->control != hw->id) {
		perfctr_cpu_take();
		cpu->control = hw->id;
		cpu->loads++;
		perfctr_pmu->load(hw);
	}
	change_owner(cpu, seen_by(ctx));
	/* A bias tells what a counter holds: to whoever has mapped it, too. */
	if (cpu->foreign && (perfctr_user_rdpmc() || perfctr_has_page(ctx))) {
		clear_slots(cpu, cpu->foreign);
		cpu->foreign = 0;
		known = false;
	}
	if (!known) {
		if (unlikely(hw->special)) {
			enter_specially(cpu, ctx);
			return;
		}
		perfctr_read_counters(perfctr_pmu, hw, cpu->value);
	}
	begin_counters(cpu, ctx, hw);
}

static __always_inline void enter_cpu(struct perfctr_page *page, u64 now, bool switched)
{
	u32 number = raw_smp_processor_id();

	page->switches += switched;
	if (page->cpu != number) {
		page->migrations += switched && page->cpu != U32_MAX;
		page->cpu = number;
	}
	if (static_branch_unlikely(&perfctr_kinds))
		perfctr_kind_enter(page);
	set_bias(&page->tsc, now);
}

static __always_inline void enter_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					  u64 now, bool switched)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	if (ctx->shared)
		page->flags |= PERFCTR_PAGE_STARTED;	/* counted here */
	enter_cpu(page, now, switched);
	if (has_counters_here(cpu, ctx))
		enter_counters(cpu, ctx);
	else if (ctx->hw->n_events)
		enter_mute(ctx, page);
	perfctr_page_end(page);
}

/* The counters are stopped and read, and the sums say so. Returns whose what they hold is. */
static noinline u64 leave_specially(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	if (ctx->hw->interrupts) {
		perfctr_thresholds_carry(cpu, ctx);
		perfctr_thresholds_pass(ctx, true);
	}
	return seen_by(ctx);
}

static __always_inline void leave_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					  u64 now, bool stop)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	if (ctx->shared) {
		page->flags &= ~PERFCTR_PAGE_STARTED;
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
		fold_counters(cpu, ctx);
		change_owner(cpu, unlikely(ctx->hw->special) ? leave_specially(cpu, ctx) :
							       space_of(ctx));
	} else if (ctx->hw->n_events) {
		leave_mute(ctx, page);
	}
	perfctr_page_end(page);
}

/* The counters are stopped, code in mm may RDPMC: it must find nothing of other address spaces. */
static void scrub_cpu(struct perfctr_cpu *cpu, const struct mm_struct *mm)
{
	u64 slots = cpu->foreign;

	if (cpu->owner != mm->context.ctx_id)
		slots |= cpu->held;
	if (!slots)
		return;
	clear_slots(cpu, slots);
	cpu->foreign = 0;
	cpu->held &= ~slots;
}

/*
 * Counters of user mode stand still in the kernel: between two threads that count nothing else they
 * need not be stopped. Kernel mode is counted up to one and from one instruction, for all counters.
 * Where they interrupt each thread has its own distance to the next period.
 */
static bool goes_on(const struct perfctr_hw_control *out, const struct perfctr_hw_control *in)
{
	return in->n_events && !in->special && !out->special;
}

static struct perfctr_context *started_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context);

	return ctx && ctx->started ? ctx : NULL;
}

static bool is_entered(const struct perfctr_context *ctx)
{
	return ctx->shared ? perfctr_page_here(ctx)->flags & PERFCTR_PAGE_STARTED : ctx->started;
}

/*
 * The context of a thread that runs here, if it is counted: one that is shared may be started and
 * not have been entered on this CPU yet, or be stopped and not have been left.
 */
static struct perfctr_context *entered_context(const struct perfctr_thread *thread)
{
	struct perfctr_context *ctx = READ_ONCE(thread->context) ?:
				      this_cpu_read(perfctr_cpu.left);

	return ctx && is_entered(ctx) ? ctx : NULL;
}

/* marked: the thread that the gates have turned for, or NULL. */
static void change_context(struct perfctr_cpu *cpu, struct perfctr_context *out,
			   struct perfctr_context *in, struct task_struct *marked)
{
	u64 now = rdtsc();

	if (out)
		leave_context(cpu, out, now, !in || !goes_on(out->hw, in->hw));
	if (in)
		enter_context(cpu, in, now, true);
	if (marked) {
		perfctr_cpu_follow_gate();
		perfctr_gate_settle(marked, now);
	}
}

/* out, in: those of prev and next that are started, or NULL. */
static noinline void switch_slowly(struct task_struct *prev, struct task_struct *next,
				   struct perfctr_context *out, struct perfctr_context *in)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	bool turned = false;

	if (unlikely(cpu->paused))
		return;
	if (perfctr_is_gated())
		turned = perfctr_gate_turn(prev, next);
	if (cpu->left && out == in && !turned && !perfctr_user_rdpmc()) {
		cpu->left = NULL;
		return;
	}
	if (out || in || turned)
		change_context(cpu, out, in, turned ? next : NULL);
	if (next->mm && perfctr_user_rdpmc()) {
		if (!cpu->enabled)
			scrub_cpu(cpu, next->mm);
		if (perfctr_is_gated())
			perfctr_gate_scrub();
	}
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
 * Between two threads that count the same in user mode the counters run on, and one pass does it.
 * Where that is not so, where counters are to be cleared or gates turned, it is done slowly.
 */
static noinline void exchange_threads(struct task_struct *prev, struct task_struct *next,
				      struct perfctr_context *out, struct perfctr_context *in)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	const struct perfctr_hw_control *hw = in->hw;
	struct perfctr_page *left, *entered;
	u32 i, n;
	u64 now;

	/* Something is enabled: out is started, and the counters are not paused. */
	if (!cpu->enabled || !in->started || hw->special ||
	    perfctr_is_gated())
		goto slowly;
	if (cpu->foreign || prev->mm != next->mm || !next->mm) {
		if (perfctr_user_rdpmc() || perfctr_has_page(in))
			goto slowly;
		/* Who owns what is held is asked when somebody leaves. */
		cpu->foreign |= cpu->held;
	}
	cpu->entries++;
	left = out->page;
	entered = in->page;
	n = hw->n_events;
	now = rdtsc();
	perfctr_page_begin(left);
	perfctr_page_begin(entered);
	left->tsc.sum = left->tsc.bias + now;
	enter_cpu(entered, now, true);
	if (unlikely(perfctr_pmu->read)) {
		perfctr_pmu->read(hw, cpu->value);
		for (i = 0; i < n; i++)
			exchange_counter(cpu, left, entered, hw, i, cpu->value[i]);
	} else {
		for (i = 0; i < n; i++) {
			u64 value;

			rdpmcl(hw->event[i].rdpmc, value);
			exchange_counter(cpu, left, entered, hw, i, value);
		}
	}
	perfctr_page_end(entered);
	perfctr_page_end(left);
	return;
slowly:
	switch_slowly(prev, next, out->started ? out : NULL, in->started ? in : NULL);
}

/*
 * Both bear one mark, or share the context ctx, and no gate has to look at each of them. Where
 * what they share has to be entered or left, the CPU is told.
 */
static __always_inline bool is_alike(const struct perfctr_thread *from,
				     const struct perfctr_thread *to,
				     const struct perfctr_context *ctx)
{
	if (ctx && !perfctr_is_gated())
		return true;
	return from->mark == to->mark && (ctx || from->mark) &&
	       !this_cpu_read(perfctr_gate_special.any);
}

static noinline void switch_extra(struct task_struct *prev, struct task_struct *next,
				  const struct perfctr_thread *from,
				  const struct perfctr_thread *to)
{
	if (perfctr_switch_is_ours(prev, next))
		switch_slowly(prev, next, entered_context(from), started_context(to));
	perfctr_switch_rest(prev, next);
}

/*
 * When one of the two is watched: it is started, marked, or an idle thread that some session tells
 * from others. current may be the one or the other.
 */
static __always_inline void switch_watched(struct task_struct *prev, struct task_struct *next,
					   const struct perfctr_thread *from,
					   const struct perfctr_thread *to)
{
	struct perfctr_context *out, *in;

	lockdep_assert_irqs_disabled();
	if (unlikely(perfctr_switch_has_more(prev, next))) {
		switch_extra(prev, next, from, to);
		return;
	}
	out = from->context;
	in = to->context;
	if (out == in) {
		if (is_alike(from, to, out) && !perfctr_user_rdpmc())
			return;
	} else if (out && in && out->hw == in->hw) {
		exchange_threads(prev, next, out, in);
		return;
	}
	switch_slowly(prev, next, entered_context(from), started_context(to));
}

#ifdef PERFCTR_SWITCH_FINDS_THREADS
void perfctr_switch_threads(struct task_struct *prev, struct task_struct *next,
			    const struct perfctr_thread *from, const struct perfctr_thread *to)
{
	switch_watched(prev, next, from, to);
}
#else
void perfctr_switch(struct task_struct *prev, struct task_struct *next)
{
	switch_watched(prev, next, perfctr_thread(prev), perfctr_thread(next));
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

/* The values that have just been read become sums. */
static void publish_sums(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	fold_counters(cpu, ctx);
	if (prevent_wrap(cpu, ctx->hw))
		set_biases(cpu, ctx);
}

static __always_inline void fold_context(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (has_counters_here(cpu, ctx)) {
		perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
		publish_sums(cpu, ctx);
	}
	perfctr_page_end(page);
}

/* The counters are stopped. */
static void sum_up_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool late)
{
	struct perfctr_page *page = ctx->page;

	page->tsc.sum = page->tsc.bias + rdtsc();
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	fold_counters(cpu, ctx);
	perfctr_thresholds_carry(cpu, ctx);
	perfctr_thresholds_pass(ctx, late);
}

/* Then they are to run. */
static void fold_periods(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool late)
{
	perfctr_page_begin(ctx->page);
	sum_up_periods(cpu, ctx, late);
	begin_periods(cpu, ctx);
	perfctr_page_end(ctx->page);
}

static noinline void fold_specially(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	perfctr_cpu_hold(ctx->hw->slots);
	if (ctx->hw->interrupts) {
		fold_periods(cpu, ctx, true);
		run_periods(cpu, ctx);
	} else {
		fold_context(cpu, ctx);
		perfctr_cpu_go_on();
	}
}

/* Brings the sums of a running context up to date, all counters as of one instruction. */
void perfctr_cpu_fold(struct perfctr_context *ctx)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	if (unlikely(ctx->hw->special && !cpu->mute))
		fold_specially(cpu, ctx);
	else
		fold_context(cpu, ctx);
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
		perfctr_cpu_hold(ctx->hw->slots);
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

/* True when no counter has gone back. One that has was written: what it lost is lost. */
static __always_inline bool read_forward(struct perfctr_cpu *cpu, struct perfctr_context *ctx,
					 bool periods)
{
	u64 before[PERFCTR_MAX_COUNTERS];
	u32 n = ctx->hw->n_events;
	bool forward = true;
	u32 i;

	memcpy(before, cpu->value, n * sizeof(*before));
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	if (periods)
		forward = perfctr_thresholds_unwrap(cpu, ctx->hw);
	for (i = 0; i < n; i++) {
		struct perfctr_page_counter *c = &perfctr_page_here(ctx)->counter[i];

		if (likely(cpu->value[i] >= before[i]))
			continue;
		c->sum = c->bias + before[i];
		set_bias(c, cpu->value[i]);
		forward = false;
	}
	return forward;
}

/*
 * The values that have just been read become sums. Counters of kernel mode run meanwhile: before
 * any is cleared they stand still, and are read anew.
 */
static void fold_running(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	bool hold = ctx->hw->counts_kernel && is_to_clear(cpu, ctx->hw);

	if (hold) {
		perfctr_cpu_hold(ctx->hw->slots);
		perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	}
	publish_sums(cpu, ctx);
	if (hold)
		perfctr_cpu_go_on();
}

/* intact: no register has been found written by somebody else. True: no counter has, either. */
static bool fold_by_tick(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (has_counters_here(cpu, ctx)) {
		intact &= read_forward(cpu, ctx, false);
		fold_running(cpu, ctx);
		if (!intact)
			page->flags |= PERFCTR_PAGE_DISTURBED;
	}
	perfctr_page_end(page);
	return intact;
}

/*
 * Likewise of events with periods. Where an interrupt was lost, with or without somebody else's
 * help, the next ones are ours again.
 */
static bool fold_periods_by_tick(struct perfctr_cpu *cpu, struct perfctr_context *ctx, bool intact)
{
	struct perfctr_page *page = ctx->page;

	perfctr_cpu_hold(ctx->hw->slots);
	perfctr_route_interrupts(true);
	perfctr_renew_interrupts(cpu);
	perfctr_page_begin(page);
	page->tsc.sum = page->tsc.bias + rdtsc();
	if (likely(!perfctr_waits(ctx))) {
		intact &= read_forward(cpu, ctx, true);
		fold_counters(cpu, ctx);
		perfctr_thresholds_pass(ctx, true);
	}
	begin_periods(cpu, ctx);
	if (!intact)
		page->flags |= PERFCTR_PAGE_DISTURBED;
	perfctr_page_end(page);
	run_periods(cpu, ctx);
	return intact;
}

/* The mark of a group that has died since costs its thread nothing any more. */
static void drop_dead_mark(void)
{
	if (perfctr_thread(current)->mark && !perfctr_live_mark(current))
		perfctr_update_flag(current);
}

/*
 * A thread that never switches is folded by the tick: once is enough in half a counter's period.
 *
 * Nobody else is to touch the counters that we hold, but parts of the kernel that do not reserve
 * them do: interrupts of processor trace, virtual machines. They are found out here.
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
	if (ctx && ctx->hw->interrupts && !cpu->mute)
		intact &= fold_periods_by_tick(cpu, ctx, intact);
	else if (ctx)
		intact &= fold_by_tick(cpu, ctx, intact);
	if (unlikely(!intact)) {
		cpu->disturbances++;
		if (perfctr_is_gated())
			perfctr_gate_disturbed();
	}
	if (perfctr_is_gated())
		perfctr_gate_tick(rdtsc());
	drop_dead_mark();
}

/* Of a running context, whose sums are up to date. */
static void clear_foreign(struct perfctr_cpu *cpu, const struct perfctr_context *ctx)
{
	clear_slots(cpu, cpu->foreign);
	cpu->foreign = 0;
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
}

/* Counters without a period among them begin anew from 0, those with one where they were. */
static noinline void scrub_specially(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	perfctr_cpu_hold(ctx->hw->slots);
	perfctr_page_begin(ctx->page);
	sum_up_periods(cpu, ctx, true);
	clear_foreign(cpu, ctx);
	begin_periods(cpu, ctx);
	perfctr_page_end(ctx->page);
	run_periods(cpu, ctx);
}

/* The current thread is counted. */
static void scrub_running(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page *page = perfctr_page_here(ctx);

	change_owner(cpu, seen_by(ctx));
	cpu->held |= ctx->hw->slots;
	if (!cpu->foreign)
		return;
	if (unlikely(ctx->hw->interrupts)) {
		scrub_specially(cpu, ctx);
		return;
	}
	if (ctx->hw->counts_kernel)	/* user mode stands still by itself */
		perfctr_cpu_hold(ctx->hw->slots);
	perfctr_page_begin(page);
	perfctr_read_counters(perfctr_pmu, ctx->hw, cpu->value);
	fold_counters(cpu, ctx);
	clear_foreign(cpu, ctx);
	set_biases(cpu, ctx);
	perfctr_page_end(page);
	if (ctx->hw->counts_kernel)
		perfctr_cpu_go_on();
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
		scrub_cpu(cpu, mm);
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

/* The current thread leaves, and enters again, as if another one ran meanwhile. */
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
