/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of something on a machine of one CPU whose time is made of instructions (scripts/vm
 * --icount --stats). The same work is counted by nothing, by perfctr and by perf_events. Each table
 * is a file; a row is one line of CSV on the standard output.
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
	WRMSR_GLOBAL,  /* ... and registers that start and stop all of them */
	SWITCHES,      /* of threads, on average */
	MEMORY,	       /* in bytes */
	N_QUANTITIES
};

struct cost {
	double quantity[N_QUANTITIES];
};

/*
 * measure - the cost of round(argument): of each quantity the median of so many rounds, after a few
 * to warm up, less the median of as many empty ones.
 */
struct cost measure(void (*round)(void *argument), void *argument, unsigned int rounds);
/* Waits for the aftermath of earlier work. */
void settle(void);
/* The cost of one part, if all parts are alike. */
struct cost divide(const struct cost *cost, double parts);

/* The counting side. */
enum by { BY_NOTHING, BY_PERFCTR, BY_PERF_EVENTS, N_BY };
/* The unpatched kernel only measures what nobody counts. */
bool wanted(enum by by);

void print_header(void);
void print_row(const char *table, const char *work, unsigned int processes, const char *counted,
	       unsigned int counters, enum by by, const struct cost *cost);

/*
 * Events of user mode: instructions and branches in turn, on counters 0, 1, ... The other control
 * begins with branches.
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

#define COUNT_INHERIT (1u << 0) /* with the threads that it creates */
#define COUNT_GROUP (1u << 1)	/* perf_events: one read(2) for all */
#define COUNT_MAP (1u << 2)	/* the caller reads by RDPMC: each descriptor's page */
#define COUNT_TOTALS (1u << 3)	/* perfctr: with the threads that it creates, as one sum */
struct counting counting_start(enum by by, pid_t pid, unsigned int n, enum flavour flavour,
			       unsigned int flags);
void counting_stop(struct counting *counting);

/* The first work of process 1. In another process, boot_machine() just returns. */
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
