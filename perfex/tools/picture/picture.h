/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex report --html: draws recordings, traces and comparisons as pictures on one page, which
 * needs no other file and runs no script.
 *
 * page.c		reads the files, and writes the page around the pictures
 * course.c		intervals of a recording: their rates over the time
 * dots.c		each repetition as a dot, with mean and interval
 * difference.c		the result of perfex diff or compare, with intervals
 * lanes.c		when each thread ran, from a trace
 * axis.c		axes
 *
 * Every mark has its exact numbers in attributes data-..., and in a title that a browser shows.
 */
#ifndef PERFEX_PICTURE_H
#define PERFEX_PICTURE_H

#include "../../result/document.h"

#include <stdio.h>

struct picture_options {
	const char *const *path; /* paths of the files */
	size_t n;
	bool per_thread; /* in traces */
};

/* page.c: ends perfex with an error message of one line if something cannot be drawn. */
void picture_write(FILE *file, const struct picture_options *options);

/* course.c */
struct course *course_new(void);
/*
 * Adds a line of perfex run -I or perfex system -I.  Returns false if the line is wrong; error then
 * says why.
 */
bool course_add(struct course *course, json_object *json, struct text_error *error);
bool course_is_empty(const struct course *course);
void course_draw(FILE *file, const struct course *course);
void course_free(struct course *course);

/* dots.c */
void dots_draw(FILE *file, const struct document *document);

/* Writes " with a confidence of 95 %", or nothing if json does not state a confidence. */
void confidence_print(FILE *file, const json_object *json);

/*
 * difference.c: draws JSON as in docs/perfex-diff.schema.json.  Returns false if it is wrong; error
 * then says why.
 */
bool difference_draw(FILE *file, json_object *diff, struct text_error *error);

/*
 * lanes.c: draws the trace in input, which comes from path.  Ends perfex if it is not a complete
 * trace.
 */
void lanes_draw(FILE *file, const char *path, FILE *input, bool per_thread);

#endif
