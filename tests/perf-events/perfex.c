// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex on this machine, with perf_events, as a newcomer uses it. */
#include "../guest/perfex_shell.h"
#include "perfex.h"

#include <perfctr.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has(uint32_t capability)
{
	struct perfctr_backend_info info = { 0 };

	perfctr_backend("perf_events", &info);
	return info.capabilities & capability;
}

#define NOBODY_RUNS "setpriv --reuid=65534 --regid=65534 --clear-groups "

/* The kernel takes the events away when such a program is executed. */
START_TEST(a_command_that_may_not_be_read_is_refused)
{
	static const char *const how[] = { "", "--self", "-r 2", "-I 100", "mark" };
	char script[256];
	struct run r;

	if (getuid())
		return; /* an ordinary user cannot make a program of another user */
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

/* perfex with these arguments prints the words, in one line. */
static void expect_line(const char *arguments, int status, const char *words)
{
	char script[256], line[256];
	struct run r;

	snprintf(script, sizeof(script), "perfex %s", arguments);
	snprintf(line, sizeof(line), "perfex: %s\n", words);
	expect(&r, script, status);
	ck_assert_str_eq(r.err, line);
}

static const struct {
	const char *arguments, *words;
} lacking[] = {
	{ "trace -o trace ./started", "the perf_events backend has no traces; the kernel driver has" },
	{ "mark --list", "the perf_events backend does not know who bears a mark; the kernel "
			 "driver and bpf do" },
	{ "mark --clear -p 1", "the perf_events backend does not know who bears a mark; the kernel "
			       "driver and bpf do" },
	{ "system --exclude-self ./started", "the perf_events backend counts CPUs by no policy "
					     "about marks or idle threads; the kernel driver does" },
	{ "system --policy no-idle ./started", "the perf_events backend counts CPUs by no policy "
					       "about marks or idle threads; the kernel driver does" },
};

START_TEST(what_the_backend_lacks_is_named)
{
	enter_directory();
	expect_line(lacking[_i].arguments, EXITED(125), lacking[_i].words);
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
	if (has(PERFCTR_CAN_HARDWARE))
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

/* perfex waits for the command, and its output is there. */
#define COMMAND_RUNS "sh -c 'sleep 0.3; echo done'"

START_TEST(a_full_device_ends_no_wait_for_the_command)
{
	struct run r;

	if (!has(PERFCTR_CAN_SESSION))
		return;
	enter_directory();
	expect(&r, "perfex system --csv -I 20 -e page-faults -o /dev/full " COMMAND_RUNS,
	       EXITED(125));
	ck_assert_str_eq(r.out, "done\n");
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	ck_assert_uint_eq(lines(r.err,
				"perfex: cannot write '/dev/full': No space left on device; the "
				"counts will follow here"),
			  1);
	ck_assert_uint_eq(lines(r.err, "time_ns,cpu,event"), 1);
	ck_assert_uint_gt(lines(r.err, ",page-faults,"), 2);
	expect(&r, "perfex system -e page-faults " COMMAND_RUNS " >/dev/full", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: cannot write to standard output: No space"), 1);
	ck_assert_uint_eq(lines(r.err, "page-faults"), 1);
	/* perfex waits for nobody. */
	expect(&r, "timeout 10 perfex system -I 5 -e page-faults -o /dev/full", EXITED(125));
}
END_TEST

/* 8192 bytes have room for some lines, all of them whole. */
START_TEST(a_file_that_becomes_full_ends_with_a_line)
{
	static const char *const command[] = { "", "system" };
	const char *file;
	char script[256];
	struct run r;

	if (getuid() || !has(PERFCTR_CAN_SESSION))
		return; /* an ordinary user cannot mount, or count CPUs */
	enter_directory();
	ck_assert_int_eq(mkdir("small", 0755), 0);
	ck_assert_int_eq(mount("none", "small", "tmpfs", 0, "size=8192"), 0);
	snprintf(script, sizeof(script),
		 "perfex %s --csv -I 2 -e page-faults -o small/out sleep 0.6", command[_i]);
	RUN(&r, "sh", "-c", script);
	file = contents("small/out");
	umount("small");
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: cannot write 'small/out': No space left"), 1);
	ck_assert_uint_gt(lines(file, ",page-faults,"), 10);
	ck_assert_uint_le(strlen(file), 8192);
	ck_assert_int_eq(file[strlen(file) - 1], '\n');
	/* These lines stand below a head of their own. */
	ck_assert_uint_eq(lines(r.err, ",event,"), 1);
	ck_assert_uint_gt(lines(r.err, ",page-faults,"), 10);
}
END_TEST

START_TEST(intervals_follow_a_full_device_with_their_heads)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex --csv -I 50 -e page-faults -o /dev/full sleep 0.3", EXITED(125));
	ck_assert_uint_eq(lines(r.err, "perfex: cannot write '/dev/full'"), 1);
	ck_assert_uint_eq(lines(r.err, "row,run,pass"), 1);
	ck_assert_uint_gt(lines(r.err, "interval,0,0,"), 4);
	ck_assert_uint_eq(lines(r.err, "summary,"), 5);
	expect(&r, "perfex -r 2 -I 50 -e page-faults -o /dev/full sleep 0.3 </dev/null",
	       EXITED(125));
	ck_assert_uint_eq(lines(r.err, "seconds                count  event"), 2);
	ck_assert_uint_gt(lines(r.err, "  page-faults"), 4);
}
END_TEST

/* The limit is 512 or 1024 bytes, depending on the shell. */
START_TEST(a_limit_of_file_sizes_is_as_a_full_device)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "{ (ulimit -f 1; perfex -I 5 -j -e page-faults -o big " COMMAND_RUNS
	       "; echo $? >status) 2>&1; } | cat",
	       0);
	ck_assert_str_eq(contents("status"), "125\n");
	ck_assert_uint_eq(lines(r.out, "done\n"), 1);
	ck_assert_uint_eq(lines(r.out, "perfex: cannot write 'big': File too large"), 1);
	ck_assert_uint_eq(lines(r.out, "\"perfex-run\""), 1);
	/* The command gets the signal, as without perfex. */
	expect(&r, "ulimit -f 1; perfex -e page-faults head -c 99999 /dev/zero >zeros",
	       EXITED(128 + SIGXFSZ));
}
END_TEST

/* One run is enough to know it. There are no others. */
START_TEST(a_delay_beyond_the_commands_end_is_told_once)
{
	static const struct {
		const char *options, *line;
	} cases[] = {
		{ "", "perfex: the command ended within the delay of 60000 ms: nothing was "
		      "counted\n" },
		{ "-r 2", "perfex: run 1 ended within the delay of 60000 ms: nothing was counted, "
			  "and there is no further run\n" },
	};
	char script[256];
	struct run r;

	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(script, sizeof(script),
			 "perfex %s -D 60000 -j -o out -e page-faults sh -c 'exit 3' </dev/null",
			 cases[i].options);
		expect(&r, script, EXITED(3));
		ck_assert_str_eq(r.err, cases[i].line);
		ck_assert_uint_eq(lines(contents("out"), "\"counts\":[0]"), 1);
		snprintf(script, sizeof(script),
			 "perfex %s -D 60000 --csv -o out -e page-faults true </dev/null",
			 cases[i].options);
		expect(&r, script, 0);
		ck_assert_str_eq(r.err, cases[i].line);
		/* The time stamp, the event and elapsed_ns: user_ns and system_ns are unknown. */
		ck_assert_uint_eq(lines(contents("out"), "total,0,0,"), 3);
	}
	/* A warm-up counts nothing anyway. */
	expect(&r, "perfex --warmup=2 -D 60000 -e page-faults true </dev/null", 0);
	ck_assert_uint_eq(lines(r.err, "perfex: "), 1);
	ck_assert_uint_eq(lines(r.err, cases[1].line), 1);
}
END_TEST

START_TEST(what_was_counted_before_a_run_within_the_delay_stays)
{
	struct run r;

	enter_directory();
	/* There is no mean with a 0 in it. */
	expect(&r,
	       "perfex -r 3 -D 300 --csv -o out -e page-faults sh -c "
	       "'[ -e ran ] || { touch ran; sleep 1; true; }' </dev/null",
	       0);
	ck_assert_str_eq(r.err, "perfex: run 2 ended within the delay of 300 ms: nothing was "
				"counted, and there is no further run\n");
	ck_assert_uint_eq(lines(contents("out"), "total,"), 3);
}
END_TEST

/* Otherwise a file or an event of perfex would take its place. */
START_TEST(closed_descriptors_are_nobody_elses)
{
	static const char *const printing[] = { "list", "info", "encode -e 0x4100c0 --pmu=nhm",
						"experiment --check x.yaml", "--version" };
	char script[128];
	struct run r;

	enter_directory();
	write_file("x.yaml", "directory: results\n"
			     "experiments: { faults: [page-faults] }\n"
			     "programs: { true: [/bin/true] }\n");
	for (size_t i = 0; i < ARRAY_SIZE(printing); i++) {
		snprintf(script, sizeof(script), "perfex %s >&-", printing[i]);
		expect(&r, script, EXITED(125));
		ck_assert_str_eq(r.err,
				 "perfex: cannot write to standard output: Bad file descriptor\n");
	}
	expect(&r, "perfex -e page-faults touch started 2>&-", EXITED(125));
	ck_assert_int_lt(access("started", F_OK), 0);
	/* The command finds them closed. */
	expect(&r,
	       "perfex -e page-faults -o out sh -c '! [ -e /proc/$$/fd/0 ] && ! [ -e /proc/$$/fd/1 ]' "
	       "<&- >&-",
	       0);
	ck_assert_uint_gt(printed_count(contents("out"), "page-faults"), 0);
	if (!has(PERFCTR_CAN_SESSION))
		return;
	expect(&r, "perfex system -e page-faults touch started >&-", EXITED(125));
	ck_assert_str_eq(r.err, "perfex: standard output is not open for writing\n");
	ck_assert_int_lt(access("started", F_OK), 0);
}
END_TEST

static const struct {
	const char *command, *line;
} missing[] = {
	{ "nonexistent",
	  "cannot execute 'nonexistent': No such file or directory, and no subcommand: see perfex --help" },
	{ "./nonexistent", "cannot execute './nonexistent': No such file or directory" },
	{ "run nonexistent", "cannot execute 'nonexistent': No such file or directory" },
	{ "mark nonexistent", "cannot execute 'nonexistent': No such file or directory" },
	{ "'sleep 0.1'",
	  "cannot execute 'sleep 0.1': No such file or directory; it is one word with a space in it: "
	  "type command and arguments as words of their own, or sh -c '...'" },
	{ "--user system true",
	  "cannot execute 'system': No such file or directory; a subcommand comes first: see perfex --help" },
};

START_TEST(a_command_that_is_not_there_is_told_with_what_was_meant)
{
	expect_line(missing[_i].command, EXITED(127), missing[_i].line);
}
END_TEST

/* The limit goes from the first file that perfex opens to the last one that counts. */
START_TEST(too_many_open_files_are_told_with_what_to_do)
{
	unsigned int refused = 0;

	enter_directory();
	for (unsigned int limit = 5; limit <= 16; limit++) {
		char script[96];
		struct run r;

		snprintf(script, sizeof(script),
			 "exec 2>errors; ulimit -n %u; exec perfex -e page-faults:u true", limit);
		RUN(&r, "sh", "-c", script);
		ck_assert(r.status == 0 || r.status == EXITED(125));
		if (r.status == 0)
			continue;
		ck_assert_msg(strstr(contents("errors"), "raise the limit by: ulimit -n 65536\n"),
			      "%u: %s", limit, contents("errors"));
		ck_assert_uint_eq(lines(contents("errors"), ""), 1);
		refused++;
	}
	ck_assert_uint_gt(refused, 2);
}
END_TEST

START_TEST(who_still_runs_is_one_or_several)
{
	struct run r;

	expect(&r, "perfex -e page-faults sh -c 'sleep 60 >/dev/null 2>&1 & true'", 0);
	ck_assert_uint_eq(lines(r.err, "perfex: 1 thread still runs; what was counted until now "
				       "is included"),
			  1);
}
END_TEST

TCase *perfex_tests(void)
{
	TCase *tests = tcase_create("perfex");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, a_command_that_may_not_be_read_is_refused, 0, 5);
	tcase_add_loop_test(tests, what_the_backend_lacks_is_named, 0, ARRAY_SIZE(lacking));
	tcase_add_test(tests, an_experiment_needs_no_pmu_for_the_operating_systems_events);
	tcase_add_test(tests, closed_descriptors_are_nobody_elses);
	tcase_add_test(tests, too_many_open_files_are_told_with_what_to_do);
	tcase_add_test(tests, a_delay_beyond_the_commands_end_is_told_once);
	tcase_add_loop_test(tests, a_command_that_is_not_there_is_told_with_what_was_meant, 0,
			    ARRAY_SIZE(missing));
	tcase_add_test(tests, who_still_runs_is_one_or_several);
	return tests;
}

TCase *perfex_clock_tests(void)
{
	TCase *tests = tcase_create("perfex");

	tcase_set_timeout(tests, 60);
	tcase_set_tags(tests, "clock");
	tcase_add_test(tests, a_full_device_ends_no_wait_for_the_command);
	tcase_add_loop_test(tests, a_file_that_becomes_full_ends_with_a_line, 0, 2);
	tcase_add_test(tests, intervals_follow_a_full_device_with_their_heads);
	tcase_add_test(tests, a_limit_of_file_sizes_is_as_a_full_device);
	tcase_add_test(tests, what_was_counted_before_a_run_within_the_delay_stays);
	return tests;
}
