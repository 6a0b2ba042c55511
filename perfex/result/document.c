// SPDX-License-Identifier: GPL-2.0-or-later
#include "document.h"
#include "json_values.h"
#include "../perfex.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Most passes, most events and most rules: the time to compare them grows as their square. */
#define MAX_LIST 4096

#define REMEDY "give a file that perfex run --json wrote"

static bool get_member(json_object *object, const char *key, enum json_type type,
		       json_object **value, struct text_error *error)
{
	if (json_object_is_type(object, json_type_object) &&
	    json_object_object_get_ex(object, key, value) && json_object_is_type(*value, type))
		return true;
	return refuse_text(error, 0, "'%s' is missing or not of type %s; " REMEDY, key,
			   json_type_to_name(type));
}

static bool get_string(json_object *object, const char *key, const char **string,
		       struct text_error *error)
{
	json_object *value;

	if (!get_member(object, key, json_type_string, &value, error))
		return false;
	*string = json_object_get_string(value);
	for (int i = 0; i < json_object_get_string_len(value); i++)
		if (!(*string)[i] || control_length(*string + i))
			return refuse_text(error, 0, "'%s' contains control characters; " REMEDY,
					   key);
	return true;
}

static bool get_unsigned(json_object *object, const char *key, unsigned int *number,
			 struct text_error *error)
{
	json_object *value;

	if (!get_member(object, key, json_type_int, &value, error))
		return false;
	if (json_object_get_int64(value) < 0 || json_object_get_int64(value) > UINT_MAX)
		return refuse_text(error, 0, "'%s' is negative or too large; " REMEDY, key);
	*number = (unsigned int)json_object_get_int64(value);
	return true;
}

static bool get_counts(json_object *object, struct document_event *event, struct text_error *error)
{
	json_object *counts, *count;

	if (!get_member(object, "counts", json_type_array, &counts, error))
		return false;
	event->runs = json_object_array_length(counts);
	event->count = allocate(event->runs, sizeof(*event->count));
	for (size_t i = 0; i < event->runs; i++) {
		count = json_object_array_get_idx(counts, i);
		if (!json_object_is_type(count, json_type_int) || json_object_get_int64(count) < 0)
			return refuse_text(error, 0, "one of the counts is not a whole number; " REMEDY);
		event->count[i] = json_object_get_uint64(count);
	}
	return true;
}

static bool get_event(json_object *object, struct document_event *event, struct text_error *error)
{
	return get_string(object, "name", &event->name, error) &&
	       get_string(object, "modes", &event->modes, error) &&
	       get_unsigned(object, "pass", &event->pass, error) &&
	       get_counts(object, event, error);
}

/* Of perfex exact: all system calls, and what begins the name of one. */
#define SYSCALLS "syscalls"
#define CALL SYSCALLS ":"

static const char *const times[] = { "tsc", "elapsed_ns" };

#define N_TIMES (sizeof(times) / sizeof(times[0]))

/* Appends the times of one pass to the events. */
static bool get_pass(struct document *document, json_object *pass, struct text_error *error)
{
	json_object *object;

	for (size_t i = 0; i < N_TIMES; i++) {
		struct document_event *event = &document->event[document->n++];

		event->name = times[i];
		if (!get_unsigned(pass, "pass", &event->pass, error) ||
		    !get_member(pass, times[i], json_type_object, &object, error) ||
		    !get_counts(object, event, error))
			return false;
	}
	return true;
}

static bool get_list(struct document *document, const char *key, json_object **list, size_t *n,
		     struct text_error *error)
{
	if (!get_member(document->json, key, json_type_array, list, error))
		return false;
	*n = json_object_array_length(*list);
	return *n <= MAX_LIST ||
	       refuse_text(error, 0, "'%s' has more than %d elements; " REMEDY, key, MAX_LIST);
}

/* Appends an event, which has one count of 0 for each run of the first pass. */
static struct document_event *add_zeros(struct document *document, char *name)
{
	struct document_event *event = &document->event[document->n++];

	event->name = event->own_name = name;
	event->modes = "user";
	event->runs = document->event[0].runs;
	event->count = allocate(event->runs, sizeof(*event->count));
	return event;
}

/* Appends the system calls of perfex exact: each of them, and all together. */
static bool get_syscalls(struct document *document, json_object *calls, size_t n,
			 struct text_error *error)
{
	struct document_event *all = add_zeros(document, text_print(SYSCALLS));

	for (size_t i = 0; i < n; i++) {
		json_object *call = json_object_array_get_idx(calls, i), *count;
		struct document_event *event;
		const char *name;

		if (!get_string(call, "name", &name, error) ||
		    !get_member(call, "count", json_type_int, &count, error))
			return false;
		event = add_zeros(document, text_print(CALL "%s", name));
		for (size_t run = 0; run < event->runs; run++) {
			event->count[run] = json_object_get_uint64(count);
			all->count[run] += event->count[run];
		}
	}
	return true;
}

static bool get_events(struct document *document, struct text_error *error)
{
	json_object *passes, *events, *calls = NULL;
	size_t n_passes, n, n_calls = 0;

	if (!get_list(document, "time", &passes, &n_passes, error) ||
	    !get_list(document, "events", &events, &n, error))
		return false;
	if (n_passes && json_object_object_get_ex(document->json, "syscalls", &calls) &&
	    !get_list(document, "syscalls", &calls, &n_calls, error))
		return false;
	document->n_times = N_TIMES * n_passes;
	document->event = allocate(document->n_times + n + n_calls + 1, sizeof(*document->event));
	for (size_t i = 0; i < n_passes; i++)
		if (!get_pass(document, json_object_array_get_idx(passes, i), error))
			return false;
	for (size_t i = 0; i < n; i++)
		if (!get_event(json_object_array_get_idx(events, i),
			       &document->event[document->n++], error))
			return false;
	return !calls || get_syscalls(document, calls, n_calls, error);
}

/* Refuses a pass if its events differ in the number of runs: they were counted in the same runs. */
static bool check_runs(const struct document *document, struct text_error *error)
{
	for (size_t i = 0; i < document->n; i++)
		for (size_t k = i + 1; k < document->n; k++)
			if (document->event[i].pass == document->event[k].pass &&
			    document->event[i].runs != document->event[k].runs)
				return refuse_text(
					error, 0,
					"pass %u has different numbers of counts; " REMEDY,
					document->event[i].pass);
	return true;
}

static bool get_rules(struct document *document, struct text_error *error)
{
	json_object *rules;
	size_t n;

	if (!get_list(document, "derived", &rules, &n, error))
		return false;
	document->rule = allocate(n, sizeof(*document->rule));
	for (size_t i = 0; i < n; i++) {
		json_object *object = json_object_array_get_idx(rules, i);
		struct document_rule *rule = &document->rule[document->n_rules++];

		if (!get_string(object, "name", &rule->name, error) ||
		    !get_string(object, "definition", &rule->definition, error))
			return false;
	}
	return true;
}

static bool get_command(const struct document *document, struct text_error *error)
{
	json_object *command;

	if (!get_member(document->json, "command", json_type_array, &command, error))
		return false;
	for (size_t i = 0; i < json_object_array_length(command); i++)
		if (!json_object_is_type(json_object_array_get_idx(command, i), json_type_string))
			return refuse_text(error, 0, "'command' has an element that is not a string; " REMEDY);
	return true;
}

static bool get_all(struct document *document, struct text_error *error)
{
	unsigned int version;

	if (!get_unsigned(document->json, "version", &version, error))
		return false;
	if (version != 2)
		return refuse_text(error, 0,
				   "it has version %u of the format, this perfex knows version "
				   "2; use the perfex that wrote it",
				   version);
	return get_string(document->json, "view", &document->view, error) &&
	       get_string(document->json, "pmu", &document->pmu, error) &&
	       get_string(document->json, "date", &document->date, error) &&
	       get_command(document, error) && get_events(document, error) &&
	       check_runs(document, error) && get_rules(document, error);
}

/* Keeps the recording and releases intervals.  Refuses other values, and a second recording. */
static bool take_document(void *target, json_object *json, struct text_error *error)
{
	struct document *document = target;
	bool recording = json_has_schema(json, "perfex-run");

	if (recording && !document->json) {
		document->json = json;
		return true;
	}
	if (!recording && json_has_schema(json, "perfex-interval")) {
		json_object_put(json);
		return true;
	}
	json_object_put(json);
	return refuse_text(error, 0,
			   recording ? "there are two recordings in it; give a file with one"
				     : "it is JSON, but not a recording; " REMEDY);
}

const char *document_syscall(const char *event)
{
	return strncmp(event, CALL, strlen(CALL)) == 0 ? event + strlen(CALL) : NULL;
}

const struct document_event *document_find_event(const struct document *document, const char *name,
						 size_t place)
{
	for (size_t i = 0; i < document->n; i++)
		if (strcmp(document->event[i].name, name) == 0 && place-- == 0)
			return &document->event[i];
	return NULL;
}

void document_add_syscall(struct document *document, const char *event)
{
	if (!document_find_event(document, SYSCALLS, 0) || document_find_event(document, event, 0))
		return;
	document->event = reallocarray(document->event, document->n + 1, sizeof(*document->event));
	if (!document->event)
		fail("out of memory");
	document->event[document->n] = (struct document_event){ 0 };
	add_zeros(document, text_print("%s", event));
}

void document_add_syscalls(struct document *document, const struct document *other)
{
	for (size_t i = 0; i < other->n; i++)
		if (document_syscall(other->event[i].name))
			document_add_syscall(document, other->event[i].name);
}

struct document *document_parse(const char *text, size_t length, struct text_error *error)
{
	struct document *document = allocate(1, sizeof(*document));

	error->line = 0;
	if (json_take_values(text, length, take_document, document, error) &&
	    (document->json ||
	     refuse_text(error, 0, "there is no recording in it; " REMEDY)) &&
	    get_all(document, error))
		return document;
	document_free(document);
	return NULL;
}

void document_free(struct document *document)
{
	if (!document)
		return;
	for (size_t i = 0; i < document->n; i++) {
		free(document->event[i].count);
		free(document->event[i].own_name);
	}
	free(document->event);
	free(document->rule);
	json_object_put(document->json);
	free(document);
}

char *document_command(const struct document *document)
{
	json_object *command = json_object_object_get(document->json, "command");
	struct text text;
	FILE *file = text_open(&text);

	for (size_t i = 0; i < json_object_array_length(command); i++)
		fprintf(file, "%s%s", i ? " " : "",
			json_object_get_string(json_object_array_get_idx(command, i)));
	return text_close(&text);
}
