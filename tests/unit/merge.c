// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex merge as a command: its output for files with sums that are known by hand, and its refusals. */
#include "unit.h"
#include "command.h"
#include "recordings.h"

#include <perfctr.h>
#include <stdio.h>
#include <string.h>

#define RULES RULE("per", "cycles / 10")
#define PROCESS(cycles)                                                                            \
	RECORDING("tree", cycles, "7",                                                             \
		  EVENT("cycles", "user+kernel", "0", cycles) "," EVENT("a,\\\"b\\\"", "user",     \
									"0", "4"),                 \
		  RULES)

/* Writes a recording with a rank, which follows the brace at its beginning. */
static void write_rank(const char *path, const char *rank, const char *recording)
{
	char text[4096];

	snprintf(text, sizeof(text), "{\"rank\":%s,\"host\":\"h%s\",%s", rank, rank, recording + 1);
	write_text(path, text);
}

#define REGION(name, tsc, count)                                                                   \
	"{\"name\":\"" name "\",\"entries\":1,\"exits\":1,\"passes\":1,\"retried\":0,"           \
	"\"corrected\":true,\"tsc\":{\"total\":" tsc ",\"mean\":1.0,\"min\":1,\"max\":1},"         \
	"\"counts\":[{\"total\":" count ",\"mean\":1.0,\"min\":1,\"max\":1}]}"
#define THREAD(regions) "{\"thread\":1,\"regions\":[" regions "]}"
#define REGIONS(event, threads)                                                                    \
	"{\"schema\":\"perfctr-regions\",\"version\":3,\"events\":[{\"name\":\"" event             \
	"\",\"counter\":0,\"evntsel\":\"0x4100c0\",\"evntsel2\":\"0x0\",\"modes\":\"user\"}],"     \
	"\"threads\":[" threads "]}\n"

/* Writes a recording of a command that failed.  The last of several members with one name counts. */
static void write_end(const char *path, const char *member, const char *recording)
{
	char text[4096];

	snprintf(text, sizeof(text), "%.*s,\"%s\":9}\n", (int)strlen(recording) - 2, recording,
		 member);
	write_text(path, text);
}

static void write_files(void)
{
	enter_directory();
	write_rank("0.json", "0", PROCESS("10"));
	write_rank("1.json", "1", PROCESS("20"));
	write_rank("2.json", "2", PROCESS("60"));
	write_text("none.json", PROCESS("10"));
	write_end("killed.json", "signal", PROCESS("10"));
	write_end("failed.json", "exit_status", PROCESS("10"));
	write_text("twice.json",
		   RECORDING("tree", "1,3", "1,1", EVENT("x", "user", "0", "10,30") "," EVENT(
			   "x", "user", "0", "1,1"), ""));
	write_text("once.json",
		   RECORDING("tree", "2", "1", EVENT("x", "user", "0", "40") "," EVENT("x", "user", "0", "5"), ""));
	write_text("empty.json", RECORDING("tree", "", "", EVENT("x", "user", "0", ""), ""));
	write_text("self.json", RECORDING("self", "8", "7", "", ""));
	write_text("a.regions", REGIONS("x", THREAD(REGION("s", "1", "3") "," REGION("only", "2", "8")) "," THREAD(
						     REGION("s", "4", "2") "," REGION("only", "0", "0"))));
	write_text("b.regions", REGIONS("x", THREAD(REGION("s", "5", "15"))));
	write_text("other.regions", REGIONS("y", THREAD(REGION("s", "5", "15"))));
	write_text("text", "no recording\n");
}

static void expect_output(struct command_result result, const char *out)
{
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.out, out);
}

static void expect_refusal(struct command_result result, const char *err)
{
	ck_assert_str_eq(result.err, err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}

/* The mean of 10, 20 and 60 is 30, and 60 is 100 % more. */
START_TEST(recordings_are_a_table)
{
	expect_output(PERFEX("merge", "0.json", "1.json", "2.json"),
		      "3 files, 3 hosts: loop 1000\n"
		      "event       modes        files  sum  min  max  mean  imbalance  most in\n"
		      "tsc                          3   90   10   60    30   100.00 %  rank 2\n"
		      "elapsed_ns                   3   21    7    7     7     0.00 %  -\n"
		      "cycles      user+kernel      3   90   10   60    30   100.00 %  rank 2\n"
		      "a,\"b\"       user             3   12    4    4     4     0.00 %  -\n"
		      "per                          3    -    1    6     3   100.00 %  rank 2\n"
		      "imbalance: how much max is above mean\n");
}
END_TEST

START_TEST(recordings_are_csv)
{
	expect_output(PERFEX("merge", "--csv", "2.json", "0.json", "1.json"),
		      "region,event,modes,files,sum,min,max,mean,imbalance_percent,min_file,max_file\r\n"
		      ",tsc,,3,90,10,60,30,100,0.json,2.json\r\n"
		      ",elapsed_ns,,3,21,7,7,7,0,2.json,2.json\r\n"
		      ",cycles,user+kernel,3,90,10,60,30,100,0.json,2.json\r\n"
		      ",\"a,\"\"b\"\"\",user,3,12,4,4,4,0,2.json,2.json\r\n"
		      ",per,,3,,1,6,3,100,0.json,2.json\r\n");
}
END_TEST

START_TEST(recordings_are_json)
{
	expect_output(
		PERFEX("merge", "-j", "0.json", "none.json"),
		"{\"schema\":\"perfex-merge\",\"version\":1,\"perfex\":\"" PERFCTR_VERSION "\","
		"\"files\":[{\"file\":\"0.json\",\"rank\":0,\"host\":\"h0\"},"
		"{\"file\":\"none.json\",\"rank\":null,\"host\":null}],\"rows\":["
		"{\"name\":\"tsc\",\"files\":2,\"sum\":20,\"min\":10,\"max\":10,\"mean\":10,\"imbalance\":0,"
		"\"min_file\":0,\"max_file\":0,\"values\":[10,10]},"
		"{\"name\":\"elapsed_ns\",\"files\":2,\"sum\":14,\"min\":7,\"max\":7,\"mean\":7,\"imbalance\":0,"
		"\"min_file\":0,\"max_file\":0,\"values\":[7,7]},"
		"{\"name\":\"cycles\",\"modes\":\"user+kernel\",\"files\":2,\"sum\":20,\"min\":10,\"max\":10,"
		"\"mean\":10,\"imbalance\":0,\"min_file\":0,\"max_file\":0,\"values\":[10,10]},"
		"{\"name\":\"a,\\\"b\\\"\",\"modes\":\"user\",\"files\":2,\"sum\":8,\"min\":4,\"max\":4,"
		"\"mean\":4,\"imbalance\":0,\"min_file\":0,\"max_file\":0,\"values\":[4,4]},"
		"{\"name\":\"per\",\"definition\":\"cycles / 10\",\"files\":2,\"sum\":null,\"min\":1,\"max\":1,"
		"\"mean\":1,\"imbalance\":0,\"min_file\":0,\"max_file\":0,\"values\":[1,1]}]}\n");
}
END_TEST

/* The value of a file is the mean of its runs.  Events of the same name are matched in their order. */
START_TEST(repeated_runs_and_names)
{
	expect_output(PERFEX("merge", "--csv", "twice.json", "once.json", "empty.json"),
		      "region,event,modes,files,sum,min,max,mean,imbalance_percent,min_file,max_file\r\n"
		      ",tsc,,2,4,2,2,2,0,twice.json,twice.json\r\n"
		      ",elapsed_ns,,2,2,1,1,1,0,twice.json,twice.json\r\n"
		      ",x,user,2,60,20,40,30,33.333333333333333,twice.json,once.json\r\n"
		      ",x,user,2,6,1,5,3,66.666666666666667,twice.json,once.json\r\n");
}
END_TEST

/* Threads are added up.  A file without the region counts 0 there, and a file without the event is left out. */
START_TEST(regions_are_a_table)
{
	expect_output(PERFEX("merge", "a.regions", "b.regions", "other.regions"),
		      "3 files: regions\n"
		      "region  event   modes        files  sum  min  max      mean  imbalance  most in\n"
		      "s       passes                   3    4    1    2   1.33333    50.00 %  a.regions\n"
		      "s       tsc     user+kernel      3   15    5    5         5     0.00 %  -\n"
		      "s       x       user             2   20    5   15        10    50.00 %  b.regions\n"
		      "only    passes                   1    2    0    2  0.666667   200.00 %  a.regions\n"
		      "only    tsc     user+kernel      1    2    0    2  0.666667   200.00 %  a.regions\n"
		      "only    x       user             1    8    0    8         4   100.00 %  a.regions\n"
		      "s       y       user             1   15   15   15        15     0.00 %  -\n"
		      "imbalance: how much max is above mean\n");
}
END_TEST

static void expect_warnings(struct command_result result, const char *err, const char *out)
{
	ck_assert_int_eq(result.status, 0);
	ck_assert_str_eq(result.err, err);
	ck_assert_ptr_nonnull(strstr(result.out, out));
}

START_TEST(ranks_that_are_missing_or_twice_are_told)
{
	expect_warnings(PERFEX("merge", "--csv", "0.json", "2.json", "2.json"),
			"perfex: warning: '2.json' and '2.json' are both of rank 2\n"
			"perfex: warning: there is a file of rank 2, and none of rank 1\n",
			",cycles,user+kernel,3,130,");
}
END_TEST

START_TEST(commands_that_failed_are_told)
{
	expect_warnings(PERFEX("merge", "--csv", "killed.json", "none.json", "failed.json"),
			"perfex: warning: 'killed.json': the command died of signal 9\n"
			"perfex: warning: 'failed.json': the command ended with exit status 9\n",
			",cycles,user+kernel,3,30,");
}
END_TEST

START_TEST(what_cannot_be_merged_is_refused)
{
	expect_refusal(PERFEX("merge"),
		       "perfex: perfex merge needs files, one of each rank; see perfex merge --help\n");
	expect_refusal(PERFEX("merge", "0.json", "missing"),
		       "perfex: cannot read 'missing': No such file or directory\n");
	expect_refusal(PERFEX("merge", "0.json", "a.regions"),
		       "perfex: '0.json' has counts of a whole program and 'a.regions' of its regions; "
		       "merge either\n");
	expect_refusal(PERFEX("merge", "self.json", "0.json"),
		       "perfex: '0.json' counts all that the command created, 'self.json' its first thread "
		       "alone; count all with --self or all without\n");
	expect_refusal(PERFEX("merge", "0.json", "text"),
		       "perfex: 'text': it is not complete JSON; give a file that perfex run --json wrote\n");
	expect_refusal(PERFEX("merge", "--csv", "--json", "0.json"),
		       "perfex: --csv and --json exclude each other; give one\n");
}
END_TEST

TCase *merge_tests(void)
{
	TCase *tcase = tcase_create("merge");

	tcase_add_checked_fixture(tcase, write_files, leave_directory);
	tcase_add_test(tcase, recordings_are_a_table);
	tcase_add_test(tcase, recordings_are_csv);
	tcase_add_test(tcase, recordings_are_json);
	tcase_add_test(tcase, repeated_runs_and_names);
	tcase_add_test(tcase, regions_are_a_table);
	tcase_add_test(tcase, ranks_that_are_missing_or_twice_are_told);
	tcase_add_test(tcase, commands_that_failed_are_told);
	tcase_add_test(tcase, what_cannot_be_merged_is_refused);
	return tcase;
}
