/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Axes, and the parts that all pictures have in common. */
#ifndef PERFEX_AXIS_H
#define PERFEX_AXIS_H

#include <stdbool.h>
#include <stdio.h>

/* Sizes of a picture, in its own pixels.  Charts lie between LEFT and RIGHT. */
enum { PICTURE_WIDTH = 820, PICTURE_LEFT = 90, PICTURE_RIGHT = 790, CHART_TOP = 10 };

/* Colours that the colour-blind can tell apart too: the classes c0, c1, .. of the page. */
enum { N_COLOURS = 7 };

struct axis {
	double from, to;	  /* pixels of its ends */
	const char *unit;	  /* of its values, with k, M, .. before it; "": counts */
	double first, last, step; /* values of its ends, and between two lines of the grid */
};

/*
 * Chooses the ends of the axis, so that both values are on it, and a step of 1, 2 or 5 times a
 * power of 10.  If both are 0, the axis reaches from 0 to 1.
 */
void axis_fit(struct axis *axis, double min, double max);
double axis_place(const struct axis *axis, double value);

/*
 * Draw the grid: axis_draw_below() for values to the right, with lines from top to bottom;
 * axis_draw_left() for values upwards.
 */
void axis_draw_below(FILE *file, const struct axis *x, double top, double bottom);
void axis_draw_left(FILE *file, const struct axis *y);

/* Begins a picture as <svg>.  The name is also for people that cannot see it. */
void picture_begin(FILE *file, double height, const char *name);
void picture_end(FILE *file);

#endif
