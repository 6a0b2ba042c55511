// SPDX-License-Identifier: GPL-2.0-or-later
/* Values that rules derive from counts. */
#include "derived.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_series(struct rule_event **next, const char *name, unsigned int pass,
		       const struct series *series)
{
	*(*next)++ = (struct rule_event){ name, pass, series->value, series->n };
}

/*
 * Returns the counts and times for rules, *n of them; the caller frees the array.  Each event is in
 * it by both its names: as it was asked for, and as it is shown.
 */
static struct rule_event *rule_events(const struct recording *recording, size_t *n)
{
	const struct events *events = &recording->events;
	struct rule_event *all, *next;

	*n = events->n_passes * (1 + N_TIMES) + 2 * events->n;
	all = next = allocate(*n, sizeof(*all));
	for (unsigned int pass = 0; pass < events->n_passes; pass++) {
		add_series(&next, "tsc", pass, &recording->pass[pass].tsc);
		for (unsigned int i = 0; i < N_TIMES; i++)
			add_series(&next, time_keys[i], pass, &recording->pass[pass].time[i]);
	}
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];

		add_series(&next, event->request.name, event->pass, &event->counts);
		add_series(&next, event->name, event->pass, &event->counts);
	}
	return all;
}

/*
 * The same for an interval, of which only the elapsed time is known.  The counts stay where counter
 * and tsc are.
 */
static struct rule_event *interval_events(const struct events *events,
					  const struct interval *interval, const uint64_t *tsc,
					  const uint64_t counter[], size_t *n)
{
	struct rule_event *all = allocate(2 + 2 * events->n, sizeof(*all)), *next = all;
	unsigned int pass = interval->pass;

	*next++ = (struct rule_event){ "tsc", pass, tsc, 1 };
	*next++ = (struct rule_event){ time_keys[TIME_ELAPSED], pass, &interval->length_ns, 1 };
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];
		const uint64_t *count = &counter[event->index];

		if (event->pass != pass)
			continue;
		*next++ = (struct rule_event){ event->request.name, pass, count, 1 };
		*next++ = (struct rule_event){ event->name, pass, count, 1 };
	}
	*n = (size_t)(next - all);
	return all;
}

/* Returns the names that rules find, *n of them, without counts; the caller frees the array. */
static struct rule_event *rule_names(const struct events *events, size_t *n)
{
	struct rule_event *all = allocate(1 + N_TIMES + 2 * events->n, sizeof(*all)), *next = all;

	(next++)->name = "tsc";
	for (unsigned int i = 0; i < N_TIMES; i++)
		(next++)->name = time_keys[i];
	for (size_t i = 0; i < events->n; i++) {
		(next++)->name = events->event[i].request.name;
		(next++)->name = events->event[i].name;
	}
	*n = (size_t)(next - all);
	return all;
}

bool derived_check(const struct rules *rules, const struct events *events)
{
	struct rule_event *event;
	const char *ambiguous;
	size_t n;

	event = rule_names(events, &n);
	ambiguous = rules_ambiguous(rules, event, n);
	free(event);
	if (ambiguous)
		complain("rule '%s' has the name of an event; give it another", ambiguous);
	return !ambiguous;
}

struct rule_result *derived_values(const struct recording *recording)
{
	const struct rules *rules = recording->options->rules;
	struct rule_result *result = allocate(rules_count(rules), sizeof(*result));
	struct rule_event *event;
	size_t n;

	event = rule_events(recording, &n);
	rules_evaluate(rules, event, n, recording->options->confidence / 100, result);
	free(event);
	return result;
}

struct rule_result *derived_of_interval(const struct rules *rules, const struct events *events,
					const struct interval *interval)
{
	struct rule_result *result = allocate(rules_count(rules), sizeof(*result));
	uint64_t tsc = interval->counts.tsc, counter[PERFCTR_MAX_COUNTERS];
	struct rule_event *event;
	size_t n;

	for (size_t i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		counter[i] = interval->counts.counter[i];
	event = interval_events(events, interval, &tsc, counter, &n);
	/* One run has no confidence interval. */
	rules_evaluate(rules, event, n, 0.95, result);
	free(event);
	return result;
}

void derived_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		    const struct rule_result *result)
{
	number_format(value, TABLE_TEXT, result->state == RULE_VALUE ? result->value : NAN);
	number_format(half, TABLE_TEXT, result->interval ? result->high - result->value : NAN);
	if (result->state == RULE_UNKNOWN)
		strcpy(value, "?");
}
