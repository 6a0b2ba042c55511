// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the rules of a command line.  A wrong rule ends perfex. */
#include "derive.h"
#include "../json_member.h"
#include "times.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct rules *existing_rules(struct rules **rules)
{
	if (!*rules)
		*rules = rules_new();
	return *rules;
}

void derive_take(struct rules **rules, const char *text)
{
	struct text_error error;

	if (!rules_add(existing_rules(rules), text, strlen(text), &error))
		fail("rule '%s': %s", text, error.text);
}

void derive_take_text(struct rules **rules, const char *path, const char *text, size_t length)
{
	struct text_error error;

	if (!rules_add(existing_rules(rules), text, length, &error))
		textfile_fail(path, &error);
}

void derive_take_file(struct rules **rules, const char *path)
{
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	derive_take_text(rules, path, text, length);
	free(text);
}

void take_rule(void *rules, const struct option_row *row, const char *text)
{
	derive_take(rules, text);
}

void take_rules(void *rules, const struct option_row *row, const char *path)
{
	derive_take_file(rules, path);
}

void derive_link(struct rules *rules)
{
	struct text_error error;

	if (rules && !rules_link(rules, &error))
		fail("%s", error.text);
}

bool derive_is_counted(const struct word_list *events, const char *name)
{
	for (size_t i = 0; i < events->n; i++)
		if (strcmp(events->word[i], name) == 0)
			return true;
	return is_time_name(name);
}

void derive_add_events(const struct rules *rules, struct word_list *events)
{
	const char *name;

	for (size_t i = 0; (name = rules_event(rules, i)); i++)
		if (*name && !isdigit((unsigned char)*name) && !derive_is_counted(events, name))
			append_events(events, name);
}

static json_object *number_or_null(double value, bool known)
{
	return known ? json_object_new_double(value) : NULL;
}

static json_object *result_json(const struct rules *rules, size_t i,
				const struct rule_result *result)
{
	json_object *object = json_object_new_object();

	add_member(object, "name", json_object_new_string(rules_name(rules, i)));
	add_member(object, "definition", json_object_new_string(rules_definition(rules, i)));
	add_member(object, "pass",
		   result->pass == RULE_MIXED ? NULL : json_object_new_int64(result->pass));
	add_member(object, "mean", number_or_null(result->value, result->state == RULE_VALUE));
	add_member(object, "low", number_or_null(result->low, result->interval));
	add_member(object, "high", number_or_null(result->high, result->interval));
	if (result->state != RULE_VALUE)
		add_member(object, "why",
			   json_object_new_string(result->state == RULE_UNDEFINED ? "0/0"
										  : "unreadable"));
	return object;
}

json_object *derive_json(const struct rules *rules, const struct rule_result *result)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < rules_count(rules); i++)
		json_object_array_add(array, result_json(rules, i, &result[i]));
	return array;
}
