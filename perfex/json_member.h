/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_JSON_MEMBER_H
#define PERFEX_JSON_MEMBER_H

#include <json-c/json.h>
#include <stdio.h>

/*
 * Adds a member to object, which takes ownership of value; NULL is null.  Ends perfex if there is
 * no memory.
 */
void add_member(json_object *object, const char *name, json_object *value);

/*
 * Returns an integer for a whole number from 0 to 2^64 - 1, NULL (which is null) for NAN, and a
 * floating-point number for any other.
 */
json_object *number_json(long double number);

/* JSON is UTF-8, but arguments and file names may have any bytes: others become '?'. */
json_object *text_json(const char *text);

/* Writes object as one line, and releases it. */
void write_json(FILE *file, json_object *object);

#endif
