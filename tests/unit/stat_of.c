// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex stat-of as a command: its output for golden/regions.json, and its refusals. */
#include "unit.h"
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/unit/golden/regions.json"

static void expect_lines(struct command_result result, const char *const lines[], size_t n)
{
	ck_assert_str_eq(result.err, "");
	ck_assert_int_eq(result.status, 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(strstr(result.out, lines[i]), "no line '%s' in:\n%s", lines[i],
			      result.out);
}

/*
 * Computed by hand from the values in tests/unit/regions.c: the total of 600 and 6, the minimum of 100 and 6, and the
 * maximum of 300 and 6.
 */
START_TEST(all_threads_together)
{
	static const char *const lines[] = {
		"region,threads,entries,exits,retried,event,modes,total,mean,min,max,corrected\r\n",
		"\r\nparse,2,5,4,0,tsc,user+kernel,1070,267.5,70,500,some\r\n",
		"\r\nparse,2,5,4,0,instructions:u,user,606,151.5,6,300,some\r\n",
		"\r\n\"solve, \"\"fast\"\"\",2,5,7,1,branches,user+kernel,0,0,0,9,some\r\n",
		"\r\nnever,2,1,0,0,tsc,user+kernel,0,,,,some\r\n",
	};

	expect_lines(PERFEX("stat-of", "--csv", GOLDEN), lines, ARRAY_SIZE(lines));
}
END_TEST

START_TEST(each_thread_by_itself)
{
	static const char *const lines[] = {
		"region,thread,entries,",
		"\r\nparse,101,4,3,0,instructions:u,user,600,200,100,300,no\r\n",
		"\r\nparse,202,1,1,0,instructions:u,user,6,6,6,6,yes\r\n",
		",tsc,user+kernel,18446744073709551525,",
		",5,18446744073709550980,yes\r\n",
	};

	expect_lines(PERFEX("stat-of", "--per-thread", "--csv", GOLDEN), lines, ARRAY_SIZE(lines));
}
END_TEST

START_TEST(text_tells_where_entries_and_exits_differ)
{
	static const char *const lines[] = {
		"parse: 2 threads, 5 entries, 4 exits, 0 retried, corrected in some threads\n"
		"an exit is missing, or a thread was inside\n"
		"event           modes        total   mean  min  max\n"
		"tsc             user+kernel   1070  267.5   70  500\n",
		"\n\nsolve, \"fast\": 2 threads, 5 entries, 7 exits, 1 retried, ",
		"\nan entry is missing\n",
		"\nnever: 2 threads, 1 entry, 0 exits, ",
	};

	expect_lines(PERFEX("stat-of", GOLDEN), lines, ARRAY_SIZE(lines));
}
END_TEST

START_TEST(text_of_a_thread_names_it)
{
	static const char *const lines[] = {
		"parse, thread 101: 4 entries, 3 exits, 0 retried, not corrected\n",
		"\nparse, thread 202: 1 entry, 1 exit, 0 retried, corrected\nevent ",
	};

	expect_lines(PERFEX("stat-of", "--per-thread", GOLDEN), lines, ARRAY_SIZE(lines));
}
END_TEST

/* 606 instructions and 10 branches in 4 passes; the region "never" has no pass. */
START_TEST(rules_derive_values_of_each_region)
{
	static const char *const lines[] = {
		"\r\nparse,2,5,4,0,per_branch,,60.600000000000001,,,,some\r\n",
		"\r\nparse,2,5,4,0,wait,,,,,,some\r\n",
		"\r\nnever,2,1,0,0,per_branch,,,,,,some\r\n",
	};
	struct command_result result = PERFEX(
		"stat-of", "--csv", "--derive=per_branch = 'instructions:u' / branches",
		"--derive=wait = elapsed_ns", GOLDEN);

	ck_assert_str_eq(result.err, "perfex: '" GOLDEN "' has no 'elapsed_ns', but tsc, "
				     "instructions:u, branches\n");
	result.err[0] = '\0';
	expect_lines(result, lines, ARRAY_SIZE(lines));
}
END_TEST

START_TEST(text_has_a_mark_where_there_is_no_value)
{
	static const char *const values[] = {
		"\nper_branch      derived       60.6\n",
		"\nper_branch      derived          -\n",
	};
	struct command_result result;

	expect_lines(PERFEX("stat-of", "--derive=per_branch = 'instructions:u' / branches", GOLDEN),
		     values, ARRAY_SIZE(values));
	result = PERFEX("stat-of", "--derive=wait = elapsed_ns", GOLDEN);
	ck_assert_ptr_nonnull(strstr(result.out, "\nwait            derived          ?\n"));
}
END_TEST

START_TEST(a_rule_with_the_name_of_an_event_is_refused)
{
	struct command_result result = PERFEX("stat-of", "--derive=branches = 1", GOLDEN);

	ck_assert_str_eq(result.err,
			 "perfex: rule 'branches' has the name of an event; give it another\n");
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

#define DOCUMENT(version, events, threads)                                                         \
	"{\"schema\":\"perfctr-regions\",\"version\":" version ",\"events\":[" events              \
	"],\"threads\":[" threads "]}"
#define DOCUMENT_OF_REFUSED(threads)                                                               \
	"{\"schema\":\"perfctr-regions\",\"version\":3,\"error\":\"why\",\"events\":[" EVENT       \
	"],\"threads\":[" threads "]}"
#define REGION(name, entries, tsc, counts)                                                         \
	"{\"name\":\"" name "\",\"entries\":" entries ",\"exits\":1,\"passes\":1,\"retried\":0,"   \
	"\"corrected\":false,\"tsc\":" tsc ",\"counts\":[" counts "]}"
#define THREAD(regions) "{\"thread\":1,\"regions\":[" regions "]}"
#define COUNT "{\"total\":1,\"mean\":1.0,\"min\":1,\"max\":1}"
#define EVENT "{\"name\":\"e\",\"modes\":\"user\"}"
#define REMEDY "; give a file that perfctr_regions_write() wrote as JSON\n"

static const struct {
	const char *text, *why;
} wrong[] = {
	{ "", "it is not JSON" },
	{ "[1]", "'schema' is missing or not of type string" },
	{ "{\"schema\":\"perfex-run\"}", "it has no regions" },
	{ DOCUMENT("2", "", ""), "its version is not 3, the one that this perfex knows" },
	{ DOCUMENT("3", "", "7"), "'regions' is missing or not of type array" },
	{ DOCUMENT("3", "", THREAD("7")), "'name' is missing or not of type string" },
	{ DOCUMENT("3", "", THREAD(REGION("a", "-1", COUNT, ""))), "'entries' is negative" },
	{ DOCUMENT("3", "", THREAD(REGION("a", "\"1\"", COUNT, ""))),
	  "'entries' is missing or not of type int" },
	{ DOCUMENT("3", "", THREAD(REGION("a", "1", "{\"total\":1}", ""))),
	  "'min' is missing or not of type int" },
	{ DOCUMENT("3", EVENT, THREAD(REGION("a", "1", COUNT, ""))),
	  "'total' is missing or not of type int" },
	{ DOCUMENT("3", "", THREAD(REGION("a", "1", COUNT, "")) "," THREAD("")),
	  "'name' is missing or not of type string" },
	{ DOCUMENT("3", "",
		   THREAD(REGION("a", "1", COUNT, "")) "," THREAD(REGION("b", "1", COUNT, ""))),
	  "its threads have different regions" },
};

START_TEST(a_wrong_file_is_refused_in_one_line)
{
	struct command_result result;
	char line[256];

	enter_directory();
	write_text("file", wrong[_i].text);
	result = PERFEX("stat-of", "file");
	leave_directory();
	snprintf(line, sizeof(line), "perfex: 'file': %s" REMEDY, wrong[_i].why);
	ck_assert_str_eq(result.err, line);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
}
END_TEST

START_TEST(threads_that_could_not_count_are_told)
{
	struct command_result none, some;

	enter_directory();
	write_text("file", DOCUMENT_OF_REFUSED(""));
	none = PERFEX("stat-of", "file");
	write_text("file", DOCUMENT_OF_REFUSED(THREAD(REGION("a", "1", COUNT, COUNT))));
	some = PERFEX("stat-of", "--csv", "file");
	leave_directory();
	ck_assert_str_eq(none.err, "perfex: 'file': the program could not count: why\n");
	ck_assert_str_eq(none.out, "");
	ck_assert_int_eq(none.status, 125);
	ck_assert_str_eq(some.err, "perfex: 'file': a thread is missing, because it could not "
				   "count: why\n");
	ck_assert_ptr_nonnull(strstr(some.out, "\r\na,1,1,1,0,e,user,1,1,1,1,no\r\n"));
	ck_assert_int_eq(some.status, 0);
}
END_TEST

START_TEST(a_right_file_of_the_same_make_is_not)
{
	struct command_result result, none;

	enter_directory();
	write_text("file", DOCUMENT("3", EVENT, THREAD(REGION("a", "1", COUNT, COUNT))));
	result = PERFEX("stat-of", "--csv", "file");
	write_text("file", DOCUMENT("3", EVENT, ""));
	none = PERFEX("stat-of", "file");
	leave_directory();
	ck_assert_int_eq(none.status, 0);
	ck_assert_str_eq(none.out, "the program has entered no region\n");
	ck_assert_int_eq(result.status, 0);
	ck_assert_ptr_nonnull(strstr(result.out, "\r\na,1,1,1,0,e,user,1,1,1,1,no\r\n"));
}
END_TEST

START_TEST(it_takes_one_file)
{
	struct command_result result = PERFEX("stat-of");

	ck_assert_int_eq(result.status, 125);
	ck_assert_str_eq(result.err, "perfex: perfex stat-of takes one file of regions, not 0; see "
				     "perfex stat-of --help\n");
	result = PERFEX("stat-of", "no-such-file");
	ck_assert_int_eq(result.status, 125);
	ck_assert_str_eq(result.err,
			 "perfex: cannot read 'no-such-file': No such file or directory\n");
}
END_TEST

TCase *stat_of_tests(void)
{
	TCase *tests = tcase_create("stat-of");

	tcase_add_test(tests, all_threads_together);
	tcase_add_test(tests, each_thread_by_itself);
	tcase_add_test(tests, text_of_a_thread_names_it);
	tcase_add_test(tests, rules_derive_values_of_each_region);
	tcase_add_test(tests, text_has_a_mark_where_there_is_no_value);
	tcase_add_test(tests, a_rule_with_the_name_of_an_event_is_refused);
	tcase_add_test(tests, text_tells_where_entries_and_exits_differ);
	tcase_add_loop_test(tests, a_wrong_file_is_refused_in_one_line, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tests, a_right_file_of_the_same_make_is_not);
	tcase_add_test(tests, threads_that_could_not_count_are_told);
	tcase_add_test(tests, it_takes_one_file);
	return tests;
}
