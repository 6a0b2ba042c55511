// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The slow paths of passes through a region: the thread was switched away during a read, entered or
 * left out of turn, or has no RDPMC, or the pass is the smallest or largest so far.
 */
#include "regions.h"

#include <errno.h>
#include <string.h>

/*
 * Before the first pass, min and max are 1.  A first pass of any other length is outside of that
 * range, and calls perfctr_region_extreme().
 */
static const struct perfctr_region_sum no_pass = { .min = 1 };

void perfctr_region_reset(struct perfctr_region *region)
{
	region->state = region->page ? PERFCTR_REGION_OUTSIDE : PERFCTR_REGION_UNUSABLE;
	region->state_by_call = PERFCTR_REGION_OUTSIDE;
	region->passes = 0;
	region->missed_exits = 0;
	region->stray_exits = 0;
	region->retried = 0;
	region->tsc = no_pass;
	for (unsigned int i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		region->counter[i] = no_pass;
}

static void widen_extremes(struct perfctr_region_sum *sum, uint64_t pass, bool first)
{
	uint64_t max = sum->min + sum->span;

	if (first) {
		sum->min = pass;
		sum->span = 0;
	} else if (pass < sum->min) {
		sum->min = pass;
		sum->span = max - pass;
	} else if (pass > max) {
		sum->span = pass - sum->min;
	}
}

void perfctr_region_extreme(struct perfctr_region *region, unsigned int n)
{
	bool first = region->passes == 1;

	widen_extremes(&region->tsc, region->tsc.min + region->tsc.start, first);
	for (unsigned int i = 0; i < n; i++) {
		struct perfctr_region_sum *sum = &region->counter[i];

		widen_extremes(sum, sum->min + sum->start, first);
	}
}

static void begin_pass(struct perfctr_region *region, const struct perfctr_snapshot *now)
{
	region->tsc.start = now->tsc;
	for (unsigned int i = 0; i < region->thread->n_events; i++)
		region->counter[i].start = now->counter[i];
}

/*
 * The cost of begin and end of inner regions is known to a few counts.  A pass through which they
 * cost less may come out as less than nothing, which is 0.
 */
static void end_one(struct perfctr_region_sum *sum, uint64_t now, bool first)
{
	uint64_t pass = (int64_t)(now - sum->start) < 0 ? 0 : now - sum->start;

	sum->total += pass;
	widen_extremes(sum, pass, first);
}

static void end_pass(struct perfctr_region *region, const struct perfctr_snapshot *now)
{
	bool first = region->passes++ == 0;

	end_one(&region->tsc, now->tsc, first);
	for (unsigned int i = 0; i < region->thread->n_events; i++)
		end_one(&region->counter[i], now->counter[i], first);
}

static void end_cut_pass(const struct perfctr_region *region, struct perfctr_region *cut,
			 const struct perfctr_snapshot *now)
{
	cut->thread = region->thread;
	cut->tsc.start = region->tsc.start;
	for (unsigned int i = 0; i < region->thread->n_events; i++)
		cut->counter[i].start = region->counter[i].start;
	end_pass(cut, now);
}

/* Leaves errno alone: enter and exit have no errors. */
bool perfctr_region_read(const struct perfctr_region_thread *thread, struct region_reading *now)
{
	struct perfctr_counts counts;
	int error = errno;

	if (perfctr_read(thread->context, &counts) < 0) {
		errno = error;
		return false;
	}
	now->counts.tsc = counts.tsc;
	memcpy(now->counts.counter, counts.counter, sizeof(now->counts.counter));
	now->in_vain = 0;
	now->running = counts.flags & PERFCTR_COUNTS_STARTED;
	return true;
}

static void enter_by_call(struct perfctr_region *region)
{
	struct region_reading now;

	region->missed_exits += region->state_by_call == PERFCTR_REGION_INSIDE;
	if (!perfctr_region_read(region->thread, &now))
		return;
	region->state_by_call = PERFCTR_REGION_INSIDE;
	begin_pass(region, &now.counts);
}

static void exit_by_call(struct perfctr_region *region)
{
	struct region_reading now;

	if (region->state_by_call != PERFCTR_REGION_INSIDE) {
		region->stray_exits++;
		return;
	}
	if (!perfctr_region_read(region->thread, &now))
		return;
	region->state_by_call = PERFCTR_REGION_OUTSIDE;
	end_pass(region, &now.counts);
}

int perfctr_region_enter_slow(struct perfctr_region *region)
{
	struct perfctr_snapshot now;

	if (!region->thread)
		return 0;
	switch (region->state) {
	case PERFCTR_REGION_UNUSABLE:
		enter_by_call(region);
		return 0;
	case PERFCTR_REGION_OUTSIDE: /* the inline function has turned it from inside */
		region->missed_exits++;
		region->state = PERFCTR_REGION_INSIDE;
		return 1;
	default:
		if (!perfctr_read_stopped(region->page, region->thread->n_events, &now))
			return 1;
		begin_pass(region, &now);
		return 0;
	}
}

int perfctr_region_exit_slow(struct perfctr_region *region)
{
	struct perfctr_snapshot now;

	if (!region->thread)
		return 0;
	switch (region->state) {
	case PERFCTR_REGION_UNUSABLE:
		exit_by_call(region);
		return 0;
	case PERFCTR_REGION_INSIDE: /* the inline function has turned it from outside */
		region->stray_exits++;
		region->state = PERFCTR_REGION_OUTSIDE;
		return 0;
	default:
		if (!perfctr_read_stopped(region->page, region->thread->n_events, &now)) {
			region->retried++;
			return 1;
		}
		end_pass(region, &now);
		return 0;
	}
}

struct perfctr_region *perfctr_region_empty(struct perfctr_region *region, unsigned int number)
{
	struct perfctr_region *empty;

	if (!region->thread) {
		errno = EPERM;
		return NULL;
	}
	empty = region->thread->region + region->thread->n_regions;
	if (number == 0)
		for (unsigned int i = 0; i < EMPTY_REGIONS; i++)
			perfctr_region_reset(&empty[i]);
	return &empty[number < PERFCTR_REGION_FIRST ? number : PERFCTR_REGION_FIRST];
}

static int32_t *state_of(struct perfctr_region *region)
{
	return region->page ? &region->state : &region->state_by_call;
}

/* Does the same as the inline enter and its slow path, with counts that were read before. */
void perfctr_region_begin_at(struct perfctr_region *region, const struct region_reading *now)
{
	struct perfctr_region *cut = cut_passes(region->thread, region);
	int32_t *state = state_of(region);

	region->missed_exits += *state == PERFCTR_REGION_INSIDE;
	*state = PERFCTR_REGION_INSIDE;
	cut->state = now->running ? PERFCTR_REGION_OUTSIDE : PERFCTR_REGION_INSIDE;
	begin_pass(region, &now->counts);
}

/* Does the same as the inline exit and its slow path, with counts that were read before. */
void perfctr_region_end_at(struct perfctr_region *region, const struct region_reading *now)
{
	struct perfctr_region *cut = cut_passes(region->thread, region);
	int32_t *state = state_of(region);

	if (*state != PERFCTR_REGION_INSIDE) {
		region->stray_exits++;
		return;
	}
	*state = PERFCTR_REGION_OUTSIDE;
	region->retried += now->in_vain;
	if (now->running && cut->state != PERFCTR_REGION_INSIDE)
		end_pass(region, &now->counts);
	else
		end_cut_pass(region, cut, &now->counts);
}
