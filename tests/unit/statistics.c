// SPDX-License-Identifier: GPL-2.0-or-later
/* Means, standard deviations and confidence intervals of perfex. */
#include "../../perfex/run/run.h"

#include <math.h>
#include <stdlib.h>
/* After all others, because it also has a fail(). */
#include "unit.h"

static struct series series_of(const uint64_t *values, size_t n)
{
	struct series series = { 0 };

	for (size_t i = 0; i < n; i++)
		series_add(&series, values[i]);
	return series;
}

/* NIST StRD, data set NumAcc1: mean 10000002, standard deviation 1. */
START_TEST(large_counts_that_differ_little_keep_their_difference)
{
	static const uint64_t values[][3] = {
		{ 10000001, 10000003, 10000002 },
		{ UINT64_MAX, UINT64_MAX - 2, UINT64_MAX - 1 },
	};
	static const double mean[] = { 10000002, 0x1p64 };
	struct series series = series_of(values[_i], 3);
	struct statistics s = series_statistics(&series, 95);

	ck_assert_double_eq(s.mean, mean[_i]);
	ck_assert_double_eq_tol(s.stddev, 1, 1e-12);
	ck_assert_uint_eq(s.min, values[_i][0] < values[_i][1] ? values[_i][0] : values[_i][1]);
	ck_assert_uint_eq(s.max, values[_i][0] < values[_i][1] ? values[_i][1] : values[_i][0]);
	series_free(&series);
}
END_TEST

/* The sum is 40, the squared differences add up to 32: s = sqrt(32 / 7), half = 2.365 * s / sqrt(8). */
START_TEST(a_series_has_mean_deviation_interval_and_extremes)
{
	static const uint64_t values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct series series = series_of(values, 8);
	struct statistics s = series_statistics(&series, 95);

	ck_assert_double_eq_tol(s.mean, 5, 1e-12);
	ck_assert_double_eq_tol(s.stddev, 2.1380899, 1e-7);
	ck_assert_double_eq_tol(s.low, 5 - 1.7878, 0.0005);
	ck_assert_double_eq_tol(s.high, 5 + 1.7878, 0.0005);
	ck_assert_uint_eq(s.min, 2);
	ck_assert_uint_eq(s.max, 9);
	series_free(&series);
}
END_TEST

/* Mean 10, s = sqrt(200 / 2): half = 4.303 * 10 / sqrt(3) = 24.8 is more than the mean. */
START_TEST(no_interval_of_a_count_begins_below_0)
{
	static const uint64_t values[] = { 0, 10, 20 };
	struct series series = series_of(values, 3);
	struct statistics s = series_statistics(&series, 95);

	ck_assert_double_eq(s.low, 0);
	ck_assert_double_eq_tol(s.high, 10 + 24.84, 0.01);
	series_free(&series);
}
END_TEST

START_TEST(one_value_has_no_deviation_and_none_has_nothing)
{
	static const uint64_t value = 7;
	struct series series = series_of(&value, 1), empty = { 0 };
	struct statistics s = series_statistics(&series, 95);

	ck_assert_double_eq(s.mean, 7);
	ck_assert(isnan(s.stddev) && isnan(s.low) && isnan(s.high));
	s = series_statistics(&empty, 95);
	ck_assert(isnan(s.mean) && isnan(s.stddev));
	series_free(&series);
}
END_TEST

/* Returns a normally distributed number, by Box and Muller's method. */
static double noise(void)
{
	double u = 1 - drand48(), v = drand48();

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/*
 * 20,000 experiments of n runs each, which are independent of each other.  The share of intervals that cover the truth
 * is off by more than 4 standard deviations for one of 16,000 seeds.
 */
START_TEST(intervals_cover_the_truth_as_often_as_they_say)
{
	static const struct {
		double confidence;
		size_t n;
	} cases[] = { { 95, 2 }, { 95, 5 }, { 95, 30 }, { 99, 5 }, { 80, 3 } };
	enum { EXPERIMENTS = 20000, TRUTH = 2000004, SIGMA = 5000 };
	double expected = cases[_i].confidence / 100, share;
	int covered = 0;

	srand48(42);
	for (int i = 0; i < EXPERIMENTS; i++) {
		struct series series = { 0 };
		struct statistics s;

		for (size_t k = 0; k < cases[_i].n; k++)
			series_add(&series, (uint64_t)llround(TRUTH + SIGMA * noise()));
		s = series_statistics(&series, cases[_i].confidence);
		covered += s.low <= TRUTH && TRUTH <= s.high;
		series_free(&series);
	}
	share = (double)covered / EXPERIMENTS;
	ck_assert_double_eq_tol(share, expected, 4 * sqrt(expected * (1 - expected) / EXPERIMENTS));
}
END_TEST

TCase *statistics_tests(void)
{
	TCase *tests = tcase_create("statistics");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, large_counts_that_differ_little_keep_their_difference, 0, 2);
	tcase_add_test(tests, a_series_has_mean_deviation_interval_and_extremes);
	tcase_add_test(tests, no_interval_of_a_count_begins_below_0);
	tcase_add_test(tests, one_value_has_no_deviation_and_none_has_nothing);
	tcase_add_loop_test(tests, intervals_cover_the_truth_as_often_as_they_say, 0, 5);
	return tests;
}
