// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex compare: two commands that run in turn. */
#include "perfex_shell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_bytes(unsigned int n)
{
	FILE *file = fopen("bytes", "w");

	ck_assert(file);
	for (unsigned int i = 0; i < n; i++)
		putc((int)i, file);
	ck_assert(fclose(file) == 0);
}

/* Reads columns 2 to 7 of an event's line of CSV. */
static void read_line(const char *csv, const char *event, double column[6])
{
	const char *line = strstr(csv, event);
	char modes[16];

	ck_assert_msg(line, "%s", csv);
	ck_assert_int_eq(sscanf(line + strlen(event), ",%15[a-z+],%lf,%lf,%lf,%lf,%lf,%lf", modes,
				&column[0], &column[1], &column[2], &column[3], &column[4],
				&column[5]),
			 7);
}

/*
 * Both commands read one file. In the order A, B, B, A, A, B, A gets bytes 0, 3 and 4, and B gets
 * 1, 2 and 5: each has the variance 13 / 3. Half of the interval is t(0.95, 4) = 2.776445 times
 * sqrt(2 * 13 / 9).
 */
START_TEST(the_commands_run_in_turn_and_are_counted_exactly)
{
	const double half = 1003 * 2.776445 * 1.699673;
	double column[6];
	struct run r;

	enter_directory();
	write_bytes(6);
	expect(&r, "perfex compare --csv -r 3 --warmup=0 -e " EVENT " $NOISE -- $NOISE 3<bytes", 0);
	ck_assert_str_eq(r.err, "");
	read_line(r.out, EVENT, column);
	ck_assert_double_eq_tol(column[0], 1015 + 1003 * 7 / 3.0, 1e-6);
	ck_assert_double_eq_tol(column[1], 1015 + 1003 * 8 / 3.0, 1e-6);
	ck_assert_double_eq_tol(column[2], 1003 / 3.0, 1e-6);
	ck_assert_double_eq_tol(column[4], 1003 / 3.0 - half, 0.01);
	ck_assert_double_eq_tol(column[5], 1003 / 3.0 + half, 0.01);
}
END_TEST

START_TEST(a_warm_up_is_not_counted)
{
	double column[6];
	struct run r;

	enter_directory();
	write_bytes(6);
	expect(&r, "perfex compare --csv -r 2 -e " EVENT " $NOISE -- $NOISE 3<bytes", 0);
	read_line(r.out, EVENT, column);
	ck_assert_double_eq(column[0], NOISE(2) / 2.0 + NOISE(5) / 2.0);
	ck_assert_double_eq(column[1], NOISE(3) / 2.0 + NOISE(4) / 2.0);
}
END_TEST

START_TEST(a_certain_difference_is_told)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex compare -r 2 --warmup=0 --confidence=50 -e " EVENT " -d 'half=\"" EVENT
	       "\"/2' $LOOP -- sh -c \"sleep 2; $LOOP\"",
	       0);
	ck_assert_msg(strstr(r.out, "\n" EVENT " ") && strstr(r.out, "\nmodes: user\n"), "%s", r.out);
	ck_assert_msg(strstr(r.out, " 2000004 "), "%s", r.out);
	ck_assert_msg(strstr(r.out, "\nhalf "), "%s", r.out);
	ck_assert_msg(strstr(r.out, " 1000002 "), "%s", r.out);
	ck_assert_msg(strstr(r.out, "\nA is ") && strstr(r.out, " times as fast as B (50 %: "), "%s",
		      r.out);
}
END_TEST

START_TEST(what_the_commands_write_is_thrown_away)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex compare -r 2 --warmup=0 -e " EVENT " echo one -- echo two", 0);
	ck_assert_msg(!strstr(r.out, "\none\n") && !strstr(r.out, "\ntwo\n"), "%s", r.out);
	ck_assert_msg(strstr(r.out, "A: echo one\nB: echo two\nevent ") == r.out, "%s", r.out);
	expect(&r, "perfex compare --show-output -r 2 --warmup=0 -e " EVENT " echo one -- echo two",
	       0);
	ck_assert_msg(strstr(r.out, "one\ntwo\ntwo\none\nA: echo one\n") == r.out, "%s", r.out);
}
END_TEST

#define STDIN_PIPE                                                                                 \
	"perfex: standard input is a pipe, which can be read once: the 6 runs read /dev/null "     \
	"instead; name a file for them by --input=FILE\n"

static const struct {
	const char *script, *err;
	int status;
} failures[] = {
	{ "$NOISE -- $NOISE 3<bytes",
	  "perfex: B, run 2: it ended with status 1; nothing is compared (--ignore-failure "
	  "compares nevertheless)\n",
	  EXITED(125) },
	{ "--prepare='exit 3' true -- true",
	  "perfex: --prepare: 'exit 3' ended with status 3\n", EXITED(125) },
	{ "true -- $DIE",
	  "perfex: B, warm-up 1: it died of signal 9 (Killed); nothing is compared\n",
	  EXITED(125) },
	{ "./nonexistent -- true",
	  "perfex: cannot execute './nonexistent': No such file or directory\n", EXITED(127) },
};

static void expect_failure(const char *commands, const char *err, int status)
{
	char script[256];
	struct run r;

	enter_directory();
	write_bytes(4);
	snprintf(script, sizeof(script), "perfex compare -r 2 -e " EVENT " %s", commands);
	expect(&r, script, status);
	ck_assert_str_eq(r.err, err);
	ck_assert_str_eq(r.out, "");
}

START_TEST(a_run_that_fails_ends_the_comparison)
{
	expect_failure(failures[_i].script, failures[_i].err, failures[_i].status);
}
END_TEST

START_TEST(a_run_that_takes_too_long_ends_the_comparison)
{
	expect_failure("--timeout=3000 true -- sleep 100",
		       "perfex: B, warm-up 1: it took longer than 3000 ms; nothing is compared\n",
		       EXITED(125));
}
END_TEST

START_TEST(what_outlives_a_command_is_told_or_waited_for)
{
	double column[6];
	struct run r;

	enter_directory();
	setenv("CHAIN", program("chain"), 1);
	expect(&r, "perfex compare -r 2 -e " EVENT " $LOOP -- $CHAIN", 0);
	ck_assert_str_eq(r.err, "perfex: B: processes outlived the command; what they counted "
				"until then is included; --wait counts to the end\n");
	expect(&r, "perfex compare --wait --csv -r 2 -e " EVENT " $LOOP -- $CHAIN", 0);
	ck_assert_str_eq(r.err, "");
	read_line(r.out, EVENT, column);
	ck_assert_double_eq(column[0], 2000004);
	ck_assert_double_eq(column[1], 2000115);
}
END_TEST

START_TEST(each_run_reads_the_same_input)
{
	double column[6];
	struct run r;

	enter_directory();
	write_bytes(4);
	expect(&r,
	       "perfex compare --csv -r 2 -e " EVENT
	       " sh -c '[ $(wc -c) = 4 ]' -- sh -c '[ $(wc -c) = 4 ]' <bytes",
	       0);
	read_line(r.out, EVENT, column);
	expect(&r, "cat bytes | perfex compare -r 2 -e " EVENT " cat -- sh -c '[ $(wc -c) = 0 ]'", 0);
	ck_assert_str_eq(r.err, STDIN_PIPE);
	expect(&r,
	       "cat bytes | perfex compare --input=bytes -r 2 -e " EVENT
	       " cat -- sh -c '[ $(wc -c) = 4 ]'",
	       0);
	ck_assert_str_eq(r.err, "");
}
END_TEST

START_TEST(failures_are_compared_if_they_are_to_be_ignored)
{
	double column[6];
	struct run r;

	enter_directory();
	/* $NOISE finds no byte, and ends with status 1 after 10 instructions. */
	expect(&r,
	       "perfex compare --csv --ignore-failure -r 2 -e " EVENT " $LOOP -- $NOISE 3</dev/null",
	       0);
	ck_assert_str_eq(r.err, "perfex: B: 2 of 2 runs ended with another status than 0, and are counted\n");
	read_line(r.out, EVENT, column);
	ck_assert_double_eq(column[0], 2000004);
	ck_assert_double_eq(column[1], 10);
}
END_TEST

Suite *perfex_compare_suite(void)
{
	const TTest *tests[] = {
		the_commands_run_in_turn_and_are_counted_exactly,
		a_warm_up_is_not_counted,
		what_the_commands_write_is_thrown_away,
		what_outlives_a_command_is_told_or_waited_for,
		each_run_reads_the_same_input,
		failures_are_compared_if_they_are_to_be_ignored,
		BY_THE_CLOCK,
		a_certain_difference_is_told,
		a_run_that_takes_too_long_ends_the_comparison,
	};
	Suite *suite = make_suite(NULL, NULL, "perfex_compare", tests, ARRAY_SIZE(tests));
	TCase *loop = tcase_create("failures");

	tcase_add_loop_test(loop, a_run_that_fails_ends_the_comparison, 0, ARRAY_SIZE(failures));
	suite_add_tcase(suite, loop);
	return suite;
}
