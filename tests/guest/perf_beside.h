/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What counts and samples by perf_events beside the suites, as long as they run: a process of root's
 * that main.c starts before them if PERF_BESIDE is in the environment. It counts both CPUs by several
 * counters, samples them into mapped rings, and programs of which each instruction is known; whatever it
 * finds that is not exact ends it, and is a failure of the machine.
 */
#ifndef PERF_BESIDE_H
#define PERF_BESIDE_H

#include "guest.h"

enum perf_beside_mode {
	PERF_BY_TURNS,	/* it closes its events after each round, and opens them again */
	PERF_ALL_THE_TIME,
};

/* What the process and the tests have in common. */
struct perf_beside {
	uint32_t mode;		/* what it is to do: enum perf_beside_mode */
	uint32_t holds;		/* it has had its events open since the mode was set */
	uint32_t end;
	uint32_t refused;	/* times that perfctr had the counters when it wanted them */
	uint32_t rounds;	/* all of which were exact */
};

/* For main.c: before all tests, and after them; false: perf_events did not count as it should. */
void perf_beside_start(void);
bool perf_beside_finish(void);

/* For tests; they fail if there is no such process. */
const volatile struct perf_beside *perf_beside(void);
/* Until it does so. */
void perf_beside_set(enum perf_beside_mode mode);
/* Until it has begun and ended n more rounds. */
void perf_beside_wait(unsigned int n);

#endif
