/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of json.c that ../rotate/ uses.  The caller owns the objects. */
#ifndef PERFEX_JSON_H
#define PERFEX_JSON_H

#include "run.h"

#include <json-c/json.h>

/* Returns a document with its schema, and what was counted, when, where and by what. */
struct json_object *json_document(const char *schema, unsigned int version,
				  const struct recording *recording);
/*
 * Returns the name, registers, modes and pass of the event, without counts.  pass: key of its pass
 */
struct json_object *json_event(const struct recording *recording, const struct event *event,
			       const char *pass);

#endif
