// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"
#include "table.h"
#include "../perfex.h"
#include "../rules/times.h"
#include "../textfile.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct column csv_columns[] = {
	{ "event", LEFT }, { "modes", LEFT },	    { "a", RIGHT },
	{ "b", RIGHT },	   { "difference", RIGHT }, { "percent", RIGHT },
	{ "low", RIGHT },  { "high", RIGHT },	    { "certainty_percent", RIGHT },
};

static const struct column text_columns[] = {
	{ "event", LEFT }, { "A", RIGHT }, { "B", RIGHT },	   { "difference", RIGHT },
	{ "+-", RIGHT },   { "%", RIGHT }, { "certainty", RIGHT },
};

/* Without what a single run does not have. */
static const struct column exact_columns[] = {
	{ "event", LEFT }, { "A", RIGHT }, { "B", RIGHT }, { "difference", RIGHT }, { "%", RIGHT },
};

#define N_COLUMNS(columns) (sizeof(columns) / sizeof((columns)[0]))

struct label {
	const char *name;
	double unit;
};

/* Times are in ms for people; in CSV and JSON they are in ns, as their keys say. */
static struct label label_of(const char *key)
{
	static const char *const names[N_TIMES] = {
		[TIME_ELAPSED] = "elapsed (ms)",
		[TIME_USER] = "user (ms)",
		[TIME_SYSTEM] = "system (ms)",
	};

	for (size_t i = 0; i < N_TIMES; i++)
		if (strcmp(key, time_keys[i]) == 0)
			return (struct label){ names[i], 1e6 };
	return (struct label){ key, 1 };
}

/* Rounds down for people, so that 100 % means a certainty of 1; does not round for CSV. */
static void add_certainty(struct table *table, const struct comparison *c)
{
	double percent = floor(c->certainty * 10000) / 100;

	if (percent == 100 && c->certainty < 1)
		percent = 99.99;
	if (!c->repeated)
		table_add_number(table, (long double)NAN);
	else if (table->format == TABLE_CSV)
		table_add_number(table, c->certainty * 100);
	else
		table_add(table, "%.2f %%", percent);
}

/* Adds NAN, which is shown as "-", for a number that is not known. */
static void add_if(struct table *table, bool known, long double number, double unit)
{
	table_add_number(table, known ? number / unit : (long double)NAN);
}

static void add_percent(struct table *table, const struct comparison *c)
{
	double percent = 100 * c->difference / (double)fabsl(c->a.value);

	if (c->a.value == 0 || !c->a.known || !c->b.known)
		table_add_number(table, (long double)NAN);
	else if (table->format == TABLE_CSV)
		table_add_number(table, percent);
	else
		table_add(table, "%+.2f", percent);
}

static void add_csv(struct table *table, const struct comparison *c)
{
	table_add_text(table, c->name);
	table_add_text(table, c->modes ? c->modes : "");
	add_if(table, c->a.known, c->a.value, 1);
	add_if(table, c->b.known, c->b.value, 1);
	add_if(table, c->a.known && c->b.known, c->difference, 1);
	add_percent(table, c);
	add_if(table, c->repeated, c->low, 1);
	add_if(table, c->repeated, c->high, 1);
	add_certainty(table, c);
}

void diff_write_csv(FILE *file, const struct diff *diff)
{
	struct table table;

	table_begin(&table, TABLE_CSV, csv_columns, N_COLUMNS(csv_columns));
	for (size_t i = 0; i < diff->comparisons.n_events; i++)
		add_csv(&table, &diff->comparisons.event[i]);
	for (size_t i = 0; i < diff->comparisons.n_rules; i++)
		add_csv(&table, &diff->comparisons.rule[i]);
	table_end(&table, file);
}

/* Does the name end with its modes, as instructions:u? */
static bool names_modes(const char *name)
{
	const char *last = strrchr(name, ':');

	return last && last[1] && !last[1 + strspn(last + 1, "uk")];
}

/*
 * common: the modes of all events, which are written below the table; NULL: they differ.  certain:
 * the table tells how certain the difference is.
 */
static void add_for_people(struct table *table, const struct comparison *c, const char *common,
			   bool certain)
{
	struct label label = label_of(c->name);

	if (c->modes && !common && !names_modes(c->name))
		table_add(table, "%s (%s)", label.name, c->modes);
	else
		table_add_text(table, label.name);
	add_if(table, c->a.known, c->a.value, label.unit);
	add_if(table, c->b.known, c->b.value, label.unit);
	add_if(table, c->a.known && c->b.known, c->difference, label.unit);
	if (certain)
		add_if(table, c->repeated, (c->high - c->low) / 2, label.unit);
	add_percent(table, c);
	if (certain)
		add_certainty(table, c);
}

/* Returns the modes of all events; NULL: they differ, or no event has modes. */
static const char *common_modes(const struct comparisons *comparisons)
{
	const char *modes = NULL;

	for (size_t i = 0; i < comparisons->n_events; i++) {
		const char *next = comparisons->event[i].modes;

		if (modes && next && strcmp(modes, next) != 0)
			return NULL;
		modes = next ? next : modes;
	}
	return modes;
}

static void write_table(FILE *file, const struct diff *diff, enum table_format format,
			const char *modes, bool certain)
{
	struct table table;

	if (certain)
		table_begin(&table, format, text_columns, N_COLUMNS(text_columns));
	else
		table_begin(&table, format, exact_columns, N_COLUMNS(exact_columns));
	for (size_t i = 0; i < diff->comparisons.n_events; i++)
		add_for_people(&table, &diff->comparisons.event[i], modes, certain);
	for (size_t i = 0; i < diff->comparisons.n_rules; i++)
		add_for_people(&table, &diff->comparisons.rule[i], modes, certain);
	table_end(&table, file);
}

/* Code of Markdown stands between as many backticks as the code itself has nowhere in a row. */
static void write_code(FILE *file, const char *code)
{
	size_t longest = 0;
	const char *gap;

	for (const char *c = code; *c; c += strcspn(c, "`")) {
		size_t row = strspn(c, "`");

		longest = row > longest ? row : longest;
		c += row;
	}
	gap = longest ? " " : "";
	for (size_t i = 0; i <= longest; i++)
		putc('`', file);
	fprintf(file, "%s%s%s", gap, code, gap);
	for (size_t i = 0; i <= longest; i++)
		putc('`', file);
}

static void write_side(FILE *file, const char *letter, const struct diff *diff,
		       const struct side *side, enum table_format format)
{
	char *command = document_command(side->document);

	make_printable(command);
	fprintf(file, "%s: ", letter);
	if (side->path) {
		char *path = text_print("%s", side->path);

		make_printable(path);
		fprintf(file, "%s: ", path);
		/* The clock of the machine of perfex exact always begins at the same date. */
		if (!diff->is_exact)
			fprintf(file, "%s, ", side->document->date);
		fprintf(file, "%s: ", side->document->pmu);
		free(path);
	}
	if (format == TABLE_MARKDOWN)
		write_code(file, command);
	else
		fputs(command, file);
	putc('\n', file);
	free(command);
}

/* Writes the list, in as many lines as it needs, and frees it. */
static void close_list(FILE *file, struct text *list)
{
	text_close(list);
	write_list(file, list->text);
	free(list->text);
}

static void write_names(FILE *file, const char *what, const char *const *name, size_t n)
{
	struct text line;
	FILE *names;

	if (!n)
		return;
	names = text_open(&line);
	fputs(what, names);
	for (size_t i = 0; i < n; i++)
		fprintf(names, "%s%s", i ? ", " : " ", label_of(name[i]).name);
	close_list(file, &line);
}

static bool any_repeated(const struct comparisons *comparisons)
{
	for (size_t i = 0; i < comparisons->n_events; i++)
		if (comparisons->event[i].repeated)
			return true;
	return false;
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
	struct text line;
	FILE *list;

	if (!outliers->n)
		return;
	list = text_open(&line);
	fprintf(list, "outliers of %s:", letter);
	for (size_t i = 0; i < outliers->n; i++) {
		const struct outlier *o = &outliers->outlier[i];
		struct label label = label_of(o->name);
		char number[NUMBER_TEXT];

		number_format(number, TABLE_TEXT, o->count / (long double)label.unit);
		fprintf(list, "%s %s %s (run %zu)", i ? "," : "", label.name, number, o->run + 1);
	}
	fputs("; they are in the means", list);
	close_list(file, &line);
}

/* In Markdown, empty lines separate the paragraphs. */
static void write_diff(FILE *file, const struct diff *diff, enum table_format format)
{
	const struct comparisons *comparisons = &diff->comparisons;
	const char *gap = format == TABLE_MARKDOWN ? "\n" : "";
	const char *modes = common_modes(comparisons);
	bool certain = !diff->is_exact || any_repeated(comparisons);

	write_side(file, "A", diff, &diff->a, format);
	fputs(gap, file);
	write_side(file, "B", diff, &diff->b, format);
	fputs(gap, file);
	write_table(file, diff, format, modes, certain);
	fputs(gap, file);
	write_names(file, "only in A:", comparisons->only_a, comparisons->n_only_a);
	write_names(file, "only in B:", comparisons->only_b, comparisons->n_only_b);
	write_outliers(file, "A", &diff->a.outliers);
	write_outliers(file, "B", &diff->b.outliers);
	if (certain)
		fprintf(file, "+-: %g %% interval of the difference; certainty: that there is one\n",
			diff->confidence);
	if (modes)
		fprintf(file, "modes: %s\n", modes);
	if (certain && !all_repeated(comparisons))
		fputs("a single run has no interval: record with perfex run -r N to have one\n",
		      file);
	fputs(gap, file);
	if (diff->limits && diff->limits->n) {
		limits_write(file, format == TABLE_MARKDOWN ? "- " : "", diff->limits);
		fputs(gap, file);
	}
}

void diff_write_text(FILE *file, const struct diff *diff)
{
	write_diff(file, diff, TABLE_TEXT);
}

void diff_write_markdown(FILE *file, const struct diff *diff)
{
	write_diff(file, diff, TABLE_MARKDOWN);
}

/* The least and the most digits of a ratio, together before and behind the point. */
enum { LEAST_DIGITS = 3, MOST_DIGITS = 7 };

static void format_ratio(char text[NUMBER_TEXT], double ratio, int digits)
{
	int before = 1;

	for (double rest = ratio; rest >= 10; rest /= 10)
		before++;
	snprintf(text, NUMBER_TEXT, "%.*f", digits > before ? digits - before : 0, ratio);
}

/* Do two numbers that differ look the same with so few digits? */
static bool look_alike(double a, double b, int digits)
{
	char text_a[NUMBER_TEXT], text_b[NUMBER_TEXT];

	format_ratio(text_a, a, digits);
	format_ratio(text_b, b, digits);
	return a != b && strcmp(text_a, text_b) == 0;
}

/*
 * Returns as many digits as tell two commands apart, and the ratio from the ends of its interval:
 * 1.31, 13.1, 131, but 1.0040 from 1.0035 to 1.0045.
 */
static int digits_of(const struct ratio *ratio)
{
	double low = ratio->bounded ? ratio->low : ratio->value;
	double high = ratio->bounded ? ratio->high : ratio->value;
	int digits = LEAST_DIGITS;

	while (digits < MOST_DIGITS &&
	       (look_alike(1, low, digits) || look_alike(low, ratio->value, digits) ||
		look_alike(ratio->value, high, digits)))
		digits++;
	return digits;
}

static void write_ratio(FILE *file, double ratio, int digits)
{
	char text[NUMBER_TEXT];

	format_ratio(text, ratio, digits);
	fputs(text, file);
}

void diff_write_conclusion(FILE *file, const struct diff *diff)
{
	const struct comparison *c = NULL;
	struct ratio ratio;
	bool b_is_faster;
	int digits;

	for (size_t i = 0; i < diff->comparisons.n_events && !c; i++)
		if (strcmp(diff->comparisons.event[i].name, "elapsed_ns") == 0)
			c = &diff->comparisons.event[i];
	if (!c || !c->repeated || c->a.value == 0 || c->b.value == 0)
		return;
	if (c->certainty < diff->confidence / 100) {
		fprintf(file, "no difference in time is certain at %g %%\n", diff->confidence);
		return;
	}
	b_is_faster = c->difference < 0;
	ratio = compare_ratio(b_is_faster ? &c->a : &c->b, b_is_faster ? &c->b : &c->a,
			      diff->confidence / 100);
	digits = digits_of(&ratio);
	fprintf(file, "%c is ", b_is_faster ? 'B' : 'A');
	write_ratio(file, ratio.value, digits);
	fprintf(file, " times as fast as %c", b_is_faster ? 'A' : 'B');
	if (ratio.bounded) {
		fprintf(file, " (%g %%: ", diff->confidence);
		write_ratio(file, ratio.low, digits);
		fputs(" to ", file);
		write_ratio(file, ratio.high, digits);
		putc(')', file);
	}
	putc('\n', file);
}
