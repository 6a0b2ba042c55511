/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of root that counts and samples with perf_events while the suites run. main.c starts it
 * before them if PERF_BESIDE is in the environment. The process counts both CPUs with several
 * counters, samples them into mapped rings, and counts programs whose instructions are known. The
 * first number that is not exact ends the process, and is a failure of the machine.
 */
#ifndef PERF_BESIDE_H
#define PERF_BESIDE_H

#include "guest.h"

enum perf_beside_mode {
	PERF_BY_TURNS,	/* the process closes its events after each round, and opens them again */
	PERF_ALL_THE_TIME,
};

/* Shared by the process and the tests. */
struct perf_beside {
	uint32_t mode;		/* set by the tests: enum perf_beside_mode */
	uint32_t holds;		/* the process has had its events open since the mode was set */
	uint32_t end;
	uint32_t refused;	/* times that perfctr had the counters when the process wanted them */
	uint32_t rounds;	/* all of them exact */
};

/* main.c calls these before and after all tests. False: perf_events did not count as it should. */
void perf_beside_start(void);
bool perf_beside_finish(void);

/* For tests. They fail if there is no such process. */
const volatile struct perf_beside *perf_beside(void);
/* Sets the mode, and waits until the process follows it. */
void perf_beside_set(enum perf_beside_mode mode);
/* Waits until the process has begun and ended n more rounds. */
void perf_beside_wait(unsigned int n);

#endif
