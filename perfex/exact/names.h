/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that paths of the host have in the machine, and sets of names. */
#ifndef PERFEX_EXACT_NAMES_H
#define PERFEX_EXACT_NAMES_H

#include <stdbool.h>

/* A directory of the host, without links, and its name in the machine. */
struct renamed {
	char *here;	   /* from malloc() */
	const char *there; /* NULL: all paths keep their names */
};

/* Returns the path of a file in the directory, for free(). */
char *names_join(const char *directory, const char *name);
bool names_is_below(const char *path, const char *directory);
/* Does the path have a name "..", other than its first? */
bool names_has_parent(const char *path);
bool names_is_renamed(const struct renamed *renamed, const char *path);
/* Returns the name in the machine of an absolute path of the host, for free(). */
char *names_in_machine(const struct renamed *renamed, const char *path);
/*
 * Does a relative path that begins in this directory, which is renamed, leave it on its way?  Then
 * the machine has the file elsewhere.
 */
bool names_leads_out(const struct renamed *renamed, const char *directory, const char *path);
/* Returns the target that a link in this directory has in the machine, for free(). */
char *names_of_target(const struct renamed *renamed, const char *directory, const char *target);

/*
 * A set of names is a tree of tsearch(3), and NULL at first.  names_insert() takes the name, which
 * is from malloc(), and returns true if it was not in the set.
 */
bool names_insert(void **set, char *name);
bool names_contain(void *const *set, const char *name);
void names_remove(void **set, const char *name);
void names_free(void *set);

#endif
