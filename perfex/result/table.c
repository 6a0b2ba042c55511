// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "table.h"
#include "html.h"
#include "../perfex.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_BETWEEN 2
#define LINE_WIDTH 80 /* of a terminal */

/* For people, numbers from here on have one decimal; smaller ones have six digits. */
#define LARGE 100000

static void in_c_locale(void (*print)(char *text, long double number), char *text,
			long double number)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(c);

	print(text, number);
	uselocale(before);
	freelocale(c);
}

static void print_exact(char *text, long double number)
{
	snprintf(text, NUMBER_TEXT, "%.17Lg", number);
}

void number_format(char text[NUMBER_TEXT], enum table_format format, long double number)
{
	if (isnan(number))
		strcpy(text, format == TABLE_CSV ? "" : "-");
	else if (fabsl(number) < 0x1p64L && number == floorl(number))
		snprintf(text, NUMBER_TEXT, "%.0Lf", number == 0 ? 0 : number);
	else if (format == TABLE_CSV)
		in_c_locale(print_exact, text, number);
	else if (fabsl(number) >= LARGE && fabsl(number) < 0x1p64L)
		snprintf(text, NUMBER_TEXT, "%.1Lf", number);
	else
		snprintf(text, NUMBER_TEXT, "%.6Lg", number);
}

void table_begin(struct table *table, enum table_format format, const struct column *column,
		 size_t n_columns)
{
	*table = (struct table){ .format = format, .column = column, .n_columns = n_columns };
	for (size_t i = 0; i < n_columns; i++)
		table_add_text(table, column[i].title);
}

void table_add_text(struct table *table, const char *text)
{
	table_add(table, "%s", text);
}

void table_add_number(struct table *table, long double number)
{
	char text[NUMBER_TEXT];

	number_format(text, table->format, number);
	table_add_text(table, text);
}

void table_add(struct table *table, const char *format, ...)
{
	va_list arguments;
	char **cell;

	cell = reallocarray(table->cell, table->n_cells + 1, sizeof(*cell));
	if (!cell)
		fail("out of memory");
	table->cell = cell;
	va_start(arguments, format);
	if (vasprintf(&cell[table->n_cells++], format, arguments) < 0)
		fail("out of memory");
	va_end(arguments);
}

/* Returns the number of characters; text must be UTF-8. */
static int width_of(const char *text)
{
	int width = 0;

	for (const char *c = text; *c; c++)
		width += (*c & 0xc0) != 0x80;
	return width;
}

static int column_width(const struct table *table, size_t column)
{
	int width = 0;

	for (size_t i = column; i < table->n_cells; i += table->n_columns)
		if (width_of(table->cell[i]) > width)
			width = width_of(table->cell[i]);
	return width;
}

/*
 * If the table is too wide for a terminal, makes the first column as narrow as must be, but not
 * narrower than its title.  Longer names get lines of their own.
 */
static void fit_first_column(const struct table *table, int width[])
{
	int room = LINE_WIDTH;

	for (size_t i = 1; i < table->n_columns; i++)
		room -= SPACE_BETWEEN + width[i];
	if (table->column[0].side == LEFT && room < width[0] && room >= width_of(table->cell[0]))
		width[0] = room;
}

/* Writes blanks only in front of a cell that is not empty, so that no line ends with blanks. */
static void print_text(const struct table *table, FILE *file)
{
	int *width = calloc(table->n_columns, sizeof(*width)), before = 0;

	if (!width)
		fail("out of memory");
	for (size_t i = 0; i < table->n_cells; i++)
		make_printable(table->cell[i]);
	for (size_t i = 0; i < table->n_columns; i++)
		width[i] = column_width(table, i);
	fit_first_column(table, width);
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t column = i % table->n_columns;
		bool last = column == table->n_columns - 1;
		bool left = table->column[column].side == LEFT;
		int space = width[column] - width_of(table->cell[i]);

		if (space < 0) {
			fprintf(file, "%s\n", table->cell[i]);
			before = width[column] + SPACE_BETWEEN;
			continue;
		}
		before += left ? 0 : space;
		if (table->cell[i][0]) {
			fprintf(file, "%*s%s", before, "", table->cell[i]);
			before = 0;
		}
		before += SPACE_BETWEEN + (left ? space : 0);
		if (last) {
			putc('\n', file);
			before = 0;
		}
	}
	free(width);
}

void csv_put_text(FILE *file, const char *text)
{
	if (!text[strcspn(text, "\",\r\n")]) {
		fputs(text, file);
		return;
	}
	putc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', file);
		putc(*text, file);
	}
	putc('"', file);
}

static void print_csv(const struct table *table, FILE *file)
{
	for (size_t i = 0; i < table->n_cells; i++) {
		csv_put_text(file, table->cell[i]);
		fputs((i + 1) % table->n_columns ? "," : "\r\n", file);
	}
}

/* Escapes '|', which would end the cell. */
static void print_markdown_cell(char *text, FILE *file)
{
	make_printable(text);
	for (; *text; text++)
		fprintf(file, *text == '|' ? "\\%c" : "%c", *text);
}

/* A line below the titles sets the sides of the columns. */
static void print_markdown(const struct table *table, FILE *file)
{
	for (size_t i = 0; i < table->n_cells; i++) {
		fputs(i % table->n_columns ? " | " : "| ", file);
		print_markdown_cell(table->cell[i], file);
		if ((i + 1) % table->n_columns)
			continue;
		fputs(" |\n", file);
		for (size_t k = 0; i + 1 == table->n_columns && k < table->n_columns; k++)
			fputs(table->column[k].side == LEFT ? "|:---" : "|---:", file);
		if (i + 1 == table->n_columns)
			fputs("|\n", file);
	}
}

static void print_html(const struct table *table, FILE *file)
{
	fputs("<table>\n", file);
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t column = i % table->n_columns;
		const char *tag = i < table->n_columns ? "th" : "td";

		if (column == 0)
			fputs("<tr>", file);
		fprintf(file, "<%s%s>", tag, table->column[column].side == RIGHT ? " class=n" : "");
		html_text(file, table->cell[i]);
		fprintf(file, "</%s>", tag);
		if (column + 1 == table->n_columns)
			fputs("</tr>\n", file);
	}
	fputs("</table>\n", file);
}

void table_end(struct table *table, FILE *file)
{
	static void (*const print[])(const struct table *table, FILE *file) = {
		[TABLE_TEXT] = print_text,
		[TABLE_CSV] = print_csv,
		[TABLE_MARKDOWN] = print_markdown,
		[TABLE_HTML] = print_html,
	};

	print[table->format](table, file);
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cell[i]);
	free(table->cell);
}
