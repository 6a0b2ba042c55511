// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thresholds of events with a period: arithmetic on virtual counts alone. A counter is preset to
 * the distance from the thread's count to its next threshold, less than half of what the counter
 * can hold: so until it overflows its highest bit is set, and after that clear. What is passed is
 * found by the count, whoever looks, never by the interrupt: a late or lost one costs no period.
 * A counter that this CPU has not reads 0, as one that has just overflowed, and stays there.
 */
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <asm/msr.h>
#include "cpu.h"

/*
 * No counter counts more in a tick of the time stamp: 256 events in a cycle, as thresholds of
 * events in a cycle have 8 bits, and 4 cycles.
 */
#define MOST_EVENTS	1024

/* Under its control: of its thread, and of members below it that have exited. */
struct perfctr_thresholds {
	u64 control;		/* id of the control that they are of */
	struct perfctr_thresholds *spare;	/* for a child, see perfctr_fit_thresholds() */
	u64 late;
	u64 exited_late;
	struct {
		u64 next;	/* count that ends the period under way */
		u64 over;
		u64 exited;
	} event[];
};

/* The most that somebody has who makes a context: with spare ones. */
size_t perfctr_thresholds_bytes(void)
{
	u32 n = perfctr_pmu ? perfctr_pmu->n_general + perfctr_pmu->n_fixed : 0;

	return 2 * offsetof(struct perfctr_thresholds, event[n]);
}

static struct perfctr_thresholds *make_alone(const struct perfctr_hw_control *hw, gfp_t gfp)
{
	struct perfctr_thresholds *t;
	u32 i;

	t = kzalloc(struct_size(t, event, hw->n_events), gfp | __GFP_ACCOUNT);
	if (!t)
		return NULL;
	t->control = hw->id;
	for (i = 0; i < hw->n_events; i++)
		t->event[i].next = perfctr_hw_periods(hw)[i].period;
	return t;
}

struct perfctr_thresholds *perfctr_make_thresholds(const struct perfctr_hw_control *hw, bool spare,
						   gfp_t gfp)
{
	struct perfctr_thresholds *t = make_alone(hw, gfp);

	if (!t || !spare)
		return t;
	t->spare = make_alone(hw, gfp);
	if (t->spare)
		return t;
	kfree(t);
	return NULL;
}

void perfctr_free_thresholds(struct perfctr_thresholds *t)
{
	if (t)
		kfree(t->spare);
	kfree(t);
}

/*
 * ctx is about to be born under parent's control, which has periods. If it was conceived under
 * another one, parent's thread has been given this one since, and has made no child under it: the
 * spare thresholds are there.
 */
void perfctr_fit_thresholds(struct perfctr_context *ctx, struct perfctr_context *parent)
{
	if (!ctx->thresholds || ctx->thresholds->control != parent->hw->id)
		swap(ctx->thresholds, parent->thresholds->spare);
}

/*
 * The values that have just been read go on where the counters have overflowed. False: one cannot
 * have counted so much since it was preset, and so was written. What it counted is lost: 0, which
 * somebody else sets it to, looks as if it had overflowed.
 */
bool perfctr_thresholds_unwrap(struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw)
{
	u64 most = (rdtsc() - cpu->preset_time) * MOST_EVENTS;
	bool possible = true;
	u32 i;

	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_period *p = &perfctr_hw_periods(hw)[i];

		if (!p->period)
			continue;
		if (!(cpu->value[i] & BIT_ULL(p->bits - 1)))
			cpu->value[i] += BIT_ULL(p->bits);
		if (likely(cpu->value[i] - cpu->preset[i] <= most))
			continue;
		cpu->value[i] = cpu->preset[i];
		possible = false;
	}
	return possible;
}

/* Likewise, where they have become sums as they were read. */
void perfctr_thresholds_carry(struct perfctr_cpu *cpu, struct perfctr_context *ctx)
{
	struct perfctr_page_counter *c = ctx->page->counter;
	u32 i;

	if (!perfctr_thresholds_unwrap(cpu, ctx->hw)) {
		ctx->page->flags |= PERFCTR_PAGE_DISTURBED;
		cpu->disturbances++;
	}
	for (i = 0; i < ctx->hw->n_events; i++)
		c[i].sum = c[i].bias + cpu->value[i];
}

/* Of sums that are up to date. late: nothing has interrupted to tell. */
void perfctr_thresholds_pass(struct perfctr_context *ctx, bool late)
{
	struct perfctr_thresholds *t = ctx->thresholds;
	u32 i;

	for (i = 0; i < ctx->hw->n_events; i++) {
		u64 period = perfctr_hw_periods(ctx->hw)[i].period, beyond, n = 1;

		beyond = ctx->page->counter[i].sum - t->event[i].next;
		if (!period || (s64)beyond < 0)
			continue;
		if (unlikely(beyond >= period))
			n += div64_u64(beyond, period);
		t->event[i].next += n * period;
		t->event[i].over += n;
		/* Those beyond the first could not be told each for itself. */
		t->late += late ? n : n - 1;
	}
}

/* What a counter can do, of what is left. */
static u64 possible_distance(const struct perfctr_hw_period *p, u64 left)
{
	u64 distance = max_t(u64, left, p->least) & -(u64)p->grain;

	return min(distance - perfctr_pmu->interrupts_after, perfctr_pmu->max_distance);
}

/*
 * The counters are stopped, the sums up to date, and all thresholds beyond them. put_off: no
 * counter shall interrupt before somebody looks.
 */
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

void perfctr_add_periods(const struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	const struct perfctr_thresholds *t = ctx->thresholds;
	u32 i;

	if (!perfctr_has_periods(ctx))
		return;
	periods->late += t->late;
	for (i = 0; i < ctx->hw->n_events; i++)
		periods->over[i] += t->event[i].over;
}

/* Of the members below it that have exited. */
void perfctr_add_exited_periods(const struct perfctr_context *ctx, struct perfctr_periods *periods)
{
	const struct perfctr_thresholds *t = ctx->thresholds;
	u32 i;

	if (!perfctr_has_periods(ctx))
		return;
	periods->late += t->exited_late;
	for (i = 0; i < ctx->hw->n_events; i++)
		periods->over[i] += t->event[i].exited;
}

/* from has exited. Both have the same control. */
void perfctr_hand_over_periods(const struct perfctr_context *from, struct perfctr_context *to)
{
	struct perfctr_thresholds *t = to->thresholds;
	const struct perfctr_thresholds *f = from->thresholds;
	u32 i;

	t->exited_late += f->late + f->exited_late;
	for (i = 0; i < from->hw->n_events; i++)
		t->event[i].exited += f->event[i].over + f->event[i].exited;
}
