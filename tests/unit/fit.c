// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arithmetic of perfex validate.  Simulated counters, driven by seeded random numbers, have known errors.  perfex
 * must find the error in each of 100 runs.
 */
#include "../../perfex/tools/validate/fit.h"
#include "unit.h"

#include <math.h>
#include <string.h>

enum {
	SEEDS = 100,
	SIZES = 6,
	RUNS = 10,
	SAMPLES = SIZES * RUNS,
	READING = 37,	  /* added by reading */
	BETWEEN = 200000, /* average count between two interrupts */
};

struct machine {
	uint64_t state;
	double stream; /* all events since the start */
};

/* Returns a uniformly distributed number in (0, 1): Steele and Vigna's SplitMix. */
static double next_uniform(struct machine *machine)
{
	uint64_t z = machine->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* Returns a normally distributed number, by Box and Muller's method. */
static double next_normal(struct machine *machine)
{
	double radius = sqrt(-2 * log(next_uniform(machine)));

	return radius * cos(2 * M_PI * next_uniform(machine));
}

static double next_interrupts(struct machine *machine, double expected)
{
	double n = 0;

	/* The times between interrupts are exponentially distributed. */
	for (double at = -BETWEEN * log(next_uniform(machine)); at < expected;
	     at -= BETWEEN * log(next_uniform(machine)))
		n++;
	return n;
}

/* A simulated counter: returns its count if so many events are expected, and so many interrupts come. */
typedef double counter(struct machine *machine, double expected, double interrupts);

static struct fit fit_counter(unsigned int seed, counter *count, struct tolerance tolerance)
{
	struct machine machine = { .state = seed };
	struct observation samples[SAMPLES];
	size_t n = 0;

	for (unsigned int i = 0; i < SIZES; i++)
		for (unsigned int k = 0; k < RUNS; k++) {
			double expected = pow(10, i + 1);
			double interrupts = next_interrupts(&machine, expected);

			samples[n++] = (struct observation){
				.size = expected,
				.expected = expected,
				.disturbances = interrupts,
				.counted = floor(count(&machine, expected, interrupts)),
			};
		}
	return fit_line(samples, n, tolerance);
}

static double count_exactly(struct machine *machine, double expected, double interrupts)
{
	return expected;
}

static double count_as_x86(struct machine *machine, double expected, double interrupts)
{
	return READING + expected + interrupts;
}

static double count_half(struct machine *machine, double expected, double interrupts)
{
	return (READING + expected + interrupts) / 2;
}

static double count_three(struct machine *machine, double expected, double interrupts)
{
	return READING + expected + 3 * interrupts;
}

/* Misses every thousandth event. */
static double count_forgetting(struct machine *machine, double expected, double interrupts)
{
	double before;

	/* Other programs have caused events since the last call. */
	machine->stream += floor(1000 * next_uniform(machine));
	before = floor(machine->stream / 1000);
	machine->stream += expected;
	return expected - (floor(machine->stream / 1000) - before);
}

static double count_with_noise(struct machine *machine, double expected, double interrupts)
{
	return READING + expected * (1 + 0.01 * next_normal(machine)) + interrupts;
}

static double count_nothing(struct machine *machine, double expected, double interrupts)
{
	return 0;
}

static double count_squares(struct machine *machine, double expected, double interrupts)
{
	return expected * sqrt(expected);
}

static void expect_class(counter *count, enum error_class error, double a, double b, double c)
{
	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		struct fit fit = fit_counter(seed, count, (struct tolerance){ 0 });

		ck_assert_msg(fit.error == error, "seed %u: %s, a %g, b %g, c %g, residual %g",
			      seed, class_names[fit.error], fit.a, fit.b, fit.c, fit.residual);
		if (error == CLASS_RANDOM)
			continue;
		ck_assert_msg(fabs(fit.a - a) <= 0.5 && fabs(fit.b - b) < 1e-4 &&
				      fabs(fit.c - c) < 0.05,
			      "seed %u: a %g, b %g, c %g", seed, fit.a, fit.b, fit.c);
		ck_assert_uint_eq(fit.sizes, SIZES);
	}
}

START_TEST(a_counter_without_a_fault_is_exact)
{
	expect_class(count_exactly, CLASS_EXACT, 0, 1, 0);
}
END_TEST

START_TEST(what_reading_counts_is_overhead_and_one_for_an_interrupt_is_known)
{
	expect_class(count_as_x86, CLASS_OVERHEAD, READING, 1, 1);
}
END_TEST

/* An interrupt adds half a count, which rounding hides in some runs, so its coefficient c is not checked. */
START_TEST(half_counts_are_multiplicative)
{
	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		struct fit fit = fit_counter(seed, count_half, (struct tolerance){ 0 });

		ck_assert_msg(fit.error == CLASS_MULTIPLICATIVE, "seed %u: %s", seed,
			      class_names[fit.error]);
		ck_assert(fabs(fit.b - 0.5) < 1e-4 && fabs(fit.a - READING / 2.0) < 1);
	}
}
END_TEST

START_TEST(three_for_each_interrupt_are_overhead_of_interrupts)
{
	expect_class(count_three, CLASS_OVERHEAD, READING, 1, 3);
}
END_TEST

/*
 * Nothing is expected.  In runs that are so long that about ten interrupts come, one more may come after the count has
 * ended.
 */
START_TEST(an_interrupt_behind_the_count_makes_no_event_random)
{
	for (unsigned int seed = 1; seed <= SEEDS; seed++) {
		struct machine machine = { .state = seed };
		struct observation samples[SAMPLES];
		struct fit fit;

		for (unsigned int i = 0; i < SAMPLES; i++) {
			double size = pow(10, i / RUNS + 1);
			double interrupts = next_interrupts(&machine, 2 * size);

			samples[i] = (struct observation){
				.size = size,
				.counted = READING + 3 * interrupts,
				.disturbances =
					interrupts + (size >= 1e6 && next_uniform(&machine) < 0.2),
			};
		}
		fit = fit_line(samples, SAMPLES, (struct tolerance){ 0 });
		ck_assert_msg(fit.error == CLASS_OVERHEAD && fabs(fit.c - 3) < 0.5,
			      "seed %u: %s, a %g, b %g, c %g", seed, class_names[fit.error], fit.a,
			      fit.b, fit.c);
	}
}
END_TEST

/* The opposite: an interrupt was counted, but came too late to be known.  Nothing else disturbed that run. */
START_TEST(an_interrupt_that_nobody_knew_of_makes_no_event_random)
{
	enum { N = 2 * SIZES };
	static const double known[N] = { 0, 0, 1, 0, 4, 2, 3, 5, 0, 0, 2, 4 };
	struct observation samples[N];
	struct fit fit;

	for (unsigned int i = 0; i < N; i++) {
		double size = pow(10, i / 2 + 1);
		bool late = size == 1e5 && i % 2 == 0;

		samples[i] = (struct observation){
			.size = size,
			.counted = READING + 3 * (known[i] + late),
			.disturbances = known[i],
		};
	}
	fit = fit_line(samples, N, (struct tolerance){ 0 });
	ck_assert_msg(fit.error == CLASS_OVERHEAD && fabs(fit.c - 3) < 0.5, "%s, a %g, b %g, c %g",
		      class_names[fit.error], fit.a, fit.b, fit.c);
}
END_TEST

/*
 * Measured counts: one of two interrupts came while the counters were read.  Another benchmark shows how much an
 * interrupt adds.
 */
START_TEST(what_other_benchmarks_show_of_disturbances_is_allowed)
{
	enum { N = 2 * SIZES };
	struct observation samples[N];

	for (unsigned int i = 0; i < N; i++) {
		bool last = i / 2 == SIZES - 1;

		samples[i] = (struct observation){
			.size = pow(10, i / 2 + 1),
			.counted = 18 + (i == N - 1 ? 3 : 0),
			.disturbances = last ? 1 : 0,
		};
	}
	ck_assert_int_eq(fit_line(samples, N, (struct tolerance){ 0 }).error, CLASS_RANDOM);
	ck_assert_int_eq(fit_line(samples, N, (struct tolerance){ .disturbance = 3 }).error,
			 CLASS_OVERHEAD);
	samples[N - 1].counted = 18 + 12;
	ck_assert_int_eq(fit_line(samples, N, (struct tolerance){ .disturbance = 3 }).error,
			 CLASS_RANDOM);
}
END_TEST

START_TEST(each_thousandth_that_is_forgotten_is_found)
{
	expect_class(count_forgetting, CLASS_MULTIPLICATIVE, 0, 0.999, 0);
}
END_TEST

START_TEST(noise_of_one_per_cent_is_random)
{
	expect_class(count_with_noise, CLASS_RANDOM, 0, 0, 0);
}
END_TEST

START_TEST(a_counter_that_stands_still_and_one_of_another_thing_are_unknown)
{
	expect_class(count_nothing, CLASS_UNKNOWN, 0, 0, 0);
	for (unsigned int seed = 1; seed <= SEEDS; seed++)
		ck_assert_int_eq(fit_counter(seed, count_squares, (struct tolerance){ 0 }).error,
				 CLASS_UNKNOWN);
}
END_TEST

START_TEST(what_is_known_of_the_expected_count_is_allowed)
{
	struct fit fit = fit_counter(1, count_with_noise, (struct tolerance){ .slack = 0.1 });

	ck_assert_int_eq(fit.error, CLASS_RANDOM);
	fit = fit_counter(1, count_forgetting, (struct tolerance){ .slack = 0.01 });
	ck_assert_int_eq(fit.error, CLASS_EXACT);
	fit = fit_counter(1, count_half, (struct tolerance){ .slack = 0.1 });
	ck_assert_int_eq(fit.error, CLASS_MULTIPLICATIVE);
}
END_TEST

START_TEST(the_count_to_trust_is_a_hundred_overheads)
{
	struct fit fit = fit_counter(1, count_as_x86, (struct tolerance){ 0 });

	ck_assert_double_eq_tol(fit.trust_above, 100 * READING, 50);
	ck_assert_double_eq(fit_counter(1, count_exactly, (struct tolerance){ 0 }).trust_above, 0);
}
END_TEST

/* No count is expected, for any size. */
START_TEST(what_should_not_be_counted_must_not_grow)
{
	struct observation samples[SAMPLES];

	for (unsigned int i = 0; i < SAMPLES; i++) {
		double size = pow(10, i / RUNS + 1);

		samples[i] = (struct observation){ .size = size, .counted = READING };
	}
	ck_assert_int_eq(fit_line(samples, SAMPLES, (struct tolerance){ 0 }).error, CLASS_OVERHEAD);
	for (unsigned int i = 0; i < SAMPLES; i++)
		samples[i].counted += samples[i].size / 1000;
	ck_assert_int_eq(fit_line(samples, SAMPLES, (struct tolerance){ 0 }).error, CLASS_UNKNOWN);
}
END_TEST

START_TEST(too_few_sizes_have_no_class)
{
	struct observation samples[2] = { { 10, 10, 10, 0 }, { 10, 10, 10, 0 } };

	ck_assert_int_eq(fit_line(samples, 0, (struct tolerance){ 0 }).error, CLASS_NONE);
	ck_assert_int_eq(fit_line(samples, 2, (struct tolerance){ 0 }).error, CLASS_NONE);
}
END_TEST

/* Any two points are on a line, but a third need not be.  This counter counts squares. */
START_TEST(two_sizes_show_nothing)
{
	struct observation samples[6] = { { 1, 1, 1, 0 }, { 1, 1, 1, 0 }, { 2, 2, 4, 0 },
					  { 2, 2, 4, 0 }, { 3, 3, 9, 0 }, { 3, 3, 9, 0 } };

	for (unsigned int i = 0; i < 6; i++) {
		samples[i].size *= 1000;
		samples[i].expected *= 1000;
		samples[i].counted *= 1000;
	}
	ck_assert_int_eq(fit_line(samples, 4, (struct tolerance){ 0 }).error, CLASS_NONE);
	ck_assert_int_eq(fit_line(samples, 6, (struct tolerance){ 0 }).error, CLASS_UNKNOWN);
	/* Two sizes do not show growth either. */
	for (unsigned int i = 0; i < 6; i++)
		samples[i].expected = 0;
	ck_assert_int_eq(fit_line(samples, 4, (struct tolerance){ 0 }).error, CLASS_NONE);
}
END_TEST

/* The disturbances are the expected events themselves, such as new pages in runs without interrupts. */
START_TEST(disturbances_that_are_the_expected_counts_take_nothing_from_them)
{
	enum { N = 4 * RUNS };
	struct observation samples[N];
	struct fit fit;

	for (unsigned int i = 0; i < N; i++) {
		double size = pow(10, i / RUNS + 1);

		samples[i] = (struct observation){ size, size, size, size };
	}
	fit = fit_line(samples, N, (struct tolerance){ 0 });
	ck_assert_double_eq_tol(fit.b, 1, 1e-9);
	ck_assert_double_eq(fit.c, 0);
	ck_assert_int_eq(fit.error, CLASS_EXACT);
}
END_TEST

/* If one benchmark finds an event exact, and another finds three quarters of it, it is another event. */
START_TEST(benchmarks_that_disagree_show_another_event)
{
	struct fit fits[3] = {
		{ .error = CLASS_OVERHEAD, .a = READING, .b = 1 },
		{ .error = CLASS_MULTIPLICATIVE, .a = READING, .b = 0.75 },
		{ .error = CLASS_OVERHEAD, .a = READING, .is_flat = true },
	};

	ck_assert_int_eq(join_fits(fits, 1).error, CLASS_OVERHEAD);
	ck_assert_int_eq(join_fits(fits, 2).error, CLASS_UNKNOWN);
	ck_assert_int_eq(join_fits(fits + 1, 2).error, CLASS_MULTIPLICATIVE);
	ck_assert_double_eq(join_fits(fits + 1, 2).b, 0.75);
	fits[1].error = CLASS_RANDOM;
	ck_assert_int_eq(join_fits(fits, 3).error, CLASS_RANDOM);
	ck_assert_int_eq(join_fits(fits, 0).error, CLASS_NONE);
}
END_TEST

TCase *fit_tests(void)
{
	TCase *tests = tcase_create("fit");

	tcase_add_test(tests, a_counter_without_a_fault_is_exact);
	tcase_add_test(tests, what_reading_counts_is_overhead_and_one_for_an_interrupt_is_known);
	tcase_add_test(tests, half_counts_are_multiplicative);
	tcase_add_test(tests, three_for_each_interrupt_are_overhead_of_interrupts);
	tcase_add_test(tests, an_interrupt_behind_the_count_makes_no_event_random);
	tcase_add_test(tests, an_interrupt_that_nobody_knew_of_makes_no_event_random);
	tcase_add_test(tests, what_other_benchmarks_show_of_disturbances_is_allowed);
	tcase_add_test(tests, each_thousandth_that_is_forgotten_is_found);
	tcase_add_test(tests, noise_of_one_per_cent_is_random);
	tcase_add_test(tests, a_counter_that_stands_still_and_one_of_another_thing_are_unknown);
	tcase_add_test(tests, what_is_known_of_the_expected_count_is_allowed);
	tcase_add_test(tests, the_count_to_trust_is_a_hundred_overheads);
	tcase_add_test(tests, what_should_not_be_counted_must_not_grow);
	tcase_add_test(tests, too_few_sizes_have_no_class);
	tcase_add_test(tests, two_sizes_show_nothing);
	tcase_add_test(tests, disturbances_that_are_the_expected_counts_take_nothing_from_them);
	tcase_add_test(tests, benchmarks_that_disagree_show_another_event);
	return tests;
}
