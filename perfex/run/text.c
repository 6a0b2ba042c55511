// SPDX-License-Identifier: GPL-2.0-or-later
/* For people, and for scripts that read the first two columns. */
#include "derive.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 24, COUNT_WIDTH = 20, REAL_WIDTH = 16, TIME_WIDTH = 12 };

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

static const char *colour_on(const struct style *style, const char *escape)
{
	return style->colour ? escape : "";
}

static int name_width(const struct recording *recording)
{
	size_t width = NAME_WIDTH;

	for (size_t i = 0; i < recording->events.n; i++) {
		size_t length = strlen(recording->events.event[i].name);

		width = length > width ? length : width;
	}
	return (int)width;
}

static void put_count(FILE *file, const struct style *style, int width, uint64_t count)
{
	fputs(colour_on(style, BOLD), file);
	fprintf(file, style->grouping ? "%'*llu" : "%*llu", width, (unsigned long long)count);
	fputs(colour_on(style, PLAIN), file);
}

/* "-" where too few runs leave it open. */
static void put_real(FILE *file, const struct style *style, int width, double value)
{
	if (isnan(value))
		fprintf(file, " %*s", width, "-");
	else
		fprintf(file, style->grouping ? " %'*.2f" : " %*.2f", width, value);
}

static void put_note(FILE *file, const struct style *style, const char *note)
{
	if (*note)
		fprintf(file, "  %s%s%s", colour_on(style, DIM), note, colour_on(style, PLAIN));
	putc('\n', file);
}

/* What is printed of one recording or member, line by line. */
struct text_table {
	FILE *file;
	const struct style *style;
	const struct recording *recording;
	int width; /* of the names */
};

static void put_number(const struct text_table *table, const char *what, uint64_t number,
		       const char *note)
{
	fprintf(table->file, "%-*s ", table->width, what);
	put_count(table->file, table->style, COUNT_WIDTH, number);
	put_note(table->file, table->style, note);
}

static void put_header(const struct text_table *table)
{
	char interval[32];

	snprintf(interval, sizeof(interval), "%s%g %%", table->style->plus_minus ? "±" : "+-",
		 table->recording->options->confidence);
	/* The sign is one column of two bytes. */
	fprintf(table->file, "%s%-*s %*s %*s %*s %*s %*s  %s%s\n", colour_on(table->style, BOLD),
		table->width, "", COUNT_WIDTH, "mean", REAL_WIDTH + table->style->plus_minus,
		interval, REAL_WIDTH, "stddev", COUNT_WIDTH, "min", COUNT_WIDTH, "max", "modes",
		colour_on(table->style, PLAIN));
}

static void put_series(const struct text_table *table, const char *what,
		       const struct series *series, const char *note)
{
	struct statistics s = series_statistics(series, table->recording->options->confidence);
	FILE *file = table->file;

	if (table->recording->options->runs == 1) {
		put_number(table, what, series->value[0], note);
		return;
	}
	fprintf(file, "%-*s%s", table->width, what, colour_on(table->style, BOLD));
	put_real(file, table->style, COUNT_WIDTH, s.mean);
	fputs(colour_on(table->style, PLAIN), file);
	put_real(file, table->style, REAL_WIDTH, s.high - s.mean);
	put_real(file, table->style, REAL_WIDTH, s.stddev);
	fprintf(file, table->style->grouping ? " %'*llu %'*llu" : " %*llu %*llu", COUNT_WIDTH,
		(unsigned long long)s.min, COUNT_WIDTH, (unsigned long long)s.max);
	put_note(file, table->style, note);
}

static void put_member(const struct text_table *table, const struct member *member, bool thread)
{
	const struct perfctr_counts *counts = &member->record.counts;
	char name[32];

	member_name(member, name, sizeof(name));
	if (thread)
		put_number(table, "tid", (unsigned int)member->record.tid, name);
	put_number(table, "pid", (unsigned int)member->record.tgid, thread ? "" : name);
	put_number(table, "tsc", counts->tsc, "");
	for (size_t i = 0; i < table->recording->events.n; i++) {
		const struct event *event = &table->recording->events.event[i];

		if (event->pass == member->pass)
			put_number(table, event->name, counts->counter[event->index],
				   mode_name(event->request.modes));
	}
}

static bool one_run(const struct recording *recording)
{
	return recording->options->runs * recording->events.n_passes == 1;
}

static void put_run(const struct text_table *table, unsigned int run, unsigned int pass)
{
	char note[32] = "";

	if (table->recording->events.n_passes > 1)
		snprintf(note, sizeof(note), "pass %u", pass + 1);
	put_number(table, "run", run + 1, note);
}

static void put_members(const struct text_table *table)
{
	const struct members *members = &table->recording->members;
	bool threads = members->view == PER_THREAD;
	const struct member *before = NULL;

	for (const struct member *m = members->first; m; before = m, m = m->next) {
		if (!one_run(table->recording) &&
		    (!before || m->run != before->run || m->pass != before->pass))
			put_run(table, m->run, m->pass);
		put_member(table, m, threads);
	}
	if (members->wanted)
		put_number(table, "total", members->n, threads ? "threads" : "processes");
}

static void put_kinds(const struct text_table *table, unsigned int pass)
{
	const struct series *kind_tsc = table->recording->pass[pass].kind_tsc;
	char name[32];

	for (uint32_t k = 0; k < table->recording->info->n_kinds; k++) {
		recording_kind_name(table->recording, k, name, sizeof(name));
		if (kind_tsc[k].n)
			put_series(table, name, &kind_tsc[k], "");
	}
}

static void put_pass(const struct text_table *table, unsigned int pass)
{
	const struct events *events = &table->recording->events;
	const struct series *tsc = &table->recording->pass[pass].tsc;

	if (events->n_passes > 1)
		put_number(table, "pass", pass + 1, "");
	if (tsc->n)
		put_series(table, "tsc", tsc, "");
	put_kinds(table, pass);
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];

		if (event->pass == pass && event->counts.n)
			put_series(table, event->name, &event->counts,
				   mode_name(event->request.modes));
	}
}

/* Values are no counts: no thousands are separated. */
static void put_derived(const struct text_table *table)
{
	const struct rules *rules = table->recording->options->rules;
	struct rule_result *result;
	char value[NUMBER_TEXT], half[NUMBER_TEXT];

	if (!rules)
		return;
	result = derive_values(table->recording);
	for (size_t i = 0; i < rules_count(rules); i++) {
		derive_format(value, half, &result[i]);
		fprintf(table->file, "%-*s %s%*s%s", table->width, rules_name(rules, i),
			colour_on(table->style, BOLD), COUNT_WIDTH, value,
			colour_on(table->style, PLAIN));
		if (table->recording->options->runs > 1)
			fprintf(table->file, " %*s", REAL_WIDTH, half);
		put_note(table->file, table->style, "derived");
	}
	free(result);
}

static void print_recording(FILE *file, const struct style *style,
			    const struct recording *recording)
{
	const struct text_table table = {
		.file = file,
		.style = style,
		.recording = recording,
		.width = name_width(recording),
	};

	put_members(&table);
	if (recording->options->runs > 1)
		put_header(&table);
	for (unsigned int pass = 0; pass < recording->events.n_passes; pass++)
		put_pass(&table, pass);
	if (recording->options->rules)
		put_derived(&table);
	if (recording->options->runs > 1)
		put_number(&table, "runs", recording_runs(recording), "");
	if (recording->options->warmup)
		put_number(&table, "warmup", recording->options->warmup, "");
	if (recording->running)
		put_number(&table, "members", recording->running, "");
	if (recording->members.lost)
		put_number(&table, "lost", recording->members.lost, "");
	fprintf(file, "%-*s %*s\n", table.width, "backend", COUNT_WIDTH, recording->backend);
}

/* The columns of intervals: wide enough for the number and for the name with its modes. */
static int column_width(const struct event *event)
{
	size_t length = strlen(event->name) + 1 + strlen(mode_name(event->request.modes));

	return length > COUNT_WIDTH ? (int)length : COUNT_WIDTH;
}

static void print_begin(FILE *file, const struct recording *recording,
			const struct interval *interval)
{
	const struct style plain = { 0 };
	const struct text_table table = {
		.file = file,
		.style = &plain,
		.recording = recording,
		.width = NAME_WIDTH,
	};

	if (!one_run(recording))
		put_run(&table, interval->run, interval->pass);
	fprintf(file, "%*s %*s", TIME_WIDTH, "seconds", COUNT_WIDTH, "tsc");
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];
		char title[sizeof(event->name) + 16];

		if (event->pass != interval->pass)
			continue;
		snprintf(title, sizeof(title), "%s %s", event->name,
			 mode_name(event->request.modes));
		fprintf(file, "  %*s", column_width(event), title);
	}
	putc('\n', file);
}

static void print_interval(FILE *file, const struct style *style, const struct recording *recording,
			   const struct interval *interval)
{
	fprintf(file, "%*.6f ", TIME_WIDTH, (double)interval->time_ns / 1e9);
	put_count(file, style, COUNT_WIDTH, interval->counts.tsc);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];

		if (event->pass != interval->pass)
			continue;
		fputs("  ", file);
		put_count(file, style, column_width(event), interval->counts.counter[event->index]);
	}
	putc('\n', file);
}

const struct format text_format = {
	.begin = print_begin,
	.interval = print_interval,
	.recording = print_recording,
};
