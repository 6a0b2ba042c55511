/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table.  It is printed for people as aligned text, Markdown or HTML, or for programs as CSV
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
/* Adds a number.  NAN becomes "-" for people, and an empty cell in CSV. */
void table_add_number(struct table *table, long double number);
__attribute__((format(printf, 2, 3))) void table_add(struct table *table, const char *format, ...);
/* Prints and frees the table.  The caller finds errors of writing by ferror(3). */
void table_end(struct table *table, FILE *file);

/*
 * Formats a number, with a NUL.  In CSV, a number that is not whole has 17 significant digits, and
 * a decimal point in every locale.
 */
#define NUMBER_TEXT 48
void number_format(char text[NUMBER_TEXT], enum table_format format, long double number);

/* Writes the text as a field of CSV, in quotation marks where it needs them. */
void csv_put_text(FILE *file, const char *text);

#endif
