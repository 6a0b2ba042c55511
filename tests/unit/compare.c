// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and compares recordings; Welch's test is checked against published examples. */
#include "unit.h"
#include "mutate.h"
#include "recordings.h"
#include "../../perfex/result/compare.h"
#include "../../perfex/result/document_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct document *parse(const char *text)
{
	struct text_error error;
	struct document *document = document_parse(text, strlen(text), &error);

	ck_assert_msg(document, "%s", error.text);
	return document;
}

static const char whole[] =
	INTERVAL RECORDING_PASSES("tree", PASS("0", "10,11", "1,3") "," PASS("1", "20,21", "2,4"),
				  EVENT("cycles", "user", "0", "18446744073709551615,3") "," EVENT(
					  "instructions", "user+kernel", "1", "5,7"),
				  RULE("cpi", "cycles / instructions"));

START_TEST(a_recording_is_read_exactly)
{
	struct document *document = parse(whole);
	char *command = document_command(document);

	ck_assert_str_eq(command, "loop 1000");
	ck_assert_str_eq(document->view, "tree");
	ck_assert_uint_eq(document->n_times, 4);
	ck_assert_uint_eq(document->n, 6);
	ck_assert_str_eq(document->event[0].name, "tsc");
	ck_assert_uint_eq(document->event[0].runs, 2);
	ck_assert_uint_eq(document->event[1].count[1], 3);
	ck_assert_uint_eq(document->event[2].pass, 1);
	ck_assert_uint_eq(document->event[2].count[0], 20);
	ck_assert_str_eq(document->event[4].name, "cycles");
	ck_assert_uint_eq(document->event[4].count[0], UINT64_MAX);
	ck_assert_str_eq(document->event[5].modes, "user+kernel");
	ck_assert_uint_eq(document->event[5].pass, 1);
	ck_assert_uint_eq(document->n_rules, 1);
	ck_assert_str_eq(document->rule[0].definition, "cycles / instructions");
	free(command);
	document_free(document);
}
END_TEST

#define PLAIN(events, rules) RECORDING("tree", "10,20", "1,2", events, rules)
#define REMEDY "; give a file that perfex run --json wrote"

static const struct {
	const char *text, *error;
} unreadable[] = {
	{ "", "there is no recording in it" REMEDY },
	{ " \n", "there is no recording in it" REMEDY },
	{ INTERVAL, "there is no recording in it" REMEDY },
	{ "perfex", "it is not complete JSON" REMEDY },
	{ "{\"schema\":\"perfex-run\"", "it is not complete JSON" REMEDY },
	{ "[]", "it is JSON, but not a recording" REMEDY },
	{ "{\"schema\":7}", "it is JSON, but not a recording" REMEDY },
	{ PLAIN("", "") PLAIN("", ""), "there are two recordings in it; give a file with one" },
	{ "{\"schema\":\"perfex-run\"}", "'version' is missing or not of type int" REMEDY },
	{ "{\"schema\":\"perfex-run\",\"version\":1}",
	  "it has version 1 of the format, this perfex knows version 2; use the perfex that wrote "
	  "it" },
	{ RECORDING_PASSES("tree", PASS("-1", "1", "1"), "", ""),
	  "'pass' is negative or too large" REMEDY },
	{ RECORDING("tr\\u0000ee", "1", "1", "", ""), "'view' contains control characters" REMEDY },
	{ RECORDING("tr\\u009bee", "1", "1", "", ""), "'view' contains control characters" REMEDY },
	{ RECORDING("tree", "1,2", "1", "", ""), "pass 0 has different numbers of counts" REMEDY },
	{ PLAIN(EVENT("a", "user", "0", "1,-2"), ""), "one of the counts is not a whole number" REMEDY },
	{ PLAIN(EVENT("a", "user", "0", "1,\\\"2\\\""), ""), "it is not complete JSON" REMEDY },
	{ PLAIN(EVENT("a", "user", "0", "1,2.5"), ""), "one of the counts is not a whole number" REMEDY },
	{ PLAIN(EVENT("a", "user", "0", "1") "," EVENT("b", "user", "0", "1,2"), ""),
	  "pass 0 has different numbers of counts" REMEDY },
	{ PLAIN("7", ""), "'name' is missing or not of type string" REMEDY },
	{ PLAIN("", "{}"), "'name' is missing or not of type string" REMEDY },
	{ PLAIN("", "{\"name\":\"a\"}"), "'definition' is missing or not of type string" REMEDY },
};

START_TEST(what_is_no_recording_is_refused)
{
	struct text_error error;

	const char *text = unreadable[_i].text;

	ck_assert_ptr_null(document_parse(text, strlen(text), &error));
	ck_assert_str_eq(error.text, unreadable[_i].error);
}
END_TEST

/*
 * The three examples of the article "Welch's t-test" of Wikipedia.  They are those of Ruxton (2006), and have been
 * computed many times.  Here they are counts, 10 times the values.
 */
static const struct {
	const char *a, *b;
	double t, degrees, p;
} published[] = {
	{ "275,210,190,236,170,179,169,201,219,226,231,196,190,217,214",
	  "271,220,208,234,234,235,258,220,248,202,219,221,229,205,244", -2.46, 25.0, 0.021 },
	{ "172,209,226,181,217,214,235,242,147,218",
	  "215,228,210,230,216,236,225,207,234,218,207,217,215,225,236,215,225,235,215,218", -1.57,
	  9.9, 0.149 },
	{ "198,204,196,178,185,189,183,189,195,220",
	  "282,266,201,233,252,221,177,276,206,137,232,175,206,180,239,216,243,204,240,132", -2.22,
	  24.5, 0.036 },
};

static struct document *parse_counts(const char *counts)
{
	char text[4096];

	snprintf(text, sizeof(text), RECORDING("tree", "", "", EVENT("a", "user", "1", "%s"), ""),
		 counts);
	return parse(text);
}

static double variance_of_mean(const struct document_event *event)
{
	double sum = 0, squares = 0, n = (double)event->runs;

	for (size_t i = 0; i < event->runs; i++) {
		sum += (double)event->count[i];
		squares += (double)event->count[i] * (double)event->count[i];
	}
	return (squares - sum * sum / n) / (n - 1) / n;
}

START_TEST(welch_is_as_published)
{
	struct document *a = parse_counts(published[_i].a), *b = parse_counts(published[_i].b);
	double va = variance_of_mean(&a->event[2]), vb = variance_of_mean(&b->event[2]);
	double na = (double)a->event[2].runs, nb = (double)b->event[2].runs, t, degrees;
	struct comparisons comparisons;
	struct text_error error;

	ck_assert(compare(a, b, 0.95, &comparisons, &error));
	ck_assert_uint_eq(comparisons.n_events, 3);
	t = -comparisons.event[2].difference / sqrt(va + vb);
	degrees = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
	ck_assert_double_eq_tol(t, published[_i].t, 0.005);
	ck_assert_double_eq_tol(degrees, published[_i].degrees, 0.05);
	ck_assert_double_eq_tol(1 - comparisons.event[2].certainty, published[_i].p, 0.0005);
	/* If the certainty of the interval is that of the test, the interval just reaches 0. */
	comparisons_free(&comparisons);
	ck_assert(compare(a, b, 1 - published[_i].p, &comparisons, &error));
	ck_assert_double_eq_tol(comparisons.event[2].low, 0, 0.1);
	comparisons_free(&comparisons);
	document_free(a);
	document_free(b);
}
END_TEST

/* Compares two texts.  The result has no strings, because the documents are freed. */
static struct comparison compare_texts(const char *first, const char *second, size_t i, bool rule)
{
	struct document *a = parse(first), *b = parse(second);
	struct comparisons comparisons;
	struct comparison result;
	struct text_error error;

	ck_assert_msg(compare(a, b, 0.95, &comparisons, &error), "%s", error.text);
	result = rule ? comparisons.rule[i] : comparisons.event[i];
	result.name = result.modes = NULL;
	comparisons_free(&comparisons);
	document_free(a);
	document_free(b);
	return result;
}

static const struct {
	const char *a, *b;
	bool repeated;
	double difference, certainty;
} exact[] = {
	{ "5", "7", false, 2, 0 },
	{ "5,5", "7", false, 2, 0 },
	{ "5", "7,8", false, 2.5, 0 },
	{ "5,5", "5,5,5", true, 0, 0 },
	{ "5,5", "4,4", true, -1, 1 },
	{ "18446744073709551615,18446744073709551615", "18446744073709551614,18446744073709551614",
	  true, -1, 1 },
};

START_TEST(without_variation_a_difference_is_certain)
{
	struct document *a = parse_counts(exact[_i].a), *b = parse_counts(exact[_i].b);
	struct comparisons comparisons;
	struct text_error error;

	ck_assert(compare(a, b, 0.99, &comparisons, &error));
	ck_assert_int_eq(comparisons.event[2].repeated, exact[_i].repeated);
	ck_assert_double_eq(comparisons.event[2].difference, exact[_i].difference);
	ck_assert_double_eq(comparisons.event[2].certainty, exact[_i].certainty);
	if (exact[_i].repeated) {
		ck_assert_double_eq(comparisons.event[2].low, exact[_i].difference);
		ck_assert_double_eq(comparisons.event[2].high, exact[_i].difference);
	}
	comparisons_free(&comparisons);
	document_free(a);
	document_free(b);
}
END_TEST

/*
 * The ends of Fieller's interval are the ratios r at which |x - r * y| is t times the standard error of x - r * y.
 * They were found by bisection, with t from a numerical integral of Student's density for the degrees of freedom of
 * Welch's test.  In the third row t * 2 is more than 1, so that the smaller mean may be 0.  In the last row the
 * certainty of the difference is 95.10 %.
 */
static const struct {
	struct estimate larger, smaller;
	struct ratio ratio;
} ratios[] = {
	{ { true, true, 13, 4 / 3.0, 2 }, { true, true, 10, 4 / 3.0, 2 },
	  { 1.3, true, 0.8741758184, 2.0236705248 } },
	{ { true, true, 2, 0, 9 }, { true, true, 1, 0.01, 9 }, { 2, true, 1.6310343877, 2.5846996923 } },
	{ { true, true, 2, 1, 9 }, { true, true, 1, 4, 9 }, { 2, false, 0, 0 } },
	{ { true, true, 3, 0, 9 }, { true, true, 2, 0, 9 }, { 1.5, true, 1.5, 1.5 } },
	{ { true, true, 142, 16, 2 },
	  { true, true, 100, 121, 2 },
	  { 1.42, true, 1.0028843984, 2.3496744904 } },
};

START_TEST(the_interval_of_a_ratio_is_fiellers)
{
	struct ratio ratio = compare_ratio(&ratios[_i].larger, &ratios[_i].smaller, 0.95);

	ck_assert_double_eq(ratio.value, ratios[_i].ratio.value);
	ck_assert_int_eq(ratio.bounded, ratios[_i].ratio.bounded);
	if (ratio.bounded) {
		ck_assert_double_eq_tol(ratio.low, ratios[_i].ratio.low, 1e-8);
		ck_assert_double_eq_tol(ratio.high, ratios[_i].ratio.high, 1e-8);
	}
}
END_TEST

/* The estimate from n runs with a standard deviation that is this share of their mean. */
static struct estimate of_runs(double mean, double deviation, int n)
{
	return (struct estimate){
		.known = true,
		.repeated = true,
		.value = mean,
		.variance = mean * deviation * mean * deviation / n,
		.degrees = n - 1,
	};
}

/*
 * Checks the interval of a to b: it is above 1 if the difference is certain, and contains 1 if not.  Returns false if
 * the ratio has no interval.
 */
static bool says_the_same_twice(struct estimate a, struct estimate b, double confidence)
{
	struct comparison comparison = { .a = a, .b = b };
	struct ratio ratio = compare_ratio(&a, &b, confidence);

	compare_estimates(&comparison, confidence);
	ck_assert_msg(!ratio.bounded || (ratio.low > 1) == (comparison.certainty >= confidence),
		      "%g and %g +- %g, %g and %g degrees: certainty %g, ratio from %.9g to %.9g",
		      (double)a.value, sqrt(a.variance), sqrt(b.variance), a.degrees, b.degrees,
		      comparison.certainty, ratio.low, ratio.high);
	return ratio.bounded;
}

START_TEST(the_interval_of_a_ratio_is_above_1_exactly_if_the_difference_is_certain)
{
	static const double deviations[] = { 0, 1e-4, 0.002, 0.01, 0.051, 0.1, 0.19, 0.4 };
	static const double means[] = { 100.001, 100.02, 100.4, 102, 110, 142.1, 200, 961 };
	static const double confidences[] = { 0.5, 0.95, 0.99, 0.9999 };
	const size_t n = ARRAY_SIZE(deviations);
	size_t bounded = 0;

	for (size_t i = 0; i < n * n * ARRAY_SIZE(means) * 9; i++) {
		double deviation_a = deviations[i % n], deviation_b = deviations[i / n % n];
		double mean = means[i / n / n % ARRAY_SIZE(means)];
		int runs_a = 2 + (int)(i / n / n / ARRAY_SIZE(means));

		for (int runs_b = 2; runs_b <= 10; runs_b++)
			bounded += says_the_same_twice(of_runs(mean, deviation_a, runs_a),
						       of_runs(100, deviation_b, runs_b),
						       confidences[_i]);
	}
	ck_assert_uint_gt(bounded, 20000);
}
END_TEST

#define PAIR(cycles, instructions)                                                                 \
	PLAIN(EVENT("c", "user", "0", cycles) "," EVENT("i", "user", "0", instructions),           \
	      RULE("cpi", "c / i"))

/* The quotients of cycles and instructions are the same in all runs, though their counts are not. */
START_TEST(rules_are_compared_too)
{
	struct comparison cpi =
		compare_texts(PAIR("20,40", "10,20"), PAIR("60,30", "20,10"), 0, true);

	ck_assert_double_eq((double)cpi.a.value, 2);
	ck_assert_double_eq((double)cpi.b.value, 3);
	ck_assert_double_eq(cpi.difference, 1);
	ck_assert(cpi.repeated);
	ck_assert_double_eq_tol(cpi.low, 1, 1e-9);
	ck_assert_double_eq_tol(cpi.high, 1, 1e-9);

	cpi = compare_texts(PAIR("20,40", "0,0"), PAIR("60,30", "20,10"), 0, true);
	ck_assert(!cpi.a.known && cpi.b.known && !cpi.repeated);
}
END_TEST

/* The rule takes the count of pass 0 and the time of pass 0: 30 / 10 and 60 / 20. */
START_TEST(a_rule_takes_the_time_of_the_first_pass)
{
	static const char text[] =
		RECORDING_PASSES("tree", PASS("0", "30,60", "1,3") "," PASS("1", "5,7", "2,4"),
				 EVENT("a", "user", "0", "10,20") "," EVENT("b", "user", "1",
									    "1,1"),
				 RULE("r", "tsc / a"));
	struct comparison rule = compare_texts(text, text, 0, true);

	ck_assert_double_eq((double)rule.a.value, 3);
	ck_assert_double_eq(rule.high, 0);
}
END_TEST

START_TEST(events_are_found_by_name_and_place)
{
	static const char first[] =
		PLAIN(EVENT("x", "user", "0", "1,1") "," EVENT("y", "user", "0", "2,2") "," EVENT(
			      "x", "kernel", "0", "3,3") "," EVENT("z", "user", "0", "9,9"),
		      RULE("only", "x"));
	static const char second[] = PLAIN(
		EVENT("y", "user", "0", "20,20") "," EVENT("x", "user", "0", "10,10") "," EVENT(
			"x", "kernel", "0", "30,30") "," EVENT("x", "user", "0", "1,1"),
		"");
	struct document *a = parse(first), *b = parse(second);
	struct comparisons comparisons;
	struct text_error error;

	ck_assert(compare(a, b, 0.95, &comparisons, &error));
	ck_assert_uint_eq(comparisons.n_events, 5);
	ck_assert_double_eq((double)comparisons.event[2].b.value, 10);
	ck_assert_double_eq((double)comparisons.event[3].b.value, 20);
	ck_assert_double_eq((double)comparisons.event[4].b.value, 30);
	ck_assert_uint_eq(comparisons.n_only_a, 2);
	ck_assert_str_eq(comparisons.only_a[0], "z");
	ck_assert_str_eq(comparisons.only_a[1], "only");
	ck_assert_uint_eq(comparisons.n_only_b, 1);
	ck_assert_str_eq(comparisons.only_b[0], "x");
	comparisons_free(&comparisons);
	document_free(a);
	document_free(b);
}
END_TEST

#define VIEW(view) RECORDING(view, "1", "1", "", "")

static const struct {
	const char *a, *b, *error;
} incomparable[] = {
	{ VIEW("tree"), VIEW("self"),
	  "the first counts all that the command created, the other its first thread alone; "
	  "record both with --self or both without" },
	{ VIEW("self"), VIEW("per-thread"),
	  "the second counts all that the command created, the other its first thread alone; "
	  "record both with --self or both without" },
	{ PLAIN(EVENT("x", "user", "1", "1"), ""), PLAIN(EVENT("x", "user+kernel", "1", "1"), ""),
	  "event 'x' counts the modes user in the one and user+kernel in the other; record both "
	  "with the same" },
	{ PLAIN("", RULE("r", "tsc")), PLAIN("", RULE("r", "tsc / 2")),
	  "rule 'r' is 'tsc' in the one and 'tsc / 2' in the other; record both with the same "
	  "rules" },
	{ PLAIN("", RULE("r", "tsc *")), PLAIN("", RULE("r", "tsc")),
	  "expected a number, the name of an event or of a rule, or '(', but the rule ends" },
};

START_TEST(what_counts_different_things_is_not_compared)
{
	struct document *a = parse(incomparable[_i].a), *b = parse(incomparable[_i].b);
	struct comparisons comparisons;
	struct text_error error;

	ck_assert(!compare(a, b, 0.95, &comparisons, &error));
	ck_assert_str_eq(error.text, incomparable[_i].error);
	ck_assert_uint_eq(error.line, 0);
	comparisons_free(&comparisons);
	document_free(a);
	document_free(b);
}
END_TEST

START_TEST(views_of_a_tree_are_the_same_sums)
{
	compare_texts(VIEW("tree"), VIEW("per-process"), 0, false);
	compare_texts(VIEW("per-thread"), VIEW("tree"), 0, false);
}
END_TEST

START_TEST(damaged_recordings_are_refused_with_one_line_or_compared)
{
	uint64_t seed = 77 + (uint64_t)_i;
	struct document *intact = parse(whole);

	for (int n = 0; n < 3000; n++) {
		struct text_error error = { 0 };
		struct comparisons comparisons;
		struct document *document;
		size_t length;
		char *mutant = mutate(&seed, whole, &length);

		document = document_parse(mutant, length, &error);
		if (document) {
			compare(intact, document, 0.95, &comparisons, &error);
			comparisons_free(&comparisons);
		} else {
			ck_assert(error.text[0]);
		}
		ck_assert(!strchr(error.text, '\n'));
		document_free(document);
		free(mutant);
	}
	document_free(intact);
}
END_TEST

TCase *compare_tests(void)
{
	TCase *tests = tcase_create("compare");

	tcase_add_test(tests, a_recording_is_read_exactly);
	tcase_add_loop_test(tests, what_is_no_recording_is_refused, 0, ARRAY_SIZE(unreadable));
	tcase_add_loop_test(tests, welch_is_as_published, 0, ARRAY_SIZE(published));
	tcase_add_loop_test(tests, without_variation_a_difference_is_certain, 0, ARRAY_SIZE(exact));
	tcase_add_loop_test(tests, the_interval_of_a_ratio_is_fiellers, 0, ARRAY_SIZE(ratios));
	tcase_add_loop_test(tests,
			    the_interval_of_a_ratio_is_above_1_exactly_if_the_difference_is_certain,
			    0, 4);
	tcase_add_test(tests, rules_are_compared_too);
	tcase_add_test(tests, a_rule_takes_the_time_of_the_first_pass);
	tcase_add_test(tests, events_are_found_by_name_and_place);
	tcase_add_loop_test(tests, what_counts_different_things_is_not_compared, 0,
			    ARRAY_SIZE(incomparable));
	tcase_add_test(tests, views_of_a_tree_are_the_same_sums);
	tcase_add_loop_test(tests, damaged_recordings_are_refused_with_one_line_or_compared, 0, 4);
	return tests;
}
