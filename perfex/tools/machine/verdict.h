/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges the counts of known loops.  The functions depend on their arguments only. */
#ifndef PERFEX_MACHINE_VERDICT_H
#define PERFEX_MACHINE_VERDICT_H

#include "../host/host.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The counts that may come on top of what a program executes, see WHAT EXACT MEANS in perfctr(4):
 * one for each interrupt, one for each page fault, and UNSEEN_PER_S each second, rounded up, for
 * what the kernel does not see, such as system management interrupts.
 */
#define UNSEEN_PER_S 10

uint64_t allowed_beyond(const struct surroundings *surroundings);

/* Runs of a loop with the same number of iterations, each counted by itself. */
struct loop_runs {
	uint64_t iterations;
	unsigned int runs;
	uint64_t least, sum; /* of their counts */
	uint64_t allowed;    /* sum of the excess that is allowed in the runs */
};

/*
 * The result of fit_loops().  The first of the n lengths must be 0 iterations: its least count is
 * the overhead, which is what reading costs.  fit_loops() returns true if no count is less than
 * overhead + per_iteration * iterations, and if the excess of all runs of a length is together no
 * more than what is allowed.
 */
struct loop_fit {
	uint64_t overhead, beyond, allowed; /* beyond, allowed: sums of all runs */
	unsigned int bad;		    /* index of the length that does not fit */
	uint64_t bad_missing, bad_beyond;   /* in its least run; in all of its runs */
};

void loop_runs_add(struct loop_runs *runs, uint64_t count);
bool fit_loops(const struct loop_runs *runs, unsigned int n, unsigned int per_iteration,
	       struct loop_fit *fit);

/* Judges one count. */
enum count_verdict { COUNT_RIGHT, COUNT_MISSES, COUNT_EXCEEDS };
enum count_verdict judge_count(uint64_t counted, uint64_t expected, uint64_t allowed);

/*
 * Returns true if a thread can have moved so often after so many orders to move: at least once, and
 * at most once for each order.  The thread misses an order if the next one comes before it runs.
 */
bool judge_moves(uint64_t ordered, uint64_t counted);

/* Reads of one value, one after the other, beside a competitor. */
struct read_chain {
	uint64_t reads, backwards, small, large;
	uint64_t last, least_step, most_step, most_back;
	uint64_t work;	/* least possible step; 0: not known */
	uint64_t slack; /* allowed beyond the least step, for a disturbed read */
	uint64_t drift; /* by which a read may go back */
};

void read_chain_add(struct read_chain *chain, uint64_t value);
bool judge_reads(const struct read_chain *chain);

/* The virtual time of a thread, in ticks, and its time on a CPU. */
struct time_shares {
	uint64_t counted, elapsed; /* while it computed beside a competitor */
	uint64_t on_cpu;	   /* in the same time, as the scheduler says */
	uint64_t asleep, slept;	   /* counted and elapsed while it slept */
};

bool judge_time(const struct time_shares *shares);

/* The spread of n values.  find_spread() sorts the values in place. */
struct spread {
	uint64_t least, median;
};

struct spread find_spread(uint64_t *value, unsigned int n);

#endif
