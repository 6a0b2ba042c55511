// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules on the command line of perfex run: a text that is no rule is refused before anything runs. */
#include "unit.h"
#include "command.h"

#include <string.h>
#include <unistd.h>

static void write_files(void)
{
	enter_directory();
	write_text("wrong.rules", "# two rules\ncpi = cycles / instructions\nipc = 1 / / cpi\n");
	write_text("cycle.rules", "a = b\nb = a\n");
}

static const struct {
	const char *arguments[12], *err;
} refused[] = {
	{ { "--derive", "cpi = cycles /", "touch", "ran" },
	  "perfex: rule 'cpi = cycles /': expected a number, the name of an event or of a rule, or "
	  "'(', but the rule ends\n" },
	{ { "--derive=a = 1", "--derive=a = 2", "touch", "ran" },
	  "perfex: rule 'a = 2': there are two rules 'a'; give each its own name\n" },
	{ { "--derive=a = b", "--derive=b = a", "touch", "ran" },
	  "perfex: rule 'a' needs its own value; define it by events, or by other rules\n" },
	{ { "--rules=wrong.rules", "touch", "ran" },
	  "perfex: 'wrong.rules', line 3: expected a number, the name of an event or of a rule, or "
	  "'(', not '/'\n" },
	{ { "--rules=cycle.rules", "touch", "ran" },
	  "perfex: rule 'a' needs its own value; define it by events, or by other rules\n" },
	{ { "--backend=perf_events", "--derive=r = task-clok / cs", "touch", "ran" }, NULL },
	{ { "--rules=missing.rules", "touch", "ran" },
	  "perfex: cannot read 'missing.rules': No such file or directory\n" },
};

START_TEST(events_of_rules_are_counted)
{
	struct command_result result =
		PERFEX("--backend=perf_events", "--csv", "-e", "cs",
		       "--derive=a = page-faults:u - page-faults:u + cs - cs",
		       "--derive=b = tsc - tsc", "true");

	ck_assert_int_eq(result.status, 0);
	ck_assert_msg(strstr(result.err, ",page-faults:u,"), "%s", result.err);
	ck_assert_msg(strstr(result.err, ",a,"), "%s", result.err);
	/* The name page-faults:u is not divided at its minus: there is no event 'page'. */
	ck_assert_ptr_null(strstr(result.err, ",page,"));
	result =
		PERFEX("--backend=perf_events", "--derive=a = 3 + task-clock - task-clock", "true");
	ck_assert_int_eq(result.status, 0);
	ck_assert_msg(strstr(result.err, "\ntask-clock "), "%s", result.err);
	ck_assert_msg(strstr(result.err, " 3  derived"), "%s", result.err);
}
END_TEST

START_TEST(what_is_no_rule_starts_nothing)
{
	struct command_result result = run_perfex(refused[_i].arguments);

	if (refused[_i].err)
		ck_assert_str_eq(result.err, refused[_i].err);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
	ck_assert_int_ne(access("ran", F_OK), 0);
}
END_TEST

TCase *derive_tests(void)
{
	TCase *tests = tcase_create("derive");

	tcase_add_checked_fixture(tests, write_files, leave_directory);
	tcase_add_loop_test(tests, what_is_no_rule_starts_nothing, 0, ARRAY_SIZE(refused));
	tcase_add_test(tests, events_of_rules_are_counted);
	return tests;
}
