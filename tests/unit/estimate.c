// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimates from slices.  Small ones are calculated by hand; of simulated programs the true count is known, and the
 * interval must hold it as often as it says.
 */
#include "../../perfex/rotate/rotate.h"
#include "unit.h"

#include <math.h>
#include <string.h>

START_TEST(the_interval_is_that_of_cochran)
{
	static const uint64_t count[] = { 8, 12, 9, 11, 10 }, time[] = { 10, 10, 10, 10, 10 };
	/*
	 * 50 events in 50 units are one a unit.  The differences to that, -2, 2, -1, 1 and 0, have the variance
	 * 10 / 4.  In 200 units there is room for 20 slices; a quarter was counted: 20^2 * (1 - 1/4) / 5 * 2.5 = 150.
	 * Student's t of 95 % and four degrees of freedom is 2.776.
	 */
	struct estimate e = estimate_of(count, time, 5, 200, 95);

	ck_assert_double_eq_tol(e.total, 200, 1e-9);
	ck_assert_double_eq_tol(e.half, 2.776 * sqrt(150), 0.01);
	ck_assert(!e.unsteady);
}
END_TEST

START_TEST(a_constant_rate_has_no_interval_whatever_the_slices_lengths)
{
	static const uint64_t time[] = { 10, 12, 14, 9, 11, 1 }, count[] = { 20, 24, 28, 18, 22, 2 };
	struct estimate e = estimate_of(count, time, 6, 1000, 95);

	ck_assert_double_eq_tol(e.total, 2000, 1e-9);
	ck_assert_double_eq_tol(e.half, 0, 1e-9);
	ck_assert(!e.unsteady);
}
END_TEST

START_TEST(when_all_was_counted_nothing_is_uncertain)
{
	static const uint64_t count[] = { 8, 12, 9, 11, 10 }, time[] = { 10, 10, 10, 10, 10 };
	struct estimate e = estimate_of(count, time, 5, 50, 95);

	ck_assert_double_eq_tol(e.total, 50, 1e-9);
	ck_assert_double_eq_tol(e.half, 0, 1e-9);
}
END_TEST

START_TEST(too_few_slices_or_no_time_give_no_estimate)
{
	static const uint64_t count[] = { 8, 12, 9, 11, 10 }, time[] = { 10, 10, 10, 10, 10 }, none[5];

	ck_assert(isnan(estimate_of(count, time, 4, 200, 95).total));
	ck_assert(isnan(estimate_of(count, time, 4, 200, 95).half));
	ck_assert(isnan(estimate_of(NULL, NULL, 0, 200, 95).total));
	ck_assert(isnan(estimate_of(none, none, 5, 200, 95).total));
}
END_TEST

START_TEST(a_short_slice_is_no_slice_more)
{
	static const uint64_t count[] = { 8, 12, 9, 11, 1 }, even[] = { 10, 10, 10, 10, 10 };
	static const uint64_t time[] = { 10, 10, 10, 10, 1 }, most[] = { 100, 1, 1, 1, 1, 1, 1, 1, 1 };

	ck_assert(!isnan(estimate_of(count, even, 5, 200, 95).total));
	/* 41^2 / 401 = 4.2 equal slices, and 108^2 / 10008 = 1.2. */
	ck_assert(isnan(estimate_of(count, time, 5, 200, 95).total));
	ck_assert(isnan(estimate_of(most, most, 9, 200, 95).total));
}
END_TEST

START_TEST(a_burst_is_not_steady)
{
	static const uint64_t count[] = { 1, 2, 1, 90, 1, 2, 1, 2, 1, 2 }, time[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };

	/* 103^2 / 8121 = 1.3 equal counts. */
	ck_assert(estimate_of(count, time, 10, 100, 95).unsteady);
}
END_TEST

START_TEST(an_event_that_no_slice_has_may_have_happened_elsewhere)
{
	static const uint64_t count[5], time[] = { 10, 10, 10, 10, 10 };
	/*
	 * If 2.996 events come at random in a quarter of the time, there is none with a probability of 5 %.  In the
	 * rest of the time there are three times as many.
	 */
	struct estimate e = estimate_of(count, time, 5, 200, 95);

	ck_assert_double_eq_tol(e.total, 0, 1e-9);
	ck_assert_double_eq_tol(e.half, 3 * 2.996, 0.01);
	ck_assert_double_eq_tol(estimate_of(count, time, 5, 50, 95).half, 0, 1e-9);
}
END_TEST

enum { SLICES = 100, SETS = 4, RUNS = 1000 };

/* The rate of a program, in the course of a run from 0 to 1 and in slice i. */
static double constant_rate(double at, int i)
{
	return 10;
}

static double two_phases(double at, int i)
{
	return at < 0.5 ? 5 : 20;
}

static double drift(double at, int i)
{
	return 5 + 15 * at;
}

static double as_many_slices_as_sets(double at, int i)
{
	return 10 + 8 * sin(2 * M_PI * i / SETS + 0.4);
}

static double bursts(double at, int i)
{
	return i / 7 % 5 ? 2 : 40;
}

static const struct program {
	double (*rate)(double at, int i);
	/* The least of 1000 intervals that hold the true count, and how many runs are told to have a trend. */
	int covered, least_trends, most_trends;
} programs[] = {
	{ constant_rate, 925, 0, 40 },
	{ two_phases, 925, 990, RUNS },
	{ drift, 925, 990, RUNS },
	{ as_many_slices_as_sets, 880, 0, RUNS },
	{ bursts, 925, 0, RUNS },
};

/* Returns a number around 0 with the deviation 1: the sum of 12 uniform ones, less its mean. */
static double noise(unsigned short random[3])
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += erand48(random);
	return sum;
}

/* Runs the program once: counts set 0 in its slices.  Returns the true count of all slices. */
static double simulate(const struct program *program, unsigned short random[3], uint64_t *count, size_t *n)
{
	unsigned int order[SETS];
	double all = 0;

	*n = 0;
	for (int i = 0; i < SLICES; i++) {
		double rate = program->rate((double)i / SLICES, i) * 1e5;
		uint64_t events = (uint64_t)fmax(0, rate + noise(random) * rate * 0.05);

		if (i % SETS == 0)
			rotation_shuffle(order, SETS, random);
		if (order[i % SETS] == 0)
			count[(*n)++] = events;
		all += (double)events;
	}
	return all;
}

START_TEST(intervals_hold_the_true_count_as_often_as_they_say)
{
	const struct program *program = &programs[_i];
	uint64_t count[SLICES], time[SLICES];
	int covered = 0, trends = 0;

	for (size_t i = 0; i < SLICES; i++)
		time[i] = 1;
	for (unsigned short seed = 0; seed < RUNS; seed++) {
		unsigned short random[3] = { 0x330e, seed, 0 };
		size_t n;
		double all = simulate(program, random, count, &n);
		struct estimate e = estimate_of(count, time, n, SLICES, 95);

		covered += fabs(e.total - all) <= e.half;
		trends += e.unsteady;
	}
	ck_assert_int_ge(covered, program->covered);
	ck_assert_int_ge(trends, program->least_trends);
	ck_assert_int_le(trends, program->most_trends);
}
END_TEST

START_TEST(each_set_is_as_often_at_each_place)
{
	enum { ROUNDS = 40000 };
	unsigned short random[3] = { 0x330e, 1, 0 };
	unsigned int order[SETS], at[SETS][SETS] = { 0 };
	const double mean = (double)ROUNDS / SETS, deviation = sqrt(mean * (1 - 1.0 / SETS));

	for (int round = 0; round < ROUNDS; round++) {
		unsigned int seen = 0;

		rotation_shuffle(order, SETS, random);
		for (unsigned int place = 0; place < SETS; place++) {
			seen |= 1u << order[place];
			at[order[place]][place]++;
		}
		ck_assert_uint_eq(seen, (1u << SETS) - 1);
	}
	for (unsigned int set = 0; set < SETS; set++)
		for (unsigned int place = 0; place < SETS; place++)
			ck_assert_double_le(fabs(at[set][place] - mean), 5 * deviation);
}
END_TEST

TCase *estimate_tests(void)
{
	TCase *tests = tcase_create("estimate");

	tcase_add_test(tests, the_interval_is_that_of_cochran);
	tcase_add_test(tests, a_constant_rate_has_no_interval_whatever_the_slices_lengths);
	tcase_add_test(tests, when_all_was_counted_nothing_is_uncertain);
	tcase_add_test(tests, too_few_slices_or_no_time_give_no_estimate);
	tcase_add_test(tests, a_short_slice_is_no_slice_more);
	tcase_add_test(tests, a_burst_is_not_steady);
	tcase_add_test(tests, an_event_that_no_slice_has_may_have_happened_elsewhere);
	tcase_add_loop_test(tests, intervals_hold_the_true_count_as_often_as_they_say, 0, ARRAY_SIZE(programs));
	tcase_add_test(tests, each_set_is_as_often_at_each_place);
	return tests;
}
