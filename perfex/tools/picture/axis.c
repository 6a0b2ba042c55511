// SPDX-License-Identifier: GPL-2.0-or-later
#include "axis.h"
#include "../../result/html.h"

#include <math.h>

#define WANTED_STEPS 5
#define LABEL_TEXT 48

/* A double does not tell smaller parts of a value apart. */
#define SMALLEST_PART 1e-12

static double step_for(double length)
{
	double power = pow(10, floor(log10(length / WANTED_STEPS)));
	double part = length / WANTED_STEPS / power;

	return power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
}

void axis_fit(struct axis *axis, double min, double max)
{
	double least = fmax(fmax(fabs(min), fabs(max)) * SMALLEST_PART, 1e-9);

	if (max - min < least) {
		/* Values that are all 0 do not tell what part of the unit to show. */
		bool whole = !axis->unit[0] || (min == 0 && max == 0);
		double more = whole ? 1 : fmax(fabs(max) / 100, least);

		more = fmax(more, least);
		max += more;
		min = min >= 0 && min < more ? 0 : min - more;
	}
	axis->step = step_for(max - min);
	axis->first = floor(min / axis->step) * axis->step;
	axis->last = ceil(max / axis->step) * axis->step;
}

double axis_place(const struct axis *axis, double value)
{
	return axis->from +
	       (value - axis->first) / (axis->last - axis->first) * (axis->to - axis->from);
}

/* Prints as many digits as are needed to tell the lines of the grid apart. */
static void print_label(char text[LABEL_TEXT], const struct axis *axis, double value)
{
	static const struct {
		double size;
		const char *prefix;
	} prefixes[] = {
		{ 1e18, "E" }, { 1e15, "P" }, { 1e12, "T" }, { 1e9, "G" },  { 1e6, "M" },
		{ 1e3, "k" },  { 1, "" },     { 1e-3, "m" }, { 1e-6, "µ" }, { 1e-9, "n" },
	};
	double largest = fmax(fabs(axis->first), fabs(axis->last));
	bool divisible = axis->unit[0] == 's';
	size_t i = 0;
	int digits;

	/* Numbers below 10000 need no prefix. */
	if (!divisible && (largest < 1e4 || axis->unit[0] == '%'))
		largest = 1;
	while (i + 1 < sizeof(prefixes) / sizeof(prefixes[0]) && largest < prefixes[i].size)
		i++;
	digits = (int)ceil(-log10(axis->step / prefixes[i].size) - 1e-9);
	snprintf(text, LABEL_TEXT, "%.*f %s%s", digits > 0 ? digits : 0, value / prefixes[i].size,
		 prefixes[i].prefix, axis->unit);
}

static unsigned int count_steps(const struct axis *axis)
{
	return (unsigned int)lround((axis->last - axis->first) / axis->step);
}

struct line {
	double value, place;
	char label[LABEL_TEXT];
};

/* Returns line i of the grid.  A value just beside 0 becomes 0, as it would be printed as -0. */
static struct line grid_line(const struct axis *axis, unsigned int i)
{
	double value = axis->first + i * axis->step;
	struct line line = { .value = fabs(value) < axis->step / 2 ? 0 : value };

	line.place = axis_place(axis, line.value);
	print_label(line.label, axis, line.value);
	return line;
}

void axis_draw_below(FILE *file, const struct axis *x, double top, double bottom)
{
	for (unsigned int i = 0; i <= count_steps(x); i++) {
		struct line line = grid_line(x, i);

		fprintf(file,
			"<path class=grid d=\"M%.2f %.2fV%.2f\"/>"
			"<text class=x data-value=\"%.17g\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
			line.place, top, bottom, line.value, line.place, bottom + 15, line.label);
	}
}

void axis_draw_left(FILE *file, const struct axis *y)
{
	for (unsigned int i = 0; i <= count_steps(y); i++) {
		struct line line = grid_line(y, i);

		fprintf(file,
			"<path class=grid d=\"M%d %.2fH%d\"/>"
			"<text class=y data-value=\"%.17g\" x=\"%d\" y=\"%.2f\">%s</text>\n",
			PICTURE_LEFT, line.place, PICTURE_RIGHT, line.value, PICTURE_LEFT - 6,
			line.place + 4, line.label);
	}
}

void picture_begin(FILE *file, double height, const char *name)
{
	fprintf(file, "<figure><figcaption>");
	html_text(file, name);
	fprintf(file, "</figcaption>\n<svg viewBox=\"0 0 %d %.0f\" role=img aria-label=\"",
		PICTURE_WIDTH, height);
	html_text(file, name);
	fputs("\">\n", file);
}

void picture_end(FILE *file)
{
	fputs("</svg></figure>\n", file);
}
