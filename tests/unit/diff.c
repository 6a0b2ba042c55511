// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex diff as a command: its output, character by character, and its refusals. */
#include "unit.h"
#include "command.h"
#include "recordings.h"
#include "../../perfex/result/diff.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * cycles: the means are 10 and 13, and both variances of a run are 4.  So t = 3 / sqrt(8 / 3) with 4 degrees of
 * freedom, for which P(|T| > t) = 0.140066 by the closed form.  Half the intervals are t(0.95, 4) = 2.776445 and
 * t(0.99, 4) = 4.604095 times sqrt(8 / 3).
 */
#define HALF_95 4.533915871
#define HALF_99 7.518455441
#define CERTAINTY 85.99340151
#define SIDE(cycles)                                                                               \
	RECORDING("tree", cycles, "7,7,7",                                                         \
		  EVENT("cycles", "user+kernel", "0", cycles) "," EVENT("a,\\\"b\\\"", "user",     \
									"0", "4,4,4"),             \
		  RULE("per", "cycles / 4"))

#define TEN "7,7,7,7,7,7,7,7,7,7"

static void write_sides(void)
{
	enter_directory();
	write_text("a.json", SIDE("8,10,12"));
	write_text("b.json", INTERVAL SIDE("11,13,15"));
	write_text("one.json",
		   RECORDING("tree", "8", "7", EVENT("cycles", "user+kernel", "0", "8"), ""));
	write_text("kernel.json",
		   RECORDING("tree", "8", "7", EVENT("cycles", "kernel", "0", "8"), ""));
	write_text("self.json", RECORDING("self", "8", "7", "", ""));
	write_text("text", "no recording\n");
	write_text("five.json", RECORDING("tree", "10,11,12,13,17", "5,5,5,5,6",
					  EVENT("a|b", "user", "0", "10,11,12,13,18"), ""));
	write_text("ten.json",
		   RECORDING("tree", TEN, TEN,
			     EVENT("most", "user", "0", "10,10,10,10,10,10,11,11,9,11") "," EVENT(
				     "once", "user", "0", "10,10,10,10,10,10,10,10,10,100"),
			     ""));
	write_text("long.json",
		   RECORDING("tree", "10,11,12,13,17", "5,5,5,5,6",
			     EVENT("mem_loads", "user", "0", "10,11,12,13,18") "," EVENT(
				     "stalls:any", "user", "0", "10,11,12,13,18"),
			     ""));
	write_text("four.json", RECORDING("tree", "1,1,1,1", "5,5,5,5",
					  EVENT("a|b", "user", "0", "1,1,1,9"), ""));
}

static void expect(struct command_result result, const char *out)
{
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.out, out);
}

static const char table[] =
	"A: a.json: 2026-11-20T09:00:00Z, Intel architectural PerfMon v2: loop 1000\n"
	"B: b.json: 2026-11-20T09:00:00Z, Intel architectural PerfMon v2: loop 1000\n"
	"event                     A      B  difference       +-       %  certainty\n"
	"tsc                      10     13           3  4.53392  +30.00    85.99 %\n"
	"elapsed (ms)          7e-06  7e-06           0        0   +0.00     0.00 %\n"
	"cycles (user+kernel)     10     13           3  4.53392  +30.00    85.99 %\n"
	"a,\"b\" (user)              4      4           0        0   +0.00     0.00 %\n"
	"per                     2.5   3.25        0.75  1.13348  +30.00    85.99 %\n"
	"+-: 95 % interval of the difference; certainty: that there is one\n";

START_TEST(text_is_a_table)
{
	expect(PERFEX("diff", "a.json", "b.json"), table);
}
END_TEST

#define LONG_NAME "mem_load_uops_llc_hit_retired:xsnp_hitm:c=1:precise"

START_TEST(a_long_name_has_a_line_of_its_own_in_text_alone)
{
	write_text("name.json",
		   RECORDING("tree", "1000", "5", EVENT(LONG_NAME, "user", "0", "1000000"), ""));
	ck_assert_ptr_nonnull(
		strstr(PERFEX("diff", "name.json", "name.json").out, "\n" LONG_NAME "\n       "));
	ck_assert_ptr_nonnull(strstr(PERFEX("diff", "--csv", "name.json", "name.json").out,
				     "\r\n" LONG_NAME ",user,1000000,1000000,0,"));
}
END_TEST

START_TEST(a_single_run_has_no_interval_and_it_says_so)
{
	expect(PERFEX("diff", "a.json", "one.json"),
	       "A: a.json: 2026-11-20T09:00:00Z, Intel architectural PerfMon v2: loop 1000\n"
	       "B: one.json: 2026-11-20T09:00:00Z, Intel architectural PerfMon v2: loop 1000\n"
	       "event             A      B  difference  +-       %  certainty\n"
	       "tsc              10      8          -2   -  -20.00          -\n"
	       "elapsed (ms)  7e-06  7e-06           0   -   +0.00          -\n"
	       "cycles           10      8          -2   -  -20.00          -\n"
	       "only in A: a,\"b\", per\n"
	       "+-: 95 % interval of the difference; certainty: that there is one\n"
	       "modes: user+kernel\n"
	       "a single run has no interval: record with perfex run -r N to have one\n");
}
END_TEST

/*
 * tsc and a|b: the median is 12, and the median of the distances from it is 1.  17 is 0.6745 * 5 / 1 = 3.37 away, and
 * 18 is 4.05 away, above the limit of 3.5.  elapsed_ns: the mean distance is 0.2, and 6 is 1 / (1.2533 * 0.2) = 3.99
 * away.  Four runs have no outliers.
 */
#define FIVE_OUTLIERS "outliers of A: elapsed (ms) 6e-06 (run 5), a|b 18 (run 5); they are in the means\n"

START_TEST(outliers_are_told)
{
	struct command_result result = PERFEX("diff", "five.json", "four.json");
	const char *found = strstr(result.out, "outliers");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, FIVE_OUTLIERS "+-: 95 % interval of the difference; "
					      "certainty: that there is one\nmodes: user\n");
}
END_TEST

START_TEST(lines_of_outliers_break_behind_commas)
{
	struct command_result result = PERFEX("diff", "long.json", "four.json");
	const char *found = strstr(result.out, "outliers");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, "outliers of A: elapsed (ms) 6e-06 (run 5), mem_loads 18 (run 5),\n"
				"stalls:any 18 (run 5); they are in the means\n"
				"+-: 95 % interval of the difference; certainty: that there is one\n");
}
END_TEST

/*
 * Six of ten runs agree.  The mean distance is 0.4, so the others are 1 / (1.2533 * 0.4) = 1.99 away.  If nine runs
 * agree, one that is ten times as large is 90 / (1.2533 * 9) = 7.98 away.
 */
START_TEST(runs_beside_equal_ones_are_outliers_if_they_are_far)
{
	struct command_result result = PERFEX("diff", "ten.json", "four.json");
	const char *found = strstr(result.out, "outliers");

	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, "outliers of A: once 100 (run 10); they are in the means\n"
				"+-: 95 % interval of the difference; "
				"certainty: that there is one\n");
}
END_TEST

START_TEST(outliers_are_in_json)
{
	struct command_result result = PERFEX("diff", "--json", "four.json", "five.json");
	json_object *json = json_tokener_parse(result.out), *side;

	side = json_object_object_get(json_object_object_get(json, "a"), "outliers");
	ck_assert_str_eq(json_object_to_json_string_ext(side, JSON_C_TO_STRING_PLAIN), "[]");
	side = json_object_object_get(json_object_object_get(json, "b"), "outliers");
	ck_assert_str_eq(json_object_to_json_string_ext(side, JSON_C_TO_STRING_PLAIN),
			 "[{\"name\":\"elapsed_ns\",\"run\":4,\"count\":6},"
			 "{\"name\":\"a|b\",\"run\":4,\"count\":18}]");
	json_object_put(json);
}
END_TEST

START_TEST(markdown_is_a_table)
{
	expect(PERFEX("diff", "--markdown", "one.json", "one.json"),
	       "A: one.json: 2026-11-20T09:00:00Z, Intel architectural PerfMon v2: `loop 1000`\n\n"
	       "B: one.json: 2026-11-20T09:00:00Z, Intel architectural PerfMon v2: `loop 1000`\n\n"
	       "| event | A | B | difference | +- | % | certainty |\n"
	       "|:---|---:|---:|---:|---:|---:|---:|\n"
	       "| tsc | 8 | 8 | 0 | - | +0.00 | - |\n"
	       "| elapsed (ms) | 7e-06 | 7e-06 | 0 | - | +0.00 | - |\n"
	       "| cycles | 8 | 8 | 0 | - | +0.00 | - |\n\n"
	       "+-: 95 % interval of the difference; certainty: that there is one\n"
	       "modes: user+kernel\n"
	       "a single run has no interval: record with perfex run -r N to have one\n\n");
	ck_assert_ptr_nonnull(strstr(PERFEX("diff", "--markdown", "five.json", "five.json").out,
				     "\n| a\\|b | 12.8 | 12.8 | 0 | "));
}
END_TEST

/* CommonMark 0.30, section 6.1: a code span ends at the first row of as many backticks as it began with. */
START_TEST(backticks_do_not_end_the_command_of_markdown)
{
	write_text("ticks", "{\"schema\":\"perfex-run\",\"version\":2,\"command\":[\"`a\",\"``b\"],"
			    "\"date\":\"d\",\"pmu\":\"p\",\"view\":\"tree\",\"time\":[],"
			    "\"events\":[],\"derived\":[]}");
	ck_assert_ptr_nonnull(strstr(PERFEX("diff", "--markdown", "ticks", "ticks").out,
				     "\n\nB: ticks: d, p: ``` `a ``b ```\n\n"));
}
END_TEST

/* Returns the cell in this row and column, read according to RFC 4180. */
static const char *csv_cell(const char *text, int row, int column)
{
	static char cell[256];
	size_t length = 0;
	bool quoted = false;

	for (; *text && (row || column || quoted || !strchr(",\r", *text)); text++) {
		if (*text == '"') {
			if (quoted && text[1] == '"' && !row && !column)
				cell[length++] = *text++;
			else
				quoted = !quoted;
		} else if (!quoted && *text == '\n') {
			row--;
		} else if (!quoted && *text == ',') {
			column -= !row;
		} else if (!row && !column) {
			cell[length++] = *text;
		}
	}
	cell[length] = '\0';
	return cell;
}

START_TEST(csv_can_be_read)
{
	static const char *const titles[] = {
		"event", "modes",      "a",
		"b",	 "difference", "percent",
		"low",	 "high",       "certainty_percent",
	};
	struct command_result result =
		PERFEX("diff", "--csv", "--confidence", "99", "a.json", "b.json");
	static const double cycles[] = {
		10, 13, 3, 30, 3 - HALF_99, 3 + HALF_99, CERTAINTY,
	};

	ck_assert_int_eq(result.status, 0);
	for (int i = 0; i < 9; i++)
		ck_assert_str_eq(csv_cell(result.out, 0, i), titles[i]);
	ck_assert_str_eq(csv_cell(result.out, 3, 0), "cycles");
	ck_assert_str_eq(csv_cell(result.out, 3, 1), "user+kernel");
	for (int i = 0; i < 7; i++)
		ck_assert_double_eq_tol(atof(csv_cell(result.out, 3, 2 + i)), cycles[i], 1e-6);
	ck_assert_str_eq(csv_cell(result.out, 4, 0), "a,\"b\"");
	ck_assert_str_eq(csv_cell(result.out, 4, 2), "4");
	ck_assert_str_eq(csv_cell(result.out, 5, 0), "per");
	result = PERFEX("diff", "--csv", "a.json", "one.json");
	ck_assert_str_eq(csv_cell(result.out, 3, 4), "-2");
	ck_assert_str_eq(csv_cell(result.out, 3, 8), "");
}
END_TEST

static double number(json_object *object, const char *key)
{
	json_object *value;

	ck_assert(json_object_object_get_ex(object, key, &value));
	ck_assert(json_object_is_type(value, json_type_int) ||
		  json_object_is_type(value, json_type_double));
	return json_object_get_double(value);
}

START_TEST(json_can_be_read)
{
	struct command_result result = PERFEX("diff", "--json", "a.json", "b.json");
	json_object *json = json_tokener_parse(result.out), *events, *cycles, *per;

	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(json);
	events = json_object_object_get(json, "events");
	ck_assert_uint_eq(json_object_array_length(events), 4);
	cycles = json_object_array_get_idx(events, 2);
	ck_assert_str_eq(json_object_get_string(json_object_object_get(cycles, "name")), "cycles");
	ck_assert_double_eq(number(cycles, "a"), 10);
	ck_assert_double_eq(number(cycles, "b"), 13);
	ck_assert_double_eq_tol(number(cycles, "low"), 3 - HALF_95, 1e-6);
	ck_assert_double_eq_tol(number(cycles, "high"), 3 + HALF_95, 1e-6);
	ck_assert_double_eq_tol(number(cycles, "certainty"), CERTAINTY, 1e-6);
	per = json_object_array_get_idx(json_object_object_get(json, "derived"), 0);
	ck_assert_double_eq_tol(number(per, "difference"), 0.75, 1e-12);
	json_object_put(json);
}
END_TEST

/*
 * The means have 18 degrees of freedom.  The difference has 36 if both deviate equally, and 18 if one does not: t is
 * 2.0281 or 2.1009.  The ends of the intervals were found by bisection, as those in compare.c.
 */
static const struct {
	double a, b, deviation_a, deviation_b; /* of the means, in ms */
	const char *sentence;
} sentences[] = {
	{ 3002, 3014, 0.5, 0.5, "A is 1.0040 times as fast as B (95 %: 1.0035 to 1.0045)\n" },
	{ 3014, 3002, 0.5, 0.5, "B is 1.0040 times as fast as A (95 %: 1.0035 to 1.0045)\n" },
	{ 3000, 3000.3, 0.05, 0.05, "A is 1.00010 times as fast as B (95 %: 1.00005 to 1.00015)\n" },
	{ 100, 961, 20, 20, "A is 9.61 times as fast as B (95 %: 6.82 to 16.2)\n" },
	{ 100, 130, 1, 1, "A is 1.30 times as fast as B (95 %: 1.27 to 1.33)\n" },
	{ 100, 130, 0.1, 0.1, "A is 1.300 times as fast as B (95 %: 1.297 to 1.303)\n" },
	{ 100, 13120, 0, 15, "A is 131.2 times as fast as B (95 %: 130.9 to 131.5)\n" },
	{ 100, 131200, 0, 2000, "A is 1312 times as fast as B (95 %: 1270 to 1354)\n" },
	/* Times that do not vary have one ratio; seven digits are the most. */
	{ 100, 130, 0, 0, "A is 1.30 times as fast as B (95 %: 1.30 to 1.30)\n" },
	{ 100, 100.001, 0, 0, "A is 1.00001 times as fast as B (95 %: 1.00001 to 1.00001)\n" },
	{ 100, 200, 0, 1e-9, "A is 2.000000 times as fast as B (95 %: 2.000000 to 2.000000)\n" },
	/* t * 1.5 is more than 3, so that the faster time may be 0. */
	{ 3, 10000, 1.5, 0, "A is 3333 times as fast as B\n" },
	{ 100, 101, 1, 1, "no difference in time is certain at 95 %\n" },
};

static struct estimate time_of(double ms, double deviation)
{
	return (struct estimate){ true, true, ms * 1e6, deviation * deviation * 1e12, 18 };
}

START_TEST(the_conclusion_has_the_digits_that_tell_its_numbers_apart)
{
	struct comparison elapsed = {
		.name = "elapsed_ns",
		.a = time_of(sentences[_i].a, sentences[_i].deviation_a),
		.b = time_of(sentences[_i].b, sentences[_i].deviation_b),
	};
	struct diff diff = { .confidence = 95,
			     .comparisons = { .event = &elapsed, .n_events = 1 } };
	char text[256] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	compare_estimates(&elapsed, 0.95);
	diff_write_conclusion(file, &diff);
	fclose(file);
	ck_assert_str_eq(text, sentences[_i].sentence);
}
END_TEST

START_TEST(the_help_keeps_its_command_in_one_line)
{
	ck_assert_ptr_nonnull(strstr(PERFEX("compare", "--help").out,
				     "\n  sh -c 'grep .. | cat >/dev/null'\n"));
}
END_TEST

#define COMPARE_TAKES                                                                              \
	"perfex compare takes two commands with '--' between them; see perfex compare --help\n"

static const struct {
	const char *arguments[8], *err;
} refused[] = {
	{ { "diff" }, "perfex: perfex diff takes two recordings, not 0; see perfex diff --help\n" },
	{ { "diff", "a.json", "b.json", "one.json" },
	  "perfex: perfex diff takes two recordings, not 3; see perfex diff --help\n" },
	{ { "diff", "a.json", "missing" },
	  "perfex: cannot read 'missing': No such file or directory\n" },
	{ { "diff", "a.json", "/" }, "perfex: cannot read '/': Is a directory\n" },
	{ { "diff", "text", "a.json" },
	  "perfex: 'text': it is not complete JSON; give a file that perfex run --json wrote\n" },
	{ { "diff", "--csv", "--json", "a.json", "b.json" },
	  "perfex: --csv and --json exclude each other; give one\n" },
	{ { "diff", "--confidence=100", "a.json", "b.json" },
	  "perfex: --confidence=100: give per cent, from 50 to 99.99; 95 and 99 are usual\n" },
	{ { "diff", "--confidence", "nan", "a.json", "b.json" },
	  "perfex: --confidence=nan: give per cent, from 50 to 99.99; 95 and 99 are usual\n" },
	{ { "compare", "--confidence=49.9", "true", "--", "true" },
	  "perfex: --confidence=49.9: give per cent, from 50 to 99.99; 95 and 99 are usual\n" },
	{ { "compare" }, "perfex: " COMPARE_TAKES },
	{ { "compare", "true" }, "perfex: " COMPARE_TAKES },
	{ { "compare", "--", "true", "--" }, "perfex: " COMPARE_TAKES },
	{ { "compare", "--", "--", "true" }, "perfex: " COMPARE_TAKES },
	{ { "compare", "true", "--", "true", "--", "true" },
	  "perfex: perfex compare takes two commands with one '--' between them; put one that has "
	  "a '--' of its own into sh -c '...'\n" },
	{ { "compare", "-r", "1", "true", "--", "true" },
	  "perfex: --repeat=1: give a number from 2 to 1000000\n" },
	{ { "compare", "--markdown", "--json", "true", "--", "true" },
	  "perfex: --markdown and --json exclude each other; give one\n" },
	{ { "diff", "one.json", "kernel.json" },
	  "perfex: 'one.json' and 'kernel.json': event 'cycles' counts the modes user+kernel in "
	  "the one and kernel in the other; record both with the same\n" },
	{ { "diff", "self.json", "a.json" },
	  "perfex: 'self.json' and 'a.json': the second counts all that the command created, the "
	  "other its first thread alone; record both with --self or both without\n" },
};

START_TEST(diff_refuses_with_one_line)
{
	struct command_result result = run_perfex(refused[_i].arguments);

	ck_assert_str_eq(result.err, refused[_i].err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

TCase *diff_tests(void)
{
	TCase *tests = tcase_create("diff");

	tcase_add_checked_fixture(tests, write_sides, leave_directory);
	tcase_add_test(tests, text_is_a_table);
	tcase_add_test(tests, a_long_name_has_a_line_of_its_own_in_text_alone);
	tcase_add_test(tests, a_single_run_has_no_interval_and_it_says_so);
	tcase_add_test(tests, outliers_are_told);
	tcase_add_test(tests, lines_of_outliers_break_behind_commas);
	tcase_add_test(tests, outliers_are_in_json);
	tcase_add_test(tests, runs_beside_equal_ones_are_outliers_if_they_are_far);
	tcase_add_test(tests, markdown_is_a_table);
	tcase_add_test(tests, backticks_do_not_end_the_command_of_markdown);
	tcase_add_test(tests, csv_can_be_read);
	tcase_add_test(tests, json_can_be_read);
	tcase_add_loop_test(tests, the_conclusion_has_the_digits_that_tell_its_numbers_apart, 0,
			    ARRAY_SIZE(sentences));
	tcase_add_test(tests, the_help_keeps_its_command_in_one_line);
	tcase_add_loop_test(tests, diff_refuses_with_one_line, 0, ARRAY_SIZE(refused));
	return tests;
}
