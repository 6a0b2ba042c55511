/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A group is a name for events and for the values derived from them; see perfex-rules(5). */
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

/*
 * Finds a group, for group_free().  Returns false, after an error message, if there is no such
 * group.  Ends perfex if its file cannot be read.
 */
bool group_find(const char *name, struct group *group);
void group_free(struct group *group);

/* Calls visit once for each name of a group, in the order of names. */
void groups_visit(void (*visit)(const struct group *group, void *arg), void *arg);

/* Returns the title, or the source of a group without one, for free(). */
char *group_title(const struct group *group);

/*
 * Returns the rules of the group for the machine of the database, for free().  Other lines are
 * blank, so that the numbers of lines are those of the file.  Returns NULL if there are no rules.
 */
char *group_rules(const struct group *group, const struct perfctr_events *database);

/*
 * groups_take.c: *rules is NULL before the first group.  Both functions return false, after an
 * error message, if there is no such group, or if it has no rules for the machine.  groups_take()
 * also returns false, after an error message, if it cannot open the backend.
 */
/* Adds the rules of a group for the machine of the database. */
bool group_take(struct rules **rules, const char *name, const struct perfctr_events *database);
/* Adds the rules of groups for the machine that counts by this backend in these modes. */
bool groups_take(struct rules **rules, const struct word_list *names, const char *backend,
		 unsigned int modes);

#endif
