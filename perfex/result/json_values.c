// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_values.h"
#include "../perfex.h"

#include <limits.h>
#include <math.h>
#include <string.h>

bool json_is_number(const json_object *json)
{
	return json_object_is_type(json, json_type_double) ||
	       json_object_is_type(json, json_type_int);
}

double json_number(const json_object *json, const char *key)
{
	json_object *value = json_object_object_get(json, key);

	double number = json_is_number(value) ? json_object_get_double(value) : (double)NAN;

	/* 1e999 is valid JSON, but becomes infinite. */
	return isfinite(number) ? number : (double)NAN;
}

bool json_has_schema(json_object *json, const char *name)
{
	json_object *schema;

	return json_object_is_type(json, json_type_object) &&
	       json_object_object_get_ex(json, "schema", &schema) &&
	       json_object_is_type(schema, json_type_string) &&
	       strcmp(json_object_get_string(schema), name) == 0;
}

static size_t blank_length(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && text[n] && strchr(" \t\r\n", text[n]))
		n++;
	return n;
}

/* Returns true if the text is a file of perfex record or perfex trace. */
static bool is_recording(const char *text, size_t length)
{
	static const char head[] = "# perfctr-";

	return length >= strlen(head) && memcmp(text, head, strlen(head)) == 0;
}

static bool take_with(json_tokener *tokener, const char *text, size_t length, json_taker *take,
		      void *target, struct text_error *error)
{
	for (;;) {
		size_t blank = blank_length(text, length);
		json_object *json;

		text += blank;
		length -= blank;
		if (!length)
			return true;
		if (is_recording(text, length))
			return refuse_text(error, 0,
					   "it is of perfex record or perfex trace; perfex samples "
					   "or perfex report shows it");
		json = json_tokener_parse_ex(tokener, text,
					     length < INT_MAX ? (int)length : INT_MAX);
		if (json_tokener_get_error(tokener) != json_tokener_success)
			return refuse_text(error, 0,
					   "it is not complete JSON; give a file that perfex run "
					   "--json wrote");
		text += json_tokener_get_parse_end(tokener);
		length -= json_tokener_get_parse_end(tokener);
		if (!take(target, json, error))
			return false;
	}
}

bool json_take_values(const char *text, size_t length, json_taker *take, void *target,
		      struct text_error *error)
{
	json_tokener *tokener = json_tokener_new();
	bool good;

	if (!tokener)
		fail("out of memory");
	good = take_with(tokener, text, length, take, target, error);
	json_tokener_free(tokener);
	return good;
}
