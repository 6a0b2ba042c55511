// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex report as a command: its sums, added up by hand, and its refusals. */
#include "unit.h"
#include "command.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD "# perfctr-trace 1 2000000\n"
#define COLUMNS "cpu,time,type,pid,tid,lost,tsc,\"instructions:u\"\n"
#define RECORDS "0,10,on,100,101,0,5,7\n1,11,on,100,102,0,1,2\n0,20,off,0,0,0,9,17\n"

static struct command_result report(const char *text, const char *option)
{
	struct command_result result;

	enter_directory();
	write_text("file", text);
	result = PERFEX("report", "--csv", option, "file");
	leave_directory();
	return result;
}

/* Thread 101 has 9 - 5 and 17 - 7.  Records were lost between the last two of CPU 1. */
START_TEST(who_counted_what_is_added_up)
{
	static const char text[] =
		HEAD COLUMNS RECORDS "1,30,end,0,0,2,4,4\n-1,0,total,0,0,2,7,12\n";
	struct command_result result = report(text, "--per-thread");

	ck_assert_str_eq(result.out, "process,thread,tsc,instructions:u\r\nlost,,3,2\r\n"
				     "100,101,4,10\r\ntotal,,7,12\r\n");
	ck_assert_str_eq(result.err, "perfex: 2 records were lost; what was counted between is not "
				     "known to be anybody's\n");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

/* A pipe cannot be read twice. */
START_TEST(a_trace_comes_through_a_pipe)
{
	int ends[2], in = dup(STDIN_FILENO);
	struct command_result result;

	ck_assert_int_eq(pipe(ends), 0);
	dprintf(ends[1], "%s%s%s%s", HEAD, COLUMNS, RECORDS,
		"1,30,end,0,0,2,4,4\n-1,0,total,0,0,2,7,12\n");
	close(ends[1]);
	ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	result = PERFEX("report", "--csv", "/dev/stdin");
	ck_assert_int_eq(dup2(in, STDIN_FILENO), STDIN_FILENO);
	close(in);
	close(ends[0]);
	ck_assert_str_eq(result.out, "process,tsc,instructions:u\r\nlost,3,2\r\n100,4,10\r\n"
				     "total,7,12\r\n");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

#define NUMBER "a number is missing or too large"

static const struct {
	const char *text, *why;
	unsigned int line;
} wrong[] = {
	{ "", "the trace has no end", 0 },
	{ "cpu\n",
	  "it is not a trace of a known version (--html draws recordings too, perfex samples shows "
	  "perfex record's)",
	  1 },
	{ HEAD "cpu\n", "these are not the columns of a trace", 2 },
	{ HEAD "cpu,time,type,pid,tid,lost,tsc,\"a\n",
	  "the name of an event has no end, or there are too many", 2 },
	{ HEAD COLUMNS RECORDS, "the trace has no end", 5 },
	{ HEAD COLUMNS "x,10,on,100,101,0,5,7\n", NUMBER, 3 },
	{ HEAD COLUMNS "8192,10,on,100,101,0,5,7\n", "the CPU's number is too large", 3 },
	{ HEAD COLUMNS "0,10,on,-1,101,0,5,7\n", NUMBER, 3 },
	{ HEAD COLUMNS "0,10,on,4294967295,101,0,5,7\n", NUMBER, 3 },
	{ HEAD COLUMNS "0,10,on,100,101,0,5,18446744073709551616\n", NUMBER, 3 },
	{ HEAD COLUMNS "0,10,on,100,101,0, 5,7\n", NUMBER, 3 },
	{ HEAD COLUMNS "0,10,on,100,101,0,5\n", NUMBER, 3 },
	{ HEAD COLUMNS "0,10,on\n", "the line is too short", 3 },
	{ HEAD COLUMNS "0,10,on,100,101,0,5,7,9\n", "the line is too long", 3 },
	{ HEAD COLUMNS "-1,0,on,0,0,0,5,7\n", "the totals are of no CPU, and nothing else is", 3 },
	{ HEAD COLUMNS "0,0,total,0,0,0,5,7\n", "the totals are of no CPU, and nothing else is",
	  3 },
	{ HEAD COLUMNS "-1,0,total,0,0,0,0,0\n0,1,on,1,1,0,1,1\n",
	  "there is something behind the totals", 4 },
};

START_TEST(a_wrong_trace_is_refused_in_one_line)
{
	struct command_result result = report(wrong[_i].text, "--per-thread");
	char line[256];

	snprintf(line, sizeof(line),
		 "perfex: 'file', line %u: %s; give a file that perfex trace wrote\n",
		 wrong[_i].line, wrong[_i].why);
	ck_assert_str_eq(result.err, line);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

START_TEST(parts_that_do_not_add_up_are_told_in_one_line)
{
	static const char text[] =
		HEAD COLUMNS RECORDS "1,30,end,0,0,2,4,4\n-1,0,total,0,0,2,7,13\n";
	struct command_result result = report(text, "--per-thread");

	ck_assert_str_eq(result.err, "perfex: the parts do not add up to the totals: the trace is "
				     "not complete\n");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

/* perfex run -I writes such lines, with the members in the order of the schema. */
#define LINE(end, count)                                                                           \
	"{\"schema\":\"perfex-interval\",\"version\":2,\"run\":0,\"pass\":0,\"time_ns\":" end      \
	",\"tsc\":1,\"events\":[{\"name\":\"a\",\"modes\":\"user\",\"count\":" count "}]}\n"
#define WHOLE "' of an interval is not a whole number; give a file that perfex -I --json wrote"
#define COMPARISON(events) "{\"schema\":\"perfex-diff\",\"events\":[" events "],\"derived\":[]}"

static const struct {
	const char *text, *why;
} not_drawn[] = {
	{ "", "there is nothing in it; give a file that perfex wrote" },
	{ "x", "it is not complete JSON; give a file that perfex run --json wrote" },
	{ "[]", "it is JSON, but nothing that can be drawn; give what perfex run, system, diff or "
		"compare wrote with --json, or a trace" },
	{ LINE("5", "-1"), "'count" WHOLE },
	{ LINE("5", "1.5"), "'count" WHOLE },
	{ LINE("null", "1"), "'time_ns" WHOLE },
	{ LINE("5", "1") LINE("4", "1"),
	  "the times of the intervals go back; give a file of one recording" },
	{ "{\"schema\":\"perfex-interval\",\"time_ns\":1,\"tsc\":1}", "an interval has no events" },
	{ "{\"schema\":\"perfex-interval\",\"time_ns\":1,\"tsc\":1,\"events\":[null]}",
	  "an event of an interval has no name or modes" },
	{ "{\"schema\":\"perfex-diff\"}",
	  "'events' is missing; give a file that perfex diff --json or "
	  "compare --json wrote" },
	{ COMPARISON("null"), "a comparison has no name; give a file that perfex diff --json or "
			      "compare --json wrote" },
	{ COMPARISON("{\"name\":null}"), "a comparison has no name; give a file that perfex diff "
					 "--json or compare --json wrote" },
};

START_TEST(what_cannot_be_drawn_is_refused_and_nothing_written)
{
	struct command_result result;
	char line[256];

	enter_directory();
	write_text("file", not_drawn[_i].text);
	result = PERFEX("report", "--html", "-o", "page", "file");
	snprintf(line, sizeof(line), "perfex: 'file': %s\n", not_drawn[_i].why);
	ck_assert_str_eq(result.err, line);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
	ck_assert_int_lt(access("page", F_OK), 0);
	leave_directory();
}
END_TEST

/* 2^64 - 1 events in no time, no event in 1 ns; a single number also has an axis. */
static const char *const extreme[] = {
	LINE("0", "18446744073709551615"),
	LINE("1", "18446744073709551615") LINE("18446744073709551615", "0"),
	COMPARISON(""),
	COMPARISON("{\"name\":\"a\",\"a\":1e308,\"b\":-1e308,\"difference\":-2e308}"),
	COMPARISON("{\"name\":\"a\",\"a\":0,\"b\":0,\"difference\":0,\"low\":-1,\"high\":1}"),
	COMPARISON("{\"name\":\"a\",\"a\":1e-300,\"difference\":1e300,\"low\":1,\"high\":1}"),
	HEAD COLUMNS "-1,0,total,0,0,0,0,0\n",
	"# perfctr-trace 1 0\n" COLUMNS "0,18446744073709551615,on,1,1,0,0,0\n"
	"0,0,off,0,0,0,0,0\n-1,0,total,0,0,0,0,0\n",
};

/* Labels of a few characters fit left of the axis. */
START_TEST(a_rate_that_is_always_0_has_an_axis_to_1)
{
	static const char *const labels[] = { ">0.0 /s<", ">0.2 /s<", ">0.8 /s<", ">1.0 /s<" };
	struct command_result result;
	const char *figure;

	enter_directory();
	write_text("file", LINE("1000000000", "0") LINE("2000000000", "0"));
	result = PERFEX("report", "--html", "file");
	leave_directory();
	ck_assert_int_eq(result.status, 0);
	figure = strstr(result.out, "<figcaption>a (user)<");
	ck_assert_ptr_nonnull(figure);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		ck_assert_ptr_nonnull(strstr(figure, labels[i]));
}
END_TEST

#define SUMMARY "{\"counts\":[1,2],\"mean\":1e999,\"low\":-1e999,\"high\":1e999}"

/* Values that are no numbers, and texts that are not UTF-8, in a recording that was changed by hand. */
START_TEST(what_is_impossible_is_left_out)
{
	struct command_result result;

	enter_directory();
	write_text("file",
		   "{\"schema\":\"perfex-run\",\"version\":2,\"command\":[\"\xff(\xc3(\xe2\x82 "
		   "\xed\xa0\x80 \xf4\x90\x80\x80 \xc3\xa9 \xf0\x9f\x98\x80\"],"
		   "\"directory\":\"/\",\"date\":\"\",\"perfex\":\"\",\"pmu\":\"\","
		   "\"view\":\"tree\",\"confidence\":1e999,\"tsc_khz\":1,\"warmup\":0,"
		   "\"passes\":1,\"runs\":2,\"exit_status\":0,\"signal\":null,\"time\":["
		   "{\"pass\":0,\"tsc\":" SUMMARY ",\"elapsed_ns\":" SUMMARY "}],\"events\":[],"
		   "\"derived\":[],\"members\":[],\"intervals\":0,\"consistent\":true,"
		   "\"running\":0,\"lost\":0}\n");
	result = PERFEX("report", "--html", "file");
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(
		strstr(result.out, "?(?(?? ??? ???? \xc3\xa9 \xf0\x9f\x98\x80</code>"));
	ck_assert_ptr_null(strstr(result.out, "inf"));
	ck_assert_ptr_null(strstr(result.out, "nan"));
	ck_assert_ptr_null(strstr(result.out, "confidence"));
	leave_directory();
}
END_TEST

/* A pipe can be read only once. */
START_TEST(a_trace_from_a_pipe_is_drawn)
{
	struct command_result result;
	pid_t writer;

	enter_directory();
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	writer = fork();
	if (writer == 0) {
		write_text("pipe", HEAD COLUMNS RECORDS "-1,0,total,0,0,0,4,10\n");
		_exit(0);
	}
	ck_assert_int_gt(writer, 0);
	result = PERFEX("report", "--html", "pipe");
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "data-start=\"10\" data-end=\"20\""));
	ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
	leave_directory();
}
END_TEST

/* The page is written through links and into pipes.  A file keeps its properties except for its text. */
START_TEST(a_page_takes_no_place_but_that_of_a_file)
{
	struct command_result result;
	struct stat status;

	enter_directory();
	write_text("file", extreme[0]);
	write_text("page", "");
	write_text("page.new", "mine");
	ck_assert_int_eq(chmod("page", 0600), 0);
	ck_assert_int_eq(symlink("page", "link"), 0);
	ck_assert_int_eq(mkfifo("pipe", 0600), 0);
	result = PERFEX("report", "--html", "-o", "link", "file");
	ck_assert_int_eq(result.status, 0);
	ck_assert_int_eq(lstat("link", &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
	ck_assert_int_eq(stat("page", &status), 0);
	ck_assert_uint_eq(status.st_mode, S_IFREG | 0600);
	ck_assert_int_gt(status.st_size, 0);
	ck_assert_int_eq(stat("page.new", &status), 0);
	ck_assert_int_eq(status.st_size, 4);
	result = PERFEX("report", "--html", "-o", "pipe", "file");
	ck_assert_str_eq(result.err, "perfex: cannot write 'pipe': No such device or address\n");
	ck_assert_int_eq(result.status, 125);
	ck_assert_int_eq(stat("pipe", &status), 0);
	ck_assert(S_ISFIFO(status.st_mode));
	result = PERFEX("report", "--html", "-o", "/dev/stdout", "file");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "</html>"));
	leave_directory();
}
END_TEST

START_TEST(extreme_numbers_are_drawn_without_places_that_are_no_numbers)
{
	struct command_result result;

	enter_directory();
	write_text("file", extreme[_i]);
	result = PERFEX("report", "--html", "file");
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "</html>"));
	ck_assert_ptr_null(strstr(result.out, "nan\""));
	ck_assert_ptr_null(strstr(result.out, "inf\""));
	ck_assert_ptr_null(strstr(result.out, "Hinf"));
	ck_assert_ptr_null(strstr(result.out, "Mnan"));
	leave_directory();
}
END_TEST

TCase *report_tests(void)
{
	TCase *tests = tcase_create("report");

	tcase_add_test(tests, who_counted_what_is_added_up);
	tcase_add_test(tests, a_trace_comes_through_a_pipe);
	tcase_add_loop_test(tests, a_wrong_trace_is_refused_in_one_line, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tests, parts_that_do_not_add_up_are_told_in_one_line);
	tcase_add_loop_test(tests, what_cannot_be_drawn_is_refused_and_nothing_written, 0,
			    ARRAY_SIZE(not_drawn));
	tcase_add_loop_test(tests, extreme_numbers_are_drawn_without_places_that_are_no_numbers, 0,
			    ARRAY_SIZE(extreme));
	tcase_add_test(tests, a_trace_from_a_pipe_is_drawn);
	tcase_add_test(tests, a_rate_that_is_always_0_has_an_axis_to_1);
	tcase_add_test(tests, what_is_impossible_is_left_out);
	tcase_add_test(tests, a_page_takes_no_place_but_that_of_a_file);
	return tests;
}
