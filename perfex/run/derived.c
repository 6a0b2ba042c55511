// SPDX-License-Identifier: GPL-2.0-or-later
/* Values that the rules of a recording derive from its counts. */
#include "derived.h"
#include "run.h"

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

bool derived_check(const struct recording *recording)
{
	const struct rules *rules = recording->options->rules;
	struct rule_event *event;
	const char *ambiguous;
	size_t n;

	if (!rules)
		return true;
	event = rule_events(recording, &n);
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

void derived_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		    const struct rule_result *result)
{
	number_format(value, TABLE_TEXT, result->state == RULE_VALUE ? result->value : NAN);
	number_format(half, TABLE_TEXT, result->interval ? result->high - result->value : NAN);
	if (result->state == RULE_UNKNOWN)
		strcpy(value, "?");
}
