// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "document_rules.h"
#include "perfex.h"

#include <stdlib.h>
#include <string.h>

static bool add_rule(struct rules *rules, const struct document_rule *rule,
		     struct text_error *error)
{
	char quote = strchr(rule->name, '\'') ? '"' : '\'';
	char *text;
	bool good;

	if (asprintf(&text, "%c%s%c = %s", quote, rule->name, quote, rule->definition) < 0)
		fail("out of memory");
	good = rules_add(rules, text, strlen(text), error);
	free(text);
	return good;
}

/*
 * A time has a value for each pass; that of the first belongs to the first pass.  Of a recording
 * that does not have them in pairs the time is unknown.
 */
static struct rule_event first_pass(const struct document *document,
				    const struct document_event *event, uint64_t *count)
{
	struct rule_event time = { .name = event->name, .count = count };

	for (size_t i = 0; i < event->runs; i += document->passes)
		count[time.runs++] = event->count[i];
	for (size_t i = document->n_times; i < document->n; i++)
		if (document->event[i].pass == 0 && document->event[i].runs != time.runs)
			time.runs = 0;
	return time;
}

static struct rule_event *events(const struct document *document, uint64_t *room)
{
	struct rule_event *event = calloc(document->n + 1, sizeof(*event));

	if (!event || !room)
		fail("out of memory");
	for (size_t i = 0; i < document->n; i++) {
		const struct document_event *e = &document->event[i];

		event[i] = (struct rule_event){ e->name, e->pass, e->count, e->runs };
		if (i < document->n_times) {
			event[i] = first_pass(document, e, room);
			room += event[i].runs;
		}
	}
	return event;
}

static size_t n_time_counts(const struct document *document)
{
	size_t n = 0;

	for (size_t i = 0; i < document->n_times; i++)
		n += document->event[i].runs;
	return n;
}

struct rule_result *document_evaluate(const struct document *document, double confidence,
				      struct text_error *error)
{
	struct rules *rules = rules_new();
	struct rule_result *result = NULL;
	struct rule_event *event;
	uint64_t *room;
	bool good = true;

	for (size_t i = 0; good && i < document->n_rules; i++)
		good = add_rule(rules, &document->rule[i], error);
	if (good && rules_link(rules, error)) {
		room = calloc(n_time_counts(document) + 1, sizeof(*room));
		event = events(document, room);
		result = calloc(document->n_rules + 1, sizeof(*result));
		if (!result)
			fail("out of memory");
		rules_evaluate(rules, event, document->n, confidence, result);
		free(event);
		free(room);
	}
	rules_free(rules);
	error->line = 0;
	return result;
}
