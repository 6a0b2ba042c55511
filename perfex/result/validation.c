// SPDX-License-Identifier: GPL-2.0-or-later
#include "validation.h"
#include "json_values.h"
#include "../perfex.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define REMEDY "give a file that perfex validate --json wrote"

/* The time to compare events grows as the square of their number. */
enum { MAX_EVENTS = 4096 };

/* Returns the member of the object; NULL if there is none of this type. */
static json_object *member_of(json_object *object, const char *key, json_type type)
{
	json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return json_object_is_type(value, type) ? value : NULL;
}

/* Returns the text; NULL if it is missing, or has characters that could control a terminal. */
static const char *text_of(json_object *object, const char *key)
{
	json_object *value = member_of(object, key, json_type_string);
	const char *text = value ? json_object_get_string(value) : NULL;

	for (int i = 0; text && i < json_object_get_string_len(value); i++)
		if (!text[i] || control_length(text + i))
			return NULL;
	return text;
}

static const char *text_or_unknown(json_object *object, const char *key)
{
	const char *text = text_of(object, key);

	return text ? text : "unknown";
}

static bool read_event(json_object *object, struct verdict_of_event *event,
		       struct text_error *error)
{
	json_object *a = NULL, *b = NULL;

	*event = (struct verdict_of_event){
		.name = text_of(object, "name"),
		.modes = text_of(object, "modes"),
		.class = text_of(object, "class"),
		.verdict = text_of(object, "verdict"),
		.registers = text_of(object, "registers"),
		.meaning = text_of(object, "meaning"),
		.found = json_object_get_boolean(member_of(object, "found", json_type_boolean)),
	};
	if (!event->name || !event->modes || !event->class || !event->verdict)
		return refuse_text(error, 0,
				   "an event lacks its name, modes, class or verdict; " REMEDY);
	json_object_object_get_ex(object, "a", &a);
	json_object_object_get_ex(object, "b", &b);
	if (!json_is_number(a) || !json_is_number(b))
		return refuse_text(error, 0, "event '%s' lacks a or b; " REMEDY, event->name);
	event->a = json_object_get_double(a);
	event->b = json_object_get_double(b);
	return true;
}

static bool read_events(struct validation_file *file, struct text_error *error)
{
	json_object *events = member_of(file->json, "events", json_type_array);
	size_t n = events ? json_object_array_length(events) : 0;

	if (!events)
		return refuse_text(error, 0, "there are no events; " REMEDY);
	if (n > MAX_EVENTS)
		return refuse_text(error, 0, "it has more than %d events; " REMEDY, MAX_EVENTS);
	file->event = allocate(n, sizeof(*file->event));
	for (; file->n < n; file->n++)
		if (!read_event(json_object_array_get_idx(events, file->n), &file->event[file->n],
				error))
			return false;
	return true;
}

static bool read_file(struct validation_file *file, struct text_error *error)
{
	const char *schema = text_of(file->json, "schema");
	json_object *version = member_of(file->json, "version", json_type_int);

	if (!schema || strcmp(schema, "perfex-validation") != 0)
		return refuse_text(error, 0, "it is no validation; " REMEDY);
	if (json_object_get_int64(version) != 1)
		return refuse_text(error, 0, "it is a validation of another version of perfex");
	file->processor =
		text_or_unknown(member_of(file->json, "processor", json_type_object), "name");
	file->kernel = text_or_unknown(file->json, "kernel");
	file->backend = text_or_unknown(file->json, "backend");
	file->date = text_or_unknown(file->json, "date");
	file->complete =
		json_object_get_boolean(member_of(file->json, "complete", json_type_boolean));
	return read_events(file, error);
}

struct validation_file *validation_parse(const char *text, size_t length, struct text_error *error)
{
	struct validation_file *file = allocate(1, sizeof(*file));
	struct json_tokener *tokener = json_tokener_new();

	if (!tokener)
		fail("out of memory");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	if (length < INT_MAX)
		file->json = json_tokener_parse_ex(tokener, text, (int)length + 1);
	json_tokener_free(tokener);
	if (!file->json)
		refuse_text(error, 0, "it is no JSON; " REMEDY);
	else if (read_file(file, error))
		return file;
	validation_file_free(file);
	return NULL;
}

void validation_file_free(struct validation_file *file)
{
	json_object_put(file->json);
	free(file->event);
	free(file);
}
