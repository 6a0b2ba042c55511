// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares two validations, of two processors, kernels or backends, and shows where their events
 * differ.
 */
#include "against.h"

#include <math.h>
#include <string.h>

static const struct verdict_of_event *find_event(const struct validation_file *file,
						 const struct verdict_of_event *wanted)
{
	for (size_t i = 0; i < file->n; i++)
		if (strcmp(file->event[i].name, wanted->name) == 0 &&
		    strcmp(file->event[i].modes, wanted->modes) == 0)
			return &file->event[i];
	return NULL;
}

/*
 * Returns true if the classes are the same, a differs by at most half a count, and b by about one
 * in ten thousand.  fit.c uses the same limits.
 */
static bool is_alike(const struct verdict_of_event *a, const struct verdict_of_event *b)
{
	return strcmp(a->class, b->class) == 0 && fabs(a->a - b->a) <= 0.5 &&
	       fabs(a->b - b->b) <= 1e-4 + 1e-4 * fabs(a->b);
}

static void write_side(FILE *file, const char *side, const struct verdict_of_event *event)
{
	fprintf(file, "    %s %-14s %12.1f %9.6f\n", side, event->class, event->a, event->b);
}

static void write_head(FILE *file, const char *side, const struct validation_file *validation)
{
	fprintf(file, "%s: %s, Linux %s, %s, %s%s\n", side, validation->processor,
		validation->kernel, validation->backend, validation->date,
		validation->complete ? "" : ", cut short");
}

static size_t count_others(const struct validation_file *a, const struct validation_file *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		n += !find_event(b, &a->event[i]);
	return n;
}

bool write_against(FILE *file, const struct validation_file *a, const struct validation_file *b)
{
	size_t same = 0, different = 0;

	write_head(file, "A", a);
	write_head(file, "B", b);
	fprintf(file, "event class              %12s %9s\n", "a", "b");
	for (size_t i = 0; i < a->n; i++) {
		const struct verdict_of_event *other = find_event(b, &a->event[i]);

		if (other && is_alike(&a->event[i], other))
			same++;
		if (!other || is_alike(&a->event[i], other))
			continue;
		different++;
		fprintf(file, "%s, %s\n", a->event[i].name, a->event[i].modes);
		write_side(file, "A", &a->event[i]);
		write_side(file, "B", other);
	}
	fprintf(file, "%zu alike, %zu different, %zu of A alone, %zu of B alone\n", same, different,
		count_others(a, b), count_others(b, a));
	return !different;
}
