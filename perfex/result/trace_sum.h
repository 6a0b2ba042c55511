/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the counts of a trace by process or thread.  Counts between two records of a CPU belong
 * to the thread that the first record names.  If records between them were lost, the thread is
 * unknown.
 */
#ifndef PERFEX_TRACE_SUM_H
#define PERFEX_TRACE_SUM_H

#include "trace_read.h"
#include "table.h"

/* pid and tid of counts of an unknown thread.  Threads without a mark have 0. */
#define UNKNOWN_TID (-1)

struct trace_sum {
	int pid, tid;
	struct trace_counts counts;
};

struct trace_sums {
	bool per_thread;
	struct trace_record *last; /* of each CPU; cpu is -1 before the first record */
	struct trace_sum *sum;	   /* sorted by pid, then tid */
	size_t n_sums;
	struct trace_counts all; /* counts of all threads, unknown ones included */
	uint64_t lost;		 /* records */
};

void trace_sums_begin(struct trace_sums *sums, bool per_thread);
void trace_sums_add(struct trace_sums *sums, const struct trace_record *record);
/*
 * Returns the index of the sum of a thread, or without per_thread of its process.  If there is no
 * such sum, returns the index at which it would be.
 */
size_t trace_sums_find(const struct trace_sums *sums, int pid, int tid);
/* Returns true if the counts of all records add up to the totals of the trace. */
bool trace_sums_complete(const struct trace_sums *sums, const struct trace_reader *trace);
void trace_sums_print(const struct trace_sums *sums, const struct trace_reader *trace,
		      enum table_format format, FILE *file);
void trace_sums_free(struct trace_sums *sums);

#endif
