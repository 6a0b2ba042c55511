// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals as text: one line for each count, so that any number of events fits. */
#include "derived.h"
#include "text.h"

#include <stdlib.h>

enum { TIME_WIDTH = 12 };

static void print_begin(FILE *file, const struct recording *recording,
			const struct interval *interval)
{
	char note[32];

	if (!text_one_run(recording))
		fprintf(file, "run %u%s%s\n", interval->run + 1,
			recording->events.n_passes > 1 ? ", " : "",
			text_pass(recording, interval->pass, note, sizeof(note)));
	fprintf(file, "%*s %*s  %s\n", TIME_WIDTH, "seconds", TEXT_COUNT_WIDTH, "count", "event");
}

static void put_line(FILE *file, const struct style *style, const struct interval *interval,
		     uint64_t count, const struct event *event)
{
	fprintf(file, "%*.6f ", TIME_WIDTH, (double)interval->time_ns / 1e9);
	text_put_count(file, style, TEXT_COUNT_WIDTH, count);
	if (event)
		fprintf(file, "  %-*s  %s\n", TEXT_NAME_WIDTH, event->name,
			mode_name(event->request.modes));
	else
		fputs("  tsc\n", file);
}

static void put_derived(FILE *file, const struct recording *recording,
			const struct interval *interval)
{
	const struct rules *rules = recording->options->rules;
	struct rule_result *result = derived_of_interval(rules, &recording->events, interval);
	char value[NUMBER_TEXT], half[NUMBER_TEXT];

	for (size_t i = 0; i < rules_count(rules); i++) {
		derived_format(value, half, &result[i]);
		fprintf(file, "%*.6f %*s  %-*s  derived\n", TIME_WIDTH,
			(double)interval->time_ns / 1e9, TEXT_COUNT_WIDTH, value, TEXT_NAME_WIDTH,
			rules_name(rules, i));
	}
	free(result);
}

static void print_interval(FILE *file, const struct style *style, const struct recording *recording,
			   const struct interval *interval)
{
	put_line(file, style, interval, interval->counts.tsc, NULL);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];

		if (event->pass == interval->pass)
			put_line(file, style, interval, interval->counts.counter[event->index],
				 event);
	}
	if (recording->options->rules)
		put_derived(file, recording, interval);
}

const struct format text_format = {
	.begin = print_begin,
	.interval = print_interval,
	.recording = text_recording,
};
