// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex samples with files that are written here: its sums, added up by hand, and its refusals. */
#include "../../perfex/sample/record.h"
#include "../../perfex/tools/samples/shares.h"
#include "command.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "# perfctr-samples 1 2000000\n"
#define ASKED HEAD "command make all\nasked 0 4 0\nevent 1000 instructions:u\nevent 0 branches\n"
#define END "total 9000 8 500\ntotal 190 0 0\nend 4 1 2 0 0\n"
/*
 * Process 37 is sh, forks 38, and is called bash in the end.  Process 38 executes cc.  It has two samples at the same
 * address: that at 25 is from before exec, that at 40 from after exec.
 */
#define TREE                                                                                       \
	ASKED "exec 10 37 sh\nmap 11 37 400000 402000 1000 0a0b /nowhere/sh\n"                     \
	      "exec 30 38 cc\nmap 31 38 400000 401000 0 - /nowhere/cc%20x (deleted)\n"             \
	      "fork 20 38 37\nsample 15 0 37 37 0 0 0 1 0 700 400010 90 700 30 0\n"                \
	      "sample 50 0 37 37 0 0 0 1 0 1000 401ff0 190 1700 60 1 400011\n"                     \
	      "sample 25 1 38 38 0 0 0 1 3 1000 400020 90 1003 31 2 400100 402000\n"               \
	      "sample 40 1 38 39 0 12 2 3 7 3000 400020 190 4010 99 0\nname 41 37 bash\n" END

static struct command_result show(const char *text, const char *option)
{
	struct command_result result;

	enter_directory();
	write_text("file", text);
	result = PERFEX("samples", option, "--csv", "file");
	leave_directory();
	return result;
}

static struct command_result show_to_people(const char *text)
{
	struct command_result result;

	enter_directory();
	write_text("file", text);
	result = PERFEX("samples", "--by=process", "file");
	leave_directory();
	return result;
}

START_TEST(samples_are_of_the_program_that_the_process_executed_then)
{
	struct command_result result = show(TREE, "--by=process,object");

	ck_assert_str_eq(
		result.out,
		"event,samples,events,share %,from,to,process,pid,object\r\n"
		/* 2 and 1 of 4 samples, by Newcombe's formula with z = 1.959963984540054 */
		"instructions:u,2,2000,50.0000,9.1899,90.8101,bash,37,/nowhere/sh\r\n"
		"instructions:u,1,1000,25.0000,1.3191,78.0573,cc,38,/nowhere/cc x (deleted)\r\n"
		"instructions:u,1,1000,25.0000,1.3191,78.0573,sh,38,/nowhere/sh\r\n"
		"instructions:u,,2000,,,,(late),,\r\n"
		"instructions:u,,500,,,,(lost),,\r\n"
		"instructions:u,,9000,,,,(counted),,\r\n"
		"branches,,190,,,,(counted),,\r\n");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

/* Flag 1: in the kernel.  The functions are in no order.  No function is known below the first address. */
START_TEST(functions_of_the_kernel_have_the_names_that_were_recorded)
{
	struct command_result result =
		show(ASKED "sample 10 0 37 37 0 1 0 1 0 1000 ffffffff81000010 90 1000 0 0\n"
			   "sample 11 0 37 37 0 1 0 1 0 1000 ffffffff81000200 91 2000 0 0\n"
			   "sample 12 0 37 37 0 1 0 1 0 1000 ffffffff810002ff 92 3000 0 0\n"
			   "sample 13 0 37 37 0 0 0 1 0 1000 ffffffff81000200 93 4000 0 0\n"
			   "kernel ffffffff81000300 later\nkernel ffffffff81000200 do_%25 it\n"
			   "total 4000 4 0\ntotal 0 0 0\nend 4 0 0 0 0\n",
		     "--by=function");

	ck_assert_str_eq(result.out,
			 "event,samples,events,share %,from,to,object,function\r\n"
			 "instructions:u,2,2000,50.0000,9.1899,90.8101,[kernel],do_% it\r\n"
			 "instructions:u,1,1000,25.0000,1.3191,78.0573,[kernel],[unknown]\r\n"
			 "instructions:u,1,1000,25.0000,1.3191,78.0573,[unknown],[unknown]\r\n"
			 "instructions:u,,0,,,,(late),\r\n"
			 "instructions:u,,0,,,,(lost),\r\n"
			 "instructions:u,,4000,,,,(counted),\r\n"
			 "branches,,0,,,,(counted),\r\n");
	ck_assert_int_eq(result.status, 0);
}
END_TEST

START_TEST(what_is_missing_is_told)
{
	struct command_result result = show(TREE, "--by=object");

	ck_assert_str_eq(
		result.err,
		"perfex: 1 samples were lost while they were recorded\n"
		"perfex: '/nowhere/sh' has no names of functions: No such file or directory\n"
		"perfex: '/nowhere/cc x (deleted)' has no names of functions: it was deleted "
		"while it was mapped\n");
}
END_TEST

/* All periods of a sample belong to its thread.  Periods before the thread executed cc do not belong to cc. */
START_TEST(late_periods_are_of_the_thread_that_was_sampled)
{
	struct command_result result =
		show(ASKED "exec 10 37 sh\nsample 15 0 37 37 0 0 0 1 0 1000 400010 1 1000 1 0\n"
			   "sample 20 0 37 37 0 0 0 4 0 4000 400010 2 5000 2 0\n"
			   "fork 30 38 37\nexec 40 38 cc\n"
			   "sample 50 0 38 38 0 0 0 3 0 3000 400010 1 3000 1 0\n"
			   "sample 60 0 38 38 0 0 0 2 0 2000 400010 2 5000 2 0\n"
			   "total 10000 10 0\ntotal 4 0 0\nend 4 0 6 0 0\n",
		     "--by=thread");

	ck_assert_str_eq(result.out, "event,samples,events,share %,from,to,process,pid,tid\r\n"
				     "instructions:u,2,5000,62.5000,25.8948,89.7592,sh,37,37\r\n"
				     "instructions:u,2,3000,37.5000,10.2408,74.1052,cc,38,38\r\n"
				     "instructions:u,,2000,,,,(late),,\r\n"
				     "instructions:u,,0,,,,(lost),,\r\n"
				     "instructions:u,,10000,,,,(counted),,\r\n"
				     "branches,,4,,,,(counted),,\r\n");
}
END_TEST

START_TEST(people_are_told_the_count_beside_the_samples)
{
	struct command_result result;

	enter_directory();
	write_text("perfex.samples", TREE);
	result = PERFEX("samples", "--by=process", "--top=1");
	leave_directory();
	ck_assert_str_eq(
		result.out,
		"instructions:u: 9000 counted; 4 samples, one for each 1000, stand for 4000\n"
		"  2000 more were found late, and are in no row\n"
		"  500 more are of samples that were lost\n"
		"samples  events  share %  from     to  process   pid\n"
		"      2    2000    50.00  9.19  90.81  bash       37\n"
		"      2    2000    50.00  9.19  90.81  (others)\n"
		"branches: 190 counted\n");
}
END_TEST

/* The end of the file if perfex record was killed, or if the disk was full. */
static const char *const rests[] = { "", "sample 50 0 37 3", "total 3000 3 0\n" };

START_TEST(what_is_there_of_a_recording_that_is_cut_off_is_shown)
{
	struct command_result result;
	char text[512];

	snprintf(text, sizeof(text), "%s%s",
		 ASKED "exec 10 37 sh\nsample 15 0 37 37 0 0 0 1 0 1000 400010 1 1000 1 0\n",
		 rests[_i]);
	result = show(text, "--by=process");
	ck_assert_str_eq(result.err, "perfex: the recording is cut off: perfex record did not "
				     "finish, or the file is not all there\n");
	ck_assert_str_eq(result.out, "event,samples,events,share %,from,to,process,pid\r\n"
				     "instructions:u,1,1000,100.0000,5.4621,100.0000,sh,37\r\n"
				     "instructions:u,,0,,,,(late),\r\n");
	ck_assert_int_eq(result.status, 0);
	result = show_to_people(text);
	ck_assert_ptr_eq(strstr(result.out, "instructions:u: not counted to the end; 1 samples"),
			 result.out);
}
END_TEST

/* The next functions of the kernel are missing, and their samples must not be given to the last known one. */
START_TEST(functions_of_the_kernel_are_not_known_of_a_cut_recording)
{
	struct command_result result =
		show(ASKED "sample 12 0 37 37 0 1 0 1 0 1000 ffffffff810002ff 92 3000 0 0\n"
			   "kernel ffffffff81000100 sooner\nkernel ffffffff81000300 la",
		     "--by=function");

	ck_assert_ptr_nonnull(strstr(result.out, ",[kernel],[unknown]\r\n"));
}
END_TEST

static const char *const others[][5] = {
	{ "report", "--html", "file" },
	{ "diff", "file", "file" },
	{ "merge", "file", "file" },
};

START_TEST(what_reads_json_names_who_shows_a_recording)
{
	struct command_result result;

	enter_directory();
	write_text("file", TREE);
	result = run_perfex(others[_i]);
	leave_directory();
	ck_assert_ptr_nonnull(strstr(result.err, "perfex samples"));
	ck_assert_int_eq(result.status, 125);
}
END_TEST

START_TEST(a_recording_is_not_written_over)
{
	struct command_result result;

	enter_directory();
	write_text("file", TREE);
	result = PERFEX("samples", "--csv", "-o", "file", "file");
	ck_assert_str_eq(result.err, "perfex: 'file' is a recording of perfex record: give another "
				     "--output=FILE\n");
	ck_assert_int_eq(result.status, 125);
	result = PERFEX("samples", "--csv", "-o", "-", "file");
	leave_directory();
	ck_assert_ptr_nonnull(strstr(result.out, "instructions:u,,9000,,,,(counted),"));
	ck_assert_int_eq(result.status, 0);
}
END_TEST

START_TEST(people_are_told_what_was_found_late_beside_the_samples)
{
	struct command_result result =
		show_to_people(ASKED "exec 10 37 sh\n"
				     "sample 20 0 37 37 0 0 0 4 0 4000 400010 2 5000 2 0\n"
				     "total 4000 4 0\ntotal 4 0 0\nend 1 0 3 0 0\n");

	ck_assert_ptr_eq(strstr(result.out, "instructions:u: 4000 counted; 1 samples, one for each "
					    "1000, stand for 4000 with what they found late\n"),
			 result.out);
}
END_TEST

START_TEST(stacks_go_from_the_process_to_the_innermost)
{
	struct command_result result;

	enter_directory();
	write_text("file", TREE);
	result = PERFEX("samples", "--folded", "file");
	leave_directory();
	ck_assert_str_eq(result.out, "bash;[unknown] 1000\nbash;[unknown];[unknown] 1000\n"
				     "cc;[unknown] 1000\nsh;[unknown];[unknown];[unknown] 1000\n");
}
END_TEST

static const struct {
	const char *option, *out;
} shown[] = {
	/* The previous sample of thread 37, for the fourth sample, is the first. */
	{ "--delta",
	  "time,cpu,pid,tid,event,periods,late,ip,function,tsc,instructions:u,branches\r\n"
	  "15,0,37,37,instructions:u,1,0,0x400010,[unknown],90,700,30\r\n"
	  "25,1,38,38,instructions:u,1,3,0x400020,[unknown],90,1003,31\r\n"
	  "40,1,38,39,instructions:u,3,7,0x400020,[unknown],190,4010,99\r\n"
	  "50,0,37,37,instructions:u,1,0,0x401ff0,[unknown],100,1000,30\r\n" },
	{ "--raw", "time,cpu,pid,tid,event,periods,late,ip,function,tsc,instructions:u,branches\r\n"
		   "15,0,37,37,instructions:u,1,0,0x400010,[unknown],90,700,30\r\n"
		   "25,1,38,38,instructions:u,1,3,0x400020,[unknown],90,1003,31\r\n"
		   "40,1,38,39,instructions:u,3,7,0x400020,[unknown],190,4010,99\r\n"
		   "50,0,37,37,instructions:u,1,0,0x401ff0,[unknown],190,1700,60\r\n" },
};

START_TEST(rows_have_all_counts_or_their_growth)
{
	struct command_result result = show(TREE, shown[_i].option);

	ck_assert_str_eq(result.out, shown[_i].out);
}
END_TEST

#define CLOCK HEAD "command a\nasked 0 4 0\nclock 1000003 task-clock\n"

START_TEST(samples_of_a_clock_have_no_counts)
{
	static const char text[] =
		CLOCK "exec 10 37 a\nsample 15 0 37 37 0 0 0 1 0 1000003 400010 0 0\n"
		      "sample 25 1 37 38 0 1 0 1 0 1000003 ffffffff81000010 0 1 400020\n"
		      "kernel ffffffff81000000 do_it\ntotal 2300000 2 0\nend 2 0 0 0 0\n";
	struct command_result result = show(text, "--delta");

	ck_assert_str_eq(result.err, "");
	ck_assert_str_eq(result.out,
			 "time,cpu,pid,tid,event,periods,late,ip,function,tsc,task-clock\r\n"
			 "15,0,37,37,task-clock,1,0,0x400010,[unknown],,\r\n"
			 "25,1,37,38,task-clock,1,0,0xffffffff81000010,do_it,,\r\n");
	result = show(text, "--by=thread");
	ck_assert_msg(strstr(result.out, "\r\ntask-clock,1,1000003,50.0000,"), "%s", result.out);
	ck_assert_msg(strstr(result.out, "\r\ntask-clock,,299994,,,,(no sample),,\r\n"
					 "task-clock,,2300000,,,,(counted),,\r\n"), "%s",
		      result.out);
	result = show_to_people(text);
	ck_assert_msg(strstr(result.out, "\n  299994 more have no sample: of short threads, late "
					 "timers, or another mode\n"), "%s", result.out);
}
END_TEST

/* The time stamp counter has 2 GHz: 25 ticks are less than a microsecond. */
START_TEST(as_perf_script_prints_it)
{
	struct command_result result;

	enter_directory();
	write_text("file", TREE);
	result = PERFEX("samples", "--perf-script", "file");
	leave_directory();
	ck_assert_ptr_nonnull(strstr(result.out, "sh 38/38 [001] 0.000000: 1000 instructions:u:\n"
						 "\t          400020 [unknown] (/nowhere/sh)\n"
						 "\t          400100 [unknown] (/nowhere/sh)\n"
						 "\t          402000 [unknown] (/nowhere/sh)\n\n"));
}
END_TEST

#define NO_SAMPLES "these are no samples of a known version"
#define SAMPLE "sample 15 0 37 37 0 0 0 1 0 700 400010 90 700 30"
#define SHORT "the line is too short"
#define NUMBER "a number is missing or wrong"
#define LARGE "a number is too large"

static const struct {
	const char *text, *why;
	unsigned int line;
} wrong[] = {
	{ "", NO_SAMPLES, 1 },
	{ "# perfctr-samples 2 1\n", NO_SAMPLES, 1 },
	{ "# perfctr-samples 1 x\n", NUMBER, 1 },
	{ HEAD, "the samples have no end: perfex record did not finish", 1 },
	{ HEAD "end 0 0 0 0 0\n", "there are not as many totals as events", 2 },
	{ ASKED END "name 1 1 a\n", "there is something behind the end", 9 },
	{ ASKED "frob 1\n", "the line begins with no word that is known", 6 },
	{ ASKED SAMPLE " 5\n", LARGE, 6 },
	{ ASKED SAMPLE " 1\n", SHORT, 6 },
	{ ASKED SAMPLE " 0 1\n", "the line is too long", 6 },
	{ ASKED SAMPLE "x 0\n", NUMBER, 6 },
	{ ASKED "sample 15 0 37 37 1 0 0 1 0 700 400010 90 700 30 0\n",
	  "a sample is of an event that has no period", 6 },
	{ ASKED "sample 15 0 37 37 0 0 0 1099511627777 0 700 400010 90 700 30 0\n", LARGE, 6 },
	{ ASKED "sample 15 8192 37 37 0 0 0 1 0 700 400010 90 700 30 0\n", LARGE, 6 },
	{ ASKED "sample 15 0 2147483648 37 0 0 0 1 0 700 400010 90 700 30 0\n", LARGE, 6 },
	{ ASKED "sample 18446744073709551616 0 3 37 0 0 0 1 0 700 400010 90 700 30 0\n", LARGE, 6 },
	{ ASKED "map 1 1 5 5 0 - a\n", "a mapping ends before it begins", 6 },
	{ ASKED "map 1 1 5 6 0 0x a\n", "the build-id is wrong", 6 },
	{ ASKED "map 1 1 5 6 0 000102030405060708090a0b0c0d0e0f1011121314 a\n",
	  "the build-id is wrong", 6 },
	{ ASKED "name 1 1 a%0\n", "a '%' has no two digits behind it", 6 },
	{ ASKED "name 1 1 a%00\n", "a '%' has no two digits behind it", 6 },
	{ ASKED "asked 0 128 0\n", LARGE, 6 },
	{ ASKED "clock 1000003 task-clock\n", "there is an event beside a clock", 6 },
	{ CLOCK "event 1000 instructions\n", "there is an event beside a clock", 5 },
	{ CLOCK "sample 15 0 37 37 0 0 0 1 0 1000003 400010 0 0 7\n", "the line is too long", 5 },
	{ ASKED "total 1 1 1\ntotal 1 1 1\ntotal 1 1 1\n", "there are more totals than events", 8 },
};

START_TEST(a_wrong_file_is_refused_in_one_line)
{
	struct command_result result = show(wrong[_i].text, "--by=process");
	char line[256];

	snprintf(line, sizeof(line),
		 "perfex: 'file', line %u: %s; give a file that perfex record wrote\n",
		 wrong[_i].line, wrong[_i].why);
	ck_assert_str_eq(result.err, line);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

/*
 * R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine
 * 17 (1998), 857-872, table I, method 4.
 */
static const struct {
	uint64_t part, all;
	double low, high;
} published[] = {
	{ 81, 263, 0.2535, 0.3682 },
	{ 15, 148, 0.0598, 0.1644 },
	{ 0, 20, 0.0000, 0.2005 },
	{ 1, 29, 0.0018, 0.1963 },
};

START_TEST(intervals_are_the_published_ones)
{
	struct share share = share_of(published[_i].part, published[_i].all);

	ck_assert(fabs(share.low - published[_i].low) < 0.00006);
	ck_assert(fabs(share.high - published[_i].high) < 0.00006);
}
END_TEST

START_TEST(a_frequency_gives_the_next_prime)
{
	/* 10^9 events in 2 s, 1000 samples a second: the period is 500000.  Primes are taken from tables. */
	ck_assert_uint_eq(record_fit_period(1000000000, 2, 1000), 500009);
	ck_assert_uint_eq(record_fit_period(1000000000, 1, 1000), 1000003);
	ck_assert_uint_eq(record_fit_period(8000, 1, 1000), 11);
	ck_assert_uint_eq(record_fit_period(2000, 1, 1000), 2);
	ck_assert_uint_eq(record_fit_period(1999, 1, 1000), 0);
	ck_assert_uint_eq(record_fit_period(1, 0, 1000), 0);
}
END_TEST

static const struct {
	const char *arguments[10];
	const char *err;
} refused[] = {
	{ { "record", "-o", "-", "true" },
	  "perfex: --output=-: standard output is the command's; give a file\n" },
	{ { "trace", "-o", "-", "true" },
	  "perfex: --output=-: standard output is the command's; give a file\n" },
	{ { "scope", "-o", "-", "true" },
	  "perfex: --output=-: the scope draws on the terminal; give a file\n" },
	{ { "record" }, "perfex: no command given; see perfex record --help\n" },
	{ { "record", "-c", "0", "true" },
	  "perfex: --period=0: that is no number of events from 1 to 2^63 - 1\n" },
	{ { "record", "-c", "1e6", "true" },
	  "perfex: --period=1e6: that is no number of events from 1 to 2^63 - 1\n" },
	{ { "record", "-e", "cycles", "-c", "5", "-c", "6", "true" },
	  "perfex: --period=6: there is no --event before it that has none; put it behind the "
	  "event\n" },
	{ { "record", "-c", "5", "-c", "6", "true" },
	  "perfex: --period=6: there is no --event before it that has none; put it behind the "
	  "event\n" },
	{ { "record", "-F", "9", "-c", "6", "true" },
	  "perfex: --freq and --period exclude each other; give one\n" },
	{ { "samples", "--by=frob" },
	  "perfex: --by=frob: there are process, thread, object, function and line, separated by "
	  "commas\n" },
	{ { "samples", "--by=" },
	  "perfex: --by=: there are process, thread, object, function and line, separated by "
	  "commas\n" },
	{ { "samples", "--folded", "--csv" },
	  "perfex: --folded is a format of its own: leave --csv out\n" },
	{ { "samples", "a", "b" },
	  "perfex: give one file of perfex record; see perfex samples --help\n" },
	{ { "samples", "missing" },
	  "perfex: cannot read 'missing': No such file or directory; perfex record makes it\n" },
};

START_TEST(a_wrong_command_line_is_refused_in_one_line)
{
	struct command_result result;

	result = run_perfex(refused[_i].arguments);
	ck_assert_str_eq(result.err, refused[_i].err);
	ck_assert_int_eq(result.status, 125);
}
END_TEST

TCase *samples_tests(void)
{
	TCase *tests = tcase_create("samples");

	tcase_add_test(tests, samples_are_of_the_program_that_the_process_executed_then);
	tcase_add_test(tests, functions_of_the_kernel_have_the_names_that_were_recorded);
	tcase_add_test(tests, what_is_missing_is_told);
	tcase_add_test(tests, late_periods_are_of_the_thread_that_was_sampled);
	tcase_add_test(tests, people_are_told_the_count_beside_the_samples);
	tcase_add_loop_test(tests, what_is_there_of_a_recording_that_is_cut_off_is_shown, 0,
			    ARRAY_SIZE(rests));
	tcase_add_test(tests, functions_of_the_kernel_are_not_known_of_a_cut_recording);
	tcase_add_loop_test(tests, what_reads_json_names_who_shows_a_recording, 0,
			    ARRAY_SIZE(others));
	tcase_add_test(tests, a_recording_is_not_written_over);
	tcase_add_test(tests, people_are_told_what_was_found_late_beside_the_samples);
	tcase_add_test(tests, stacks_go_from_the_process_to_the_innermost);
	tcase_add_loop_test(tests, rows_have_all_counts_or_their_growth, 0, ARRAY_SIZE(shown));
	tcase_add_test(tests, samples_of_a_clock_have_no_counts);
	tcase_add_test(tests, as_perf_script_prints_it);
	tcase_add_loop_test(tests, a_wrong_file_is_refused_in_one_line, 0, ARRAY_SIZE(wrong));
	tcase_add_loop_test(tests, intervals_are_the_published_ones, 0, ARRAY_SIZE(published));
	tcase_add_test(tests, a_frequency_gives_the_next_prime);
	tcase_add_loop_test(tests, a_wrong_command_line_is_refused_in_one_line, 0,
			    ARRAY_SIZE(refused));
	return tests;
}
