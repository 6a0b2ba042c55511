// SPDX-License-Identifier: GPL-2.0-or-later
#include "outliers.h"
#include "../perfex.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST_RUNS = 5 };

/*
 * The standard deviation of a normal distribution is the median absolute deviation / 0.6745, and
 * the mean absolute deviation * 1.2533.
 */
#define MOST_MEDIANS (3.5L / 0.6745L)
#define MOST_MEANS (3.5L * 1.2533L)

static int order_numbers(const void *a, const void *b)
{
	long double x = *(const long double *)a, y = *(const long double *)b;

	return (x > y) - (x < y);
}

static long double median_of(long double *number, size_t n)
{
	qsort(number, n, sizeof(*number), order_numbers);
	return (number[(n - 1) / 2] + number[n / 2]) / 2;
}

static long double mean_of(const long double *number, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += number[i];
	return sum / (long double)n;
}

static void find_in_event(struct outliers *outliers, const struct document_event *event,
			  long double *number)
{
	long double median, most;

	for (size_t i = 0; i < event->runs; i++)
		number[i] = event->count[i];
	median = median_of(number, event->runs);
	for (size_t i = 0; i < event->runs; i++)
		number[i] = fabsl(event->count[i] - median);
	most = MOST_MEDIANS * median_of(number, event->runs);
	if (most == 0)
		most = MOST_MEANS * mean_of(number, event->runs);
	for (size_t i = 0; i < event->runs; i++)
		if (fabsl(event->count[i] - median) > most)
			outliers->outlier[outliers->n++] =
				(struct outlier){ event->name, i, event->count[i] };
}

void outliers_find(struct outliers *outliers, const struct document *document)
{
	size_t all = 0, most = 0;
	long double *number;

	for (size_t i = 0; i < document->n; i++) {
		all += document->event[i].runs;
		most = document->event[i].runs > most ? document->event[i].runs : most;
	}
	*outliers = (struct outliers){ .outlier = allocate(all, sizeof(*outliers->outlier)) };
	number = allocate(most, sizeof(*number));
	for (size_t i = 0; i < document->n; i++)
		if (document->event[i].runs >= FEWEST_RUNS)
			find_in_event(outliers, &document->event[i], number);
	free(number);
}

void outliers_free(struct outliers *outliers)
{
	free(outliers->outlier);
}
