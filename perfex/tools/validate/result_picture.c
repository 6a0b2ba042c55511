// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws a picture in SVG that needs no other file.  It has for each event what was counted against
 * what was expected, both on logarithmic axes.  On the diagonal both are equal.
 */
#include "validate.h"

#include <math.h>

enum { PANEL = 240, PLOT = 180, LEFT = 44, TOP = 34, COLUMNS = 3, DECADES = 8 };

static void write_escaped(FILE *file, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		default:
			putc(*text, file);
		}
}

/* Returns the place of a count on an axis.  Counts below 1 are drawn at 1. */
static double place_of(double count)
{
	double decades = count > 1 ? log10(count) : 0;

	return PLOT * fmin(decades, DECADES) / DECADES;
}

static void draw_axes(FILE *file)
{
	fprintf(file, "<rect class='frame' width='%d' height='%d'/>\n", PLOT, PLOT);
	fprintf(file, "<path class='equal' d='M0 %dL%d 0'/>\n", PLOT, PLOT);
	for (int decade = 0; decade <= DECADES; decade += 2) {
		int at = PLOT * decade / DECADES;

		fprintf(file, "<text x='%d' y='%d' class='below'>1e%d</text>\n", at, PLOT + 14,
			decade);
		fprintf(file, "<text x='-4' y='%d' class='beside'>1e%d</text>\n", PLOT - at + 4,
			decade);
	}
}

static void draw_event(FILE *file, const struct validated *event)
{
	fputs("<text y='-16' class='name'>", file);
	write_escaped(file, event->name);
	fprintf(file, "</text>\n<text y='-4'>%s", class_names[event->fit.error]);
	if (event->quantity != NO_QUANTITY)
		fprintf(file, ", b %.4g of %s", event->fit.b, quantity_names[event->quantity]);
	fputs("</text>\n", file);
	draw_axes(file);
	for (size_t i = 0; i < event->n_trials; i++) {
		const struct trial *trial = &event->trial[i];

		for (size_t k = 0; trial->fit.error != CLASS_NONE && k < trial->n; k++)
			fprintf(file, "<circle cx='%.1f' cy='%.1f' r='2'/>\n",
				place_of(trial->sample[k].expected),
				PLOT - place_of(trial->sample[k].counted));
	}
}

void write_validation_picture(FILE *file, const struct validation *validation)
{
	size_t rows = (validation->n + COLUMNS - 1) / COLUMNS;

	fprintf(file,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%zu' "
		"font-family='sans-serif' font-size='9'>\n"
		"<title>Counted (upwards) against expected (to the right): %s</title>\n"
		"<style>.frame{fill:none;stroke:#888}.equal{stroke:#bbb}.name{font-weight:bold}"
		".below{text-anchor:middle}.beside{text-anchor:end}"
		"circle{fill:none;stroke:#06c}</style>\n",
		COLUMNS * PANEL, rows * PANEL, validation->pmu.family);
	for (size_t i = 0; i < validation->n; i++) {
		fprintf(file, "<g transform='translate(%zu,%zu)'>\n", i % COLUMNS * PANEL + LEFT,
			i / COLUMNS * PANEL + TOP);
		draw_event(file, &validation->event[i]);
		fputs("</g>\n", file);
	}
	fputs("</svg>\n", file);
}
