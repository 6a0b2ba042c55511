/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex diff and perfex compare: compare two recordings, and write the result. */
#ifndef PERFEX_DIFF_H
#define PERFEX_DIFF_H

#include <stdio.h>
#include "compare.h"
#include "limits.h"
#include "outliers.h"

struct side {
	const char *path; /* NULL: the recording is new, and in no file */
	struct document *document;
	struct outliers outliers;
};

struct diff {
	struct side a, b;
	double confidence; /* of the intervals, in per cent */
	struct comparisons comparisons;
	const struct limits *limits; /* NULL: none */
	bool is_exact; /* the same files give the same counts: a single run needs no interval */
};

/*
 * Compares the documents of both sides, which the caller has set.  confidence: per cent.  Returns
 * false, with the reason in error, if they cannot be compared; then the caller need not free diff.
 */
bool diff_make(struct diff *diff, double confidence, struct text_error *error);
void diff_free(struct diff *diff);

void diff_write_text(FILE *file, const struct diff *diff);
void diff_write_markdown(FILE *file, const struct diff *diff);
void diff_write_csv(FILE *file, const struct diff *diff);
void diff_write_json(FILE *file, const struct diff *diff);
/* Returns the comparison as in docs/perfex-diff.schema.json, for json_object_put(). */
json_object *diff_json(const struct diff *diff);
/* Writes one line about which side took more time; nothing if the runs were not repeated. */
void diff_write_conclusion(FILE *file, const struct diff *diff);

typedef void diff_writer(FILE *file, const struct diff *diff);

struct option_row;

/* Options of all commands that compare. */
struct diff_options {
	double confidence; /* per cent */
	const char *format_name; /* name of the option for the format; NULL: none was given */
	diff_writer *write;
	struct limits limits;
};

/* Is the format one for people?  It has lines around the table. */
bool diff_is_for_people(const struct diff_options *options);
/* As diff_make(), and judges the limits, which the options keep. */
bool diff_make_for(struct diff *diff, struct diff_options *options, struct text_error *error);
/*
 * Writes the comparison as the options say.  Lines about limits go to standard error where the
 * format has none.  Returns the exit status: EXIT_EXCEEDED if a limit is exceeded, or 0.
 */
int diff_write(FILE *file, const struct diff *diff, const struct diff_options *options);

void take_diff_format(void *options, const struct option_row *row, const char *unused);

#define LIMIT_OPTION(at)                                                                           \
	CALL_AT((at) + offsetof(struct diff_options, limits), "limit", 0, "NAME=LIMIT",            \
		"fail if NAME rises from A to B by more than LIMIT, such as 0.1% or 100; with a "  \
		"minus sign: if it falls; may be repeated",                                        \
		take_limit, 0)

/* at: offset of the struct diff_options in the target */
#define DIFF_OPTIONS(at)                                                                           \
	LIMIT_OPTION(at),                                                                          \
	CALL_AT((at) + offsetof(struct diff_options, confidence), "confidence", 0, "PERCENT",      \
		"confidence of the intervals; default: 95", take_confidence, 0),                   \
		CALL_AT(at, "markdown", 0, NULL, "write a table of Markdown", take_diff_format,    \
			0),                                                                        \
		CALL_AT(at, "csv", 0, NULL, "write CSV", take_diff_format, 1),                     \
		CALL_AT(at, "json", 0, NULL, "write JSON", take_diff_format, 2)

#endif
