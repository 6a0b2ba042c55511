/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of a command line, the events and times that they need, and their values in JSON. */
#ifndef PERFEX_DERIVE_H
#define PERFEX_DERIVE_H

#include <json-c/json.h>
#include "../perfex.h"
#include "rules.h"

/* Programs know times by their keys. */
enum { TIME_ELAPSED, TIME_USER, TIME_SYSTEM, N_TIMES };
extern const char *const time_keys[N_TIMES];

/* Rules of the command line are added, all at last linked; *rules is NULL before the first. */
void derive_take(struct rules **rules, const char *text);
void derive_take_file(struct rules **rules, const char *path);
/* The text has been read from this path. */
void derive_take_text(struct rules **rules, const char *path, const char *text, size_t length);
void derive_link(struct rules *rules);

/* Is the name of no event, but of a time? */
bool derive_is_time(const char *name);
/* Is it that, or one of the events? */
bool derive_is_counted(const struct word_list *events, const char *name);

/* Named events of the rules are counted; register values only with -e, which tells the counter. */
void derive_add_events(const struct rules *rules, struct word_list *events);

/* "derived" of docs/perfex.schema.json. */
json_object *derive_json(const struct rules *rules, const struct rule_result *result);

#endif
