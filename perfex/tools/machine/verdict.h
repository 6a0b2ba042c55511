/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counts of known loops show: pure functions of numbers. */
#ifndef PERFEX_MACHINE_VERDICT_H
#define PERFEX_MACHINE_VERDICT_H

#include "../host/host.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What may come on top of what a program executes, see WHAT EXACT MEANS in perfctr(4): one for each
 * interrupt and each page fault, and UNSEEN_PER_S for what the kernel does not see, as system
 * management interrupts.
 */
#define UNSEEN_PER_S 10

uint64_t allowed_beyond(const struct surroundings *surroundings);

/* Runs of a loop of so many iterations, each counted by itself. */
struct loop_runs {
	uint64_t iterations;
	unsigned int runs;
	uint64_t least, sum; /* of their counts */
	uint64_t allowed;    /* beyond, of all of them */
};

/*
 * The first of the n is of 0 iterations: its least count is what reading costs, the overhead.
 * True if every other count is overhead + per_iteration * iterations, and no more than what is
 * allowed beyond.
 */
struct loop_fit {
	uint64_t overhead, beyond, allowed; /* of all runs */
	unsigned int bad;		    /* which, where it does not fit */
	uint64_t bad_missing, bad_beyond;   /* of a run, of all its runs */
};

void loop_runs_add(struct loop_runs *runs, uint64_t count);
bool fit_loops(const struct loop_runs *runs, unsigned int n, unsigned int per_iteration,
	       struct loop_fit *fit);

/* One count. */
enum count_verdict { COUNT_RIGHT, COUNT_MISSES, COUNT_EXCEEDS };
enum count_verdict judge_count(uint64_t counted, uint64_t expected, uint64_t allowed);

/*
 * Has a thread been on other CPUs when it was ordered there so often?  Not each time: it may get
 * the next order before it runs.
 */
bool judge_moves(uint64_t ordered, uint64_t counted);

/* Reads of one value beside a competitor. */
struct read_chain {
	uint64_t reads, backwards, small, large;
	uint64_t last, least_step, most_step, most_back;
	uint64_t work;	/* between two reads at least; 0: not known */
	uint64_t slack; /* beyond the least step, of a read that was disturbed */
	uint64_t drift; /* that a read may take back */
};

void read_chain_add(struct read_chain *chain, uint64_t value);
bool judge_reads(const struct read_chain *chain);

/* What a thread's virtual time, in ticks, has to do with the time on its CPU. */
struct time_shares {
	uint64_t counted, elapsed; /* while it computed beside a competitor */
	uint64_t on_cpu;	   /* meanwhile, as the scheduler says */
	uint64_t asleep, slept;	   /* counted and elapsed while it slept */
};

bool judge_time(const struct time_shares *shares);

/* Of n values, which are sorted. */
struct spread {
	uint64_t least, median;
};

struct spread find_spread(uint64_t *value, unsigned int n);

#endif
