// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex as a newcomer uses it, on this machine, by perf_events. */
#include "../guest/perfex_shell.h"
#include "perfex.h"

#include <perfctr.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_pmu(void)
{
	struct perfctr_backend_info info = { 0 };

	perfctr_backend("perf_events", &info);
	return info.capabilities & PERFCTR_CAN_HARDWARE;
}

#define NOBODY_RUNS "setpriv --reuid=65534 --regid=65534 --clear-groups "

/* The kernel takes the events away where such a program is executed. */
START_TEST(a_command_that_may_not_be_read_is_refused)
{
	static const char *const how[] = { "", "--self", "-r 2", "-I 100", "mark" };
	char script[256];
	struct run r;

	if (getuid())
		return; /* makes no program of another's */
	enter_directory();
	ck_assert_int_eq(chmod(".", 0755), 0);
	snprintf(script, sizeof(script),
		 "install -m 711 /bin/true unread && " NOBODY_RUNS
		 "perfex %s -e page-faults:u ./unread </dev/null",
		 how[_i]);
	expect(&r, script, EXITED(125));
	ck_assert_msg(strstr(r.err, "its program must be readable"), "%s", r.err);
	ck_assert_uint_eq(lines(r.err, ""), 1);
	expect(&r, "perfex -e page-faults:u ./unread", 0);
	ck_assert_uint_gt(printed_count(r.err, "page-faults:u"), 0);
}
END_TEST

static const struct {
	const char *arguments, *words;
} lacking[] = {
	{ "trace -o trace ./started", "the perf_events backend has no traces; the patch has" },
	{ "mark --list", "the perf_events backend does not know who bears a mark; the patch and "
			 "bpf do" },
	{ "mark --clear -p 1", "the perf_events backend does not know who bears a mark; the patch "
			       "and bpf do" },
	{ "system --exclude-self ./started", "the perf_events backend counts CPUs by no policy "
					     "about marks or idle threads; the patch does" },
	{ "system --policy no-idle ./started", "the perf_events backend counts CPUs by no policy "
					       "about marks or idle threads; the patch does" },
};

START_TEST(what_the_backend_lacks_is_named)
{
	char script[256], line[256];
	struct run r;

	enter_directory();
	snprintf(script, sizeof(script), "perfex %s", lacking[_i].arguments);
	snprintf(line, sizeof(line), "perfex: %s\n", lacking[_i].words);
	expect(&r, script, EXITED(125));
	ck_assert_str_eq(r.err, line);
}
END_TEST

START_TEST(an_experiment_needs_no_pmu_for_the_operating_systems_events)
{
	struct run r;

	enter_directory();
	write_file("x.yaml", "directory: results\n"
			     "experiments: { faults: [page-faults] }\n"
			     "programs: { true: [/bin/true] }\n");
	expect(&r, "perfex experiment x.yaml", 0);
	ck_assert_uint_eq(lines(contents("results/table.csv"), "page-faults"), 1);
	if (has_pmu())
		return;
	write_file("y.yaml", "directory: results\n"
			     "experiments: { one: [instructions], two: [page-faults] }\n"
			     "programs: { true: [/bin/true] }\n");
	expect(&r, "perfex experiment y.yaml", EXITED(125));
	ck_assert_msg(strstr(r.err, "'y.yaml', line 2: event 'instructions': ") &&
			      strstr(r.err, "the event counters of this machine cannot be used"),
		      "%s", r.err);
	write_file("z.yaml", "directory: results\n"
			     "experiments: { one: [0x4100c0] }\n"
			     "programs: { true: [/bin/true] }\n");
	expect(&r, "perfex experiment z.yaml", EXITED(125));
	ck_assert_uint_eq(lines(r.err, ""), 1);
}
END_TEST

TCase *perfex_tests(void)
{
	TCase *tests = tcase_create("perfex");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, a_command_that_may_not_be_read_is_refused, 0, 5);
	tcase_add_loop_test(tests, what_the_backend_lacks_is_named, 0, ARRAY_SIZE(lacking));
	tcase_add_test(tests, an_experiment_needs_no_pmu_for_the_operating_systems_events);
	return tests;
}
