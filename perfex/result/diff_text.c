// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"
#include "table.h"
#include "../perfex.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct column text_columns[] = {
	{ "event", LEFT }, { "modes", LEFT },	    { "A", RIGHT },
	{ "B", RIGHT },	   { "difference", RIGHT }, { "%", RIGHT },
	{ "low", RIGHT },  { "high", RIGHT },	    { "certainty", RIGHT },
};

static const struct column csv_columns[] = {
	{ "event", LEFT }, { "modes", LEFT },	    { "a", RIGHT },
	{ "b", RIGHT },	   { "difference", RIGHT }, { "percent", RIGHT },
	{ "low", RIGHT },  { "high", RIGHT },	    { "certainty_percent", RIGHT },
};

#define N_COLUMNS (sizeof(text_columns) / sizeof(text_columns[0]))

/* Rounds down for people, so that 100 % means a certainty of 1; does not round for CSV. */
static void add_certainty(struct table *table, double certainty)
{
	double percent = floor(certainty * 10000) / 100;

	if (percent == 100 && certainty < 1)
		percent = 99.99;
	if (table->format == TABLE_CSV)
		table_add_number(table, certainty * 100);
	else
		table_add(table, "%.2f %%", percent);
}

static void add_estimate(struct table *table, const struct estimate *estimate)
{
	table_add_number(table, estimate->known ? estimate->value : (long double)NAN);
}

static void add_percent(struct table *table, const struct comparison *c)
{
	double percent = 100 * c->difference / (double)fabsl(c->a.value);

	if (c->a.value == 0)
		table_add_number(table, (long double)NAN);
	else if (table->format == TABLE_CSV)
		table_add_number(table, percent);
	else
		table_add(table, "%+.2f", percent);
}

static void add_comparison(struct table *table, const struct comparison *c)
{
	size_t row_end = table->n_cells + N_COLUMNS;

	table_add_text(table, c->name);
	table_add_text(table, c->modes ? c->modes : "");
	add_estimate(table, &c->a);
	add_estimate(table, &c->b);
	if (c->a.known && c->b.known) {
		table_add_number(table, c->difference);
		add_percent(table, c);
	}
	if (c->repeated) {
		table_add_number(table, c->low);
		table_add_number(table, c->high);
		add_certainty(table, c->certainty);
	}
	while (table->n_cells < row_end)
		table_add_number(table, (long double)NAN);
}

static void write_table(FILE *file, const struct diff *diff, enum table_format format)
{
	struct table table;

	table_begin(&table, format, format == TABLE_CSV ? csv_columns : text_columns, N_COLUMNS);
	for (size_t i = 0; i < diff->comparisons.n_events; i++)
		add_comparison(&table, &diff->comparisons.event[i]);
	for (size_t i = 0; i < diff->comparisons.n_rules; i++)
		add_comparison(&table, &diff->comparisons.rule[i]);
	table_end(&table, file);
}

void diff_write_csv(FILE *file, const struct diff *diff)
{
	write_table(file, diff, TABLE_CSV);
}

/* quote is written on both sides of the command. */
static void write_side(FILE *file, const char *letter, const struct side *side, const char *quote)
{
	char *command = document_command(side->document);

	make_printable(command);
	fprintf(file, "%s: ", letter);
	if (side->path) {
		char *path = text_print("%s", side->path);

		make_printable(path);
		fprintf(file, "%s: %s, %s: ", path, side->document->date, side->document->pmu);
		free(path);
	}
	fprintf(file, "%s%s%s\n", quote, command, quote);
	free(command);
}

static void write_names(FILE *file, const char *what, const char *const *name, size_t n)
{
	if (!n)
		return;
	fprintf(file, "%s", what);
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%s%s", i ? ", " : " ", name[i]);
	putc('\n', file);
}

static bool all_repeated(const struct comparisons *comparisons)
{
	for (size_t i = 0; i < comparisons->n_events; i++)
		if (!comparisons->event[i].repeated)
			return false;
	return true;
}

static void write_outliers(FILE *file, const char *letter, const struct outliers *outliers)
{
	if (!outliers->n)
		return;
	fprintf(file, "outliers of %s:", letter);
	for (size_t i = 0; i < outliers->n; i++) {
		const struct outlier *o = &outliers->outlier[i];

		fprintf(file, "%s %s %" PRIu64 " (run %zu)", i ? "," : "", o->name, o->count,
			o->run + 1);
	}
	fputs("; they are in the means\n", file);
}

/* In Markdown, empty lines separate the paragraphs. */
static void write_diff(FILE *file, const struct diff *diff, enum table_format format)
{
	const struct comparisons *comparisons = &diff->comparisons;
	const char *gap = format == TABLE_MARKDOWN ? "\n" : "";
	const char *quote = format == TABLE_MARKDOWN ? "`" : "";

	write_side(file, "A", &diff->a, quote);
	fputs(gap, file);
	write_side(file, "B", &diff->b, quote);
	fputs(gap, file);
	write_table(file, diff, format);
	fputs(gap, file);
	write_names(file, "only in A:", comparisons->only_a, comparisons->n_only_a);
	write_names(file, "only in B:", comparisons->only_b, comparisons->n_only_b);
	write_outliers(file, "A", &diff->a.outliers);
	write_outliers(file, "B", &diff->b.outliers);
	fprintf(file,
		"low and high: %g %% interval of the difference; certainty: that there is "
		"one\n",
		diff->confidence);
	if (!all_repeated(comparisons))
		fputs("a single run has no interval: record with perfex run -r N to have one\n",
		      file);
	fputs(gap, file);
}

void diff_write_text(FILE *file, const struct diff *diff)
{
	write_diff(file, diff, TABLE_TEXT);
}

void diff_write_markdown(FILE *file, const struct diff *diff)
{
	write_diff(file, diff, TABLE_MARKDOWN);
}

void diff_write_conclusion(FILE *file, const struct diff *diff)
{
	const struct comparison *c = NULL;
	double percent;

	for (size_t i = 0; i < diff->comparisons.n_events && !c; i++)
		if (strcmp(diff->comparisons.event[i].name, "elapsed_ns") == 0)
			c = &diff->comparisons.event[i];
	if (!c || !c->repeated || c->a.value == 0)
		return;
	percent = 100 * c->difference / (double)c->a.value;
	if (c->certainty < diff->confidence / 100)
		fprintf(file, "no difference in time is certain at %g %%\n", diff->confidence);
	else
		fprintf(file, "B takes %.2f %% %s time than A: %.3f ms, not %.3f ms\n",
			fabs(percent), percent > 0 ? "more" : "less", (double)c->b.value / 1e6,
			(double)c->a.value / 1e6);
}
