// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thresholds of events with a period: pure arithmetic on virtual counts. A counter is preset to
 * overflow at the distance from the thread's count to its next threshold. The distance is less than
 * half of the counter's range, so the highest bit is set until the counter overflows, and clear
 * after that.
 *
 * Each fold compares counts with thresholds. An interrupt only causes a fold, so a late or lost
 * interrupt loses no period. A counter that this CPU lacks always reads 0, like a counter that has
 * just overflowed.
 */
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <asm/msr.h>
#include "../machine/percpu.h"
#include "internal.h"

/*
 * The most events that a counter can count in one tick of the time stamp: 256 in a cycle, because
 * the counter mask, which is compared with the events of a cycle, has 8 bits, and 4 cycles in a
 * tick.
 */
#define MOST_EVENTS	1024

/* Counts under one control: of its thread, and of exited members below. */
struct perfctr_thresholds {
	u64 control;		/* id of the control */
	struct perfctr_thresholds *spare;	/* for a child, see perfctr_fit_thresholds() */
	u64 late;		/* periods whose end no interrupt reported */
	u64 exited_late;	/* late periods of exited members */
	u64 exited_lost;	/* signals lost by exited members */
	struct perfctr_signals *signals;	/* NULL: no event has a signal */
	bool notifies;		/* ends of periods send signals, and may make the thread wait */
	bool waits;		/* the thread counts no event until RESUME */
	u64 random;		/* state of the generator for phase and jitter */
	struct perfctr_threshold {
		u64 next;	/* count that ends the current period */
		u64 last;	/* count that ended the previous one; 0: none has ended */
		u64 over;	/* periods that have ended */
		u64 exited;	/* the same of exited members */
		u64 spread;	/* bound of the random delay of each end; 0: no delay */
		u64 beyond;	/* delay of next */
	} event[];
};

size_t perfctr_thresholds_bytes(void)
{
	u32 n = perfctr_n_counters();

	return 2 * (offsetof(struct perfctr_thresholds, event[n]) + perfctr_signals_bytes());
}

static void free_threshold_set(struct perfctr_thresholds *t)
{
	if (t->signals)
		perfctr_free_signals(t->signals);
	kfree(t);
}

static struct perfctr_thresholds *make_threshold_set(const struct perfctr_hw_control *hw, gfp_t gfp)
{
	struct perfctr_thresholds *t;
	u32 i;

	t = kzalloc(struct_size(t, event, hw->n_events), gfp | __GFP_ACCOUNT);
	if (!t)
		return NULL;
	t->control = hw->id;
	t->notifies = hw->notifies;
	for (i = 0; i < hw->n_events; i++)
		t->event[i].next = perfctr_hw_periods(hw)[i].period;
	if (!hw->signals)
		return t;
	t->signals = perfctr_make_signals(hw, gfp);
	if (t->signals)
		return t;
	free_threshold_set(t);
	return NULL;
}

struct perfctr_thresholds *perfctr_make_thresholds(const struct perfctr_hw_control *hw, bool spare,
						   gfp_t gfp)
{
	struct perfctr_thresholds *t = make_threshold_set(hw, gfp);

	if (!t || !spare)
		return t;
	t->spare = make_threshold_set(hw, gfp);
	if (t->spare)
		return t;
	free_threshold_set(t);
	return NULL;
}

void perfctr_free_thresholds(struct perfctr_thresholds *t)
{
	if (!t)
		return;
	if (t->spare)
		free_threshold_set(t->spare);
	free_threshold_set(t);
}

void perfctr_hush_thresholds(struct perfctr_thresholds *t)
{
	if (!t)
		return;
	t->notifies = false;
	t->waits = false;
	if (t->signals)
		perfctr_end_signals(t->signals);
}

bool perfctr_waits(const struct perfctr_context *ctx)
{
	return perfctr_has_periods(ctx) && READ_ONCE(ctx->thresholds->waits);
}

void perfctr_end_wait(struct perfctr_context *ctx)
{
	if (perfctr_has_periods(ctx))
		WRITE_ONCE(ctx->thresholds->waits, false);
}

/*
 * If ctx was prepared under another control, parent got its present control while its thread was
 * already creating ctx's thread. So parent's thread has created no other child under this control,
 * and the spare set is still there. A thread that does not share signal handlers with the parent
 * gets no signals.
 */
void perfctr_fit_thresholds(struct perfctr_context *ctx, struct perfctr_context *parent,
			    bool same_process)
{
	if (!ctx->thresholds || ctx->thresholds->control != parent->hw->id)
		swap(ctx->thresholds, parent->thresholds->spare);
	if (!same_process || !parent->thresholds->notifies)
		perfctr_hush_thresholds(ctx->thresholds);
	perfctr_vary_thresholds(ctx->thresholds, parent->hw, &parent->tree->variation);
}

/*
 * Continues the values just read beyond overflows. Returns false if a counter has counted more
 * since its preset than is possible: other code has written it. The counts since the preset are
 * lost then. A counter that other code has set to 0 looks as if it had overflowed.
 */
bool perfctr_thresholds_unwrap(struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw)
{
	u64 now = rdtsc(), most = (now - cpu->preset_time) * MOST_EVENTS;
	bool possible = true;
	u32 i;

	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_period *p = &perfctr_hw_periods(hw)[i];

		if (!p->period)
			continue;
		if (!(cpu->value[i] & BIT_ULL(p->bits - 1))) {
			cpu->value[i] += BIT_ULL(p->bits);
			cpu->overflowed = now;
		}
		if (likely(cpu->value[i] - cpu->preset[i] <= most))
			continue;
		cpu->value[i] = cpu->preset[i];
		possible = false;
	}
	return possible;
}

/*
 * Continues the values after the raw ones have been folded into the sums, and corrects the sums.
 * While a thread waits, each bias holds the sum.
 */
void perfctr_thresholds_carry(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page_counter *c = ctx->page->counter;
	u32 i;

	if (unlikely(ctx->thresholds->waits)) {
		for (i = 0; i < ctx->hw->n_events; i++)
			c[i].sum = c[i].bias;
		return;
	}
	if (!perfctr_thresholds_unwrap(cpu, ctx->hw)) {
		ctx->page->flags |= PERFCTR_PAGE_DISTURBED;
		cpu->disturbances++;
	}
	for (i = 0; i < ctx->hw->n_events; i++)
		c[i].sum = c[i].bias + cpu->value[i];
}

/* SplitMix64 by Steele, Lea and Flood: returns 64 random bits. */
static u64 draw_random_bits(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static u64 draw_random_below(u64 *state, u64 n)
{
	return mul_u64_u64_shr(draw_random_bits(state), n, 64);
}

/*
 * Called before a thread begins to count. Jitter does not accumulate: each threshold is less than
 * one period later than it would be without jitter.
 */
void perfctr_vary_thresholds(struct perfctr_thresholds *t, const struct perfctr_hw_control *hw,
			     struct perfctr_variation *v)
{
	u32 i;

	if (!v->phase && !v->jitter)
		return;
	t->random = v->seed + atomic64_inc_return(&v->threads);
	t->random = draw_random_bits(&t->random);
	for (i = 0; i < hw->n_events; i++) {
		struct perfctr_threshold *e = &t->event[i];
		u64 period = perfctr_hw_periods(hw)[i].period;

		if (v->phase)
			e->next -= draw_random_below(&t->random, period);
		/* Distances are compared as signed values. */
		e->spread = min(mul_u64_u32_div(period, v->jitter, 100), S64_MAX - period);
		e->beyond = draw_random_below(&t->random, e->spread);
		e->next += e->beyond;
	}
}

/*
 * count has passed next, and perhaps further thresholds. Returns the number of thresholds passed.
 */
static noinline u64 pass_varied_thresholds(struct perfctr_threshold *e, u64 period, u64 count,
					   u64 *random)
{
	u64 due = e->next - e->beyond, n = div64_u64(count - due, period);

	/*
	 * A delay is less than a period, so count has passed all thresholds that are due, except
	 * perhaps the last of them.
	 */
	e->last = e->next;
	due += period;
	if (n) {
		due += (n - 1) * period;
		e->last = due - period + (n > 1 ? draw_random_below(random, e->spread) : e->beyond);
		e->beyond = draw_random_below(random, e->spread);
		if (count - due < e->beyond) {
			e->next = due + e->beyond;
			return n;
		}
		e->last = due + e->beyond;
		due += period;
	}
	e->beyond = draw_random_below(random, e->spread);
	e->next = due + e->beyond;
	return n + 1;
}

static u64 pass_even_thresholds(struct perfctr_threshold *e, u64 period, u64 count)
{
	u64 beyond = count - e->next, n = 1;

	if (unlikely(beyond >= period))
		n += div64_u64(beyond, period);
	e->last = e->next + (n - 1) * period;
	e->next = e->last + period;
	return n;
}

/* The sums are up to date. late: no interrupt has reported the end of a period. */
void perfctr_thresholds_pass(struct perfctr_context *ctx, bool late)
{
	struct perfctr_thresholds *t = ctx->thresholds;
	u32 i, told = 0;

	for (i = 0; i < ctx->hw->n_events; i++) {
		const struct perfctr_hw_period *p = &perfctr_hw_periods(ctx->hw)[i];
		struct perfctr_threshold *e = &t->event[i];
		u64 count = ctx->page->counter[i].sum;
		struct perfctr_passed passed;

		if (!p->period || (s64)(count - e->next) < 0)
			continue;
		passed.event = i;
		passed.kernel = p->kernel;
		passed.told = !late;
		passed.weight = e->last;
		passed.periods = unlikely(e->spread) ?
				 pass_varied_thresholds(e, p->period, count, &t->random) :
				 pass_even_thresholds(e, p->period, count);
		passed.weight = e->last - passed.weight;
		passed.late = count - e->last;
		e->over += passed.periods;
		/* One interrupt can report only the first of several ends. */
		t->late += passed.periods - !late;
		perfctr_sample(ctx, &passed);
		if (unlikely(t->notifies)) {
			told |= p->signal ? BIT(i) : 0;
			t->waits |= p->stop;
		}
	}
	if (unlikely(told))
		perfctr_signal(t->signals, ctx->task, told);
}

/* Returns the distance to preset a counter to if its threshold is left events away. */
static u64 possible_distance(const struct perfctr_hw_period *p, u64 left)
{
	u64 distance = max_t(u64, left, p->least) & -(u64)p->grain;

	return min(distance - perfctr_pmu->interrupts_after, perfctr_pmu->max_distance);
}

/* The counters are stopped, the sums are up to date, and all thresholds are beyond the sums. */
void perfctr_thresholds_preset(struct perfctr_cpu *cpu, const struct perfctr_context *ctx,
			       bool put_off)
{
	const struct perfctr_hw_control *hw = ctx->hw;
	u32 i;

	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_period *p = &perfctr_hw_periods(hw)[i];
		u64 distance = perfctr_pmu->max_distance;

		if (!p->period)
			continue;
		if (!put_off)
			distance = possible_distance(p, ctx->thresholds->event[i].next -
							ctx->page->counter[i].sum);
		cpu->preset[i] = BIT_ULL(p->bits) - distance;
		if (!perfctr_pmu->preset(&hw->event[i], cpu->preset[i]))
			cpu->preset[i] = BIT_ULL(p->bits);
		cpu->value[i] = cpu->preset[i];
	}
	cpu->preset_time = rdtsc();
}

static u64 lost_signals(const struct perfctr_thresholds *t)
{
	return t->signals ? perfctr_lost_signals(t->signals) : 0;
}

void perfctr_add_periods(const struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	const struct perfctr_thresholds *t = ctx->thresholds;
	u32 i;

	if (!perfctr_has_periods(ctx))
		return;
	periods->late += t->late;
	periods->lost_signals += lost_signals(t);
	for (i = 0; i < ctx->hw->n_events; i++)
		periods->over[i] += t->event[i].over;
}

void perfctr_add_exited_periods(const struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	const struct perfctr_thresholds *t = ctx->thresholds;
	u32 i;

	if (!perfctr_has_periods(ctx))
		return;
	periods->late += t->exited_late;
	periods->lost_signals += t->exited_lost;
	for (i = 0; i < ctx->hw->n_events; i++)
		periods->over[i] += t->event[i].exited;
}

void perfctr_hand_over_periods(const struct perfctr_context *from, struct perfctr_context *to)
{
	struct perfctr_thresholds *t = to->thresholds;
	const struct perfctr_thresholds *f = from->thresholds;
	u32 i;

	t->exited_late += f->late + f->exited_late;
	t->exited_lost += lost_signals(f) + f->exited_lost;
	for (i = 0; i < from->hw->n_events; i++)
		t->event[i].exited += f->event[i].over + f->event[i].exited;
}
