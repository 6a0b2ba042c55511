/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the processes of one program counted, each in a file of its own: sums and how even they are.
 *
 * merge.c	the rows
 * merge_text.c, merge_json.c	how they are written
 */
#ifndef PERFEX_MERGE_H
#define PERFEX_MERGE_H

#include <stdbool.h>
#include <stdio.h>
#include "document.h"
#include "regions_file.h"
#include "table.h"

struct merge_file {
	const char *path;
	struct document *document;   /* NULL: it is a file of regions */
	struct regions_file regions; /* without a document */
	const char *host;	     /* NULL: not known */
	bool has_rank;
	unsigned int rank;
};

/* One event, time or rule, of the program or of a region. */
struct merge_row {
	const char *region; /* NULL: of the program */
	const char *name;
	const char *modes;	/* NULL: of none, a time, a rule or passes */
	const char *definition; /* NULL: it is no rule, and the files' values can be added */
	long double *value;	/* of each file; NAN: it has none */
	bool *found;		/* in each file; of a region it has a value of 0 where it is not */
	size_t n_found;
	long double sum, mean, imbalance; /* NAN: there is none; imbalance: in per cent */
	size_t min, max;		  /* the files that have these values; both 0 without one */
};

struct merge {
	struct merge_file *file;
	size_t n_files;
	struct merge_row *row;
	size_t n_rows;
};

/* All files are recordings, or all are of regions; what else there is ends perfex. */
void merge_make(struct merge *merge, char *const *path, size_t n);
void merge_free(struct merge *merge);

void merge_write_table(FILE *file, const struct merge *merge, enum table_format format);
void merge_write_json(FILE *file, const struct merge *merge); /* docs/perfex-merge.schema.json */

#endif
