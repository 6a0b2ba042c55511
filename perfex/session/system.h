/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex system: CPUs, whoever runs there.
 *
 * cmd_system.c	the command line
 * policy.c	what is counted, in words
 * system_count.c	the session and its intervals
 * system_output.c	a line for each
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
	const char *cpu_list; /* NULL: all */
	cpu_set_t cpus;
	bool per_cpu, exclude_self;
	unsigned int count;  /* of intervals; 0: no limit */
	const char *metrics; /* file of OpenMetrics, instead of lines; NULL: none */
};

/* policy.c: words or POWER2's bits, separated by commas; a wrong one is refused. */
unsigned int parse_policy(const char *text);
bool policy_counts_nothing(unsigned int policy);

/* system_count.c; returns perfex's exit status. */
int system_count(const struct system_options *options);

/* system_output.c: counts of one interval, of one CPU or (cpu ALL_CPUS) of all. */
#define ALL_CPUS (-1)

struct system_row {
	int cpu;
	uint64_t time_ns;   /* of its end, since the start */
	uint64_t length_ns; /* of the interval */
	uint64_t tsc;	    /* ticks while it was counted */
	uint64_t counter[PERFCTR_MAX_COUNTERS];
};

void system_print_head(FILE *file, const struct system_options *options,
		       const struct events *events);
void system_print_row(FILE *file, const struct system_options *options, const struct events *events,
		      const struct system_row *row);

/*
 * system_metrics.c: the sums since the start of n CPUs, or of all, replace the file as OpenMetrics
 * text.  False with errno set: it is as it was.
 */
bool system_write_metrics(const char *path, const struct events *events,
			  const struct system_row *const sums[], size_t n);

#endif
