/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file of perfex trace (trace_format.h), record by record. */
#ifndef PERFEX_TRACE_READ_H
#define PERFEX_TRACE_READ_H

#include "../perfex.h"

#define TRACE_MAX_VALUES (1 + PERFCTR_MAX_COUNTERS) /* the time stamp and the counters */
#define TRACE_MAX_CPUS 8192

struct trace_counts {
	uint64_t value[TRACE_MAX_VALUES];
};

struct trace_record {
	int cpu;
	uint64_t time; /* ticks of the time stamp counter */
	int pid, tid;  /* of the thread that runs from now on; 0: a thread without a mark */
	uint64_t lost; /* records lost before this one */
	struct trace_counts counts;
};

struct trace_reader {
	const char *path;
	unsigned long line; /* of the file, from 1 */
	uint64_t khz;	    /* of the time stamp counter; 0: unknown */
	size_t n_values;
	char *names[TRACE_MAX_VALUES];
	struct trace_counts total;
	bool ended; /* the line of the totals was read */
	/* Called for each record, in the order of the file, after the names are known. */
	void (*take)(void *target, const struct trace_record *record);
	void *target;
};

/* Returns true if the first line is that of a file of perfex trace. */
bool is_trace(const char *text);

/*
 * Reads input, the file at path, to its end.  The caller sets path, take and target before.  Ends
 * perfex if the file is no complete trace.
 */
void trace_read(struct trace_reader *reader, FILE *input);
void trace_free(struct trace_reader *reader);

#endif
