/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex merge: adds up the counts of the processes of one program, each of which has a file, and
 * shows how even they are.
 *
 * merge.c	reads the files and makes the rows
 * merge_text.c, merge_json.c	write the rows
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
	struct document *document;   /* NULL: the file is one of regions */
	struct regions_file regions; /* valid if document is NULL */
	const char *host;	     /* NULL: unknown */
	bool has_rank;
	unsigned int rank;
};

/* One event, time or rule of the program or of a region. */
struct merge_row {
	const char *region; /* NULL: the row is of the program */
	const char *name;
	const char *modes;	/* NULL: a time, a rule or passes, which have no mode */
	const char *definition; /* of a rule; NULL: no rule, so that values can be added */
	long double *value;	/* of each file; NAN: none; 0 also if the file lacks the region */
	bool *found;		/* for each file: the file has this row */
	size_t n_found;		/* files that have this row and a value */
	long double sum, mean, imbalance; /* NAN: none; imbalance: per cent of max above mean */
	size_t min, max;		  /* indices of files with least and largest value, or 0 */
};

struct merge {
	struct merge_file *file;
	size_t n_files;
	struct merge_row *row;
	size_t n_rows;
};

/*
 * Reads the n files, which must all be recordings or all be files of regions.  Ends perfex if they
 * are not, or cannot be read.
 */
void merge_make(struct merge *merge, char *const *path, size_t n);
void merge_free(struct merge *merge);

void merge_write_table(FILE *file, const struct merge *merge, enum table_format format);
void merge_write_json(FILE *file, const struct merge *merge); /* docs/perfex-merge.schema.json */

#endif
