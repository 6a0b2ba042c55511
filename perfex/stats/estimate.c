// SPDX-License-Identifier: GPL-2.0-or-later
#include "estimate.h"
#include "student.h"

#include <math.h>

/* The slices of one event. */
struct slices {
	const uint64_t *count, *time;
	size_t n;
	double rate; /* of all slices */
};

/* The level of each test for a trend, and the standard normal deviate of its one tail. */
static const double trend_level = 0.01, trend_deviate = 2.326;

static double sum_of(const uint64_t *value, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)value[i];
	return sum;
}

/* Returns how many equal values would have the same sum and the same sum of squares. */
static double equal_slices(const uint64_t *value, size_t n)
{
	double sum = sum_of(value, n), squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (double)value[i] * (double)value[i];
	return squares > 0 ? sum * sum / squares : 0;
}

/* Returns by how many events slice i is above the rate of all. */
static double residual_of(const struct slices *slices, size_t i)
{
	return (double)slices->count[i] - slices->rate * (double)slices->time[i];
}

static double variance_of(const struct slices *slices)
{
	double squares = 0;

	for (size_t i = 0; i < slices->n; i++)
		squares += residual_of(slices, i) * residual_of(slices, i);
	return squares / (double)(slices->n - 1);
}

/* Without a trend, the variance by successive differences is that of all, but for chance. */
static bool has_neighbours_alike(const struct slices *slices, double variance)
{
	double n = (double)slices->n, squares = 0;

	for (size_t i = 1; i < slices->n; i++) {
		double difference = residual_of(slices, i) - residual_of(slices, i - 1);

		squares += difference * difference;
	}
	return 1 - squares / (2 * (n - 1)) / variance >
	       trend_deviate * sqrt((n - 2) / ((n - 1) * (n + 1)));
}

/* Of the slices from "from" to "to": sets the mean, returns the variance of the mean. */
static double mean_of(const struct slices *slices, size_t from, size_t to, double *mean)
{
	double n = (double)(to - from), squares = 0;

	*mean = 0;
	for (size_t i = from; i < to; i++)
		*mean += residual_of(slices, i) / n;
	for (size_t i = from; i < to; i++)
		squares += (residual_of(slices, i) - *mean) * (residual_of(slices, i) - *mean);
	return squares / (n - 1) / n;
}

static bool has_different_halves(const struct slices *slices)
{
	size_t middle = slices->n / 2;
	double first, second;
	double v1 = mean_of(slices, 0, middle, &first);
	double v2 = mean_of(slices, middle, slices->n, &second);
	double degrees =
		(v1 + v2) * (v1 + v2) /
		(v1 * v1 / (double)(middle - 1) + v2 * v2 / (double)(slices->n - middle - 1));

	return v1 + v2 > 0 && student_p((first - second) / sqrt(v1 + v2), degrees) < trend_level;
}

static bool is_unsteady(const struct slices *slices, double variance)
{
	double full = equal_slices(slices->count, slices->n);

	if (variance <= 0)
		return false;
	return (full < ESTIMATE_SLICES && full < (double)slices->n / 2) ||
	       has_neighbours_alike(slices, variance) || has_different_halves(slices);
}

struct estimate estimate_of(const uint64_t *count, const uint64_t *time, size_t n, double all_time,
			    double confidence)
{
	struct slices slices = { count, time, n, 0 };
	struct estimate estimate = { NAN, NAN, false };
	double counted_time = sum_of(time, n), variance, unseen;

	/* Equal slices may lose a little by rounding. */
	if (equal_slices(time, n) < ESTIMATE_SLICES - 1e-9)
		return estimate;
	slices.rate = sum_of(count, n) / counted_time;
	variance = variance_of(&slices);
	unseen = counted_time < all_time ? 1 - counted_time / all_time : 0;
	estimate.total = slices.rate * all_time;
	/* The run has as many slices of the mean length as its time has room for. */
	estimate.half = student_t(confidence / 100, (double)(n - 1)) * (double)n * all_time /
			counted_time * sqrt(unseen * variance / (double)n);
	if (slices.rate <= 0)
		estimate.half = -log1p(-confidence / 100) * all_time / counted_time * unseen;
	estimate.unsteady = is_unsteady(&slices, variance);
	return estimate;
}
