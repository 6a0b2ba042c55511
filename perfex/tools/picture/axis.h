/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Axes of pictures, and what all pictures have in common. */
#ifndef PERFEX_AXIS_H
#define PERFEX_AXIS_H

#include <stdbool.h>
#include <stdio.h>

/* Of a picture, in its own pixels; what is drawn lies between LEFT and RIGHT. */
enum { PICTURE_WIDTH = 820, PICTURE_LEFT = 90, PICTURE_RIGHT = 790, CHART_TOP = 10 };

/* Colours that the colour-blind tell apart too: classes c0, c1 .. of the page. */
enum { N_COLOURS = 7 };

struct axis {
	double from, to;	  /* pixels of its ends */
	const char *unit;	  /* of its values, before which k, M, .. stand; "": counts */
	double first, last, step; /* values of its ends, and between two lines of the grid */
};

/* Ends and step of 1, 2 or 5 times a power of 10, so that both values are on it. */
void axis_fit(struct axis *axis, double min, double max);
double axis_place(const struct axis *axis, double value);

/* The grid: of values to the right, from top to bottom; of values upwards. */
void axis_draw_below(FILE *file, const struct axis *x, double top, double bottom);
void axis_draw_left(FILE *file, const struct axis *y);

/* <svg> for people who see it, and its name for those who do not. */
void picture_begin(FILE *file, double height, const char *name);
void picture_end(FILE *file);

/* A time of perfex in ns, by its key? */
bool is_time_key(const char *name);

#endif
