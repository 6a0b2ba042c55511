// SPDX-License-Identifier: LGPL-2.1-or-later
/* Results of regions, less the overhead of counting. */
#include "regions.h"

#include <errno.h>
#include <string.h>

/* The counts of empty passes: of the first in a region, and of each further one. */
struct empty_pass {
	uint64_t first, repeated;
};

static void correct_count(struct perfctr_region_count *count, struct empty_pass empty,
			  uint64_t passes)
{
	uint64_t smallest = passes > 1 ? empty.repeated : empty.first;

	count->total = perfctr_less_overhead(count->total, empty.first, empty.repeated, passes);
	count->min = perfctr_less_overhead(count->min, smallest, 0, 1);
	count->max = perfctr_less_overhead(count->max, smallest, 0, 1);
}

/*
 * Returns the counts of the time stamp (i is -1) or of event i.  Interrupts can only make a pass
 * longer, so the shortest pass is right.
 */
static struct empty_pass empty_pass(const struct perfctr_region_thread *thread, int i)
{
	const struct perfctr_region *region = &thread->region[thread->n_regions];
	struct empty_pass empty = { .first = UINT64_MAX };

	for (unsigned int k = 0; k < PERFCTR_REGION_FIRST; k++) {
		const struct perfctr_region_sum *sum = region_sum(&region[k], i);

		empty.first = sum->min < empty.first ? sum->min : empty.first;
	}
	region += PERFCTR_REGION_FIRST;
	empty.repeated = region_sum(region, i)->min;
	return empty;
}

static bool is_calibrated(const struct perfctr_region_thread *thread)
{
	return thread->region[thread->n_regions + PERFCTR_REGION_FIRST].passes;
}

static struct perfctr_region_count count_of(const struct perfctr_region_sum *sum, uint64_t passes)
{
	struct perfctr_region_count count = { 0 };

	if (passes) {
		count.total = sum->total;
		count.min = sum->min;
		count.max = sum->min + sum->span;
	}
	return count;
}

/* Adds the counts of other passes to those of a number of passes. */
static void add_count(struct perfctr_region_count *count, uint64_t passes,
		      const struct perfctr_region_count *other, uint64_t other_passes)
{
	if (!other_passes)
		return;
	count->total += other->total;
	count->min = passes && count->min < other->min ? count->min : other->min;
	count->max = count->max > other->max ? count->max : other->max;
}

static bool is_inside(const struct perfctr_region *region)
{
	return region->state == PERFCTR_REGION_INSIDE ||
	       region->state_by_call == PERFCTR_REGION_INSIDE;
}

void perfctr_regions_result(const struct perfctr_regions *r,
			    const struct perfctr_region_thread *thread, unsigned int number,
			    unsigned int flags, struct perfctr_region_result *result)
{
	struct perfctr_region *region = &thread->region[number];
	const struct perfctr_region *cut = cut_passes(thread, region);
	bool corrected = flags & PERFCTR_REGIONS_CORRECTED && is_calibrated(thread) &&
			 (region->passes || !cut->passes);

	memset(result, 0, sizeof(*result));
	result->name = r->name[number];
	result->tid = thread->tid;
	result->flags = corrected ? PERFCTR_REGIONS_CORRECTED : 0;
	result->n_counters = thread->n_events;
	result->passes = region->passes + cut->passes;
	result->retried = region->retried;
	result->entries = result->passes + region->missed_exits + is_inside(region);
	result->exits = result->passes + region->stray_exits;
	for (int i = -1; i < (int)thread->n_events; i++) {
		struct perfctr_region_count *count = i < 0 ? &result->tsc : &result->counter[i];
		struct perfctr_region_count in_cut = count_of(region_sum(cut, i), cut->passes);

		*count = count_of(region_sum(region, i), region->passes);
		if (corrected)
			correct_count(count, empty_pass(thread, i), region->passes);
		add_count(count, region->passes, &in_cut, cut->passes);
	}
}

int perfctr_regions_read(struct perfctr_regions *r, unsigned int thread, unsigned int region,
			 unsigned int flags, struct perfctr_region_result *result)
{
	const struct perfctr_region_thread *t;

	if (perfctr_regions_foreign(r))
		return -1;
	if (region >= r->n_regions || (flags & ~PERFCTR_REGIONS_CORRECTED)) {
		errno = EINVAL;
		return -1;
	}
	for (t = perfctr_regions_next(r, NULL); t && thread; thread--)
		t = perfctr_regions_next(r, t);
	if (!t) {
		errno = ENOENT;
		return -1;
	}
	perfctr_regions_result(r, t, region, flags, result);
	return 0;
}
