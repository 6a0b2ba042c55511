// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "document_rules.h"
#include "../perfex.h"

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

struct rule_event *document_events(const struct document *document)
{
	struct rule_event *event = calloc(document->n + 1, sizeof(*event));

	if (!event)
		fail("out of memory");
	for (size_t i = 0; i < document->n; i++) {
		const struct document_event *e = &document->event[i];

		event[i] = (struct rule_event){ e->name, e->pass, e->count, e->runs };
	}
	return event;
}

struct rule_result *document_evaluate(const struct document *document, double confidence,
				      struct text_error *error)
{
	struct rules *rules = rules_new();
	struct rule_result *result = NULL;
	struct rule_event *event;
	bool good = true;

	for (size_t i = 0; good && i < document->n_rules; i++)
		good = add_rule(rules, &document->rule[i], error);
	if (good && rules_link(rules, error)) {
		event = document_events(document);
		result = calloc(document->n_rules + 1, sizeof(*result));
		if (!result)
			fail("out of memory");
		rules_evaluate(rules, event, document->n, confidence, result);
		free(event);
	}
	rules_free(rules);
	error->line = 0;
	return result;
}
