// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules: their values, computed by hand or by another method, and the reasons of refusals. */
#include "unit.h"
#include "mutate.h"
#include "../../perfex/rules/rules.h"
#include "../../perfex/stats/student.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rules *parse(const char *text)
{
	struct rules *rules = rules_new();
	struct text_error error;

	ck_assert_msg(rules_add(rules, text, strlen(text), &error), "%s: line %u: %s", text,
		      error.line, error.text);
	ck_assert_msg(rules_link(rules, &error), "%s: line %u: %s", text, error.line, error.text);
	return rules;
}

/* Returns the result of the last rule of the text. */
static struct rule_result evaluate(const char *text, const struct rule_event *event, size_t n)
{
	struct rule_result result[RULES_MAX];
	struct rules *rules = parse(text);
	size_t last = rules_count(rules) - 1;

	rules_evaluate(rules, event, n, 0.95, result);
	rules_free(rules);
	return result[last];
}

#define RUNS(...)                                                                                  \
	.count = (const uint64_t[]){ __VA_ARGS__ },                                                \
	.runs = ARRAY_SIZE(((const uint64_t[]){ __VA_ARGS__ }))

static const struct rule_event single[] = {
	{ .name = "cycles", RUNS(3000) },
	{ .name = "instructions:u", RUNS(1000) },
	{ .name = "L1-dcache-loads", RUNS(250) },
	{ .name = "0x004100c0@0", RUNS(7) },
	{ .name = "most", RUNS(UINT64_MAX) },
	{ .name = "nothing", RUNS(0) },
	{ .name = "min", RUNS(5) },
	{ .name = "uncounted", .runs = 0 },
};

static const struct {
	const char *text;
	double value;
} values[] = {
	{ "a = 1 + 2 * 3", 7 },
	{ "a = (1 + 2) * 3", 9 },
	{ "a = 8 - 4 - 2", 2 },
	{ "a = 8 / 4 / 2", 1 },
	{ "a = 8 - 4 / 2 + 1", 7 },
	{ "a = -2 * -(3 - 5)", -4 },
	{ "a = 2 - -3", 5 },
	{ "a = min(3, 1, 2)", 1 },
	{ "a = max(3, 1, 2) - min(7, 4)", -1 },
	{ "a = max(1, min(5, 2))", 2 },
	{ "a = .5 + 1.25e2 + 2E-1", 125.7 },
	{ "a = 0x10 + 0X0f", 31 },
	{ "a=1#2", 1 },
	{ "\r\n# none\n\n  a  =  4 # four\r\n", 4 },
	{ "cpi = cycles / instructions:u", 3 },
	{ "a = cycles/'L1-dcache-loads'", 12 },
	{ "a = cycles/L1-dcache-loads-1", 11 },
	{ "a = cycles-L1-dcache-loads-L1-dcache-loads", 2500 },
	{ "a = \"L1-dcache-loads\" * 100 / 'instructions:u'", 25 },
	{ "a = '0x004100c0@0' + 1", 8 },
	{ "a = 'min' + min(1, 2) + min", 11 },
	{ "a = most - (most - 1)", 1 },
	{ "a = most - 18446744073709551614", 1 },
	{ "a = nothing / cycles", 0 },
	{ "half = cycles / 2\na = half + 1", 1501 },
	{ "b = a + 1\na = cycles * 2\nc = a + b", 12001 },
};

START_TEST(value_is_as_computed_by_hand)
{
	struct rule_result result = evaluate(values[_i].text, single, ARRAY_SIZE(single));

	ck_assert_int_eq(result.state, RULE_VALUE);
	ck_assert_double_eq_tol(result.value, values[_i].value,
				1e-15 + 1e-12 * fabs(values[_i].value));
	ck_assert(!result.interval);
	ck_assert_double_eq(result.low, result.value);
	ck_assert_double_eq(result.high, result.value);
}
END_TEST

static const struct {
	const char *text;
	int state;
} without_value[] = {
	{ "a = nothing / nothing", RULE_UNDEFINED },
	{ "a = cycles / nothing", RULE_UNDEFINED },
	{ "a = 0 * (cycles / nothing)", RULE_UNDEFINED },
	{ "a = min(1, nothing / nothing)", RULE_UNDEFINED },
	{ "b = nothing / nothing\na = b + 1", RULE_UNDEFINED },
	{ "a = 1e300 * 1e300", RULE_UNDEFINED },
	{ "a = 1e4000 * 1e4000 - 1e4000 * 1e4000", RULE_UNDEFINED },
	{ "a = unheard_of", RULE_UNKNOWN },
	{ "a = uncounted", RULE_UNKNOWN },
	{ "a = 0 * unheard_of", RULE_UNKNOWN },
	{ "a = unheard_of / nothing", RULE_UNKNOWN },
	{ "a = nothing / nothing + unheard_of", RULE_UNKNOWN },
	{ "b = unheard_of\na = -b", RULE_UNKNOWN },
	{ "a = L1-icache-loads", RULE_UNKNOWN },
	{ "a = L1 - dcache - loads", RULE_UNKNOWN },
};

START_TEST(a_value_that_does_not_exist_is_none)
{
	struct rule_result result = evaluate(without_value[_i].text, single, ARRAY_SIZE(single));

	ck_assert_int_eq(result.state, without_value[_i].state);
	ck_assert(!result.interval);
}
END_TEST

static const struct {
	const char *text;
	unsigned int line;
	const char *error;
} refused[] = {
	{ "cpi", 1, "expected '=' behind the name of the rule, but the rule ends" },
	{ "a = 1\n= 2", 2, "expected the name of a rule, not '='" },
	{ "7 = 2", 1, "expected the name of a rule, not '7'" },
	{ "a 7", 1, "expected '=' behind the name of the rule, not '7'" },
	{ "a =", 1,
	  "expected a number, the name of an event or of a rule, or '(', but the rule "
	  "ends" },
	{ "a = 1 +\n2", 1,
	  "expected a number, the name of an event or of a rule, or '(', but the "
	  "rule ends" },
	{ "a = * 2", 1, "expected a number, the name of an event or of a rule, or '(', not '*'" },
	{ "a = (1", 1, "expected ')' or an operator, but the rule ends" },
	{ "a = (1 2)", 1, "expected ')' or an operator, not '2'" },
	{ "a = 1)", 1, "expected an operator or the end of the line, not ')'" },
	{ "a = b c", 1, "expected an operator or the end of the line, not 'c'" },
	{ "a = b = c", 1, "expected an operator or the end of the line, not '='" },
	{ "a = min(1)", 1, "expected ',' and a second value, not ')'" },
	{ "a = min()", 1, "expected a number, the name of an event or of a rule, or '(', not ')'" },
	{ "a = min(1, 2", 1, "expected ',' or ')', but the rule ends" },
	{ "a = sqrt(2)", 1, "there is no function 'sqrt'; there are min and max" },
	{ "a = 4100c0@0", 1,
	  "'4100c0@0' is not a number; if it is the name of an event, write it "
	  "in quotes" },
	{ "a = 1.2.3", 1,
	  "'1.2.3' is not a number; if it is the name of an event, write it in "
	  "quotes" },
	{ "a = .", 1, "'.' is not a number; if it is the name of an event, write it in quotes" },
	{ "a = 1e9999", 1, "'1e9999' is too large for a number" },
	{ "a = 'b", 1, "a name in quotes does not end; write a second ' behind it" },
	{ "a = 'b\xc2\x9b'", 1, "a name in quotes does not end; write a second ' behind it" },
	{ "a = \"b\n\"", 1, "a name in quotes does not end; write a second \" behind it" },
	{ "a = ''", 1, "there is nothing between the quotes; write the name of an event" },
	{ "a = b ^ 2", 1, "unexpected '^'; write a name that contains it in quotes" },
	{ "a = \303\244", 1, "unexpected byte 0xc3; write a name that contains it in quotes" },
	{ "a = 1\n\na = 2", 3, "there are two rules 'a'; give each its own name" },
	{ "a = a", 1, "rule 'a' needs its own value; define it by events, or by other rules" },
	{ "x = 1\na = b\nb = c\nc = x + a", 2,
	  "rule 'a' needs its own value; define it by events, or by other rules" },
};

START_TEST(what_is_no_rule_is_refused_with_its_line)
{
	struct rules *rules = rules_new();
	struct text_error error;

	ck_assert(!rules_add(rules, refused[_i].text, strlen(refused[_i].text), &error) ||
		  !rules_link(rules, &error));
	ck_assert_str_eq(error.text, refused[_i].error);
	ck_assert_uint_eq(error.line, refused[_i].line);
	rules_free(rules);
}
END_TEST

static char *repeated(const char *before, const char *part, size_t n, const char *behind)
{
	char *text = malloc(strlen(before) + n * strlen(part) + strlen(behind) + 1), *end;

	end = stpcpy(text, before);
	while (n--)
		end = stpcpy(end, part);
	strcpy(end, behind);
	return text;
}

START_TEST(nesting_has_a_limit)
{
	static const char *const parts[] = { "(", "-", "min(1,", "-(" };
	struct rules *rules = rules_new();
	struct text_error error;
	char *text = repeated("a = ", parts[_i], 1000000, "1");

	ck_assert(!rules_add(rules, text, strlen(text), &error));
	ck_assert_str_eq(error.text, "more than 64 parentheses and signs within each other; divide "
				     "it into several rules");
	rules_free(rules);
	free(text);
}
END_TEST

START_TEST(as_many_rules_as_allowed_may_need_each_other)
{
	struct rule_result result[RULES_MAX];
	char text[RULES_MAX * 16], *end = text;
	struct text_error error;
	struct rules *rules;

	for (int i = 0; i < RULES_MAX - 1; i++)
		end += sprintf(end, "a%d=a%d+1\n", i, i + 1);
	sprintf(end, "a%d=1\n", RULES_MAX - 1);
	rules = parse(text);
	rules_evaluate(rules, NULL, 0, 0.95, result);
	ck_assert_double_eq(result[0].value, RULES_MAX);
	ck_assert(!rules_add(rules, "more = 1", 8, &error));
	ck_assert_str_eq(error.text, "more than 1000 rules");
	rules_free(rules);
}
END_TEST

START_TEST(names_and_definitions_are_kept_as_written)
{
	struct rules *rules = parse("cpi = cycles / 'instructions:u'  # per instruction\nb='a' \n");

	ck_assert_uint_eq(rules_count(rules), 2);
	ck_assert_str_eq(rules_name(rules, 0), "cpi");
	ck_assert_str_eq(rules_definition(rules, 0), "cycles / 'instructions:u'");
	ck_assert_str_eq(rules_name(rules, 1), "b");
	ck_assert_str_eq(rules_definition(rules, 1), "'a'");
	rules_free(rules);
}
END_TEST

/*
 * The mean of 2 4 4 4 5 5 7 9 is 5, the sum of squared deviations 32, and t(0.95, 7) = 2.364624.
 * HALF is t * sqrt(32 / 7 / 8).
 * Two passes vary independently, so the variance is twice as large, with 14 degrees of freedom.  HALF_OF_TWO is t *
 * sqrt(2 * 32 / 7 / 8), with t(0.95, 14) = 2.144787.
 */
#define EIGHT RUNS(2, 4, 4, 4, 5, 5, 7, 9)
#define HALF 1.787487917788
#define HALF_OF_TWO 2.292873415382

static const struct rule_event repeated_runs[] = {
	{ .name = "a", .pass = 0, EIGHT },
	{ .name = "twice", .pass = 0, RUNS(4, 8, 8, 8, 10, 10, 14, 18) },
	{ .name = "other", .pass = 1, EIGHT },
	{ .name = "same", .pass = 1, RUNS(3, 3, 3, 3, 3, 3, 3, 3) },
	{ .name = "once", .pass = 2, RUNS(10) },
};

static const struct {
	const char *text;
	double value, half; /* half NAN: no interval */
} intervals[] = {
	{ "x = a", 5, HALF },
	{ "x = -3 * a + 1", -14, 3 * HALF },
	{ "x = same", 3, 0 },
	{ "x = a * same", 15, 3 * HALF },
	{ "x = a + a", 10, 2 * HALF },
	{ "x = a - a", 0, NAN }, /* no longer depends on an event */
	{ "x = a + twice", 15, 3 * HALF },
	{ "x = twice / a", 2, 0 },
	{ "x = twice - 2 * a", 0, 0 },
	{ "y = a / same\nx = y * same", 5, HALF },
	{ "x = min(a, twice)", 5, HALF },
	{ "x = max(a, twice)", 10, 2 * HALF },
	{ "x = 1 / a", 0.2, HALF / 25 },
	{ "x = a + other", 10, HALF_OF_TWO },
	{ "x = a - other", 0, HALF_OF_TWO },
	{ "x = once", 10, NAN },
	{ "x = a + once", 15, NAN },
	{ "x = 7", 7, NAN },
};

START_TEST(interval_is_as_computed_by_hand)
{
	struct rule_result result =
		evaluate(intervals[_i].text, repeated_runs, ARRAY_SIZE(repeated_runs));
	double half = isnan(intervals[_i].half) ? 0 : intervals[_i].half;

	ck_assert_int_eq(result.state, RULE_VALUE);
	ck_assert_double_eq_tol(result.value, intervals[_i].value, 1e-12);
	ck_assert_int_eq(result.interval, !isnan(intervals[_i].half));
	ck_assert_double_eq_tol(result.high - result.value, half, 1e-8);
	ck_assert_double_eq_tol(result.value - result.low, half, 1e-8);
}
END_TEST

static const struct rule_event of_passes[] = {
	{ .name = "elapsed_ns", .pass = 0, RUNS(1000) },
	{ .name = "elapsed_ns", .pass = 1, RUNS(2000) },
	{ .name = "elapsed_ns", .pass = 2, RUNS(5000) },
	{ .name = "b", .pass = 1, RUNS(60) },
	{ .name = "c", .pass = 1, RUNS(20) },
	{ .name = "a", .pass = 0, RUNS(10) },
	{ .name = "d", .pass = 2, RUNS(7) },
	{ .name = "c", .pass = 2, RUNS(21) },
};

static const struct {
	const char *text;
	unsigned int pass;
	double value;
} passes[] = {
	{ "x = 1 + 2", 0, 3 },
	{ "x = elapsed_ns", 0, 1000 },
	{ "x = a / elapsed_ns", 0, 0.01 },
	{ "x = b / c", 1, 3 },
	{ "x = b / elapsed_ns", 1, 0.03 },
	{ "s = elapsed_ns / 1000\nx = b / s", 1, 30 },
	{ "y = d / s\ns = elapsed_ns / 1000\nx = b / s", 1, 30 },
	{ "x = c / d", 2, 3 },
	{ "r = c\nx = r / d", 2, 3 },
	{ "x = a / b", RULE_MIXED, 1.0 / 6 },
	{ "x = b - b + 0 * a", RULE_MIXED, 0 },
	{ "x = max(a, b)", RULE_MIXED, 60 },
	{ "x = a + elapsed_ns / b", RULE_MIXED, 10 + 1000.0 / 60 },
	{ "r = b / c\nx = r * d", RULE_MIXED, 21 },
	{ "r = b / elapsed_ns\nx = r * a", RULE_MIXED, 0.3 },
	{ "r = a / b\nx = r + b", RULE_MIXED, 60 + 1.0 / 6 },
};

START_TEST(a_value_is_of_one_pass_or_mixed)
{
	struct rule_result result = evaluate(passes[_i].text, of_passes, ARRAY_SIZE(of_passes));

	ck_assert_uint_eq(result.pass, passes[_i].pass);
	ck_assert_int_eq(result.state, RULE_VALUE);
	ck_assert_double_eq_tol(result.value, passes[_i].value, 1e-12);
}
END_TEST

/* (a + 2 b) / c of three events in two passes.  The derivatives are taken by differences. */
static double ratio(const double *mean)
{
	return (mean[0] + 2 * mean[1]) / mean[2];
}

static double mean_of(const uint64_t *count, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)count[i];
	return sum / (double)n;
}

static double covariance(const uint64_t *a, const uint64_t *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += ((double)a[i] - mean_of(a, n)) * ((double)b[i] - mean_of(b, n));
	return sum / (double)(n - 1);
}

START_TEST(interval_is_that_of_the_covariance_matrix)
{
	enum { N = 6 };
	uint64_t seed = 1 + (uint64_t)_i, count[3][N];
	struct rule_event event[3] = {
		{ "a", 0, count[0], N },
		{ "b", 0, count[1], N },
		{ "c", 1, count[2], N },
	};
	double mean[3], slope[3], pass0, pass1, degrees;
	struct rule_result result;

	for (int k = 0; k < N; k++) {
		count[0][k] = 100000 + mutate_random(&seed) % 1000;
		count[1][k] = count[0][k] / 2 + mutate_random(&seed) % 300;
		count[2][k] = 50000 + mutate_random(&seed) % 2000;
	}
	for (int i = 0; i < 3; i++)
		mean[i] = mean_of(count[i], N);
	for (int i = 0; i < 3; i++) {
		double up[3] = { mean[0], mean[1], mean[2] };
		double down[3] = { mean[0], mean[1], mean[2] };

		up[i] += 0.5;
		down[i] -= 0.5;
		slope[i] = ratio(up) - ratio(down);
	}
	pass0 = (slope[0] * slope[0] * covariance(count[0], count[0], N) +
		 slope[1] * slope[1] * covariance(count[1], count[1], N) +
		 2 * slope[0] * slope[1] * covariance(count[0], count[1], N)) /
		N;
	pass1 = slope[2] * slope[2] * covariance(count[2], count[2], N) / N;
	degrees = (pass0 + pass1) * (pass0 + pass1) / ((pass0 * pass0 + pass1 * pass1) / (N - 1));
	result = evaluate("x = (a + 2 * b) / c", event, 3);
	ck_assert_double_eq_tol(result.value, ratio(mean), 1e-12);
	ck_assert_double_eq_tol(result.high - result.value,
				student_t(0.95, degrees) * sqrt(pass0 + pass1),
				1e-6 * sqrt(pass0 + pass1));
}
END_TEST

/* The sum of twelve uniform numbers is almost normally distributed. */
static double normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += mutate_random(seed) / 2147483648.0;
	return sum;
}

START_TEST(interval_covers_the_truth_95_times_of_100)
{
	enum { TRIALS = 4000, N = 5 };
	uint64_t seed = 20;
	int covered = 0;

	for (int trial = 0; trial < TRIALS; trial++) {
		uint64_t count[2][N];
		struct rule_event event[2] = { { "c", 0, count[0], N }, { "i", 0, count[1], N } };
		struct rule_result result;

		for (int k = 0; k < N; k++) {
			double common = normal(&seed);

			count[0][k] = (uint64_t)(3e6 + 3e4 * common + 1e4 * normal(&seed));
			count[1][k] = (uint64_t)(1e6 + 1e4 * common);
		}
		result = evaluate("cpi = c / i", event, 2);
		covered += result.low <= 3 && 3 <= result.high;
	}
	/* The standard deviation of the share is 0.35 %. */
	ck_assert_double_eq_tol((double)covered / TRIALS, 0.95, 0.011);
}
END_TEST

static void expect_sane(const struct rules *rules)
{
	struct rule_result *result = calloc(rules_count(rules) + 1, sizeof(*result));

	rules_evaluate(rules, repeated_runs, ARRAY_SIZE(repeated_runs), 0.99, result);
	for (size_t i = 0; i < rules_count(rules); i++) {
		ck_assert(result[i].state != RULE_VALUE || isfinite(result[i].value));
		ck_assert(!(result[i].low > result[i].high));
		ck_assert(rules_name(rules, i)[0] && rules_definition(rules, i)[0]);
	}
	free(result);
}

START_TEST(damaged_rules_are_refused_with_one_line_or_have_a_value)
{
	static const char text[] = "# per instruction\ncpi = a / 'twice'\n"
				   "most = max(cpi, -min(a, 1.5e3), same) * (2 - 0x10)\n"
				   "rate = 100 * most / \"other\"\nlast = rate - once / (a - a)\n";
	uint64_t seed = 1000 + (uint64_t)_i;

	for (int n = 0; n < 5000; n++) {
		struct text_error error = { 0 };
		struct rules *rules = rules_new();
		size_t length;
		char *mutant = mutate(&seed, text, &length);

		if (rules_add(rules, mutant, length, &error) && rules_link(rules, &error)) {
			expect_sane(rules);
		} else {
			ck_assert(error.line >= 1 && error.line <= length + 1);
			ck_assert(error.text[0] && !strchr(error.text, '\n'));
		}
		rules_free(rules);
		free(mutant);
	}
}
END_TEST

START_TEST(example_is_a_set_of_rules)
{
	struct text_error error;
	struct rules *rules = rules_new();
	size_t length;
	char *text = textfile_read("examples/basic.rules", &length);

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(rules_add(rules, text, length, &error) && rules_link(rules, &error),
		      "line %u: %s", error.line, error.text);
	ck_assert_uint_eq(rules_count(rules), 4);
	rules_free(rules);
	free(text);
}
END_TEST

TCase *rules_tests(void)
{
	TCase *tests = tcase_create("rules");

	tcase_add_test(tests, example_is_a_set_of_rules);

	tcase_add_loop_test(tests, value_is_as_computed_by_hand, 0, ARRAY_SIZE(values));
	tcase_add_loop_test(tests, a_value_that_does_not_exist_is_none, 0,
			    ARRAY_SIZE(without_value));
	tcase_add_loop_test(tests, what_is_no_rule_is_refused_with_its_line, 0,
			    ARRAY_SIZE(refused));
	tcase_add_loop_test(tests, nesting_has_a_limit, 0, 4);
	tcase_add_test(tests, as_many_rules_as_allowed_may_need_each_other);
	tcase_add_test(tests, names_and_definitions_are_kept_as_written);
	tcase_add_loop_test(tests, interval_is_as_computed_by_hand, 0, ARRAY_SIZE(intervals));
	tcase_add_loop_test(tests, a_value_is_of_one_pass_or_mixed, 0, ARRAY_SIZE(passes));
	tcase_add_loop_test(tests, interval_is_that_of_the_covariance_matrix, 0, 10);
	tcase_add_test(tests, interval_covers_the_truth_95_times_of_100);
	tcase_add_loop_test(tests, damaged_rules_are_refused_with_one_line_or_have_a_value, 0, 4);
	return tests;
}
