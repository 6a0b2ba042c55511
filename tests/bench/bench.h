/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What something costs on a machine of one CPU whose time is made of instructions (scripts/vm
 * --icount --stats): the same work counted by nothing, by perfctr and by perf_events.
 * Each table is a file; a row is one line of CSV on the standard output.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The columns, in occurrences, from the emulator's statistics (emulator/pmu/pmu-stats.h). */
enum quantity {
	USER_INSTRUCTIONS,
	KERNEL_INSTRUCTIONS,
	RDPMC,
	RDMSR,
	WRMSR,	   /* of any register */
	PMU_RDMSR, /* of the PMU's */
	PMU_WRMSR,
	WRMSR_COUNTER, /* of these: counters */
	WRMSR_GLOBAL,  /* ... and what starts and stops all of them */
	SWITCHES,      /* of threads, on average */
	MEMORY,	       /* in bytes */
	N_QUANTITIES
};

struct cost {
	double quantity[N_QUANTITIES];
};

/*
 * measure - what round(argument) costs: of each quantity the median of so many rounds, after a few
 * to warm up, less the median of as many empty ones.
 */
struct cost measure(void (*round)(void *argument), void *argument, unsigned int rounds);
/* Wait for the aftermath of what came before. */
void settle(void);
/* What a part of it costs: the parts are alike. */
struct cost divide(const struct cost *cost, double parts);

/* Who counts. */
enum by { BY_NOTHING, BY_PERFCTR, BY_PERF_EVENTS, N_BY };
/* The unpatched kernel is for measuring what nobody counts. */
bool wanted(enum by by);

void print_header(void);
void print_row(const char *table, const char *work, unsigned int processes, const char *counted,
	       unsigned int counters, enum by by, const struct cost *cost);

/*
 * Events of user mode: instructions and branches in turn, on counters 0, 1, ...; of another control
 * the other way round.
 */
#define MAX_EVENTS 4
enum flavour { PLAIN, OTHER };
struct perfctr_control control_of(unsigned int n, enum flavour flavour);

/* A thread that is counted; pid 0 is the caller. */
struct counting {
	unsigned int n;
	int fd[MAX_EVENTS];
	void *page[MAX_EVENTS]; /* NULL: not mapped */
};

#define COUNT_INHERIT (1u << 0) /* what it creates, too */
#define COUNT_GROUP (1u << 1)	/* perf_events: one read(2) for all */
#define COUNT_MAP (1u << 2)	/* the caller reads by RDPMC: each descriptor's page */
#define COUNT_TOTALS (1u << 3)	/* perfctr: what it creates, too, and the sum of all alone */
struct counting counting_start(enum by by, pid_t pid, unsigned int n, enum flavour flavour,
			       unsigned int flags);
void counting_stop(struct counting *counting);

/* What process 1 does first; it returns in another process. */
void boot_machine(void);

struct options {
	unsigned int max_processes;
};

void bench_reads(const struct options *options);
void bench_switches(const struct options *options);
void bench_lives(const struct options *options);
void bench_launches(const struct options *options);
void bench_trees(const struct options *options);
void bench_memory(const struct options *options);
void bench_interrupts(const struct options *options);

#endif
