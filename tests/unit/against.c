// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex validate --against with two files: reports differences, and refuses files that are no validation. */
#include "unit.h"
#include "command.h"

#include <stdio.h>
#include <string.h>

#define COMMON                                                                                         \
	"{\"schema\":\"perfex-validation\",\"version\":1,\"date\":\"2026-11-23\",\"kernel\":\"6.12\"," \
	"\"backend\":\"patch\",\"processor\":{\"name\":\"Old\"},"
#define HEAD COMMON "\"complete\":true,\"events\":["
#define HEAD_OF_PART COMMON "\"complete\":false,\"events\":["
#define EVENT(name, class, a, b)                                                                   \
	"{\"name\":\"" name                                                                        \
	"\",\"modes\":\"user\",\"class\":\"" class "\",\"verdict\":\"v\",\"a\":" a ",\"b\":" b "}"
#define TAIL "]}"
#define NO_VALIDATION "give a file that perfex validate --json wrote"

static void enter(void)
{
	enter_directory();
	write_text("a", HEAD EVENT("x", "overhead", "91",
				   "1") "," EVENT("y", "exact", "0", "1") "," EVENT("only", "exact",
										    "0", "1") TAIL);
	write_text("alike", HEAD EVENT("x", "overhead", "91.2",
				       "1.00005") "," EVENT("y", "exact", "0", "1") TAIL);
	write_text("b", HEAD EVENT("x", "multiplicative", "45.5", "0.5") "," EVENT("y", "exact",
										   "0", "1") TAIL);
	write_text("part", HEAD_OF_PART EVENT("x", "exact", "0", "1") TAIL);
	write_text("c", HEAD EVENT("x", "overhead", "92", "1") TAIL);
}

static void expect_refusal(const char *text, const char *why)
{
	struct command_result result;

	write_text("bad", text);
	result = PERFEX("validate", "--against", "bad", "a");
	ck_assert_int_eq(result.status, 125);
	ck_assert_str_eq(result.out, "");
	ck_assert_msg(strstr(result.err, why), "%s", result.err);
}

START_TEST(what_is_alike_is_only_counted)
{
	struct command_result result = PERFEX("validate", "--against", "a", "alike");

	ck_assert_str_eq(result.err, "");
	ck_assert_str_eq(result.out, "A: Old, Linux 6.12, patch, 2026-11-23\n"
				     "B: Old, Linux 6.12, patch, 2026-11-23\n"
				     "event class                         a         b\n"
				     "2 alike, 0 different, 1 of A alone, 0 of B alone\n");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

START_TEST(what_differs_is_shown_with_both_sides)
{
	struct command_result result = PERFEX("validate", "--against", "a", "b");

	ck_assert_msg(strstr(result.out, "\nx, user\n"
					 "    A overhead               91.0  1.000000\n"
					 "    B multiplicative         45.5  0.500000\n"
					 "1 alike, 1 different, 1 of A alone, 0 of B alone\n"),
		      "%s", result.out);
	ck_assert_int_eq(result.status, 1);
	/* The overhead of another kernel is reported as a difference. */
	result = PERFEX("validate", "--against", "c", "a");
	ck_assert_msg(strstr(result.out, "0 alike, 1 different, 0 of A alone, 2 of B alone\n"),
		      "%s", result.out);
}
END_TEST

START_TEST(a_validation_that_was_cut_short_is_named)
{
	struct command_result result = PERFEX("validate", "--against", "part", "a");

	ck_assert_msg(strstr(result.out, "A: Old, Linux 6.12, patch, 2026-11-23, cut short\n"
					 "B: Old, Linux 6.12, patch, 2026-11-23\n"),
		      "%s", result.out);
}
END_TEST

START_TEST(what_is_no_validation_is_refused)
{
	expect_refusal("text", NO_VALIDATION);
	expect_refusal("{}", NO_VALIDATION);
	expect_refusal("{\"schema\":\"perfex\",\"version\":1}", NO_VALIDATION);
	expect_refusal("{\"schema\":\"perfex-validation\",\"version\":2,\"events\":[]}",
		       "another version of perfex");
	expect_refusal("{\"schema\":\"perfex-validation\",\"version\":1}", "there are no events");
	expect_refusal(HEAD "7" TAIL, "lacks its name");
	expect_refusal(HEAD EVENT("x\\u001b", "exact", "0", "1") TAIL, "lacks its name");
	expect_refusal(HEAD EVENT("x\\u009b2J", "exact", "0", "1") TAIL, "lacks its name");
	expect_refusal(HEAD EVENT("x\x80", "exact", "0", "1") TAIL, "it is no JSON");
	expect_refusal(HEAD EVENT("x", "exact", "\"0\"", "1") TAIL, "event 'x' lacks a or b");
}
END_TEST

/* The line that refuses a file has the file's name, but without U+009B, which is CSI for terminals. */
START_TEST(lines_for_people_have_no_control_characters)
{
	struct command_result result = PERFEX("validate", "--against", "\xc3\xa9\xc2\x9b\x1b", "a");

	ck_assert_msg(strstr(result.err, "'\xc3\xa9??\?'"), "%s", result.err);
}
END_TEST

/* Options of measurements, which are refused when two files are compared. */
static const char *const measuring[] = {
	"-einstructions", "-gIPC",  "--all",	  "--as=taken-branches", "-r2",
	"--time=3",	  "--both", "--picture=x"
};

START_TEST(arguments_that_make_no_sense_are_refused)
{
	ck_assert_int_eq(PERFEX("validate", "--against", "nowhere", "a").status, 125);
	ck_assert_str_eq(PERFEX("validate", "--against", "a", "b", "c").err,
			 "perfex: perfex validate --against takes one argument, 'c' is another\n");
	for (size_t i = 0; i < sizeof(measuring) / sizeof(measuring[0]); i++) {
		struct command_result result =
			PERFEX("validate", "--against", "a", measuring[i], "b");

		ck_assert_int_eq(result.status, 125);
		ck_assert_str_eq(result.err,
				 "perfex: with --against and a file nothing is measured; leave out "
				 "the file, or the options that say what to measure\n");
	}
	ck_assert_int_eq(PERFEX("validate", "--against", "a", "--json", "b").status, 125);
	ck_assert_int_eq(PERFEX("validate", "a").status, 125);
}
END_TEST

TCase *against_tests(void)
{
	TCase *tests = tcase_create("against");

	tcase_add_checked_fixture(tests, enter, leave_directory);
	tcase_add_test(tests, what_is_alike_is_only_counted);
	tcase_add_test(tests, what_differs_is_shown_with_both_sides);
	tcase_add_test(tests, a_validation_that_was_cut_short_is_named);
	tcase_add_test(tests, what_is_no_validation_is_refused);
	tcase_add_test(tests, lines_for_people_have_no_control_characters);
	tcase_add_test(tests, arguments_that_make_no_sense_are_refused);
	return tests;
}
