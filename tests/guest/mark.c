// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex mark, as a user runs it. The expected counts are those of asm/tree.S and asm/loop.S. */
#include "marks.h"
#include "tree.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTIONS_ANY "0x004100c0"

static void expect_run(const struct run *r, int status)
{
	ck_assert_msg(r->status == status, "wait status %#x\n%s%s", r->status, r->out, r->err);
}

static void expect_line(const struct run *r, const char *text)
{
	ck_assert_msg(strstr(r->err, text) && strchr(r->err, '\n') == r->err + strlen(r->err) - 1,
		      "expected one line with \"%s\":\n%s", text, r->err);
}

START_TEST(a_marked_command_is_counted_with_all_it_makes_and_competitors_add_nothing)
{
	struct run r;

	competitors_start(2);
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, "-e", "branches", program("tree"),
	    program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_ANY "@0"), TREE_INSTRUCTIONS);
	ck_assert_uint_gt(printed_count(r.err, "tsc"), 0);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
}
END_TEST

START_TEST(the_last_process_is_waited_for_unless_no_wait)
{
	struct run r;

	setenv("LONG", program("loop-long"), 1);
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, "sh", "-c", "$LONG & exit 3");
	expect_run(&r, EXITED(3));
	ck_assert_uint_gt(printed_count(r.err, INSTRUCTIONS_ANY "@0"), LOOP_INSTRUCTIONS(LONG_LOOP));

	RUN(&r, "perfex", "mark", "--no-wait", "-e", INSTRUCTIONS_ANY, "sh", "-c", "$LONG & exit 3");
	expect_run(&r, EXITED(3));
	ck_assert_uint_lt(printed_count(r.err, INSTRUCTIONS_ANY "@0"), LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(printed_count(r.err, "members"), 1);
	ck_assert_msg(strstr(r.err, "perfex: 1 thread bore the mark at the end"), "%s", r.err);
}
END_TEST

START_TEST(running_processes_are_counted_while_a_command_runs)
{
	pid_t pids[] = { marked_start(-1, 0, COMMAND(program("loop-huge"))),
			 marked_start(-1, 1, COMMAND(program("loop-huge"))) };
	char first[16], second[16];
	struct run r;

	snprintf(first, sizeof(first), "%d", pids[0]);
	snprintf(second, sizeof(second), "%d", pids[1]);
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, "-p", first, "-p", second, "sleep", "0.2");
	expect_run(&r, 0);
	ck_assert_uint_gt(printed_count(r.err, INSTRUCTIONS_ANY "@0"), 100000);
	ck_assert_uint_eq(printed_count(r.err, "members"), 2);
	/* Both processes go on, without a mark. */
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		ck_assert_int_eq(kill(pids[i], 0), 0);
		ck_assert_uint_eq(mark_of(pids[i]), 0);
	}

	/* One process cannot be marked: so none is marked, and no command runs. */
	RUN(&r, "perfex", "mark", "-p", first, "-p", "4000000", "echo", "started");
	expect_run(&r, EXITED(125));
	expect_line(&r, "there is no process 4000000");
	ck_assert_str_eq(r.out, "");
	ck_assert_uint_eq(mark_of(pids[0]), 0);
	kill(pids[0], SIGKILL);
	kill(pids[1], SIGKILL);
}
END_TEST

START_TEST(sigint_ends_the_counting_of_a_running_process)
{
	pid_t pid = marked_start(-1, 0, COMMAND(program("loop-huge")));
	char script[256];
	struct run r;

	/* The signal comes a second after the mark, however long perfex took to set it. */
	snprintf(script, sizeof(script),
		 "(until perfex mark --list | grep -q %d; do :; done; sleep 1; kill -INT $$) & "
		 "exec perfex mark -e %s -p %d",
		 pid, INSTRUCTIONS_ANY, pid);
	RUN(&r, "sh", "-c", script);
	expect_run(&r, 0);
	ck_assert_uint_gt(printed_count(r.err, INSTRUCTIONS_ANY "@0"), 100000);
	kill(pid, SIGKILL);
}
END_TEST

START_TEST(marks_are_listed_and_cleared)
{
	int mark_fd = mark_open();
	pid_t pid = marked_start(mark_fd, ANY_CPU, COMMAND(program("loop-huge")));
	pid_t other = marked_start(mark_fd, ANY_CPU, COMMAND(program("loop-huge")));
	char line[128], number[16];
	struct run r;

	snprintf(number, sizeof(number), "%d", pid);
	snprintf(line, sizeof(line), "%8llu %8d %8d  loop-huge\n", (unsigned long long)mark_of(pid),
		 pid, 1);
	RUN(&r, "perfex", "mark", "--list");
	expect_run(&r, 0);
	ck_assert_msg(strstr(r.out, line), "no \"%s\" in:\n%s", line, r.out);

	RUN(&r, "perfex", "mark", "--clear", "-p", number);
	expect_run(&r, 0);
	ck_assert_str_eq(r.out, "1 threads have lost their mark\n");
	ck_assert_uint_eq(mark_of(pid), 0);
	ck_assert_uint_eq(mark_members(mark_fd), 1);

	RUN(&r, "perfex", "mark", "--clear");
	expect_run(&r, 0);
	ck_assert_str_eq(r.out, "1 threads have lost their mark\n");
	ck_assert_uint_eq(mark_members(mark_fd), 0);
	RUN(&r, "perfex", "mark", "--list");
	ck_assert_str_eq(r.out, "    mark      pid  threads  name\n");
	kill(pid, SIGKILL);
	kill(other, SIGKILL);
	close(mark_fd);
}
END_TEST

START_TEST(the_exit_status_is_the_command_s)
{
	struct run r;

	RUN(&r, "perfex", "mark", program("die-9"));
	expect_run(&r, SIGKILL);
	RUN(&r, "perfex", "mark", "no-such-command");
	expect_run(&r, EXITED(127));
	expect_line(&r, "cannot execute 'no-such-command'");
	RUN(&r, "perfex", "mark", "/dev/null");
	expect_run(&r, EXITED(126));
	ck_assert_uint_eq(pmu_info().session_counters, 0);
}
END_TEST

static void as_nobody(void *unused)
{
	struct run r;

	(void)unused;
	become_nobody();
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, program("loop"));
	EXPECT(r.status == 0);
	EXPECT(printed_count(r.err, INSTRUCTIONS_ANY "@0") == LOOP_INSTRUCTIONS(SHORT_LOOP));

	RUN(&r, "perfex", "mark", "--kernel", "-e", "instructions", "echo", "started");
	EXPECT(r.status == EXITED(125) && !*r.out);
	EXPECT(strstr(r.err, "CAP_PERFMON"));

	RUN(&r, "perfex", "mark", "-e", "0x4100c0", "-e", "0x4100c4", "-e", "0x4100c0", "echo",
	    "started");
	EXPECT(r.status == EXITED(125) && !*r.out);
	EXPECT(strstr(r.err, "user_session_counters"));

	RUN(&r, "perfex", "mark", "-p", "1", "echo", "started");
	EXPECT(r.status == EXITED(125) && !*r.out);
	EXPECT(strstr(r.err, "no permission to change the mark of process 1;"));
}

START_TEST(a_user_counts_what_is_his_in_user_mode_on_two_counters)
{
	in_child(as_nobody, NULL);
}
END_TEST

START_TEST(kernel_mode_is_counted_for_those_who_may)
{
	struct run r;

	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, "-e", "0x004200c0", "-e", "0x004300c0",
	    program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_ANY "@0"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_gt(printed_count(r.err, "0x004200c0@1"), 0);
	ck_assert_uint_eq(printed_count(r.err, "0x004300c0@2"),
			  printed_count(r.err, INSTRUCTIONS_ANY "@0") +
				  printed_count(r.err, "0x004200c0@1"));
}
END_TEST

START_TEST(counters_that_others_use_are_left_to_them)
{
	int context = context_open(0, PERFCTR_OPEN_CREATE);
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	struct run r;

	context_control(context, EVENTS({ 0, USER(INSTRUCTIONS) }));
	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_ANY "@2"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	RUN(&r, "perfex", "-e", INSTRUCTIONS_ANY, "-e", INSTRUCTIONS_ANY, program("loop"));
	expect_run(&r, 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_ANY "@0"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_ANY "@2"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	/* An event that asks for a taken counter is refused, with the reason. */
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY "@1", "echo", "started");
	expect_run(&r, EXITED(125));
	expect_line(&r, "event " INSTRUCTIONS_ANY "@1: its counter is taken by");
	ck_assert_str_eq(r.out, "");
	close(session);
	close(mark_fd);
	close(context);
}
END_TEST

START_TEST(who_bears_a_mark_gets_no_other)
{
	struct run r;

	RUN(&r, "perfex", "mark", "-o", "/dev/null", "perfex", "mark", "echo", "started");
	expect_run(&r, EXITED(125));
	expect_line(&r, "bears another mark");
	ck_assert_str_eq(r.out, "");
}
END_TEST

START_TEST(the_counts_are_a_document_like_that_of_run)
{
	char expected[128];
	struct run r;

	RUN(&r, "perfex", "mark", "--json", "-e", INSTRUCTIONS_ANY, program("loop"));
	expect_run(&r, 0);
	snprintf(expected, sizeof(expected), "\"counts\":[%llu]",
		 (unsigned long long)LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_msg(strstr(r.err, "\"schema\":\"perfex-run\"") &&
			      strstr(r.err, "\"view\":\"marked\"") &&
			      strstr(r.err, "\"consistent\":true") && strstr(r.err, expected),
		      "%s", r.err);
	RUN(&r, "perfex", "mark", "--csv", "-e", INSTRUCTIONS_ANY, program("loop"));
	snprintf(expected, sizeof(expected), "total,0,0,,,,," INSTRUCTIONS_ANY "@0,0x0,user,%llu,",
		 (unsigned long long)LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_msg(strstr(r.err, expected), "%s", r.err);
}
END_TEST

START_TEST(bad_command_lines_are_one_line)
{
	static const struct {
		const char *arguments, *message;
	} bad[] = {
		{ "", "no command and no process given" },
		{ "--list --clear", "--list and --clear exclude each other" },
		{ "--list -p 1", "--list shows all marked processes; leave out --pid" },
		{ "--list echo started", "--list counts nothing" },
		{ "--clear -e cycles", "--clear counts nothing" },
		{ "--tree echo started", "--tree is for running processes" },
		{ "--no-wait -p 1 echo started", "--no-wait and --pid exclude each other" },
		{ "-p x echo started", "'x' is not a process number" },
		{ "--user --both echo started", "--user and --both exclude each other" },
		{ "--append echo started", "--append needs a file" },
		{ "-e no-such-event echo started", "event 'no-such-event'" },
		{ "-e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e 0x4100c0 -e 0x4100c0 echo started",
		  "a session counts all events at once: leave some out" },
	};
	char script[256];
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(script, sizeof(script), "perfex mark %s", bad[i].arguments);
		RUN(&r, "sh", "-c", script);
		expect_run(&r, EXITED(125));
		expect_line(&r, bad[i].message);
		ck_assert_str_eq(r.out, "");
	}
}
END_TEST

/* A mark has counters of its own, and a context of the thread has others. */
START_TEST(a_marked_program_may_count_itself)
{
	struct run r;

	setenv("LOOP", program("loop"), 1);
	RUN(&r, "perfex", "mark", "-e", INSTRUCTIONS_ANY, "sh", "-c",
	    "perfex -o inside -e " INSTRUCTIONS_ANY " $LOOP && cat inside >&2");
	expect_run(&r, 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_ANY "@1"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_gt(printed_count(r.err, INSTRUCTIONS_ANY "@0"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	unlink("inside");
}
END_TEST

SUITE(mark,
      a_marked_command_is_counted_with_all_it_makes_and_competitors_add_nothing,
      the_last_process_is_waited_for_unless_no_wait,
      running_processes_are_counted_while_a_command_runs,
      marks_are_listed_and_cleared,
      the_exit_status_is_the_command_s,
      a_user_counts_what_is_his_in_user_mode_on_two_counters,
      kernel_mode_is_counted_for_those_who_may,
      counters_that_others_use_are_left_to_them,
      a_marked_program_may_count_itself,
      who_bears_a_mark_gets_no_other,
      the_counts_are_a_document_like_that_of_run,
      bad_command_lines_are_one_line,
      BY_THE_CLOCK,
      sigint_ends_the_counting_of_a_running_process)
