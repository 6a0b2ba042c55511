/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of perfex with --csv. */
#ifndef PERFEX_CSV_H
#define PERFEX_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The columns of perfex's CSV. */
enum {
	ROW,
	RUN_NUMBER,
	PASS,
	TIME,
	PID,
	TID,
	PROCESS,
	NAME,
	COUNTER,
	RINGS,
	COUNT,
	RUNS,
	MEAN,
	STDDEV,
	LOW,
	HIGH,
	MIN,
	MAX,
	COLUMNS
};

struct row {
	char column[COLUMNS][64];
};

/* Names must have no quotes. Returns false at the end. */
bool next_row(const char **text, struct row *row);
/* Returns the only row of its kind for the event. */
struct row find_row(const char *text, const char *kind, const char *event);

static inline double real(const struct row *row, int column)
{
	return strtod(row->column[column], NULL);
}

static inline uint64_t integer(const struct row *row, int column)
{
	return strtoull(row->column[column], NULL, 10);
}

#endif
