/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a comparison: how far the mean of an event or rule may move from A to B. */
#ifndef PERFEX_LIMITS_H
#define PERFEX_LIMITS_H

#include "compare.h"

#include <stdio.h>

struct option_row;

struct limit {
	char *name;  /* of an event, a time or a rule */
	double size; /* not negative, in per cent of A or in units of the value */
	bool is_percent;
	bool is_fall; /* bounds how far the value falls, and not how far it rises */
	/* limits_judge() sets these. */
	const struct comparison *comparison;
	bool exceeded;
};

struct limits {
	struct limit *limit;
	size_t n;
};

/* For --limit=NAME=LIMIT: appends to the struct limits.  Ends perfex for a bad text. */
void take_limit(void *limits, const struct option_row *row, const char *text);
void limits_free(struct limits *limits);

/*
 * Compares the difference of B and A with each limit.  If both were repeated, the difference
 * exceeds the limit only if its whole interval does, unless is_exact: then the runs differ by rule,
 * and not by chance.  Returns false, with the reason in error, if a name is not in both recordings,
 * or was not counted in one of them.
 */
bool limits_judge(struct limits *limits, const struct comparisons *comparisons, bool is_exact,
		  struct text_error *error);
/* Returns how many limits are exceeded. */
size_t limits_exceeded(const struct limits *limits);
/* Writes a line for each limit that is exceeded, behind a bullet; without one in 80 columns. */
void limits_write_exceeded(FILE *file, const char *bullet, const struct limits *limits);
/* Writes them, or that no limit is exceeded. */
void limits_write(FILE *file, const char *bullet, const struct limits *limits);
/* Returns the limits as in docs/perfex-diff.schema.json, for json_object_put(). */
json_object *limits_json(const struct limits *limits);

#endif
