/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that perfex trace has written (trace_format.h), record by record. */
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
	uint64_t time; /* ticks of the time stamp */
	int pid, tid;  /* who runs from now on; 0: who bears no mark */
	uint64_t lost; /* records before it */
	struct trace_counts counts;
};

struct trace_reader {
	const char *path;
	unsigned long line; /* of the file, from 1 */
	uint64_t khz;	    /* of the time stamp; 0: unknown */
	size_t n_values;
	char *names[TRACE_MAX_VALUES];
	struct trace_counts total;
	bool ended; /* the line of the totals was there */
	/* Of each record, in the order of the file; it has the names by then. */
	void (*take)(void *target, const struct trace_record *record);
	void *target;
};

/* Is it such a file, by its first line? */
bool is_trace(const char *text);

/* From path, take and target on; what is no trace ends perfex with one line.  input: of path. */
void trace_read(struct trace_reader *reader, FILE *input);
void trace_free(struct trace_reader *reader);

#endif
