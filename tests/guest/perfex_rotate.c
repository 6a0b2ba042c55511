// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex rotate. The expected counts are those of asm/loop.S: two instructions for each branch, at a constant rate.
 */
#include "perfex_shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRANCH_EVENT "0x004100c4@0"
/* Two sets, because both events are for counter 0. */
#define SETS "-e 0x4100c0@0,0x4100c4@0 "
#define ROTATE "perfex rotate --csv --slice=2 --seed=1 " SETS

/* Columns of CSV. */
enum { COUNT = 7, ESTIMATE, HALF_WIDTH, SHARE, SLICES, STEADY };

/* The number in the column of the first row that has both words. */
static double number(const char *csv, int column, const char *row, const char *word)
{
	const char *words[] = { row, word, NULL };
	const char *text = csv_cell(csv, column, words);

	ck_assert_msg(text, "no row with \"%s\" and \"%s\":\n%s", row, word, csv);
	return strtod(text, NULL);
}

static void expect_estimate(const char *csv, const char *event, double expected)
{
	double estimate = number(csv, ESTIMATE, "estimate,", event);
	double half = number(csv, HALF_WIDTH, "estimate,", event);

	ck_assert_msg(half > 0 && fabs(estimate - expected) <= half, "%s: %.0f +- %.0f, not %.0f",
		      event, estimate, half, expected);
}

START_TEST(a_steady_loop_is_estimated_within_its_interval)
{
	struct run r;

	enter_directory();
	expect(&r, ROTATE "-o out $LONG && cat out", 0);
	ck_assert_str_eq(r.err, "");
	expect_estimate(r.out, EVENT, (double)LOOP_INSTRUCTIONS(LONG_LOOP));
	expect_estimate(r.out, BRANCH_EVENT, (double)LOOP_BRANCHES(LONG_LOOP));
	ck_assert_uint_eq(lines(r.out, ",yes\r"), 2);
	ck_assert_double_ge(number(r.out, SLICES, "estimate,", EVENT), 20);
	ck_assert_double_ge(number(r.out, SLICES, "estimate,", BRANCH_EVENT), 20);
}
END_TEST

struct sums {
	double count, ticks;
	unsigned int n;
};

/* Adds up the slices of a set. Both of its counters have the same event. */
static struct sums sums_of(const char *csv, const char *set)
{
	struct sums sums = { 0 };

	for (unsigned int i = 0;; i++, sums.n++) {
		char slice[32];
		const char *tsc[] = { slice, ",tsc,", NULL }, *first[] = { slice, "@0,", NULL };
		const char *second[] = { slice, "@1,", NULL }, *text;

		snprintf(slice, sizeof(slice), "slice,%s,%u,", set, i);
		text = csv_cell(csv, COUNT, tsc);
		if (!text)
			return sums;
		sums.ticks += strtod(text, NULL);
		text = csv_cell(csv, COUNT, first);
		ck_assert(text);
		sums.count += strtod(text, NULL);
		ck_assert_double_eq(strtod(text, NULL), strtod(csv_cell(csv, COUNT, second), NULL));
	}
}

START_TEST(slices_are_exact_and_do_not_overlap)
{
	struct sums instructions, branches;
	double gaps, rest, all = (double)LOOP_INSTRUCTIONS(LONG_LOOP);
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex rotate --csv --slice=2 -o out -e 0x4100c0@0,0x4100c0@1,0x4100c4@0,0x4100c4@1 "
	       "$LONG && cat out",
	       0);
	instructions = sums_of(r.out, "0");
	branches = sums_of(r.out, "1");
	ck_assert_uint_eq(instructions.n, (unsigned int)number(r.out, SLICES, "estimate,0", "@0"));
	ck_assert_uint_eq(branches.n, (unsigned int)number(r.out, SLICES, "estimate,1", "@0"));
	ck_assert_int_le(abs((int)instructions.n - (int)branches.n), 1);
	/* Each branch of the loop stands for two instructions. The rest was between slices. */
	rest = all - instructions.count - 2 * branches.count;
	gaps = 1 - (instructions.ticks + branches.ticks) / number(r.out, COUNT, "total,", ",tsc,");
	ck_assert_double_ge(rest, -3);
	ck_assert_msg(gaps >= 0 && rest / all <= 2 * gaps, "%f of the time has %f of all", gaps,
		      rest / all);
}
END_TEST

/* The session of the time contains that of the slices on each CPU, to the tick. */
START_TEST(the_time_contains_a_slice_of_all_of_it)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex rotate --csv --slice=60000 -o out " SETS "$LOOP && cat out", 0);
	ck_assert_uint_eq(lines(r.out, ",tsc,"), 2);
	ck_assert_double_le(number(r.out, COUNT, "slice,", ",tsc,"),
			    number(r.out, COUNT, "total,", ",tsc,"));
}
END_TEST

START_TEST(rare_events_may_have_happened_between)
{
	struct run r;

	enter_directory();
	/* No event has the code 0. */
	expect(&r, "perfex rotate --csv --slice=2 -o out -e 0x4100c0@0,0x410000@0 $LONG && cat out", 0);
	ck_assert_double_eq(number(r.out, ESTIMATE, "estimate,", "0x00410000@0"), 0);
	ck_assert_double_ge(number(r.out, HALF_WIDTH, "estimate,", "0x00410000@0"), 1);
}
END_TEST

START_TEST(processes_that_do_not_run_are_told)
{
	struct run r;

	enter_directory();
	expect(&r, "sleep 9 & perfex rotate --slice=1 " SETS "-p $! sleep 0.1; kill $!", 0);
	ck_assert_uint_eq(lines(r.err, "the processes did not run"), 1);
	ck_assert_ptr_null(strstr(r.err, "--passes=auto"));
}
END_TEST

START_TEST(a_tree_is_estimated_with_all_it_makes)
{
	struct run r;

	enter_directory();
	expect(&r, ROTATE "-o out sh -c '$LONG & $LONG & wait' && cat out", 0);
	expect_estimate(r.out, EVENT, 2 * (double)LOOP_INSTRUCTIONS(LONG_LOOP));
	expect_estimate(r.out, BRANCH_EVENT, 2 * (double)LOOP_BRANCHES(LONG_LOOP));
}
END_TEST

START_TEST(a_running_process_is_estimated_while_a_command_runs)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "$HUGE & " ROTATE "-o out -p $! sleep 0.3; status=$?; perfex mark --list | grep -c $!; "
	       "kill $!; cat out; exit $status",
	       0);
	ck_assert_ptr_eq(strstr(r.out, "0\n"), r.out);
	ck_assert_uint_eq(lines(r.err, "1 thread bore the mark at the end"), 1);
	/* There are two instructions for each branch. */
	ck_assert_double_le(fabs(number(r.out, ESTIMATE, "estimate,", EVENT) -
				 2 * number(r.out, ESTIMATE, "estimate,", BRANCH_EVENT)),
			    number(r.out, HALF_WIDTH, "estimate,", EVENT) +
				    2 * number(r.out, HALF_WIDTH, "estimate,", BRANCH_EVENT));
}
END_TEST

START_TEST(events_that_fit_together_are_counted)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex --rotate -e instructions,branches $LOOP", 0);
	ck_assert_uint_eq(lines(r.err, "all events fit together: they are counted"), 1);
	ck_assert_uint_eq(printed_count(r.err, "instructions"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(printed_count(r.err, "branches"), LOOP_BRANCHES(SHORT_LOOP));
	ck_assert_ptr_null(strchr(r.err, '~'));
}
END_TEST

START_TEST(a_run_that_is_too_short_has_no_estimate)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex rotate --slice=60000 " SETS "$LOOP", 0);
	ck_assert_uint_eq(lines(r.err, "2 of 2 events were counted in less time than 5 slices"), 1);
	ck_assert_uint_eq(lines(r.err, " ? "), 2);
	ck_assert_ptr_null(strchr(r.err, '~'));
}
END_TEST

START_TEST(the_status_is_that_of_the_command)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex rotate " SETS "sh -c 'exit 3'", EXITED(3));
	expect(&r, "perfex rotate " SETS "./none", EXITED(127));
}
END_TEST

static const struct {
	const char *options, *line;
} refused[] = {
	{ "", "no event given" },
	{ SETS "--slice=0", "--slice=0" },
	{ SETS "--derive='a = b / c'", "values are derived from counts, not from estimates" },
	{ SETS "-g IPC", "values are derived from counts, not from estimates" },
	{ SETS "-r 3", "one run is estimated" },
	{ SETS "-a", "perfex system counts" },
	{ SETS "--tree", "--tree is for running processes" },
	{ SETS "-e no-such-event", "no-such-event" },
};

START_TEST(what_cannot_be_is_refused_before_the_command_runs)
{
	char script[256];
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		snprintf(script, sizeof(script), "perfex rotate %s touch ran", refused[i].options);
		expect(&r, script, EXITED(125));
		ck_assert_msg(lines(r.err, refused[i].line) == 1, "%s: %s", script, r.err);
		expect(&r, "test ! -e ran", 0);
	}
}
END_TEST

static void rotate_as_nobody(void *unused)
{
	struct run r;

	(void)unused;
	become_nobody();
	RUN(&r, "sh", "-c", "cd /tmp && " ROTATE "$LONG");
	EXPECT(r.status == 0 && lines(r.err, "estimate,0") == 1 && lines(r.err, "estimate,1") == 1);
	/* A user's sessions have two counters. */
	RUN(&r, "sh", "-c",
	    "cd /tmp && for seed in 1 2 3 4; do perfex rotate --seed=$seed -e "
	    "0x4100c0@0,0x4100c0@1,0x4100c0@2,0x4100c4@0 sh -c 'echo ran'; done");
	EXPECT(r.status == EXITED(125) && lines(r.err, "user_session_counters") == 4 && !*r.out);
}

START_TEST(an_ordinary_user_estimates_its_own)
{
	enter_directory();
	in_child(rotate_as_nobody, NULL);
}
END_TEST

SUITE(perfex_rotate, a_steady_loop_is_estimated_within_its_interval,
      slices_are_exact_and_do_not_overlap, the_time_contains_a_slice_of_all_of_it,
      rare_events_may_have_happened_between, processes_that_do_not_run_are_told, a_tree_is_estimated_with_all_it_makes,
      a_running_process_is_estimated_while_a_command_runs, events_that_fit_together_are_counted,
      a_run_that_is_too_short_has_no_estimate, the_status_is_that_of_the_command,
      what_cannot_be_is_refused_before_the_command_runs, an_ordinary_user_estimates_its_own)
