// SPDX-License-Identifier: LGPL-2.1-or-later
/* Measures how much starting and stopping the counters counts by itself. */
#include "backend/backend.h"
#include "internal.h"

#include <errno.h>
#include <string.h>

#define REPETITIONS 64 /* of a start and a stop */
#define FIRST 4	       /* of a first start and stop under a new control */

uint64_t perfctr_less_overhead(uint64_t count, uint64_t first, uint64_t repeated, uint64_t times)
{
	uint64_t overhead = times ? first + (times - 1) * repeated : 0;

	return count > overhead ? count - overhead : 0;
}

/* Interrupts only add to the counts, so the smallest count is right. */
static void take_least(struct perfctr_snapshot *least, const struct perfctr_counts *before,
		       const struct perfctr_counts *after)
{
	uint64_t tsc = after->tsc - before->tsc;

	if (tsc < least->tsc)
		least->tsc = tsc;
	for (uint32_t i = 0; i < after->n_counters; i++) {
		uint64_t count = after->counter[i] - before->counter[i];

		if (count < least->counter[i])
			least->counter[i] = count;
	}
}

static int measure_overhead(struct perfctr *p, unsigned int times, struct perfctr_snapshot *least)
{
	struct perfctr_counts before, after;

	while (times--) {
		if (perfctr_read(p, &before) < 0)
			return -1;
		perfctr_start(p);	/* nothing comes between start and stop, as in a program */
		if (perfctr_stop(p) < 0 || perfctr_read(p, &after) < 0)
			return -1;
		take_least(least, &before, &after);
	}
	return 0;
}

int perfctr_calibrate(struct perfctr *p, struct perfctr_control *c, struct perfctr_overhead *o)
{
	struct perfctr_overhead overhead = { .n_counters = c->n_events };
	uint32_t flags = c->flags;
	int status;

	if (!perfctr_is_owner(p)) {
		errno = EPERM;
		return -1;
	}
	memset(&overhead.first, 0xff, sizeof(overhead.first));
	memset(&overhead.repeated, 0xff, sizeof(overhead.repeated));
	for (unsigned int i = 0; i < FIRST; i++) {
		c->flags = flags | PERFCTR_CONTROL_STOPPED;
		status = perfctr_set_control(p, c);
		c->flags = flags;
		if (status < 0 || measure_overhead(p, 1, &overhead.first) < 0)
			return -1;
	}
	if (measure_overhead(p, REPETITIONS, &overhead.repeated) < 0 ||
	    perfctr_set_control(p, c) < 0)
		return -1;
	*o = overhead;
	return 0;
}

void perfctr_correct(struct perfctr_counts *counts, const struct perfctr_overhead *o,
		     unsigned int times)
{
	counts->tsc = perfctr_less_overhead(counts->tsc, o->first.tsc, o->repeated.tsc, times);
	for (uint32_t i = 0; i < counts->n_counters && i < o->n_counters; i++)
		counts->counter[i] = perfctr_less_overhead(counts->counter[i], o->first.counter[i],
							   o->repeated.counter[i], times);
	counts->flags |= PERFCTR_COUNTS_CORRECTED;
}
