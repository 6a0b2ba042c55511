/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table that is printed for people, aligned, as Markdown or HTML, or for programs, as CSV
 * (RFC 4180).
 */
#ifndef PERFEX_TABLE_H
#define PERFEX_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_MARKDOWN, TABLE_HTML };

struct column {
	const char *title;
	enum { LEFT, RIGHT } side;
};

struct table {
	enum table_format format;
	const struct column *column;
	size_t n_columns;
	char **cell; /* row by row */
	size_t n_cells;
};

void table_begin(struct table *table, enum table_format format, const struct column *column,
		 size_t n_columns);
void table_add_text(struct table *table, const char *text);
/* NAN is no number: '-' for people, nothing for programs. */
void table_add_number(struct table *table, long double number);
__attribute__((format(printf, 2, 3))) void table_add(struct table *table, const char *format, ...);
/* Prints and frees it.  What cannot be written is known to ferror(3). */
void table_end(struct table *table, FILE *file);

/* A number for programs is exact, and has a point in every locale; NUL-terminated. */
#define NUMBER_TEXT 48
void number_format(char text[NUMBER_TEXT], enum table_format format, long double number);

#endif
