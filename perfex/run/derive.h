/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of perfex run and experiment, and their values as recordings have them. */
#ifndef PERFEX_DERIVE_H
#define PERFEX_DERIVE_H

#include <json-c/json.h>
#include "../rules/rules.h"
#include "../result/table.h"

struct options;
struct recording;

/* Rules of the command line are added, all at last linked; *rules is NULL before the first. */
void derive_take(struct rules **rules, const char *text);
void derive_take_file(struct rules **rules, const char *path);
void derive_link(struct rules *rules);

struct perfctr_events;

/* The rules of a group, or of those that the options name; false: there are none, it is said. */
bool derive_take_group(struct rules **rules, const char *name,
		       const struct perfctr_events *database);
bool derive_take_groups(struct options *options);

/* Is the name of no event, but of a time? */
bool derive_is_time(const char *name);
/* Is it that, or one of the options' events? */
bool derive_is_counted(const struct options *options, const char *name);

/* Named events of the rules are counted; register values only with -e, which tells the counter. */
void derive_add_events(struct options *options);

/* False: a rule has the name of an event, which has been said. */
bool derive_check(const struct recording *recording);

/* The values of the recording's rules, for free(); it must have some. */
struct rule_result *derive_values(const struct recording *recording);

/* The value, and half its interval, as people read them; "-" and "?" for what is none. */
void derive_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		   const struct rule_result *result);

/* "derived" of docs/perfex.schema.json. */
json_object *derive_json(const struct rules *rules, const struct rule_result *result);

#endif
