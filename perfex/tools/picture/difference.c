// SPDX-License-Identifier: GPL-2.0-or-later
#include "picture.h"
#include "axis.h"
#include "../../perfex.h"
#include "../../result/html.h"
#include "../../result/json_values.h"
#include "../../result/table.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_HEIGHT = 24, NAMES_RIGHT = 270 };

struct row {
	const char *name, *modes;		       /* modes NULL: it has none */
	double a, b, difference, low, high, certainty; /* NAN: unknown */
};

struct difference {
	json_object *json;
	struct row *row;
	size_t n;
};

static bool take_rows(struct difference *difference, const char *key, struct text_error *error)
{
	json_object *all = json_object_object_get(difference->json, key);

	if (!json_object_is_type(all, json_type_array))
		return refuse_text(error, 0,
				   "'%s' is missing; give a file that perfex diff --json "
				   "or compare --json wrote",
				   key);
	difference->row =
		reallocarray(difference->row, difference->n + json_object_array_length(all) + 1,
			     sizeof(*difference->row));
	if (!difference->row)
		fail("out of memory");
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		json_object *json = json_object_array_get_idx(all, i);
		json_object *name, *modes;

		if (!json_object_is_type(json, json_type_object) ||
		    !json_object_object_get_ex(json, "name", &name) || !name)
			return refuse_text(error, 0,
					   "a comparison has no name; give a file that "
					   "perfex diff --json or compare --json wrote");
		difference->row[difference->n++] = (struct row){
			.name = json_object_get_string(name),
			.modes = json_object_object_get_ex(json, "modes", &modes)
					 ? json_object_get_string(modes)
					 : NULL,
			.a = json_number(json, "a"),
			.b = json_number(json, "b"),
			.difference = json_number(json, "difference"),
			.low = json_number(json, "low"),
			.high = json_number(json, "high"),
			.certainty = json_number(json, "certainty"),
		};
	}
	return true;
}

/*
 * Returns the number in per cent of A's mean.  Returns NAN if there is no such mean, or if it is
 * too close to 0.
 */
static double share_of(const struct row *row, double number)
{
	double share = 100 * number / row->a;

	return row->a > 0 && fabs(share) < 1e15 ? share : NAN;
}

static struct axis fit_shares(const struct difference *difference)
{
	struct axis x = { .from = NAMES_RIGHT, .to = PICTURE_RIGHT, .unit = "%" };
	double min = 0, max = 0;

	/* fmin() and fmax() ignore NAN, which stands for an unknown number. */
	for (size_t i = 0; i < difference->n; i++) {
		const struct row *row = &difference->row[i];

		min = fmin(min, fmin(share_of(row, row->difference), share_of(row, row->low)));
		max = fmax(max, fmax(share_of(row, row->difference), share_of(row, row->high)));
	}
	axis_fit(&x, min, max);
	return x;
}

/* An interval that covers 0 shows no difference. */
static const char *class_of(const struct row *row)
{
	return row->low > 0 ? "more" : row->high < 0 ? "less" : "open";
}

static void draw_row(FILE *file, const struct row *row, const struct axis *x, double y)
{
	double share = share_of(row, row->difference);
	double low = share_of(row, row->low), high = share_of(row, row->high);

	fprintf(file, "<text class=y x=%d y=\"%.2f\">", NAMES_RIGHT - 8, y + 4);
	html_text(file, row->name);
	fputs("</text>", file);
	if (isnan(share)) {
		fprintf(file, "<text x=%d y=\"%.2f\">no share of A</text>\n", NAMES_RIGHT + 8,
			y + 4);
		return;
	}
	fprintf(file, "<g class=%s>", class_of(row));
	if (!isnan(low) && !isnan(high))
		fprintf(file, "<path class=span d=\"M%.2f %.2fH%.2f\"/>", axis_place(x, low), y,
			axis_place(x, high));
	fprintf(file,
		"<circle cx=\"%.2f\" cy=\"%.2f\" r=4 data-difference=\"%.17g\" data-a=\"%.17g\"",
		axis_place(x, share), y, row->difference, row->a);
	if (!isnan(low) && !isnan(high))
		fprintf(file, " data-low=\"%.17g\" data-high=\"%.17g\"", row->low, row->high);
	fprintf(file, "><title>%+.3g %%", share);
	if (!isnan(low) && !isnan(high))
		fprintf(file, ", %+.3g %% to %+.3g %%", low, high);
	fputs("</title></circle></g>\n", file);
}

static void print_numbers(FILE *file, const struct difference *difference)
{
	static const struct column column[] = {
		{ "event", LEFT }, { "modes", LEFT },	    { "A", RIGHT },
		{ "B", RIGHT },	   { "difference", RIGHT }, { "low", RIGHT },
		{ "high", RIGHT }, { "certainty", RIGHT },
	};
	struct table table;

	table_begin(&table, TABLE_HTML, column, sizeof(column) / sizeof(column[0]));
	for (size_t i = 0; i < difference->n; i++) {
		const struct row *row = &difference->row[i];

		table_add_text(&table, row->name);
		table_add_text(&table, row->modes ? row->modes : "");
		table_add_number(&table, row->a);
		table_add_number(&table, row->b);
		table_add_number(&table, row->difference);
		table_add_number(&table, row->low);
		table_add_number(&table, row->high);
		if (isnan(row->certainty))
			table_add_text(&table, "-");
		else
			table_add(&table, "%.4g %%", row->certainty);
	}
	table_end(&table, file);
}

static void print_side(FILE *file, json_object *json, const char *key, const char *name)
{
	json_object *side = json_object_object_get(json, key);
	json_object *command = json_object_object_get(side, "command");

	fprintf(file, "<dt>%s</dt><dd><code>", name);
	for (size_t i = 0;
	     json_object_is_type(command, json_type_array) && i < json_object_array_length(command);
	     i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(command, i));

		fputs(i ? " " : "", file);
		html_text(file, word ? word : "");
	}
	fputs("</code></dd>\n", file);
}

bool difference_draw(FILE *file, json_object *diff, struct text_error *error)
{
	struct difference difference = { .json = diff };
	struct axis x;
	double bottom;

	if (!take_rows(&difference, "events", error) || !take_rows(&difference, "derived", error)) {
		free(difference.row);
		return false;
	}
	fputs("<dl>", file);
	print_side(file, diff, "a", "A");
	print_side(file, diff, "b", "B");
	fputs("</dl>\n", file);
	x = fit_shares(&difference);
	bottom = CHART_TOP + ROW_HEIGHT * (double)difference.n;
	picture_begin(file, bottom + 22, "B less A, in per cent of A");
	axis_draw_below(file, &x, CHART_TOP, bottom);
	for (size_t i = 0; i < difference.n; i++)
		draw_row(file, &difference.row[i], &x, CHART_TOP + ROW_HEIGHT * ((double)i + 0.5));
	picture_end(file);
	fputs("<p>Bars are the intervals of the differences", file);
	confidence_print(file, diff);
	fputs("; a grey one covers 0, and shows no difference.</p>\n", file);
	print_numbers(file, &difference);
	free(difference.row);
	return true;
}
