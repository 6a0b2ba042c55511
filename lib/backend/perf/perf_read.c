// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads the counts of a set. */
#include "perf.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#define EXIT_TRIES 10000

/* The format of read(2) with PERF_FORMAT_GROUP and both times. */
struct group_counts {
	uint64_t n;
	uint64_t time_enabled, time_running; /* ns */
	uint64_t value[PERF_MAX_OWN + PERFCTR_MAX_COUNTERS];
};

static uint64_t to_ticks(uint64_t ns, uint32_t khz)
{
	return ns / 1000000 * khz + ns % 1000000 * khz / 1000000;
}

/*
 * ECHILD: some thread that inherited the events has not all of them.  A thread that is exiting
 * loses them one after the other, which takes a moment.  A thread that was created while the events
 * were being opened lacks some of them for good.
 */
static ssize_t read_whole(int fd, struct group_counts *counts)
{
	ssize_t size;

	for (int i = 0; i < EXIT_TRIES; i++) {
		size = read(fd, counts, sizeof(*counts));
		if (size >= 0 || errno != ECHILD)
			return size;
		sched_yield();
	}
	errno = EBUSY;
	return -1;
}

/* Returns the time for which the witness was enabled, in ns; 0: the set needs no witness. */
static uint64_t read_witness(const struct perf_set *set)
{
	struct {
		uint64_t value, time_enabled;
	} counts;

	return set->hardware && read(set->witness, &counts, sizeof(counts)) == sizeof(counts)
		       ? counts.time_enabled
		       : 0;
}

/*
 * A pinned group that found no counters reads as an end of file.  If it was inherited, or if its
 * thread has exited since, its time has stopped instead: it was enabled for less time than the
 * witness.
 */
static int read_set(const struct perf_set *set, struct group_counts *counts)
{
	uint64_t witness = read_witness(set);
	ssize_t size = read_whole(set->fd[0], counts);

	if (size < 0)
		return -1;
	if (size == 0 || counts->n != set->n ||
	    (set->hardware &&
	     (counts->time_running != counts->time_enabled || counts->time_enabled < witness))) {
		errno = EBUSY;
		return -1;
	}
	return 0;
}

int perfctr_perf_set_add(const struct perf_set *set, const struct perfctr_pmu_info *info,
			 struct perfctr_counts *out)
{
	struct group_counts counts;

	if (read_set(set, &counts) < 0)
		return -1;
	out->tsc += to_ticks(counts.value[PERF_CLOCK], info->tsc_khz);
	if (set->n_own == PERF_MAX_OWN) {
		out->switches += counts.value[PERF_SWITCHES];
		out->migrations += counts.value[PERF_MIGRATIONS];
	}
	out->n_counters = set->n - set->n_own;
	for (uint32_t i = 0; i < out->n_counters; i++)
		out->counter[i] += counts.value[set->n_own + i];
	return 0;
}
