// SPDX-License-Identifier: GPL-2.0-or-later
#include "derive.h"
#include "run.h"
#include "../groups/groups.h"
#include "../json_member.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const time_keys[N_TIMES] = { "elapsed_ns", "user_ns", "system_ns" };

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

void derive_take_file(struct rules **rules, const char *path)
{
	struct text_error error;
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	if (!rules_add(existing_rules(rules), text, length, &error))
		textfile_fail(path, &error);
	free(text);
}

/* Groups have rules for processors: of what counts instructions, else of what there is. */
static struct perfctr_events *open_machine(const struct options *options)
{
	const char *instructions = "instructions";

	return perfctr_events_open_with(options->backend, &instructions, 1, options->modes, 0);
}

bool derive_take_group(struct rules **rules, const char *name,
		       const struct perfctr_events *database)
{
	struct text_error error;
	struct group group;
	char *text;
	bool found;

	if (!group_find(name, &group))
		return false;
	text = group_rules(&group, database);
	found = text;
	if (!found)
		complain("group '%s' has no rules for this processor; perfex list --groups shows "
			 "those that have",
			 name);
	else if (!rules_add(existing_rules(rules), text, strlen(text), &error))
		textfile_fail(group.source, &error);
	group_free(&group);
	free(text);
	return found;
}

bool derive_take_groups(struct options *options)
{
	struct perfctr_events *database;
	bool good = true;

	database = open_machine(options);
	if (!database) {
		complain_of_open(options->backend, errno);
		return false;
	}
	for (size_t i = 0; i < options->n_groups && good; i++)
		good = derive_take_group(&options->rules, options->group[i], database);
	perfctr_events_close(database);
	return good;
}

void derive_link(struct rules *rules)
{
	struct text_error error;

	if (rules && !rules_link(rules, &error))
		fail("%s", error.text);
}

bool derive_is_time(const char *name)
{
	for (unsigned int i = 0; i < N_TIMES; i++)
		if (strcmp(time_keys[i], name) == 0)
			return true;
	return strcmp(name, "tsc") == 0;
}

bool derive_is_counted(const struct options *options, const char *name)
{
	for (size_t i = 0; i < options->n_events; i++)
		if (strcmp(options->event[i], name) == 0)
			return true;
	return derive_is_time(name);
}

void derive_add_events(struct options *options)
{
	const char *name;

	for (size_t i = 0; (name = rules_event(options->rules, i)); i++)
		if (*name && !isdigit((unsigned char)*name) && !derive_is_counted(options, name))
			append_events(&options->event, &options->n_events, name);
}

static void add_series(struct rule_event **next, const char *name, unsigned int pass,
		       const struct series *series)
{
	*(*next)++ = (struct rule_event){ name, pass, series->value, series->n };
}

/* Events under both their names, as they were asked for and as they are shown. */
static struct rule_event *rule_events(const struct recording *recording, size_t *n)
{
	const struct events *events = &recording->events;
	struct rule_event *all, *next;

	*n = events->n_passes * (1 + N_TIMES) + 2 * events->n;
	all = next = calloc(*n, sizeof(*all));
	if (!all)
		fail("out of memory");
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

bool derive_check(const struct recording *recording)
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

struct rule_result *derive_values(const struct recording *recording)
{
	const struct rules *rules = recording->options->rules;
	struct rule_result *result = calloc(rules_count(rules) + 1, sizeof(*result));
	struct rule_event *event;
	size_t n;

	if (!result)
		fail("out of memory");
	event = rule_events(recording, &n);
	rules_evaluate(rules, event, n, recording->options->confidence / 100, result);
	free(event);
	return result;
}

void derive_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		   const struct rule_result *result)
{
	number_format(value, TABLE_TEXT, result->state == RULE_VALUE ? result->value : NAN);
	number_format(half, TABLE_TEXT, result->interval ? result->high - result->value : NAN);
	if (result->state == RULE_UNKNOWN)
		strcpy(value, "?");
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
