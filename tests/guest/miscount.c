// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex validate on a machine that counts all events wrongly but instructions and cycles. The test
 * chooses how, by a register of the emulated PMU. Each way is found out, and with the first seeds
 * instructions are not suspected. LIE_SEEDS is the number of seeds, 3 by default.
 */
#include "../../emulator/pmu/pmu-miscount.h"
#include "msr.h"
#include "perfex_shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_SEEDS = 3 };

static void choose_way(unsigned int way, unsigned int seed)
{
	msr_write(0, PMU_MISCOUNT_MSR, PMU_MISCOUNT(way, seed));
}

static const char *find_event(const char *json, const char *name)
{
	char begin[64];
	const char *at;

	snprintf(begin, sizeof(begin), "{\"name\":\"%s\",\"modes\":", name);
	at = strstr(json, begin);
	ck_assert_msg(at, "no %s in %s", name, json);
	return at;
}

/* The first number of that name. */
static double find_number(const char *json, const char *name)
{
	char begin[64];
	const char *at;

	snprintf(begin, sizeof(begin), "\"%s\":", name);
	at = strstr(json, begin);
	ck_assert(at);
	return strtod(at + strlen(begin), NULL);
}

/*
 * Only an overhead has a sum per disturbance to expect. Of random counts only the class is checked.
 */
struct expected_fit {
	const char *class;
	double b, b_error, per_disturbance;
};

static void expect_fit(const char *json, const char *name, unsigned int seed,
		       const struct expected_fit *expected)
{
	const char *event = find_event(json, name), *at = strstr(event, "\"class\":");
	double b = find_number(event, "b"), c = find_number(event, "per_disturbance");
	bool has_c = strcmp(expected->class, "overhead") == 0;
	char class[64];

	snprintf(class, sizeof(class), "\"class\":\"%s\"", expected->class);
	ck_assert_msg(strncmp(at, class, strlen(class)) == 0 &&
			      fabs(b - expected->b) <= expected->b_error &&
			      (!has_c || fabs(c - expected->per_disturbance) < 0.5),
		      "seed %u, %s: not %s, b %g, c %g: %.400s", seed, name, expected->class,
		      expected->b, expected->per_disturbance, event);
}

static void expect_found_out(unsigned int way, const struct expected_fit *branches)
{
	static const struct expected_fit right = { "overhead", 1, 1e-9, 0 };
	const char *seeds = getenv("LIE_SEEDS");
	unsigned int n = seeds ? (unsigned int)strtoul(seeds, NULL, 10) : DEFAULT_SEEDS;
	bool trusted = strcmp(branches->class, "overhead") == 0;

	ck_assert_uint_ge(n, 1);
	enter_directory();
	for (unsigned int seed = 1; seed <= n; seed++) {
		bool beside = seed <= DEFAULT_SEEDS;
		const char *json;
		char command[256];
		struct run r;

		choose_way(way, seed);
		snprintf(command, sizeof(command),
			 "perfex validate -j -r 2 --time=1000 -e branches %s >out; echo $?",
			 beside ? "-e instructions" : "");
		expect(&r, command, 0);
		json = contents("out");
		expect_fit(json, "branches", seed, branches);
		if (beside)
			expect_fit(json, "instructions", seed, &right);
		ck_assert_str_eq(r.out, trusted ? "0\n" : "1\n");
	}
	choose_way(PMU_MISCOUNT_NONE, 0);
}

START_TEST(what_is_counted_right_is_not_suspected)
{
	expect_found_out(PMU_MISCOUNT_NONE, &(struct expected_fit){ "overhead", 1, 1e-9, 0 });
}
END_TEST

START_TEST(half_counts_are_found_out)
{
	expect_found_out(PMU_MISCOUNT_HALF,
			 &(struct expected_fit){ "multiplicative", 0.5, 1e-6, 0 });
}
END_TEST

START_TEST(three_for_each_interrupt_are_found_out)
{
	expect_found_out(PMU_MISCOUNT_INTERRUPTS, &(struct expected_fit){ "overhead", 1, 1e-4, 3 });
}
END_TEST

/* One count in a thousand is missing. A run of 10^4 may miss one more or one less. */
START_TEST(events_that_forget_each_thousandth_are_found_out)
{
	expect_found_out(PMU_MISCOUNT_FORGETS,
			 &(struct expected_fit){ "multiplicative", 0.999, 1e-4, 0 });
}
END_TEST

/* A line through these counts means nothing. */
START_TEST(noise_of_one_per_cent_is_found_out)
{
	expect_found_out(PMU_MISCOUNT_NOISE, &(struct expected_fit){ "random", 0, INFINITY, 0 });
}
END_TEST

SUITE(validity_miscount, what_is_counted_right_is_not_suspected, half_counts_are_found_out,
      three_for_each_interrupt_are_found_out, events_that_forget_each_thousandth_are_found_out,
      noise_of_one_per_cent_is_found_out)
