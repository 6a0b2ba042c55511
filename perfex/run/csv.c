// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CSV as in RFC 4180.  All rows have the same columns, and each kind of row leaves some of them
 * empty.  "tsc" is written like an event.
 */
#include "derived.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "row,run,pass,time_ns,pid,tid,process,event,counter,modes,count,"
			   "runs,mean,stddev,low,high,min,max\r\n";

static void print_head(FILE *file)
{
	fputs(head, file);
}

/* Writes the columns row, run and pass. */
static void put_run(FILE *file, const char *row, unsigned int run, unsigned int pass)
{
	fprintf(file, "%s,%u,%u,", row, run, pass);
}

/* Writes a name in the column event, and leaves counter and modes empty. */
static void put_time(FILE *file, const char *name)
{
	fprintf(file, "%s,,,", name);
}

void csv_put_event(FILE *file, const struct event *event)
{
	if (!event) {
		put_time(file, "tsc");
		return;
	}
	csv_put_text(file, event->name);
	fprintf(file, ",0x%x,%s,", event->counter, mode_name(event->request.modes));
}

static void put_count(FILE *file, const struct event *event, uint64_t count)
{
	csv_put_event(file, event);
	fprintf(file, "%llu,,,,,,,\r\n", (unsigned long long)count);
}

static void put_real(FILE *file, double value)
{
	if (isnan(value))
		putc(',', file);
	else
		fprintf(file, ",%.17g", value);
}

static void put_statistics(FILE *file, const struct recording *recording,
			   const struct series *series)
{
	struct statistics s = series_statistics(series, recording->options->confidence);

	fprintf(file, ",%zu", series->n);
	put_real(file, s.mean);
	put_real(file, s.stddev);
	put_real(file, s.low);
	put_real(file, s.high);
	if (series->n)
		fprintf(file, ",%llu,%llu\r\n", (unsigned long long)s.min,
			(unsigned long long)s.max);
	else
		fputs(",,\r\n", file);
}

static void put_summary(FILE *file, const struct recording *recording, unsigned int pass,
			const struct event *event, const struct series *series)
{
	fprintf(file, "summary,,%u,,,,,", pass);
	csv_put_event(file, event);
	put_statistics(file, recording, series);
}

/* Writes a quantity that is no event: a row for each run or, with summary, one for all. */
static void put_named(FILE *file, const struct recording *recording, unsigned int pass,
		      const char *name, const struct series *series, bool summary)
{
	for (size_t run = 0; run < series->n && !summary; run++) {
		put_run(file, "total", (unsigned int)run, pass);
		fputs(",,,,", file);
		put_time(file, name);
		fprintf(file, "%llu,,,,,,,\r\n", (unsigned long long)series->value[run]);
	}
	if (!summary)
		return;
	fprintf(file, "summary,,%u,,,,,", pass);
	put_time(file, name);
	put_statistics(file, recording, series);
}

/* Writes the parts of tsc on each kind of core. */
static void put_kinds(FILE *file, const struct recording *recording, unsigned int pass,
		      bool summary)
{
	char name[32];

	for (uint32_t k = 0; k < recording->info->n_kinds; k++) {
		recording_kind_name(recording, k, name, sizeof(name));
		put_named(file, recording, pass, name, &recording->pass[pass].kind_tsc[k], summary);
	}
}

static void put_member(FILE *file, const struct recording *recording, const struct member *member)
{
	const struct event *event = NULL;
	char name[32];

	member_name(member, name, sizeof(name));
	for (size_t i = 0; i <= recording->events.n; i++) {
		uint64_t count = event ? member->record.counts.counter[event->index]
				       : member->record.counts.tsc;

		if (!event || event->pass == member->pass) {
			put_run(file, "member", member->run, member->pass);
			fprintf(file, ",%d,", member->record.tgid);
			if (recording->members.view == PER_THREAD)
				fprintf(file, "%d", member->record.tid);
			putc(',', file);
			csv_put_text(file, name);
			putc(',', file);
			put_count(file, event, count);
		}
		event = &recording->events.event[i];
	}
}

static void put_times(FILE *file, const struct recording *recording, unsigned int pass,
		      bool summary)
{
	for (unsigned int i = 0; i < N_TIMES; i++) {
		const struct series *series = &recording->pass[pass].time[i];

		if (series->n || i == TIME_ELAPSED)
			put_named(file, recording, pass, time_keys[i], series, summary);
	}
}

/* Writes the system calls, which were counted in one run. */
static void put_syscalls(FILE *file, const struct recording *recording, bool summary)
{
	const struct syscalls *syscalls = &recording->syscalls;

	for (size_t i = 0; i <= syscalls->n; i++) {
		uint64_t count = i ? syscalls->call[i - 1].count : syscalls->total;
		const struct series series = { .value = &count, .n = 1 };

		put_named(file, recording, 0, i ? syscalls->call[i - 1].event : SYSCALLS, &series,
			  summary);
	}
}

/* Writes the time stamp, events and times of each run of one pass. */
static void put_pass(FILE *file, const struct recording *recording, unsigned int pass)
{
	const struct series *tsc = &recording->pass[pass].tsc;
	const struct events *events = &recording->events;

	for (size_t run = 0; run < tsc->n; run++) {
		put_run(file, "total", (unsigned int)run, pass);
		fputs(",,,,", file);
		put_count(file, NULL, tsc->value[run]);
		for (size_t i = 0; i < events->n; i++) {
			const struct event *event = &events->event[i];

			if (event->pass != pass)
				continue;
			put_run(file, "total", (unsigned int)run, pass);
			fputs(",,,,", file);
			put_count(file, event, event->counts.value[run]);
		}
	}
	put_kinds(file, recording, pass, false);
	put_times(file, recording, pass, false);
}

/* Writes the columns behind time_ns. */
static void put_result(FILE *file, const char *name, unsigned int runs,
		       const struct rule_result *result)
{
	fputs(",,,,", file);
	csv_put_text(file, name);
	fprintf(file, ",,,,%u", runs);
	put_real(file, result->state == RULE_VALUE ? result->value : NAN);
	putc(',', file);
	put_real(file, result->interval ? result->low : NAN);
	put_real(file, result->interval ? result->high : NAN);
	fputs(",,\r\n", file);
}

static void put_derived(FILE *file, const struct recording *recording)
{
	const struct rules *rules = recording->options->rules;
	struct rule_result *result = derived_values(recording);

	for (size_t i = 0; i < rules_count(rules); i++) {
		fputs("derived,,", file);
		if (result[i].pass != RULE_MIXED)
			fprintf(file, "%u", result[i].pass);
		putc(',', file);
		put_result(file, rules_name(rules, i), recording_runs(recording), &result[i]);
	}
	free(result);
}

static void put_left_out(FILE *file, const struct options *options)
{
	for (unsigned int i = 0; i < options->n_left_out; i++)
		fprintf(file, "left-out,,,,,,,%s,,,,,,,,,,\r\n", options->left_out[i].name);
}

/* The name of the backend is in the column of events. */
static void put_backend(FILE *file, const char *name)
{
	fprintf(file, "backend,,,,,,,%s,,,,,,,,,,\r\n", name);
}

static void print_recording(FILE *file, const struct style *style,
			    const struct recording *recording)
{
	const struct events *events = &recording->events;

	(void)style;
	for (const struct member *m = recording->members.first; m; m = m->next)
		put_member(file, recording, m);
	for (unsigned int pass = 0; pass < events->n_passes; pass++)
		put_pass(file, recording, pass);
	if (recording->options->shows_syscalls)
		put_syscalls(file, recording, false);
	for (unsigned int pass = 0; pass < events->n_passes; pass++)
		put_summary(file, recording, pass, NULL, &recording->pass[pass].tsc);
	for (unsigned int pass = 0; pass < events->n_passes; pass++)
		put_kinds(file, recording, pass, true);
	for (unsigned int pass = 0; pass < events->n_passes; pass++)
		put_times(file, recording, pass, true);
	for (size_t i = 0; i < events->n; i++)
		put_summary(file, recording, events->event[i].pass, &events->event[i],
			    &events->event[i].counts);
	if (recording->options->shows_syscalls)
		put_syscalls(file, recording, true);
	put_left_out(file, recording->options);
	if (recording->options->rules)
		put_derived(file, recording);
	if (recording->failed) {
		put_run(file, "failed", recording->failed_run, recording->failed_pass);
		fputs(",,,,,,,,,,,,,,\r\n", file);
	}
	put_backend(file, recording->backend);
}

static void put_interval(FILE *file, const struct interval *interval, const struct event *event,
			 uint64_t count)
{
	put_run(file, "interval", interval->run, interval->pass);
	fprintf(file, "%llu,,,,", (unsigned long long)interval->time_ns);
	put_count(file, event, count);
}

static void put_derived_of_interval(FILE *file, const struct recording *recording,
				    const struct interval *interval)
{
	const struct rules *rules = recording->options->rules;
	struct rule_result *result = derived_of_interval(rules, &recording->events, interval);

	for (size_t i = 0; i < rules_count(rules); i++) {
		put_run(file, "derived", interval->run, interval->pass);
		fprintf(file, "%llu", (unsigned long long)interval->time_ns);
		put_result(file, rules_name(rules, i), 1, &result[i]);
	}
	free(result);
}

static void print_interval(FILE *file, const struct style *style, const struct recording *recording,
			   const struct interval *interval)
{
	(void)style;
	put_interval(file, interval, NULL, interval->counts.tsc);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];

		if (event->pass == interval->pass)
			put_interval(file, interval, event, interval->counts.counter[event->index]);
	}
	if (recording->options->rules)
		put_derived_of_interval(file, recording, interval);
}

const struct format csv_format = {
	.head = print_head,
	.interval = print_interval,
	.recording = print_recording,
};
