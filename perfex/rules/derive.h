/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of a command line, the events and times that they need, and their values in JSON. */
#ifndef PERFEX_DERIVE_H
#define PERFEX_DERIVE_H

#include <json-c/json.h>
#include "../perfex.h"
#include "rules.h"

/* Adds the rules of an option to *rules, NULL before the first; derive_link() follows the last. */
void derive_take(struct rules **rules, const char *text);
void derive_take_file(struct rules **rules, const char *path);
/* The text has been read from this path. */
void derive_take_text(struct rules **rules, const char *path, const char *text, size_t length);
void derive_link(struct rules *rules);

/* Is it the key of a time, or one of the events? */
bool derive_is_counted(const struct word_list *events, const char *name);

/* Named events of the rules are counted; register values only with -e, which tells the counter. */
void derive_add_events(const struct rules *rules, struct word_list *events);

/* "derived" of docs/perfex.schema.json. */
json_object *derive_json(const struct rules *rules, const struct rule_result *result);

#endif
