// SPDX-License-Identifier: GPL-2.0-or-later
#include "picture.h"
#include "axis.h"
#include "../../perfex.h"
#include "../../result/json_values.h"
#include "../../result/outliers.h"
#include "../../result/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_BOTTOM = 120, CHART_HEIGHT = 142 };

/* The numbers of an event in the recording itself. */
struct summary {
	const struct document_event *event;
	double mean, low, high; /* NAN: unknown */
	double scale;		/* of a count: 1e-9 for times */
};

/*
 * Returns the JSON of an event.  The first events are times, the same number for each pass, in the
 * order of the passes.
 */
static json_object *summary_json(const struct document *document, size_t i)
{
	json_object *json = document->json, *passes = json_object_object_get(json, "time");
	size_t per_pass;

	if (i >= document->n_times)
		return json_object_array_get_idx(json_object_object_get(json, "events"),
						 i - document->n_times);
	per_pass = document->n_times / json_object_array_length(passes);
	return json_object_object_get(json_object_array_get_idx(passes, i / per_pass),
				      document->event[i].name);
}

/* Returns true if this is the key of a time in ns. */
static bool is_time_key(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, "_ns") == 0;
}

static struct summary summary_of(const struct document *document, size_t i)
{
	json_object *json = summary_json(document, i);

	return (struct summary){
		.event = &document->event[i],
		.mean = json_number(json, "mean"),
		.low = json_number(json, "low"),
		.high = json_number(json, "high"),
		.scale = is_time_key(document->event[i].name) ? 1e-9 : 1,
	};
}

static bool is_outlier(const struct outliers *outliers, const char *name, size_t run)
{
	for (size_t i = 0; i < outliers->n; i++)
		if (outliers->outlier[i].name == name && outliers->outlier[i].run == run)
			return true;
	return false;
}

static void draw_mean(FILE *file, const struct summary *summary, const struct axis *y)
{
	if (!isnan(summary->low) && !isnan(summary->high)) {
		double top = axis_place(y, summary->high * summary->scale);
		double bottom = axis_place(y, summary->low * summary->scale);

		fprintf(file,
			"<rect class=band x=%d y=\"%.2f\" width=%d height=\"%.2f\" "
			"data-low=\"%.17g\" data-high=\"%.17g\"/>\n",
			PICTURE_LEFT, top, PICTURE_RIGHT - PICTURE_LEFT, fmax(bottom - top, 1),
			summary->low, summary->high);
	}
	if (!isnan(summary->mean))
		fprintf(file, "<path class=mean d=\"M%d %.2fH%d\" data-mean=\"%.17g\"/>\n",
			PICTURE_LEFT, axis_place(y, summary->mean * summary->scale), PICTURE_RIGHT,
			summary->mean);
}

static struct axis fit_counts(const struct summary *summary)
{
	struct axis y = {
		.from = CHART_BOTTOM,
		.to = CHART_TOP,
		.unit = summary->scale < 1 ? "s" : "",
	};
	double min = INFINITY, max = -INFINITY;

	for (size_t i = 0; i < summary->event->runs; i++) {
		min = fmin(min, (double)summary->event->count[i]);
		max = fmax(max, (double)summary->event->count[i]);
	}
	/* fmin() and fmax() ignore NAN, which stands for an unknown number. */
	min = fmin(min, summary->low);
	max = fmax(max, summary->high);
	axis_fit(&y, min * summary->scale, max * summary->scale);
	return y;
}

static void draw_event(FILE *file, const struct summary *summary, const struct outliers *outliers)
{
	const struct document_event *event = summary->event;
	struct axis x = { .from = PICTURE_LEFT, .to = PICTURE_RIGHT, .unit = "" };
	struct axis y = fit_counts(summary);
	char *name = event->modes  ? text_print("%s (%s)", event->name, event->modes)
		     : event->pass ? text_print("%s, pass %u", event->name, event->pass + 1)
				   : text_print("%s", event->name);

	x.first = 0.5;
	x.last = (double)event->runs + 0.5;
	picture_begin(file, CHART_HEIGHT, name);
	axis_draw_left(file, &y);
	draw_mean(file, summary, &y);
	for (size_t i = 0; i < event->runs; i++) {
		bool outlier = is_outlier(outliers, event->name, i);

		fprintf(file,
			"<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=4 data-run=\"%zu\" "
			"data-count=\"%" PRIu64 "\"><title>run %zu: %" PRIu64
			"%s</title></circle>\n",
			outlier ? "dot out" : "dot", axis_place(&x, (double)i + 1),
			axis_place(&y, (double)event->count[i] * summary->scale), i,
			event->count[i], i + 1, event->count[i], outlier ? ", an outlier" : "");
	}
	fprintf(file,
		"<text class=x x=\"%.2f\" y=%d>run 1</text>"
		"<text class=x x=\"%.2f\" y=%d>run %zu</text>\n",
		axis_place(&x, 1), CHART_HEIGHT - 6, axis_place(&x, (double)event->runs),
		CHART_HEIGHT - 6, event->runs);
	picture_end(file);
	free(name);
}

static void print_numbers(FILE *file, const struct document *document)
{
	static const struct column column[] = {
		{ "event", LEFT }, { "modes", LEFT }, { "mean", RIGHT },
		{ "low", RIGHT },  { "high", RIGHT }, { "counts", LEFT },
	};
	struct table table;

	table_begin(&table, TABLE_HTML, column, sizeof(column) / sizeof(column[0]));
	for (size_t i = 0; i < document->n; i++) {
		struct summary summary = summary_of(document, i);
		struct text counts;
		FILE *text = text_open(&counts);

		for (size_t k = 0; k < summary.event->runs; k++)
			fprintf(text, "%s%" PRIu64, k ? " " : "", summary.event->count[k]);
		table_add_text(&table, summary.event->name);
		table_add_text(&table, summary.event->modes ? summary.event->modes : "");
		table_add_number(&table, summary.mean);
		table_add_number(&table, summary.low);
		table_add_number(&table, summary.high);
		table_add(&table, "%s", text_close(&counts));
		free(counts.text);
	}
	table_end(&table, file);
}

static bool is_repeated(const struct document *document)
{
	for (size_t i = 0; i < document->n; i++)
		if (document->event[i].runs > 1)
			return true;
	return false;
}

void confidence_print(FILE *file, const json_object *json)
{
	double confidence = json_number(json, "confidence");

	if (isfinite(confidence))
		fprintf(file, " with a confidence of %g %%", confidence);
}

void dots_draw(FILE *file, const struct document *document)
{
	struct outliers outliers;

	if (!is_repeated(document)) {
		fputs("<h3>Counts</h3>\n", file);
		print_numbers(file, document);
		return;
	}
	outliers_find(&outliers, document);
	fputs("<h3>Repetitions</h3>\n<p>A dot is a run, the line their mean, and the band its "
	      "interval",
	      file);
	confidence_print(file, document->json);
	fputs("; a ring is an outlier.</p>\n", file);
	for (size_t i = 0; i < document->n; i++)
		if (document->event[i].runs > 1) {
			struct summary summary = summary_of(document, i);

			draw_event(file, &summary, &outliers);
		}
	fputs("<details><summary>numbers</summary>\n", file);
	print_numbers(file, document);
	fputs("</details>\n", file);
	outliers_free(&outliers);
}
