// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex run: intervals, limits of time, delays. */
#include "perfex_csv.h"
#include "perfex_shell.h"

#include <string.h>

START_TEST(intervals_add_up_to_the_sum)
{
	uint64_t count = 0, tsc = 0, time = 0;
	struct row row, total;
	const char *text;
	struct run r;

	enter_directory();
	expect(&r, "perfex -I 20 --csv -o out -e " EVENT " $LONG", 0);
	ck_assert_str_eq(r.err, "");
	for (text = contents("out"); next_row(&text, &row);) {
		if (strcmp(row.column[ROW], "interval"))
			continue;
		if (strcmp(row.column[NAME], "tsc") == 0) {
			tsc += integer(&row, COUNT);
			continue;
		}
		count += integer(&row, COUNT);
		ck_assert_uint_gt(integer(&row, TIME), time);
		time = integer(&row, TIME);
	}
	ck_assert_uint_eq(count, LOOP_INSTRUCTIONS(LONG_LOOP));
	total = find_row(contents("out"), "total", "tsc");
	ck_assert_uint_eq(tsc, integer(&total, COUNT));
}
END_TEST

/* The command ends when it has seen some intervals, in both formats. */
START_TEST(intervals_follow_each_other_until_the_command_ends)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex -I 20 --csv -o out -e " EVENT
	       " sh -c 'until [ $(grep -c \"^interval.*,0x004100c0@0,\" out) -gt 3 ]; do sleep 0.02; done'",
	       0);
	ck_assert_uint_gt(lines(contents("out"), "interval,"), 3);
	expect(&r,
	       "perfex -I 20 --json -o out -e " EVENT
	       " sh -c 'until [ $(grep -c perfex-interval out) -gt 3 ]; do sleep 0.02; done'",
	       0);
	ck_assert_uint_gt(lines(contents("out"), "\"perfex-interval\""), 3);
	ck_assert_uint_eq(lines(contents("out"), "\"perfex-run\""), 1);
}
END_TEST

START_TEST(a_time_limit_ends_the_command_and_is_no_failure)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex --timeout=300 -e " EVENT " $HUGE", 0);
	ck_assert_uint_gt(printed_count(r.err, EVENT), 0);
	ck_assert_uint_lt(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(HUGE_LOOP));
	/* The command decides what it does with the signal. */
	expect(&r, "perfex --timeout=300 sh -c 'trap \"exit 3\" TERM; while :; do :; done'",
	       EXITED(3));
}
END_TEST

START_TEST(a_time_limit_ends_who_has_stopped_itself_and_nobody_who_ends_before)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex -r 2 --timeout=100 -e " EVENT " sh -c 'kill -STOP $$'", 0);
	ck_assert_uint_eq(printed_count(r.err, "runs"), 2);
	expect(&r, "perfex --timeout=100000 -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

START_TEST(a_delay_leaves_out_what_comes_before)
{
	struct run r;

	enter_directory();
	expect(&r, "{ sleep 1; printf '\\000'; } | perfex --delay=300 -e " EVENT " $NOISE 3<&0", 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), NOISE_READ);
	/* Processes that were created before the end of the delay are counted from then on. */
	expect(&r,
	       "perfex --delay=500 -e " EVENT " --per-process -o out sh -c '"
	       "{ sleep 1; printf \"\\\\000\"; } | $NOISE 3<&0'",
	       0);
	ck_assert_msg(strstr(contents("out"), "noise"), "%s", contents("out"));
	ck_assert_uint_eq(printed_count(strstr(contents("out"), "noise"), EVENT), NOISE_READ);
	expect(&r, "perfex --delay=60000 -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.err, EVENT), 0);
	ck_assert_msg(strstr(r.err, "perfex: the command ended within the delay of 60000 ms: "
				    "nothing was counted\n"),
		      "%s", r.err);
}
END_TEST

START_TEST(a_process_is_counted_in_passes_of_limited_time)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "$HUGE & trap \"kill $!\" EXIT; perfex --csv -o out --passes=2 --timeout=200 -e 0x4100c0 "
	       "-e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e branches:u -p $!",
	       0);
	ck_assert_uint_gt(find_row(contents("out"), "total", "branches:u").column[COUNT][0], '0');
	expect(&r, "$HUGE & trap \"kill $!\" EXIT; perfex -r 2 -p $!", EXITED(125));
	ck_assert_msg(strstr(r.err, "--timeout"), "%s", r.err);
}
END_TEST

SUITE(perfex_time, intervals_add_up_to_the_sum, intervals_follow_each_other_until_the_command_ends,
      a_time_limit_ends_who_has_stopped_itself_and_nobody_who_ends_before, BY_THE_CLOCK,
      a_time_limit_ends_the_command_and_is_no_failure, a_delay_leaves_out_what_comes_before,
      a_process_is_counted_in_passes_of_limited_time)
