// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex run: where the counts are written, and what happens if they cannot be written. */
#include "perfex_shell.h"

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(appended_output_has_one_head_and_nothing_is_lost)
{
	struct run r;

	enter_directory();
	for (int i = 0; i < 3; i++)
		expect(&r, "perfex -o out.csv --append --csv -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(lines(contents("out.csv"), "row,run,pass"), 1);
	ck_assert_uint_eq(lines(contents("out.csv"), EVENT ",0x0,user,2000004,"), 3);
	for (int i = 0; i < 3; i++)
		expect(&r, "perfex -o out.json --append --json -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(lines(contents("out.json"), "{\"schema\":\"perfex-run\""), 3);
	ck_assert_uint_eq(lines(contents("out.json"), "\"counts\":[2000004]"), 3);
	expect(&r, "perfex -o out.json --json -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(lines(contents("out.json"), "{\"schema\":\"perfex-run\""), 1);
}
END_TEST

START_TEST(a_descriptor_takes_the_counts_and_the_command_does_not_get_it)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex --log-fd 5 -e " EVENT " ls -l /proc/self/fd 5>out", 0);
	ck_assert_str_eq(r.err, "");
	ck_assert_msg(!strstr(r.out, "/out"), "%s", r.out);
	ck_assert_uint_gt(printed_count(contents("out"), EVENT), 0);
	expect(&r, "perfex --log-fd=1 -e " EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.out, EVENT), 2000004);
	expect(&r, "perfex --log-fd=7 touch started", EXITED(125));
	ck_assert_msg(strstr(r.err, "descriptor 7 is not open for writing"), "%s", r.err);
	expect(&r, "perfex --log-fd=7 touch started 7</dev/null", EXITED(125));
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

START_TEST(a_full_device_loses_neither_the_counts_nor_the_file)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex -o /dev/full -e " EVENT " $LOOP", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: cannot write '/dev/full': No space left"), 1);
	ck_assert_uint_eq(printed_count(r.err, EVENT), 2000004);

	/* perfex reports it once. The command runs to its end. */
	expect(&r, "perfex -o /dev/full -I 20 -e " EVENT " $LONG", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	ck_assert_uint_eq(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(LONG_LOOP));

	/* Of 4096 bytes, 4090 are used: half a line would fit. */
	ck_assert_int_eq(mkdir("small", 0755), 0);
	ck_assert_int_eq(mount("none", "small", "tmpfs", 0, "size=4096"), 0);
	expect(&r,
	       "head -c 4090 /dev/zero | tr '\\0' x >small/out && "
	       "perfex -o small/out --append -e " EVENT " $LOOP",
	       EXITED(125));
	ck_assert_uint_eq(printed_count(r.err, EVENT), 2000004);
	expect(&r, "tr -d x <small/out | wc -c; wc -c <small/out", 0);
	ck_assert_str_eq(r.out, "0\n4090\n");
	umount("small");
}
END_TEST

START_TEST(a_closed_pipe_loses_no_counts_and_kills_nobody)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "{ while (echo) 2>/dev/null; do sleep 0.1; done; "
	       "perfex --log-fd=3 -e " EVENT " $LOOP 3>&1; echo $? >status; } | true",
	       0);
	ck_assert_str_eq(contents("status"), "125\n");
	ck_assert_uint_eq(printed_count(r.err, EVENT), 2000004);
	/* The command's own broken pipe kills it, as it does without perfex. */
	expect(&r, "perfex -o out -e " EVENT " yes | head -n 1 >/dev/null", 0);
	ck_assert_uint_gt(printed_count(contents("out"), EVENT), 0);
	expect(&r, "{ perfex -o out yes; echo $? >status; } | head -n 1 >/dev/null", 0);
	ck_assert_str_eq(contents("status"), "141\n");
}
END_TEST

START_TEST(a_full_device_is_told_by_all_that_print)
{
	static const char *const printing[] = {
		"list", "info", "check -e 0x4100c0", "encode -e 0x4100c0", "--help", "--version",
		"system --count 1 -I 10 -e 0x4100c0",
	};
	char script[64];
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(printing); i++) {
		snprintf(script, sizeof(script), "perfex %s >/dev/full", printing[i]);
		expect(&r, script, EXITED(125));
		ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
		ck_assert_uint_eq(lines(r.err, "perfex: cannot write to standard output: No space "
					       "left on device\n"),
				  1);
	}
}
END_TEST

SUITE(perfex_output, a_full_device_is_told_by_all_that_print,
      appended_output_has_one_head_and_nothing_is_lost,
      a_descriptor_takes_the_counts_and_the_command_does_not_get_it,
      a_full_device_loses_neither_the_counts_nor_the_file,
      a_closed_pipe_loses_no_counts_and_kills_nobody)
