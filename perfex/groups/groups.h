/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups: events and the values derived from them, by one name; perfex-groups(5). */
#ifndef PERFEX_GROUPS_H
#define PERFEX_GROUPS_H

#include <perfctr_events.h>
#include <stdbool.h>
#include "../perfex.h"

struct rules;

struct group {
	char *name;
	char *source; /* a path, or "built in NAME" */
	char *text;   /* of the whole file */
};

/* False: there is no such group, or it cannot be read; perfex has said so. */
bool group_find(const char *name, struct group *group);
void group_free(struct group *group);

/* Calls visit for all groups, each name once, by name. */
void groups_visit(void (*visit)(const struct group *group, void *arg), void *arg);

/* The title, for free(). */
char *group_title(const struct group *group);

/*
 * Its rules for the machine of the database, as a text of as many lines as the file, for free();
 * NULL: there are none.
 */
char *group_rules(const struct group *group, const struct perfctr_events *database);

/* groups_take.c: *rules is NULL before the first.  False: a group has none, perfex has said so. */
/* Adds the rules of a group for the machine of the database. */
bool group_take(struct rules **rules, const char *name, const struct perfctr_events *database);
/* Adds the rules of groups for the machine that counts by this backend in these modes. */
bool groups_take(struct rules **rules, const struct word_list *names, const char *backend,
		 unsigned int modes);

#endif
