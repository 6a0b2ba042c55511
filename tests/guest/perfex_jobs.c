// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex run: signals from outside, jobs of the shell, daemons. */
#include "perfex_shell.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts perfex in a process group of its own, as a shell with job control does. */
static pid_t start_group(const char *script)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* libcheck's handler would end the test. */
		signal(SIGINT, SIG_DFL);
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(99);
	}
	setpgid(pid, pid);
	return pid;
}

/* Waits until the child has executed the program. */
static pid_t child_of(pid_t parent, const char *name)
{
	for (int i = 0; i < 600; i++) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;

		while ((entry = readdir(processes))) {
			char path[300], comm[32] = "";
			int pid, ppid;
			FILE *file;

			snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
			file = fopen(path, "r");
			if (!file)
				continue;
			if (fscanf(file, "%d (%31[^)]) %*c %d", &pid, comm, &ppid) != 3)
				ppid = 0;
			fclose(file);
			if (ppid == parent && strcmp(comm, name) == 0) {
				closedir(processes);
				return pid;
			}
		}
		closedir(processes);
		sleep_us(100000);
	}
	ck_abort_msg("process %d has no child %s", parent, name);
}

static void wait_for_lines(const char *path, unsigned int n)
{
	for (int i = 0; i < 600; i++) {
		if (access(path, F_OK) == 0 && lines(contents(path), "run") >= n)
			return;
		sleep_us(100000);
	}
	ck_abort_msg("no %u lines in %s", n, path);
}

START_TEST(an_interrupt_ends_the_repetitions_and_the_counts_are_printed)
{
	int status;
	pid_t pid;

	enter_directory();
	pid = start_group(
		"exec perfex -r 1000 -o out -e " EVENT
		" sh -c 'echo run >>started; [ $(wc -l <started) -lt 3 ] || exec sleep 1000'"
		" 2>err");
	wait_for_lines("started", 3);
	kill(-pid, SIGINT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%#x", status);
	ck_assert_msg(strstr(contents("err"), " died of signal 2 (Interrupt): no further run"),
		      "%s", contents("err"));
	ck_assert_uint_eq(printed_count(contents("out"), "runs"), 2);

	/* A command that does not die of the signal ends as it likes. There is no further run. */
	pid = start_group("exec perfex -r 1000 -o out sh -c 'trap told=1 INT; echo run >trapped; "
			  "until [ $told ]; do sleep 0.1; done; exit 0' 2>err");
	wait_for_lines("trapped", 1);
	kill(-pid, SIGINT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(contents("err"), "perfex: a signal ended the counting after run 1;"),
		      "%s", contents("err"));
}
END_TEST

START_TEST(a_job_that_is_stopped_and_continued_is_counted_exactly)
{
	int status;
	pid_t pid;

	enter_directory();
	pid = start_group("exec perfex -o out -e " EVENT " $LONG");
	child_of(pid, "loop-long");
	kill(-pid, SIGTSTP);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert_msg(WIFSTOPPED(status), "%#x", status);
	sleep_us(200000);
	kill(-pid, SIGCONT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(LONG_LOOP));
}
END_TEST

START_TEST(a_stopped_command_is_waited_for_and_a_killed_one_reported)
{
	int status;
	pid_t pid, command;

	enter_directory();
	pid = start_group("exec perfex -o out -I 50 -e " EVENT " $LONG");
	command = child_of(pid, "loop-long");
	kill(command, SIGSTOP);
	sleep_us(500000);
	ck_assert_int_eq(waitpid(pid, &status, WNOHANG | WUNTRACED), 0);
	kill(command, SIGCONT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(LONG_LOOP));

	pid = start_group("exec perfex -o out -e " EVENT " $HUGE");
	kill(child_of(pid, "loop-huge"), SIGKILL);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, SIGKILL);
	ck_assert_uint_lt(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(HUGE_LOOP));
}
END_TEST

/* As a daemon does it: its parent is gone before the program runs. */
START_TEST(a_command_that_forks_twice_is_counted_with_its_daemon)
{
	struct run r;
	const char *daemon;

	enter_directory();
	expect(&r, "perfex --wait --per-process -o out -e " EVENT " sh -c '(setsid $LOOP &) &'",
	       0);
	daemon = strstr(contents("out"), "  loop\n");
	ck_assert_msg(daemon, "%s", contents("out"));
	/* The process also counts the fork of the shell, until it executes the loop. */
	ck_assert_uint_ge(printed_count(daemon, EVENT), 2000004);
	ck_assert(!strstr(contents("out"), "members"));
	expect(&r,
	       "perfex -o out -e " EVENT
	       " sh -c '(setsid sleep 20 >/dev/null 2>&1 &) & wait; sleep 1' 2>err",
	       0);
	ck_assert_uint_eq(printed_count(contents("out"), "members"), 1);
}
END_TEST

/* asm/chain.S explains the count: the command itself executes 5 instructions. */
#define CHAIN 2000115ull

START_TEST(orphans_are_waited_for_where_it_is_asked)
{
	char script[512];
	struct run r;

	enter_directory();
	setenv("CHAIN", program("chain"), 1);
	for (int i = 0; i < 5; i++) {
		expect(&r, "perfex --wait -o out -e " EVENT " $CHAIN", 0);
		ck_assert_str_eq(r.err, "");
		ck_assert_uint_eq(printed_count(contents("out"), EVENT), CHAIN);
		ck_assert(!strstr(contents("out"), "members"));
	}
	expect(&r, "perfex --wait --per-process -o out -e " EVENT " $CHAIN", 0);
	ck_assert_uint_eq(lines(contents("out"), "  chain"), 11);
	snprintf(script, sizeof(script),
		 "perfex --wait -r 3 --json -o out -e " EVENT " $CHAIN && grep -c '\"counts\":\\["
		 "%llu,%llu,%llu\\]' out",
		 CHAIN, CHAIN, CHAIN);
	expect(&r, script, 0);
}
END_TEST

#define STILL_RUNS "perfex: 1 thread still runs; what was counted until now is included"

START_TEST(a_wait_ends_by_a_signal_or_the_time)
{
	struct run r;

	enter_directory();
	expect(&r, "perfex -o out -e " EVENT " sh -c '(setsid sleep 20 >/dev/null 2>&1 &)'", 0);
	ck_assert_str_eq(r.err, STILL_RUNS "; --wait counts to the end\n");
	expect(&r,
	       "perfex --wait --timeout=5000 -o out -e " EVENT
	       " sh -c '(setsid sleep 100 >/dev/null 2>&1 &)'",
	       0);
	ck_assert_str_eq(r.err, STILL_RUNS "\n");
	expect(&r,
	       "perfex --wait -o out -e " EVENT
	       " sh -c '(setsid sh -c \"sleep 4; kill \\$0; exec sleep 100\" $PPID >/dev/null 2>&1 &)'",
	       0);
	ck_assert_str_eq(r.err, STILL_RUNS "\n");
	expect(&r, "perfex --wait --self -e " EVENT " true", EXITED(125));
	ck_assert_str_eq(r.err, "perfex: --wait and --self exclude each other: --self counts "
				"nothing that outlives the command\n");
}
END_TEST

/* As strace -f does. Returns the exit status of pid. */
static int follow(pid_t pid)
{
	pid_t stopped;
	int status;

	ck_assert(ptrace(PTRACE_SETOPTIONS, pid, NULL,
			 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE) == 0);
	ptrace(PTRACE_CONT, pid, NULL, 0);
	for (;;) {
		stopped = waitpid(-1, &status, __WALL);
		ck_assert_int_gt(stopped, 0);
		if (stopped == pid && !WIFSTOPPED(status))
			return status;
		/* No other signal comes than those of tracing and SIGKILL. */
		ptrace(PTRACE_CONT, stopped, NULL, 0);
	}
}

START_TEST(a_tracer_of_perfex_is_named)
{
	const char *const command[] = { "/bin/sh", "-c",
					"exec perfex -o out -e " EVENT " true 2>err", NULL };
	char expected[256];

	enter_directory();
	ck_assert_int_eq(follow(stopped_start(ANY_CPU, command)), EXITED(125));
	snprintf(expected, sizeof(expected),
		 "perfex: cannot trace the command: process %d (guest-tests) traces perfex and "
		 "what it starts; let perfex start guest-tests, and count it, too: perfex "
		 "guest-tests COMMAND\n",
		 getpid());
	ck_assert_str_eq(contents("err"), expected);
	ck_assert_int_eq(access("out", F_OK), -1);
}
END_TEST

/* As in gdb: the debugger goes on tracing the process while perfex counts it. */
START_TEST(a_process_that_a_debugger_holds_is_counted_exactly)
{
	const char *const command[] = { program("loop"), NULL };
	pid_t traced = stopped_start(ANY_CPU, command), counting;
	char script[128];
	bool counted = false;
	int status, context;

	enter_directory();
	snprintf(script, sizeof(script), "exec perfex -o out -e " EVENT " -p %d", traced);
	counting = start_group(script);
	for (int i = 0; !counted; i++) {
		ck_assert_int_lt(i, 600);
		sleep_us(100000);
		context = try_context_open(traced, 0);
		if (context < 0)
			continue;
		counted = context_read(context).n_counters;
		close(context);
	}
	ck_assert_int_eq(ptrace(PTRACE_CONT, traced, NULL, 0), 0);
	ck_assert_int_eq(wait_for(traced, &status), traced);
	ck_assert_int_eq(wait_for(counting, &status), counting);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(printed_count(contents("out"), EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

SUITE(perfex_jobs, orphans_are_waited_for_where_it_is_asked,
      an_interrupt_ends_the_repetitions_and_the_counts_are_printed,
      a_command_that_forks_twice_is_counted_with_its_daemon, a_tracer_of_perfex_is_named,
      a_process_that_a_debugger_holds_is_counted_exactly,
      BY_THE_CLOCK, a_wait_ends_by_a_signal_or_the_time,
      a_job_that_is_stopped_and_continued_is_counted_exactly,
      a_stopped_command_is_waited_for_and_a_killed_one_reported)
