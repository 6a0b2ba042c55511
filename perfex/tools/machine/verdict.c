// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict.h"

#include <stdlib.h>

#define NS_PER_S 1000000000u

uint64_t allowed_beyond(const struct surroundings *surroundings)
{
	return surroundings->interrupts + surroundings->faults + 1 +
	       surroundings->elapsed_ns / (NS_PER_S / UNSEEN_PER_S);
}

void loop_runs_add(struct loop_runs *runs, uint64_t count)
{
	if (!runs->runs || count < runs->least)
		runs->least = count;
	runs->sum += count;
	runs->runs++;
}

bool fit_loops(const struct loop_runs *runs, unsigned int n, unsigned int per_iteration,
	       struct loop_fit *fit)
{
	*fit = (struct loop_fit){ .overhead = runs[0].least };
	for (unsigned int i = 0; i < n; i++) {
		uint64_t expected = fit->overhead + per_iteration * runs[i].iterations, beyond;

		fit->bad = i;
		if (runs[i].least < expected) {
			fit->bad_missing = expected - runs[i].least;
			return false;
		}
		beyond = runs[i].sum - runs[i].runs * expected;
		if (beyond > runs[i].allowed) {
			fit->bad_beyond = beyond;
			return false;
		}
		fit->beyond += beyond;
		fit->allowed += runs[i].allowed;
	}
	return true;
}

enum count_verdict judge_count(uint64_t counted, uint64_t expected, uint64_t allowed)
{
	if (counted < expected)
		return COUNT_MISSES;
	return counted - expected <= allowed ? COUNT_RIGHT : COUNT_EXCEEDS;
}

bool judge_moves(uint64_t ordered, uint64_t counted)
{
	return counted > 0 && counted <= ordered;
}

void read_chain_add(struct read_chain *chain, uint64_t value)
{
	uint64_t step = value - chain->last;

	if (chain->reads++) {
		if (value < chain->last) {
			chain->backwards += chain->last - value > chain->drift;
			if (chain->last - value > chain->most_back)
				chain->most_back = chain->last - value;
		} else {
			chain->small += step < chain->work;
			if (step < chain->least_step)
				chain->least_step = step;
			if (step > chain->most_step)
				chain->most_step = step;
			chain->large += chain->work && step > chain->least_step + chain->slack;
		}
	} else {
		chain->least_step = UINT64_MAX;
	}
	chain->last = value;
}

bool judge_reads(const struct read_chain *chain)
{
	return chain->reads > 1 && !chain->backwards && !chain->small && !chain->large;
}

/*
 * The counted time must be at least nine tenths of the scheduler's time, which may be in whole
 * ticks.  The upper limit is the elapsed time, because the scheduler may leave out interrupts.  A
 * hundredth more is allowed, because both are read one after the other.  While the thread sleeps,
 * a tenth of the elapsed time may be counted.
 */
bool judge_time(const struct time_shares *shares)
{
	return shares->counted <= shares->elapsed + shares->elapsed / 100 &&
	       shares->counted >= shares->on_cpu - shares->on_cpu / 10 &&
	       shares->asleep <= shares->slept / 10;
}

static int compare_values(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct spread find_spread(uint64_t *value, unsigned int n)
{
	qsort(value, n, sizeof(*value), compare_values);
	return (struct spread){ .least = value[0], .median = value[n / 2] };
}
