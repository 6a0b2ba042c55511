/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of a command line, the events and times that they need, and their values in JSON. */
#ifndef PERFEX_DERIVE_H
#define PERFEX_DERIVE_H

#include <json-c/json.h>
#include "../perfex.h"
#include "../rows.h"
#include "rules.h"

/*
 * Add the rules of an option to *rules, which is NULL before the first.  The caller calls
 * derive_link() after the last.  All four end perfex if a rule is wrong.
 */
void derive_take(struct rules **rules, const char *text);
void derive_take_file(struct rules **rules, const char *path);
/* text was read from path, which errors name. */
void derive_take_text(struct rules **rules, const char *path, const char *text, size_t length);
void derive_link(struct rules *rules);

/* Called by the option rows below. */
void take_rule(void *rules, const struct option_row *row, const char *text);
void take_rules(void *rules, const struct option_row *row, const char *path);

/* Option rows.  rules: offset of a struct rules *, which is NULL before the first option. */
#define RULE_ROW(rules, letter_, help_)                                                            \
	CALL_AT(rules, "derive", letter_, "RULE", help_, take_rule, 0)
#define RULES_ROW(rules, help_) CALL_AT(rules, "rules", 0, "FILE", help_, take_rules, 0)

/* Returns true if name is one of the events, or if is_time_name() is true for it. */
bool derive_is_counted(const struct word_list *events, const char *name);

/*
 * Appends the events of the rules that are not counted yet.  Skips register values, which are
 * counted only with -e, because -e tells the counter.
 */
void derive_add_events(const struct rules *rules, struct word_list *events);

/* Returns "derived" as in docs/perfex.schema.json, for json_object_put(). */
json_object *derive_json(const struct rules *rules, const struct rule_result *result);

#endif
