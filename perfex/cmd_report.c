// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex report: the counts of a trace (trace.h) by process or thread.  What was counted between
 * two records of a CPU belongs to the thread that the first one names; where records were lost in
 * between nobody knows whose it is.
 */
#include "session/trace.h"
#include "perfex.h"
#include "result/table.h"
#include "textfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES (1 + PERFCTR_MAX_COUNTERS) /* the time stamp and the counters */
#define MAX_CPUS 8192
#define NO_CPU "-1,"

struct counts {
	uint64_t value[MAX_VALUES];
};

/* tid 0: who bears no mark; tid UNKNOWN: between which records were lost. */
#define UNKNOWN (-1)

struct row {
	int pid, tid;
	struct counts counts;
};

/* The last record of a CPU. */
struct last {
	bool valid;
	int pid, tid;
	struct counts counts;
};

struct report {
	const char *path;
	unsigned long line; /* of the file, from 1 */
	bool per_thread;
	enum table_format format;
	size_t n_values;
	char *names[MAX_VALUES];
	struct last *last; /* of each CPU */
	struct row *row;   /* sorted */
	size_t n_rows;
	struct counts sum, total;
	uint64_t lost;
	bool ended; /* the line of the totals was there */
};

__attribute__((noreturn)) static void refuse_trace(const struct report *report, const char *what)
{
	fail("'%s', line %lu: %s; give a file that perfex trace wrote", report->path, report->line,
	     what);
}

/* Where the row is, or would be. */
static size_t find_row(const struct report *report, int pid, int tid)
{
	size_t first = 0, end = report->n_rows;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		const struct row *row = &report->row[middle];

		if (row->pid < pid || (row->pid == pid && row->tid < tid))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static struct row *get_row(struct report *report, int pid, int tid)
{
	size_t i = find_row(report, pid, tid);

	if (i < report->n_rows && report->row[i].pid == pid && report->row[i].tid == tid)
		return &report->row[i];
	report->row = reallocarray(report->row, report->n_rows + 1, sizeof(*report->row));
	if (!report->row)
		fail("out of memory");
	memmove(&report->row[i + 1], &report->row[i], (report->n_rows - i) * sizeof(*report->row));
	report->row[i] = (struct row){ .pid = pid, .tid = tid };
	report->n_rows++;
	return &report->row[i];
}

static void add_record(struct report *report, int cpu, const struct last *record, uint64_t lost)
{
	struct last *last = &report->last[cpu];

	if (last->valid) {
		int pid = lost ? UNKNOWN : last->pid;
		int tid = lost ? UNKNOWN : last->tid;
		struct row *row = get_row(report, pid, report->per_thread ? tid : pid);

		for (size_t i = 0; i < report->n_values; i++) {
			uint64_t more = record->counts.value[i] - last->counts.value[i];

			row->counts.value[i] += more;
			report->sum.value[i] += more;
		}
	}
	report->lost += lost;
	*last = *record;
}

/* The next number of the line, before a comma or its end. */
static uint64_t take_number(const struct report *report, char **text, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(*text, &end, 10);
	if (!isdigit((unsigned char)**text) || errno || number > max ||
	    (*end != ',' && *end != '\n'))
		refuse_trace(report, "a number is missing or too large");
	*text = end + (*end == ',');
	return number;
}

static char *take_word(const struct report *report, char **text)
{
	char *word = *text, *end = strchr(word, ',');

	if (!end)
		refuse_trace(report, "the line is too short");
	*end = '\0';
	*text = end + 1;
	return word;
}

static void take_line(struct report *report, char *text)
{
	struct last record = { .valid = true };
	bool total = strncmp(text, NO_CPU, strlen(NO_CPU)) == 0;
	uint64_t cpu = 0, lost;

	if (report->ended)
		refuse_trace(report, "there is something behind the totals");
	if (total)
		text += strlen(NO_CPU);
	else
		cpu = take_number(report, &text, UINT64_MAX);
	if (cpu >= MAX_CPUS)
		refuse_trace(report, "the CPU's number is too large");
	take_number(report, &text, UINT64_MAX); /* the time, which no sum needs */
	if ((strcmp(take_word(report, &text), TRACE_TOTAL) == 0) != total)
		refuse_trace(report, "the totals are of no CPU, and nothing else is");
	record.pid = (int)take_number(report, &text, INT_MAX);
	record.tid = (int)take_number(report, &text, INT_MAX);
	lost = take_number(report, &text, UINT64_MAX);
	for (size_t i = 0; i < report->n_values; i++)
		record.counts.value[i] = take_number(report, &text, UINT64_MAX);
	if (*text != '\n')
		refuse_trace(report, "the line is too long");
	if (total) {
		report->total = record.counts;
		report->ended = true;
	} else {
		add_record(report, (int)cpu, &record, lost);
	}
}

/* "tsc", then the events, in quotes. */
static void take_names(struct report *report, char *text)
{
	size_t length = strlen(TRACE_COLUMNS);

	if (strncmp(text, TRACE_COLUMNS, length) != 0)
		refuse_trace(report, "these are not the columns of a trace");
	report->names[report->n_values++] = text_print("tsc");
	for (text += length; *text == ','; text++) {
		char *end = text[1] == '"' ? strchr(text + 2, '"') : NULL;

		if (!end || report->n_values == MAX_VALUES)
			refuse_trace(report,
				     "the name of an event has no end, or there are too many");
		report->names[report->n_values++] =
			text_print("%.*s", (int)(end - text) - 2, text + 2);
		text = end;
	}
	if (*text != '\n')
		refuse_trace(report, "these are not the columns of a trace");
}

static void read_trace(struct report *report)
{
	FILE *file = fopen(report->path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		fail("cannot read '%s': %m", report->path);
	while (getline(&line, &size, file) > 0) {
		report->line++;
		if (report->line == 1) {
			if (strncmp(line, TRACE_HEAD, strlen(TRACE_HEAD)) != 0)
				refuse_trace(report, "it is not a trace of a known version");
		} else if (report->line == 2) {
			take_names(report, line);
		} else {
			take_line(report, line);
		}
	}
	if (ferror(file))
		fail("cannot read '%s': %m", report->path);
	if (!report->ended)
		refuse_trace(report, "the trace has no end");
	free(line);
	fclose(file);
}

static void print_row(const struct report *report, struct table *table, const char *name, int tid,
		      const struct counts *counts)
{
	table_add_text(table, name);
	if (report->per_thread && tid > 0)
		table_add(table, "%d", tid);
	else if (report->per_thread)
		table_add_text(table, "");
	for (size_t i = 0; i < report->n_values; i++)
		table_add_number(table, (long double)counts->value[i]);
}

static void print_report(const struct report *report)
{
	struct column column[2 + MAX_VALUES] = { { "process", LEFT }, { "thread", RIGHT } };
	size_t n = report->per_thread ? 2 : 1;
	struct table table;

	for (size_t i = 0; i < report->n_values; i++)
		column[n++] = (struct column){ report->names[i], RIGHT };
	table_begin(&table, report->format, column, n);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct row *row = &report->row[i];
		char name[16];

		snprintf(name, sizeof(name), "%d", row->pid);
		print_row(report, &table,
			  row->pid == UNKNOWN ? "lost"
			  : row->pid == 0     ? "unmarked"
					      : name,
			  row->tid, &row->counts);
	}
	print_row(report, &table, "total", 0, &report->total);
	table_end(&table, stdout);
}

static const struct option_rule rules[] = {
	VALUE_OPTION("csv", 0, "write CSV", struct report, format, TABLE_CSV),
	FLAG_OPTION("per-thread", 0, "show each thread; by default each process", struct report,
		    per_thread),
	{ 0 },
};

static int report_main(int argc, char **argv);

const struct subcommand report_subcommand = {
	.name = "report",
	.summary = "show who counted what in a trace",
	.main = report_main,
	.help = "Usage: perfex report [OPTION].. FILE\n"
		"Add up what each process or thread has counted, from a file of perfex trace.\n",
	.options = rules,
};

static int report_main(int argc, char **argv)
{
	struct report report = { .format = TABLE_TEXT };
	int first = take_options(&report_subcommand, &report, argc, argv);
	bool complete;

	if (argc - first != 1)
		fail("give one file of perfex trace; see perfex report --help");
	report.path = argv[first];
	report.last = calloc(MAX_CPUS, sizeof(*report.last));
	if (!report.last)
		fail("out of memory");
	read_trace(&report);
	complete = memcmp(&report.sum, &report.total, sizeof(report.sum)) == 0;
	print_report(&report);
	if (complete && report.lost)
		complain("%" PRIu64 " records were lost; what was counted between is not known to "
			 "be anybody's",
			 report.lost);
	for (size_t i = 0; i < report.n_values; i++)
		free(report.names[i]);
	free(report.last);
	free(report.row);
	if (!complete)
		fail("the parts do not add up to the totals: the trace is not complete");
	return 0;
}
