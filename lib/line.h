/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_LINE_H
#define PERFCTR_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* The one line that a caller gets when something is wrong: text[size], always terminated. */
struct line {
	char *text;
	size_t size;
};

/* Replaces the line; sets errno to error and returns -1. */
__attribute__((format(printf, 3, 4))) int perfctr_line_refuse(const struct line *line, int error,
							      const char *format, ...);

/* Appends to the line.  Text that does not fit is cut off. */
__attribute__((format(printf, 2, 3))) void perfctr_line_add(const struct line *line,
							    const char *format, ...);

/*
 * Replaces control characters, which came from the user, by '?', so that the line stays one line.
 */
void perfctr_line_clean(const struct line *line);

#endif
