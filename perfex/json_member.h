/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_JSON_MEMBER_H
#define PERFEX_JSON_MEMBER_H

#include <json-c/json.h>
#include <stdio.h>

/* value becomes the object's, NULL is null; perfex ends where there is no memory. */
void add_member(json_object *object, const char *name, json_object *value);

/* Whole numbers are written as such; NAN is null. */
json_object *number_json(long double number);

/* On a line of its own; it is let go. */
void write_json(FILE *file, json_object *object);

#endif
