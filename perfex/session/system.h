/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex system: counts CPUs, whatever threads run there.
 *
 * cmd_system.c	the command line
 * policy.c	parses the policy, which says what is counted
 * system_count.c	the session and its intervals
 * system_output.c	the output of an interval
 * system_metrics.c	a file of metrics
 */
#ifndef PERFEX_SYSTEM_H
#define PERFEX_SYSTEM_H

#include "../run/run.h"

#include <perfctr_sessions.h>
#include <sched.h>

struct system_options {
	struct options run;   /* format NULL: text */
	unsigned int policy;  /* PERFCTR_EXCLUDE_* */
	bool all_cpus; /* -a was given, which changes nothing */
	const char *cpu_list; /* NULL: all */
	cpu_set_t cpus;
	bool per_cpu, exclude_self;
	unsigned int count;  /* of intervals; 0: no limit */
	const char *metrics; /* file of OpenMetrics, instead of lines; NULL: none */
};

/*
 * policy.c: parses words or POWER2's bits, separated by commas, to PERFCTR_EXCLUDE_*.  Ends perfex
 * with an error message if one is wrong.
 */
unsigned int parse_policy(const char *text);
bool policy_counts_nothing(unsigned int policy);

/* system_count.c; returns perfex's exit status. */
int system_count(const struct system_options *options);

/* system_output.c: counts of one interval, of one CPU or, if cpu is ALL_CPUS, of all CPUs. */
#define ALL_CPUS (-1)

struct system_row {
	int cpu;
	uint64_t time_ns;   /* from the start to the end of the interval */
	uint64_t length_ns; /* of the interval */
	uint64_t tsc;	    /* ticks while it was counted */
	uint64_t counter[PERFCTR_MAX_COUNTERS];
};

void system_print_head(FILE *file, const struct system_options *options,
		       const struct events *events);
void system_print_row(FILE *file, const struct system_options *options, const struct events *events,
		      const struct system_row *row);

/*
 * system_metrics.c: replaces the file by OpenMetrics text.  sums: n rows with the sums since the
 * start, one for each CPU, or a single row for all CPUs.  Returns false, with errno set, if the
 * file could not be replaced.
 */
bool system_write_metrics(const char *path, const struct events *events,
			  const struct system_row *const sums[], size_t n);

#endif
