// SPDX-License-Identifier: GPL-2.0-or-later
/* The results of all runs: the counts of each event, and their statistics. */
#define _GNU_SOURCE
#include "derived.h"
#include "run.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void series_add(struct series *series, uint64_t value)
{
	if (series->n == series->room) {
		series->room = series->room ? 2 * series->room : 1;
		series->value = reallocarray(series->value, series->room, sizeof(*series->value));
		if (!series->value)
			fail("out of memory");
	}
	series->value[series->n++] = value;
}

void series_free(struct series *series)
{
	free(series->value);
	*series = (struct series){ 0 };
}

struct statistics series_statistics(const struct series *series, double confidence)
{
	return statistics_of(series->value, series->n, confidence);
}

static void find_date(struct recording *recording)
{
	time_t now = time(NULL);

	strftime(recording->date, sizeof(recording->date), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
}

bool recording_begin(struct recording *recording, const struct options *options,
		     const struct perfctr_pmu_info *info)
{
	*recording = (struct recording){ .options = options, .info = info, .consistent = true };
	if (options->view == PER_PROCESS || options->view == PER_THREAD)
		members_begin(&recording->members, options->view);
	recording->directory = get_current_dir_name();
	snprintf(recording->backend, sizeof(recording->backend), "%s", options->backend);
	if (options->format->names_host) {
		find_date(recording);
		host_find(&recording->host);
	}
	if (!events_plan(&recording->events, options, info))
		return false;
	warn_of_events(&recording->events, info);
	recording->pass = calloc(recording->events.n_passes, sizeof(*recording->pass));
	if (!recording->pass)
		fail("out of memory");
	return !options->rules || derived_check(options->rules, &recording->events);
}

/* Warns only once, because the cause usually persists. */
void warn_of_disturbance(const struct perfctr_counts *counts)
{
	static bool warned;

	if (warned || !(counts->flags & PERFCTR_COUNTS_DISTURBED))
		return;
	warned = true;
	complain("the counts are wrong: somebody else wrote to the counters meanwhile, or a CPU "
		 "counts no events; see perfctr(4)");
}

void complain_of_loss(const struct perfctr_counts *counts)
{
	if (counts->flags & PERFCTR_COUNTS_INCOMPLETE)
		complain("the counts are incomplete: a thread was born without memory for its "
			 "counters, and what it counted is missing; see perfctr(4)");
	if (counts->flags & PERFCTR_COUNTS_REVOKED)
		complain("the administrator took the counters back: what is counted is the time "
			 "until then, and since they were started again");
}

/*
 * The counts of a failed run are kept only if there are no others, and one pass counts all events.
 */
bool recording_add(struct recording *recording, unsigned int pass, const struct sample *sample,
		   bool succeeded)
{
	bool kept = succeeded || (recording->events.n_passes == 1 && !recording->pass[pass].tsc.n);

	warn_of_disturbance(&sample->total);
	recording->running = sample->total.members;
	recording->wait_status = sample->wait_status;
	recording->pid = sample->pid;
	if (!kept)
		return false;
	series_add(&recording->pass[pass].tsc, sample->total.tsc);
	for (unsigned int i = 0; i < (sample->has_cpu_time ? N_TIMES : TIME_ELAPSED + 1); i++)
		series_add(&recording->pass[pass].time[i], sample->time_ns[i]);
	for (uint32_t k = 0; k < recording->info->n_kinds; k++)
		series_add(&recording->pass[pass].kind_tsc[k], sample->total.kind_tsc[k]);
	for (size_t i = 0; i < recording->events.n; i++) {
		struct event *event = &recording->events.event[i];

		if (event->pass == pass)
			series_add(&event->counts, sample->total.counter[event->index]);
	}
	recording->consistent &= (sample->total.flags & PERFCTR_COUNTS_CONSISTENT) != 0;
	return true;
}

static void series_cut(struct series *series, size_t n)
{
	if (series->n > n)
		series->n = n;
}

void recording_end(struct recording *recording)
{
	unsigned int runs = recording_runs(recording);

	if (!runs || recording->pass[0].tsc.n == runs)
		return;
	for (unsigned int pass = 0; pass < recording->events.n_passes; pass++) {
		series_cut(&recording->pass[pass].tsc, runs);
		for (unsigned int i = 0; i < N_TIMES; i++)
			series_cut(&recording->pass[pass].time[i], runs);
		for (uint32_t k = 0; k < recording->info->n_kinds; k++)
			series_cut(&recording->pass[pass].kind_tsc[k], runs);
	}
	for (size_t i = 0; i < recording->events.n; i++)
		series_cut(&recording->events.event[i].counts, runs);
	if (recording->members.wanted)
		members_forget_from(&recording->members, runs);
}

void recording_kind_name(const struct recording *recording, uint32_t kind, char *text, size_t size)
{
	snprintf(text, size, "tsc.%s", recording->info->kind[kind].name);
}

/* Returns the number of repetitions that have all their passes. */
unsigned int recording_runs(const struct recording *recording)
{
	return (unsigned int)recording->pass[recording->events.n_passes - 1].tsc.n;
}

void recording_free(struct recording *recording)
{
	if (recording->syscalls.reader)
		syscalls_free(&recording->syscalls);
	for (unsigned int pass = 0; recording->pass && pass < recording->events.n_passes; pass++) {
		series_free(&recording->pass[pass].tsc);
		for (unsigned int i = 0; i < N_TIMES; i++)
			series_free(&recording->pass[pass].time[i]);
		for (uint32_t k = 0; k < recording->info->n_kinds; k++)
			series_free(&recording->pass[pass].kind_tsc[k]);
	}
	for (size_t i = 0; i < recording->events.n; i++)
		series_free(&recording->events.event[i].counts);
	free(recording->pass);
	free(recording->directory);
	if (recording->members.wanted)
		members_free(&recording->members);
	events_free(&recording->events);
}
