/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON values of a text, one after the other, with or without line ends between them. */
#ifndef PERFEX_JSON_VALUES_H
#define PERFEX_JSON_VALUES_H

#include "../textfile.h"

#include <json-c/json.h>

/* Gets each value, for json_object_put(); false ends it: error says why. */
typedef bool json_taker(void *target, json_object *json, struct text_error *error);

bool json_take_values(const char *text, size_t length, json_taker *take, void *target,
		      struct text_error *error);

bool json_is_number(const json_object *json);
/* The member of an object; NAN: it has none, or it is no number. */
double json_number(const json_object *json, const char *key);

/* Is it an object whose member "schema" is this name? */
bool json_has_schema(json_object *json, const char *name);

#endif
