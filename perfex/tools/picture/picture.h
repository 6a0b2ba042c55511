/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex report --html: recordings, traces and comparisons as pictures of one page, which needs
 * nothing else and runs no script.
 *
 * page.c		the files, and the page around the pictures
 * course.c		intervals of a recording, and their rates over the time
 * dots.c		each repetition as a dot, with mean and interval
 * difference.c		what perfex diff or compare has found, with intervals
 * lanes.c		who ran when, from a trace
 * axis.c		axes
 *
 * Every mark has its exact numbers in attributes data-..., and in a title that a browser shows.
 */
#ifndef PERFEX_PICTURE_H
#define PERFEX_PICTURE_H

#include "../../result/document.h"

#include <stdio.h>

struct picture_options {
	const char *const *path; /* of the files */
	size_t n;
	bool per_thread; /* of traces */
};

/* page.c; what cannot be drawn ends perfex with one line. */
void picture_write(FILE *file, const struct picture_options *options);

/* course.c */
struct course *course_new(void);
/* A line of perfex run -I or perfex system -I; false: error says what is wrong with it. */
bool course_add(struct course *course, json_object *json, struct text_error *error);
bool course_is_empty(const struct course *course);
void course_draw(FILE *file, const struct course *course);
void course_free(struct course *course);

/* dots.c */
void dots_draw(FILE *file, const struct document *document);

/* " with a confidence of 95 %", or nothing where json does not say it. */
void confidence_print(FILE *file, const json_object *json);

/* difference.c: of docs/perfex-diff.schema.json; false: error says what is wrong with it. */
bool difference_draw(FILE *file, json_object *diff, struct text_error *error);

/* lanes.c; an input, from path, that is no complete trace ends perfex. */
void lanes_draw(FILE *file, const char *path, FILE *input, bool per_thread);

#endif
