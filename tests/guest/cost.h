/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Costs, in instructions and MSR accesses, on a machine of one CPU whose time stamp counts
 * instructions (scripts/vm --icount --stats).
 */
#ifndef COST_H
#define COST_H

#include "guest.h"

#include <stdio.h>

/* The statistics of the emulated PMU, of CPU 0. */
enum { RDMSR, WRMSR, RDPMC, PMU_RDMSR, PMU_WRMSR, EVENT_SELECT, N_STATISTICS };

struct cost {
	uint64_t rounds;
	uint64_t instructions;			/* per round, median */
	uint64_t statistics[N_STATISTICS];	/* of all rounds */
	uint64_t switches;			/* of the context given, if any */
	uint64_t ticks;				/* of the timer: each may fold */
};

/*
 * Calls round() `rounds` times, after some calls to warm up. context: of the calling thread, or -1.
 */
struct cost measure(void (*round)(void), unsigned int rounds, int context);

/*
 * Measures round trips to another process and back: each is two switches. The process has a context
 * that counts the events `other`, if any; the calling process has one that counts the events `own`.
 */
#define ROUND_TRIPS 3001
struct cost measure_round_trips(const struct event *own, size_t n_own, const struct event *other,
				size_t n_other);

struct partner {
	pid_t pid;
	int to, from;
};
struct partner partner_start(void);
void partner_stop(const struct partner *partner);
/* The loop of a partner, until there is no writer left. */
void partner_answer(int to, int from);
/* measure() for round trips to the partner. The caller chooses what monitors the two processes. */
struct cost measure_partner(const struct partner *partner, int context);

/*
 * Opens a file below the build directory. name: its path from the directory of the test programs.
 */
FILE *open_beside(const char *name, const char *mode);
/* The cost that the suite "baseline" has measured on the unpatched kernel. */
struct cost read_baseline(void);
void write_baseline(const struct cost *cost);

#endif
