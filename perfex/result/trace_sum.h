/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of a trace by process or thread.  What was counted between two records of a CPU
 * belongs to the thread that the first one names; where records were lost in between nobody knows
 * whose it is.
 */
#ifndef PERFEX_TRACE_SUM_H
#define PERFEX_TRACE_SUM_H

#include "trace_read.h"
#include "table.h"

/* tid 0: who bears no mark; tid UNKNOWN_TID: between which records were lost. */
#define UNKNOWN_TID (-1)

struct trace_sum {
	int pid, tid;
	struct trace_counts counts;
};

struct trace_sums {
	bool per_thread;
	struct trace_record *last; /* of each CPU; cpu is -1 where there was none */
	struct trace_sum *sum;	   /* sorted */
	size_t n_sums;
	struct trace_counts all;
	uint64_t lost;
};

void trace_sums_begin(struct trace_sums *sums, bool per_thread);
void trace_sums_add(struct trace_sums *sums, const struct trace_record *record);
/* The index of a thread's sum or, without per_thread, its process's; or where it would be. */
size_t trace_sums_find(const struct trace_sums *sums, int pid, int tid);
/* Is the sum of all what the trace says? */
bool trace_sums_complete(const struct trace_sums *sums, const struct trace_reader *trace);
void trace_sums_print(const struct trace_sums *sums, const struct trace_reader *trace,
		      enum table_format format, FILE *file);
void trace_sums_free(struct trace_sums *sums);

#endif
