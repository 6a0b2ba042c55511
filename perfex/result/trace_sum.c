// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace_sum.h"

#include <stdlib.h>
#include <string.h>

void trace_sums_begin(struct trace_sums *sums, bool per_thread)
{
	*sums = (struct trace_sums){
		.per_thread = per_thread,
		.last = allocate(TRACE_MAX_CPUS, sizeof(*sums->last)),
	};
	for (size_t i = 0; i < TRACE_MAX_CPUS; i++)
		sums->last[i].cpu = -1;
}

size_t trace_sums_find(const struct trace_sums *sums, int pid, int tid)
{
	size_t first = 0, end = sums->n_sums;

	if (!sums->per_thread)
		tid = pid;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct trace_sum *sum = &sums->sum[middle];

		if (sum->pid < pid || (sum->pid == pid && sum->tid < tid))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/*
 * Returns the sum of thread tid if sums are kept per thread, or else of process pid.  Adds a sum of
 * 0 if there is none.
 */
static struct trace_sum *get_sum(struct trace_sums *sums, int pid, int tid)
{
	size_t i;

	if (!sums->per_thread)
		tid = pid;
	i = trace_sums_find(sums, pid, tid);
	if (i < sums->n_sums && sums->sum[i].pid == pid && sums->sum[i].tid == tid)
		return &sums->sum[i];
	sums->sum = reallocarray(sums->sum, sums->n_sums + 1, sizeof(*sums->sum));
	if (!sums->sum)
		fail("out of memory");
	memmove(&sums->sum[i + 1], &sums->sum[i], (sums->n_sums - i) * sizeof(*sums->sum));
	sums->sum[i] = (struct trace_sum){ .pid = pid, .tid = tid };
	sums->n_sums++;
	return &sums->sum[i];
}

void trace_sums_add(struct trace_sums *sums, const struct trace_record *record)
{
	struct trace_record *last = &sums->last[record->cpu];

	if (last->cpu >= 0) {
		int pid = record->lost ? UNKNOWN_TID : last->pid;
		int tid = record->lost ? UNKNOWN_TID : last->tid;
		struct trace_sum *sum = get_sum(sums, pid, tid);

		for (size_t i = 0; i < TRACE_MAX_VALUES; i++) {
			uint64_t more = record->counts.value[i] - last->counts.value[i];

			sum->counts.value[i] += more;
			sums->all.value[i] += more;
		}
	}
	sums->lost += record->lost;
	*last = *record;
}

bool trace_sums_complete(const struct trace_sums *sums, const struct trace_reader *trace)
{
	return memcmp(&sums->all, &trace->total, sizeof(sums->all)) == 0;
}

static void print_row(const struct trace_sums *sums, const struct trace_reader *trace,
		      struct table *table, const char *name, int tid,
		      const struct trace_counts *counts)
{
	table_add_text(table, name);
	if (sums->per_thread && tid > 0)
		table_add(table, "%d", tid);
	else if (sums->per_thread)
		table_add_text(table, "");
	for (size_t i = 0; i < trace->n_values; i++)
		table_add_number(table, (long double)counts->value[i]);
}

void trace_sums_print(const struct trace_sums *sums, const struct trace_reader *trace,
		      enum table_format format, FILE *file)
{
	struct column column[2 + TRACE_MAX_VALUES] = { { "process", LEFT }, { "thread", RIGHT } };
	size_t n = sums->per_thread ? 2 : 1;
	struct table table;

	for (size_t i = 0; i < trace->n_values; i++)
		column[n++] = (struct column){ trace->names[i], RIGHT };
	table_begin(&table, format, column, n);
	for (size_t i = 0; i < sums->n_sums; i++) {
		const struct trace_sum *sum = &sums->sum[i];
		char name[16];

		snprintf(name, sizeof(name), "%d", sum->pid);
		print_row(sums, trace, &table,
			  sum->pid == UNKNOWN_TID ? "lost"
			  : sum->pid == 0	  ? "unmarked"
						  : name,
			  sum->tid, &sum->counts);
	}
	print_row(sums, trace, &table, "total", 0, &trace->total);
	table_end(&table, file);
}

void trace_sums_free(struct trace_sums *sums)
{
	free(sums->last);
	free(sums->sum);
}
