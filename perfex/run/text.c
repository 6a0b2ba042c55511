// SPDX-License-Identifier: GPL-2.0-or-later
/* Text for people, and for scripts that read the first two columns. */
#include "derived.h"
#include "run.h"
#include "shares.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line has at most 80 columns, unless it has a long name. */
enum { MEAN_WIDTH = 16, REAL_WIDTH = 12, MODES_WIDTH = 11, RATE_SIZE = 32 };

const char *text_colour(const struct style *style, const char *escape)
{
	return style->colour ? escape : "";
}

int text_name_width(const struct recording *recording)
{
	size_t width = TEXT_NAME_WIDTH;

	for (size_t i = 0; i < recording->events.n; i++) {
		size_t length = strlen(recording->events.event[i].name);

		width = length > width ? length : width;
	}
	for (size_t i = 0; i < recording->syscalls.n; i++) {
		size_t length = strlen(recording->syscalls.call[i].event);

		width = length > width ? length : width;
	}
	return (int)width;
}

void text_put_count(FILE *file, const struct style *style, int width, uint64_t count)
{
	fputs(text_colour(style, BOLD), file);
	fprintf(file, style->grouping ? "%'*llu" : "%*llu", width, (unsigned long long)count);
	fputs(text_colour(style, PLAIN), file);
}

/*
 * Writes "-" for NAN, which too few runs give.  A number that is too wide for its column loses its
 * decimals, then all but six digits.
 */
static void put_real(FILE *file, const struct style *style, int width, int decimals, double value)
{
	const char *format = style->grouping ? "%'.*f" : "%.*f";
	char text[512] = "-";

	if (!isnan(value) && snprintf(text, sizeof(text), format, decimals, value) > width &&
	    snprintf(text, sizeof(text), format, 0, value) > width)
		snprintf(text, sizeof(text), "%.6g", value);
	fprintf(file, " %*s", width, text);
}

static void put_note(FILE *file, const struct style *style, const char *note)
{
	if (*note)
		fprintf(file, "  %s%s%s", text_colour(style, DIM), note, text_colour(style, PLAIN));
	putc('\n', file);
}

/* A table of one recording, written line by line. */
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
	text_put_count(table->file, table->style, TEXT_COUNT_WIDTH, number);
	put_note(table->file, table->style, note);
}

static void put_header(const struct text_table *table)
{
	char interval[32];

	snprintf(interval, sizeof(interval), "%s%g %%", table->style->plus_minus ? "±" : "+-",
		 table->recording->options->confidence);
	/* The sign takes one column, but two bytes. */
	fprintf(table->file, "%s%-*s %*s %*s %*s  %s%s\n", text_colour(table->style, BOLD),
		table->width, "", MEAN_WIDTH, "mean", REAL_WIDTH + table->style->plus_minus,
		interval, REAL_WIDTH, "stddev", "modes", text_colour(table->style, PLAIN));
}

/* Counts are shown as they are, times in seconds. */
struct unit {
	double size;
	int decimals;
	const char *name;
};

static const struct unit one = { 1, 2, "" }, second = { 1e9, 6, "seconds" };

static void put_extreme(const struct text_table *table, int width, const struct unit *unit,
			uint64_t value)
{
	if (unit == &one)
		fprintf(table->file, table->style->grouping ? "%'*llu" : "%*llu", width,
			(unsigned long long)value);
	else
		fprintf(table->file, "%*.*f", width, unit->decimals, (double)value / unit->size);
}

/*
 * Writes two lines: the mean, half of its confidence interval and the standard deviation; then the
 * minimum and maximum.
 */
static void put_statistics(const struct text_table *table, const char *what,
			   const struct unit *unit, const struct series *series, const char *note,
			   const char *rate)
{
	struct statistics s = series_statistics(series, table->recording->options->confidence);
	FILE *file = table->file;

	fprintf(file, "%-*s%s", table->width, what, text_colour(table->style, BOLD));
	put_real(file, table->style, MEAN_WIDTH, unit->decimals, s.mean / unit->size);
	fputs(text_colour(table->style, PLAIN), file);
	put_real(file, table->style, REAL_WIDTH, unit->decimals, (s.high - s.mean) / unit->size);
	put_real(file, table->style, REAL_WIDTH, unit->decimals, s.stddev / unit->size);
	put_note(file, table->style, note);
	fprintf(file, "%-*s ", table->width, "  min .. max");
	put_extreme(table, MEAN_WIDTH, unit, s.min);
	fputs(" .. ", file);
	put_extreme(table, 0, unit, s.max);
	put_note(file, table->style, rate);
}

/* rate: the count relative to another count or to the time, or "" */
static void put_series(const struct text_table *table, const char *what,
		       const struct series *series, const char *modes, const char *rate)
{
	char note[RATE_SIZE + 16];

	if (table->recording->options->runs > 1) {
		put_statistics(table, what, &one, series, modes, rate);
		return;
	}
	snprintf(note, sizeof(note), "%-*s  %s", *rate ? MODES_WIDTH : 0, modes, rate);
	put_number(table, what, series->value[0], *rate ? note : modes);
}

static void put_time(const struct text_table *table, const char *what, const struct series *series)
{
	if (table->recording->options->runs > 1) {
		put_statistics(table, what, &second, series, second.name, "");
		return;
	}
	fprintf(table->file, "%-*s%s", table->width, what, text_colour(table->style, BOLD));
	put_real(table->file, table->style, TEXT_COUNT_WIDTH, second.decimals,
		 (double)series->value[0] / second.size);
	fputs(text_colour(table->style, PLAIN), table->file);
	put_note(table->file, table->style, second.name);
}

/* Returns true for task-clock and cpu-clock, which both count nanoseconds. */
static bool is_task_clock(const struct event *event)
{
	return is_named(&event->request, "task-clock") || is_named(&event->request, "cpu-clock");
}

static double mean_of(const struct series *series)
{
	return series->n == 1 ? (double)series->value[0]
			      : statistics_mean(series->value, series->n);
}

/* Returns the event of this name in the same pass and modes, or NULL. */
static const struct event *find_beside(const struct recording *recording, const struct event *event,
				       const char *name)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *other = &recording->events.event[i];

		if (is_named(&other->request, name) && other->pass == event->pass &&
		    other->request.modes == event->request.modes && other->counts.n)
			return other;
	}
	return NULL;
}

/* Writes a number below 100 with these decimals, and a larger, wider one with one decimal less. */
static void format_share(char text[RATE_SIZE], const char *format, int decimals, double value)
{
	snprintf(text, RATE_SIZE, format, value < 99.95 ? decimals : decimals - 1, value);
}

/* Writes a count per second of time on CPUs, such as "215.3 K/sec". */
static void format_rate(char *text, double per_second)
{
	static const char prefixes[] = " KMGTPE";
	unsigned int i = 0;

	while (per_second >= 999.95 && prefixes[i + 1]) {
		per_second /= 1000;
		i++;
	}
	snprintf(text, RATE_SIZE, "%.*f %.*s/sec", i ? 1 : 0, per_second, i ? 1 : 0, &prefixes[i]);
}

static void rate_of(const struct recording *recording, const struct event *event,
		    char text[RATE_SIZE])
{
	const struct pass *pass = &recording->pass[event->pass];
	double count = mean_of(&event->counts), elapsed = mean_of(&pass->time[TIME_ELAPSED]);
	double seconds = recording->info->tsc_khz
				 ? mean_of(&pass->tsc) / recording->info->tsc_khz / 1000
				 : 0;

	*text = '\0';
	for (size_t i = 0; i < N_SHARES; i++) {
		const struct event *by = is_named(&event->request, text_shares[i].name)
						 ? find_beside(recording, event, text_shares[i].by)
						 : NULL;

		if (by && mean_of(&by->counts) > 0) {
			format_share(text, text_shares[i].format, text_shares[i].decimals,
				     text_shares[i].factor * count / mean_of(&by->counts));
			return;
		}
	}
	if (is_task_clock(event)) {
		if (elapsed > 0)
			format_share(text, "%.*f CPUs utilized", 2, count / elapsed);
	} else if (seconds > 0) {
		if (is_named(&event->request, "cycles") &&
		    event->request.modes == PERFCTR_MODE_BOTH)
			snprintf(text, RATE_SIZE, "%.3f GHz", count / seconds / 1e9);
		else
			format_rate(text, count / seconds);
	}
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

const char *text_pass(const struct recording *recording, unsigned int pass, char *text, size_t size)
{
	snprintf(text, size, "pass %u", pass + 1);
	return recording->events.n_passes > 1 ? text : "";
}

bool text_one_run(const struct recording *recording)
{
	return recording->options->runs * recording->events.n_passes == 1;
}

static void put_run(const struct text_table *table, unsigned int run, unsigned int pass)
{
	char note[32];

	put_number(table, "run", run + 1, text_pass(table->recording, pass, note, sizeof(note)));
}

static void put_members(const struct text_table *table)
{
	const struct members *members = &table->recording->members;
	bool threads = members->view == PER_THREAD;
	const struct member *before = NULL;

	for (const struct member *m = members->first; m; before = m, m = m->next) {
		if (!text_one_run(table->recording) &&
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
			put_series(table, name, &kind_tsc[k], "", "");
	}
}

static void put_left_out(const struct text_table *table)
{
	const struct options *options = table->recording->options;

	for (unsigned int i = 0; i < options->n_left_out; i++)
		fprintf(table->file, "%-*s not counted: %s\n", table->width,
			options->left_out[i].name, options->left_out[i].reason);
}

static const char *const time_names[N_TIMES] = { "elapsed", "user", "system" };

static void put_pass(const struct text_table *table, unsigned int pass)
{
	const struct events *events = &table->recording->events;
	const struct series *tsc = &table->recording->pass[pass].tsc;
	char rate[RATE_SIZE];

	if (!tsc->n)
		return;
	if (events->n_passes > 1)
		put_number(table, "pass", pass + 1, "");
	put_series(table, "tsc", tsc, "", "");
	put_kinds(table, pass);
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];

		if (event->pass != pass)
			continue;
		rate_of(table->recording, event, rate);
		put_series(table, event->name, &event->counts,
			   is_task_clock(event) ? "ns" : mode_name(event->request.modes), rate);
	}
	put_left_out(table);
	for (unsigned int i = 0; i < N_TIMES; i++)
		if (table->recording->pass[pass].time[i].n)
			put_time(table, time_names[i], &table->recording->pass[pass].time[i]);
}

/* Writes derived values.  They are not counts, so their thousands are not grouped. */
static void put_derived(const struct text_table *table)
{
	const struct rules *rules = table->recording->options->rules;
	struct rule_result *result;
	char value[NUMBER_TEXT], half[NUMBER_TEXT];
	int width = table->recording->options->runs > 1 ? MEAN_WIDTH : TEXT_COUNT_WIDTH;

	if (!rules)
		return;
	result = derived_values(table->recording);
	for (size_t i = 0; i < rules_count(rules); i++) {
		derived_format(value, half, &result[i]);
		fprintf(table->file, "%-*s %s%*s%s", table->width, rules_name(rules, i),
			text_colour(table->style, BOLD), width, value,
			text_colour(table->style, PLAIN));
		if (table->recording->options->runs > 1)
			fprintf(table->file, " %*s", REAL_WIDTH, half);
		put_note(table->file, table->style,
			 result[i].pass == RULE_MIXED ? "derived across passes" : "derived");
	}
	free(result);
}

static void put_syscalls(const struct text_table *table)
{
	const struct syscalls *syscalls = &table->recording->syscalls;

	put_number(table, SYSCALLS, syscalls->total, "");
	for (size_t i = 0; i < syscalls->n; i++) {
		const struct syscall_count *call = &syscalls->call[i];
		char number[32];

		snprintf(number, sizeof(number), call->is_other ? "number %u or more" : "number %u",
			 call->number);
		put_number(table, call->event, call->count, number);
	}
}

void text_recording(FILE *file, const struct style *style, const struct recording *recording)
{
	const struct text_table table = {
		.file = file,
		.style = style,
		.recording = recording,
		.width = text_name_width(recording),
	};
	char note[32];

	put_members(&table);
	if (recording->options->runs > 1)
		put_header(&table);
	for (unsigned int pass = 0; pass < recording->events.n_passes; pass++)
		put_pass(&table, pass);
	if (recording->options->rules)
		put_derived(&table);
	if (recording->options->shows_syscalls)
		put_syscalls(&table);
	if (recording->options->runs > 1)
		put_number(&table, "runs", recording_runs(recording), "");
	if (recording->failed)
		put_number(&table, "failed", recording->failed_run + 1,
			   text_pass(recording, recording->failed_pass, note, sizeof(note)));
	if (recording->options->warmup)
		put_number(&table, "warmup", recording->options->warmup, "");
	if (recording->running)
		put_number(&table, "members", recording->running, "");
	if (recording->members.lost)
		put_number(&table, "lost", recording->members.lost, "");
	fprintf(file, "%-*s %*s\n", table.width, "backend", TEXT_COUNT_WIDTH, recording->backend);
}
