/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_JSON_MEMBER_H
#define PERFEX_JSON_MEMBER_H

#include <json-c/json.h>

/* value becomes the object's, NULL is null; perfex ends where there is no memory. */
void add_member(json_object *object, const char *name, json_object *value);

#endif
