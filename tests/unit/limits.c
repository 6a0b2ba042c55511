// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of perfex diff and its sisters: which moves exceed them, what is written, what is refused. */
#include "unit.h"
#include "command.h"
#include "recordings.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_recording(const char *file, const char *counts, const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 RECORDING("tree", "%s", "%s", EVENT("cycles", "user", "0", "%s"), "%s"), counts,
		 counts, counts, more);
	write_text(file, text);
}

static const struct {
	const char *a, *b; /* counts, one for each run */
	const char *limit; /* of cycles */
	const char *told;  /* NULL: the limit is kept */
} moves[] = {
	{ "1000", "1001", "0.1%", NULL },
	{ "1000", "1002", "0.1%", "cycles has risen by 2 (0.2 %): more than 0.1 %\n" },
	{ "1000", "900", "0.1%", NULL },
	{ "1000", "999", "-0.1%", NULL },
	{ "1000", "998", "-0.1%", "cycles has fallen by 2 (0.2 %): more than 0.1 %\n" },
	{ "1000", "2000", "-0.1%", NULL },
	{ "1000", "2000", "1000", NULL },
	{ "1000", "2000", "999", "cycles has risen by 1000 (100 %): more than 999\n" },
	{ "1000", "1000", "0", NULL },
	{ "1000", "1001", "0", "cycles has risen by 1 (0.1 %): more than 0\n" },
	{ "0", "0", "0%", NULL },
	{ "0", "1", "50%", "cycles has risen by 1: more than 50 %\n" },
	/* A move of exactly the limit does not exceed it, though the limit is no binary fraction. */
	{ "1000", "1003", "0.3%", NULL },
	{ "10000", "10007", "0.07%", NULL },
	{ "1000000000000000", "1000700000000000", "0.07%", NULL },
	/*
	 * Repeated runs: the whole interval must exceed the limit.  That of the first pair, 3, reaches from -1.5 to
	 * 7.5, as in diff.c; the second pair does not vary.
	 */
	{ "8,10,12", "11,13,15", "0", NULL },
	{ "10,10,10", "13,13,13", "10%", "cycles has risen by 3 (30 %): more than 10 %\n" },
	/* The percent that has moved does not look like the limit. */
	{ "1000000000", "1001000001", "0.1%",
	  "cycles has risen by 1000001 (0.1000001 %): more than 0.1 %\n" },
	/* A single run has no interval. */
	{ "8,10,12", "13", "10%", "cycles has risen by 3 (30 %): more than 10 %\n" },
};

START_TEST(a_move_beyond_the_limit_fails)
{
	char limit[64];
	struct command_result result;
	const char *told = moves[_i].told ? moves[_i].told : "the limit is kept\n";

	write_recording("a", moves[_i].a, "");
	write_recording("b", moves[_i].b, "");
	snprintf(limit, sizeof(limit), "--limit=cycles=%s", moves[_i].limit);
	result = PERFEX("diff", limit, "a", "b");
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, moves[_i].told ? 1 : 0);
	ck_assert_uint_gt(strlen(result.out), strlen(told));
	ck_assert_str_eq(result.out + strlen(result.out) - strlen(told), told);
}
END_TEST

static void write_both(void)
{
	enter_directory();
	write_recording("a", "1000", RULE("quarter", "cycles / 4"));
	write_recording("b", "1100", RULE("quarter", "cycles / 4"));
	write_text("equal", RECORDING("tree", "7", "7", EVENT("l:c=1", "user", "0", "5"), ""));
	write_text("uncounted", RECORDING("tree", "", "", EVENT("cycles", "user", "0", ""), ""));
}

START_TEST(times_rules_and_names_with_an_equals_sign_have_limits)
{
	ck_assert_int_eq(PERFEX("diff", "--limit=tsc=99", "a", "b").status, 1);
	ck_assert_int_eq(PERFEX("diff", "--limit=tsc=100", "a", "b").status, 0);
	ck_assert_int_eq(PERFEX("diff", "--limit=quarter=24", "a", "b").status, 1);
	ck_assert_int_eq(PERFEX("diff", "--limit=quarter=25", "a", "b").status, 0);
	ck_assert_int_eq(PERFEX("diff", "--limit=l:c=1=0", "equal", "equal").status, 0);
}
END_TEST

START_TEST(all_limits_that_are_exceeded_are_told)
{
	struct command_result result = PERFEX("diff", "--limit=cycles=1%", "--limit=tsc=100",
					      "--limit=quarter=1", "a", "b");
	static const char told[] = "\ncycles has risen by 100 (10 %): more than 1 %\n"
				   "quarter has risen by 25 (10 %): more than 1\n";

	ck_assert_int_eq(result.status, 1);
	ck_assert_ptr_nonnull(strstr(result.out, told));
	ck_assert_ptr_null(strstr(result.out, "tsc has"));
	result = PERFEX("diff", "--limit=cycles=10%", "--limit=tsc=100", "a", "b");
	ck_assert_ptr_nonnull(strstr(result.out, "\nall limits are kept\n"));
}
END_TEST

START_TEST(markdown_has_a_list_of_them)
{
	static const char told[] = "\n\n- cycles has risen by 100 (10 %): more than 1 %\n\n";
	struct command_result result = PERFEX("diff", "--markdown", "--limit=cycles=1%", "a", "b");

	ck_assert_ptr_nonnull(strstr(result.out, told));
}
END_TEST

START_TEST(csv_stays_as_it_is_and_standard_error_tells)
{
	struct command_result plain = PERFEX("diff", "--csv", "a", "b");
	char *out = strdup(plain.out);
	struct command_result result = PERFEX("diff", "--csv", "--limit=cycles=1%", "a", "b");

	ck_assert_str_eq(result.out, out);
	ck_assert_str_eq(result.err, "perfex: cycles has risen by 100 (10 %): more than 1 %\n");
	ck_assert_int_eq(result.status, 1);
	free(out);
}
END_TEST

START_TEST(json_has_the_limits)
{
	struct command_result result =
		PERFEX("diff", "--json", "--limit=cycles=50", "--limit=tsc=-25%", "a", "b");
	json_object *json = json_tokener_parse(result.out);

	ck_assert_int_eq(result.status, 1);
	ck_assert_str_eq(
		json_object_to_json_string_ext(json_object_object_get(json, "limits"),
					       JSON_C_TO_STRING_PLAIN),
		"[{\"name\":\"cycles\",\"limit\":50,\"unit\":\"absolute\","
		"\"direction\":\"rise\",\"exceeded\":true},"
		"{\"name\":\"tsc\",\"limit\":25,\"unit\":\"percent\","
		"\"direction\":\"fall\",\"exceeded\":false}]");
	json_object_put(json);
	json = json_tokener_parse(PERFEX("diff", "--json", "a", "b").out);
	ck_assert(!json_object_object_get_ex(json, "limits", NULL));
	json_object_put(json);
}
END_TEST

static const char *const bad_limits[] = {
	"cycles",	"=1",	      "cycles=",     "cycles=.",   "cycles=%",
	"cycles=-",	"cycles=1e3", "cycles=0x10", "cycles=nan", "cycles=1%%",
	"cycles=1.2.3", "cycles=--1", "cycles=1 %",  "cycles=+1",
};

START_TEST(a_limit_that_is_none_is_refused)
{
	char option[64], err[256];
	struct command_result result;

	snprintf(option, sizeof(option), "--limit=%s", bad_limits[_i]);
	snprintf(err, sizeof(err),
		 "perfex: %s: give NAME=LIMIT, such as instructions=0.1%% or ipc=-2%%\n", option);
	result = PERFEX("diff", option, "a", "b");
	ck_assert_str_eq(result.err, err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
	ck_assert_int_eq(PERFEX("compare", option, "true", "--", "true").status, 125);
}
END_TEST

START_TEST(a_limit_of_nothing_is_refused)
{
	struct command_result result = PERFEX("diff", "--limit=nonsuch=1", "a", "b");

	ck_assert_str_eq(result.err, "perfex: 'a' and 'b': --limit=nonsuch: no event, rule or time "
				     "(tsc, elapsed_ns) of this name is in both recordings\n");
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
	result = PERFEX("diff", "--limit=cycles=1", "a", "uncounted");
	ck_assert_str_eq(result.err, "perfex: 'a' and 'uncounted': --limit=cycles: the second "
				     "recording has no value of it\n");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

TCase *limits_tests(void)
{
	TCase *tests = tcase_create("limits");

	tcase_add_checked_fixture(tests, write_both, leave_directory);
	tcase_add_loop_test(tests, a_move_beyond_the_limit_fails, 0, ARRAY_SIZE(moves));
	tcase_add_test(tests, times_rules_and_names_with_an_equals_sign_have_limits);
	tcase_add_test(tests, all_limits_that_are_exceeded_are_told);
	tcase_add_test(tests, markdown_has_a_list_of_them);
	tcase_add_test(tests, csv_stays_as_it_is_and_standard_error_tells);
	tcase_add_test(tests, json_has_the_limits);
	tcase_add_loop_test(tests, a_limit_that_is_none_is_refused, 0, ARRAY_SIZE(bad_limits));
	tcase_add_test(tests, a_limit_of_nothing_is_refused);
	return tests;
}
