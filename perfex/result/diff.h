/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex diff and compare: how two recordings that have been compared are written. */
#ifndef PERFEX_DIFF_H
#define PERFEX_DIFF_H

#include <stdio.h>
#include "compare.h"
#include "outliers.h"

struct side {
	const char *path; /* NULL: it was made just now, and kept nowhere */
	struct document *document;
	struct outliers outliers;
};

struct diff {
	struct side a, b;
	double confidence; /* of the intervals, in per cent */
	struct comparisons comparisons;
};

/*
 * From the documents of both sides on.  False: error says why they cannot be compared, and there is
 * nothing to free.
 */
bool diff_make(struct diff *diff, double confidence, struct text_error *error);
void diff_free(struct diff *diff);

void diff_write_text(FILE *file, const struct diff *diff);
void diff_write_markdown(FILE *file, const struct diff *diff);
void diff_write_csv(FILE *file, const struct diff *diff);
void diff_write_json(FILE *file, const struct diff *diff);
/* docs/perfex-diff.schema.json, for json_object_put() */
json_object *diff_json(const struct diff *diff);
/* Which one took more time, in a line. */
void diff_write_conclusion(FILE *file, const struct diff *diff);

typedef void diff_writer(FILE *file, const struct diff *diff);

struct option_row;

/* Of the command line of both. */
struct diff_options {
	double confidence; /* per cent */
	const char *format_name; /* NULL: none was given */
	diff_writer *write;
};

void take_diff_format(void *options, const struct option_row *row, const char *unused);

/* at: where in its target each has its struct diff_options */
#define DIFF_OPTIONS(at)                                                                           \
	CALL_AT((at) + offsetof(struct diff_options, confidence), "confidence", 0, "PERCENT",      \
		"confidence of the intervals; default: 95", take_confidence, 0),                   \
		CALL_AT(at, "markdown", 0, NULL, "write a table of Markdown", take_diff_format,    \
			0),                                                                        \
		CALL_AT(at, "csv", 0, NULL, "write CSV", take_diff_format, 1),                     \
		CALL_AT(at, "json", 0, NULL, "write JSON", take_diff_format, 2)

#endif
