// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups: built-in groups name events that exist, and groups of the user come first. */
#include "../../perfex/groups/groups.h"
#include "../../perfex/rules/rules.h"
#include "command.h"
#include "machines.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void be_alone(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("PERFCTR_GROUPS");
	unsetenv("PERFCTR_EVENTS");
}

/* The groups that each processor lacks, by the manuals that the groups name. */
static const struct {
	const char *pmu, *missing[5];
} processors[] = {
	{ "skl", { NULL } },
	{ "skx", { NULL } },
	{ "bdw_ep", { NULL } },
	{ "icl", { "TOPDOWN" } },
	{ "icx", { "TOPDOWN" } },
	{ "spr", { "TOPDOWN" } },
	{ "core", { "TOPDOWN" } },
	{ "snb", { NULL } },
	{ "ivb_ep", { NULL } },
	{ "hsw", { "FLOPS", "FLOPS_DP" } }, /* no event for these */
	{ "nhm", { "FLOPS", "FLOPS_DP", "TOPDOWN" } }, /* events do not show how many numbers one instruction has */
	{ "wsm_dp", { "FLOPS", "FLOPS_DP", "TOPDOWN" } },
	{ "atom", { "FLOPS", "FLOPS_DP", "L1", "TOPDOWN" } }, /* no event for load misses of the first cache */
	{ "slm", { "FLOPS", "FLOPS_DP", "L1", "TOPDOWN" } }, /* no event for loads */
	{ "glm", { "FLOPS", "FLOPS_DP", "L1", "TLB", "TOPDOWN" } },
	{ "tmt", { "FLOPS", "FLOPS_DP", "L1", "TOPDOWN" } },
	{ "amd64_fam17h_zen1", { "TOPDOWN" } },
	{ "amd64_fam17h_zen2", { "FLOPS_DP", "TOPDOWN" } },
	{ "amd64_fam19h_zen3", { "FLOPS_DP", "TOPDOWN" } },
	{ "amd64_fam19h_zen4", { "FLOPS_DP", "TOPDOWN" } },
	{ "amd64_fam15h_interlagos", { "TOPDOWN" } },
	{ "amd64_fam10h_barcelona", { "TOPDOWN" } },
	{ "amd64_fam12h_llano", { "TOPDOWN" } },
	{ "amd64_k8_revb", { "FLOPS", "FLOPS_DP", "TOPDOWN" } },
	{ "k7", { "FLOPS", "FLOPS_DP", "TOPDOWN" } },
	{ "netburst", { "TOPDOWN" } },
	{ "p6", { "FLOPS_DP", "TOPDOWN" } },
	{ "p5", { "FLOPS_DP", "BRANCH", "TOPDOWN" } },
	{ "p5_mmx", { "FLOPS_DP", "TOPDOWN" } },
	{ "mii", { "FLOPS_DP", "BRANCH", "TOPDOWN" } },
	{ "arch", { "FLOPS", "FLOPS_DP", "L1", "TLB", "TOPDOWN" } },
};

static bool is_missing(const char *const missing[5], const char *line)
{
	for (int i = 0; i < 5 && missing[i]; i++)
		if (strncmp(line, missing[i], strlen(missing[i])) == 0 &&
		    line[strlen(missing[i])] == ' ')
			return true;
	return false;
}

START_TEST(built_in_groups_name_events_of_their_processors)
{
	struct command_result r;
	char *line, *rest;
	unsigned int n = 0;

	be_alone();
	r = PERFEX("list", "--groups", "--pmu", processors[_i].pmu);
	ck_assert_int_eq(r.status, 0);
	for (rest = r.out; (line = strsep(&rest, "\n")) && *line; n++)
		ck_assert_msg(!strstr(line, "(not here: ") !=
					      is_missing(processors[_i].missing, line) &&
				      !strstr(line, "built in"),
			      "%s: %s", processors[_i].pmu, line);
	ck_assert_uint_eq(n, 8);
}
END_TEST

/* Several groups can be used together: no two of their rules have the same name. */
START_TEST(built_in_groups_go_together)
{
	static const char *const names[] = { "BRANCH", "CACHE", "FLOPS",   "FLOPS_DP",
					     "IPC",    "L1",	"TOPDOWN", "TLB" };
	static const char *const some[] = { "p6", "skl" };
	const struct perfctr_pmu_info *info = be_processor(some[_i]);
	struct perfctr_events *events = perfctr_events_open(info);
	struct rules *rules = rules_new();
	struct text_error error = { 0 };
	struct group group;
	char *text;

	be_alone();
	ck_assert_ptr_nonnull(info);
	ck_assert_ptr_nonnull(events);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert(group_find(names[i], &group));
		text = group_rules(&group, events);
		ck_assert_msg(text || _i == 0, "skl has no %s", names[i]);
		if (text)
			ck_assert_msg(rules_add(rules, text, strlen(text), &error), "%s: %s",
				      names[i], error.text);
		free(text);
		group_free(&group);
	}
	ck_assert_msg(rules_link(rules, &error), "%s", error.text);
	rules_free(rules);
	perfctr_events_close(events);
}
END_TEST

/* Counts of 1,000 cycles, and what the four shares of their 4,000 slots are. */
START_TEST(topdown_divides_all_slots)
{
	static const uint64_t count[] = { 1000, 400, 2200, 2000, 50 };
	const struct rule_event event[] = {
		{ "cycles", 0, &count[0], 1 },
		{ "IDQ_UOPS_NOT_DELIVERED:CORE", 0, &count[1], 1 },
		{ "UOPS_ISSUED:ANY", 0, &count[2], 1 },
		{ "UOPS_RETIRED:RETIRE_SLOTS", 0, &count[3], 1 },
		{ "INT_MISC:RECOVERY_CYCLES", 0, &count[4], 1 },
	};
	static const struct {
		const char *name;
		double value;
	} expected[] = { { "slots", 4000 },
			 { "frontend_bound", 10 },
			 { "bad_speculation", 10 },
			 { "retiring", 50 },
			 { "backend_bound", 30 } };
	const struct perfctr_pmu_info *info = be_processor("skl");
	struct perfctr_events *events = perfctr_events_open(info);
	struct rules *rules = rules_new();
	struct rule_result result[ARRAY_SIZE(expected)];
	struct text_error error = { 0 };
	struct group group;
	char *text;

	be_alone();
	ck_assert_ptr_nonnull(info);
	ck_assert_ptr_nonnull(events);
	ck_assert(group_find("TOPDOWN", &group));
	text = group_rules(&group, events);
	ck_assert(rules_add(rules, text, strlen(text), &error) && rules_link(rules, &error));
	ck_assert_uint_eq(rules_count(rules), ARRAY_SIZE(expected));
	rules_evaluate(rules, event, ARRAY_SIZE(event), 0.95, result);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		ck_assert_str_eq(rules_name(rules, i), expected[i].name);
		ck_assert_double_eq_tol(result[i].value, expected[i].value, 1e-9);
	}
	free(text);
	group_free(&group);
	rules_free(rules);
	perfctr_events_close(events);
}
END_TEST

START_TEST(a_group_of_the_user_comes_first)
{
	struct command_result r;

	be_alone();
	enter_directory();
	write_text("IPC.group",
		   "title Mine\npmu p5\nwrong = cycles\npmu p6 nhm\nmine = instructions\n");
	setenv("PERFCTR_GROUPS", "/nonexistent:.", 1);
	r = PERFEX("list", "-g", "--pmu=p6");
	ck_assert_ptr_nonnull(strstr(r.out, "\nIPC            Mine\nL1 "));
	r = PERFEX("list", "-g", "--pmu=p5");
	ck_assert_ptr_nonnull(strstr(r.out, "\nIPC            Mine\n"));
	r = PERFEX("list", "-g", "--pmu=k8");
	ck_assert_ptr_nonnull(
		strstr(r.out, "\nIPC            Mine (not here: other processors')\n"));
	r = PERFEX("list", "-g", "IPC");
	ck_assert_ptr_nonnull(strstr(r.out, "pmu p5\nwrong = cycles\n"));
	leave_directory();
}
END_TEST

static const struct {
	const char *text;
	int status;
	const char *out, *err;
} faults[] = {
	{ "a = 1\npmu p5\nb = (\npmu p6\nc = )\n", 0, "./BAD.group:5: ", "" },
	{ "a = instrctions\n", 0, "(not here: no event instrctions)", "" },
	{ "# nothing\ntitle Nothing\n", 0, "(not here: other processors')", "" },
};

START_TEST(what_is_wrong_with_a_group_is_told_by_its_line)
{
	struct command_result r;

	be_alone();
	enter_directory();
	write_text("BAD.group", faults[_i].text);
	setenv("PERFCTR_GROUPS", ".", 1);
	r = PERFEX("list", "-g", "--pmu=p6");
	ck_assert_int_eq(r.status, faults[_i].status);
	ck_assert_msg(strstr(r.out, faults[_i].out), "%s", r.out);
	ck_assert_str_eq(r.err, faults[_i].err);
	leave_directory();
}
END_TEST

START_TEST(a_group_that_is_not_there_is_refused)
{
	struct command_result r;

	be_alone();
	r = PERFEX("-g", "IPC,../IPC", "true");
	ck_assert_int_eq(r.status, 125);
	r = PERFEX("list", "-g", "NONE");
	ck_assert_int_eq(r.status, 1);
	ck_assert_str_eq(r.err,
			 "perfex: there is no group 'NONE'; perfex list --groups shows all\n");
}
END_TEST

TCase *groups_tests(void)
{
	TCase *tests = tcase_create("groups");

	tcase_add_loop_test(tests, built_in_groups_name_events_of_their_processors, 0,
			    ARRAY_SIZE(processors));
	tcase_add_loop_test(tests, built_in_groups_go_together, 0, 2);
	tcase_add_test(tests, topdown_divides_all_slots);
	tcase_add_test(tests, a_group_of_the_user_comes_first);
	tcase_add_loop_test(tests, what_is_wrong_with_a_group_is_told_by_its_line, 0,
			    ARRAY_SIZE(faults));
	tcase_add_test(tests, a_group_that_is_not_there_is_refused);
	return tests;
}
