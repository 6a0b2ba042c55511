/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the JSON values of a text, one after the other, with or without line ends between them. */
#ifndef PERFEX_JSON_VALUES_H
#define PERFEX_JSON_VALUES_H

#include "../textfile.h"

#include <json-c/json.h>

/*
 * Takes ownership of a value, for json_object_put().  Returns false, with the reason in error, to
 * refuse the text.
 */
typedef bool json_taker(void *target, json_object *json, struct text_error *error);

/*
 * Calls take for each value of the text.  Returns false, with the reason in error, if take does, or
 * if the text is not JSON.
 */
bool json_take_values(const char *text, size_t length, json_taker *take, void *target,
		      struct text_error *error);

bool json_is_number(const json_object *json);
/* Returns the member of an object; NAN if it is missing or not a finite number. */
double json_number(const json_object *json, const char *key);

/* Returns true if json is an object and its member "schema" is this name. */
bool json_has_schema(json_object *json, const char *name);

#endif
