// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex system on different CPUs: each has all counters of its CPU, whatever others count
 * elsewhere. If it gets none, it names their holder.
 */
#include "marks.h"
#include "perfex_shell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL_COUNTERS (0xfull | 7ull << PERFCTR_FIXED_BIT)
/* Four events that only general counters count, and one for each fixed counter. */
#define ALL_GENERAL(event) "-e " event " -e " event " -e " event " -e " event " "
#define FIXED_EVENTS "-e instructions:u -e cycles:u -e ref-cycles:u "
#define MARKED_USER "--policy marked,not-privileged "
#define INSTRUCTIONS_EVENT "0x004100c0"
#define BRANCHES_EVENT "0x004100c4"

/* Starts a shell command on this CPU. It runs until it is told to end. */
static pid_t start_on(int cpu, const char *script)
{
	pid_t pid = fork();

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, cpu);
		execlp("sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	return pid;
}

static void wait_for_sessions(uint64_t counters)
{
	while (pmu_info().session_counters != counters)
		sleep_us(1000);
}

static void end_process(pid_t pid)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGINT), 0);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
}

/* The count of the event on this counter, in CSV without CPUs. */
static uint64_t count_of(const char *text, const char *event)
{
	char wanted[64];
	const char *line;
	uint64_t count;

	snprintf(wanted, sizeof(wanted), ",,%s,", event);
	line = strstr(text, wanted);
	ck_assert_msg(line, "no %s in: %s", event, text);
	ck_assert_int_eq(sscanf(line + strlen(wanted), "%*[^,],%*[^,],%lu", &count), 1);
	return count;
}

static void expect_general(const char *text, const char *event, uint64_t count)
{
	char name[32];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s@%d", event, i);
		ck_assert_uint_eq(count_of(text, name), count);
	}
}

START_TEST(each_of_two_cpus_has_all_counters_for_events_of_its_own)
{
	struct run r;
	pid_t first;
	int status;

	enter_directory();
	first = start_on(0, "exec perfex system --csv -o first --cpus=0 " MARKED_USER
			 ALL_GENERAL(INSTRUCTIONS_EVENT) FIXED_EVENTS "$LONG");
	wait_for_sessions(ALL_COUNTERS);
	pin(0, 1);
	expect(&r, "perfex system --csv -o second --cpus=1 " MARKED_USER ALL_GENERAL(BRANCHES_EVENT)
	       FIXED_EVENTS "$LOOP", 0);
	ck_assert_str_eq(r.err, "");
	expect_general(contents("second"), BRANCHES_EVENT, LOOP_BRANCHES(SHORT_LOOP));
	ck_assert_uint_eq(count_of(contents("second"), "instructions:u"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(count_of(contents("second"), "cycles:u"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_int_eq(wait_for(first, &status), first);
	ck_assert_int_eq(status, 0);
	expect_general(contents("first"), INSTRUCTIONS_EVENT, LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(count_of(contents("first"), "instructions:u"),
			  LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(pmu_info().session_counters, 0);
}
END_TEST

/* Both have the same two counters, so that the others are left for threads. */
START_TEST(threads_are_counted_by_what_the_sessions_of_all_cpus_leave)
{
	pid_t first, second;
	struct run r;

	enter_directory();
	first = start_on(0, "exec perfex system -o first --cpus=0 -e 0x004300c0 -e 0x004300c4");
	wait_for_sessions(3);
	second = start_on(1, "exec perfex system -o second --cpus=1 -e 0x004300c4 -e 0x0043003c");
	/* Waits for the second session: its counters are those of the first. */
	do
		RUN(&r, "perfex", "info");
	while (lines(r.out, ": a session") < 2);
	ck_assert_uint_eq(pmu_info().session_counters, 3);
	ck_assert_uint_eq(lines(r.out, ": a session on CPUs 0, counters 0x3"), 1);
	ck_assert_uint_eq(lines(r.out, ": a session on CPUs 1, counters 0x3"), 1);
	expect(&r, "perfex -e " INSTRUCTIONS_EVENT " -e " BRANCHES_EVENT " $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.err, INSTRUCTIONS_EVENT "@2"),
			  LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(printed_count(r.err, BRANCHES_EVENT "@3"), LOOP_BRANCHES(SHORT_LOOP));

	/* A session of both CPUs has to avoid the counters of either. */
	expect(&r, "perfex system --csv --cpus=0,1 " MARKED_USER "-e " INSTRUCTIONS_EVENT " $LOOP",
	       0);
	ck_assert_uint_eq(count_of(r.out, INSTRUCTIONS_EVENT "@2"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	end_process(first);
	end_process(second);
}
END_TEST

START_TEST(what_threads_have_a_session_of_any_cpu_avoids)
{
	struct counted c = counted_start(0, COMMAND(program("loop-huge")),
					 EVENTS({ 1, USER(INSTRUCTIONS) }));
	struct run r;
	pid_t first;

	enter_directory();
	first = start_on(0, "exec perfex system -o first --cpus=0 -e 0x004300c0");
	wait_for_sessions(1);
	pin(0, 1);
	expect(&r, "perfex system --csv --cpus=1 " MARKED_USER "-e " INSTRUCTIONS_EVENT " -e "
	       BRANCHES_EVENT " $LOOP", 0);
	ck_assert_uint_eq(count_of(r.out, INSTRUCTIONS_EVENT "@0"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(count_of(r.out, BRANCHES_EVENT "@2"), LOOP_BRANCHES(SHORT_LOOP));
	end_process(first);
	kill_and_wait(c.pid);
	close(c.fd);
}
END_TEST

static void expect_refused(const char *script, const char *why)
{
	struct run r;

	expect(&r, script, EXITED(125));
	ck_assert_msg(strncmp(r.err, why, strlen(why)) == 0, "%s: %s", script, r.err);
	ck_assert_msg(strchr(r.err, '\n') == r.err + strlen(r.err) - 1, "%s", r.err);
}

START_TEST(where_sessions_have_all_counters_it_is_said_who_they_are)
{
	char who[256], why[512];
	pid_t first, second;
	struct run r;

	enter_directory();
	first = start_on(0, "exec perfex system -o first --cpus=0 -e 0x004300c0 -e 0x004300c4");
	wait_for_sessions(3);
	second = start_on(0, "exec perfex system -o second -e 0x004300c0 -e 0x004300c4 "
			  "-e instructions -e cycles -e ref-cycles");
	wait_for_sessions(ALL_COUNTERS);
	snprintf(who, sizeof(who),
		 "; held by process %d (perfex) of root: a session, counters 0x70000000c; held by "
		 "process %d (perfex) of root: a session on CPUs 0, counters 0x3; end them, or as "
		 "root: perfex revoke",
		 second, first);

	snprintf(why, sizeof(why),
		 "perfex: event 'instructions:u': sessions have all counters that can count it: 0, "
		 "1, 2, 3, 0x40000000%s\n", who);
	expect_refused("perfex -e instructions:u $LOOP", why);
	expect_refused("perfex mark -e instructions:u $LOOP", why);
	expect_refused("perfex system -e instructions:u $LOOP", why);
	expect_refused("perfex system --cpus=0 -e instructions:u $LOOP", why);
	snprintf(why, sizeof(why),
		 "perfex: the counters are busy: a session of perfctr has one of them, or wants one "
		 "that others use; see: perfex info%s\n", who);
	expect_refused("perfex -e 0x004100c0@3 $LOOP", why);

	/* On the CPU without the first session, counters are free. */
	pin(0, 1);
	snprintf(why, sizeof(why),
		 "perfex: events '0x004100c0', '0x004100c4' and '0x0041003c' conflict: only counters "
		 "0, 1 can count them; sessions have 2, 3; 2 passes are enough for all%s", who);
	expect_refused("perfex system --cpus=1 -e 0x004100c0 -e 0x004100c4 -e 0x0041003c $LOOP", why);
	expect(&r, "perfex system --csv --cpus=1 " MARKED_USER "-e 0x004100c0 -e 0x004100c4 $LOOP", 0);
	ck_assert_uint_eq(count_of(r.out, "0x004100c0@0"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(count_of(r.out, "0x004100c4@1"), LOOP_BRANCHES(SHORT_LOOP));

	/* Without events on the command line. */
	expect(&r, "perfex $LOOP", 0);
	snprintf(why, sizeof(why),
		 "perfex: event 'instructions': sessions have all counters that can count it: 0, 1, "
		 "2, 3, 0x40000000%s; left out: instructions, cycles, branches, branch-misses\n", who);
	ck_assert_msg(strncmp(r.err, why, strlen(why)) == 0, "%s", r.err);
	ck_assert_uint_gt(printed_count(r.err, "task-clock"), 0);
	expect(&r, "perfex info", 0);
	snprintf(why, sizeof(why),
		 "held by process %d (perfex) of root: a session on CPUs 0, counters 0x3\n", first);
	ck_assert_msg(strstr(r.out, why), "%s", r.out);
	end_process(second);
	end_process(first);
}
END_TEST

static void ask_as_nobody(void *unused)
{
	(void)unused;
	become_nobody();
	expect_refused("perfex -e instructions:u $LOOP",
		       "perfex: event 'instructions:u': sessions have all counters that can count "
		       "it: 0, 1, 2, 3, 0x40000000; root sees who, by: perfex info, and takes them "
		       "back by: perfex revoke\n");
}

START_TEST(an_ordinary_user_is_told_that_root_sees_who_has_them)
{
	pid_t pid;

	enter_directory();
	ck_assert_int_eq(chmod(".", 0755), 0);
	pid = start_on(0, "exec perfex system -o first " ALL_GENERAL("0x004300c0")
		       "-e instructions -e cycles -e ref-cycles");
	wait_for_sessions(ALL_COUNTERS);
	in_child(ask_as_nobody, NULL);
	end_process(pid);
}
END_TEST

SUITE(system_cpus,
      each_of_two_cpus_has_all_counters_for_events_of_its_own,
      threads_are_counted_by_what_the_sessions_of_all_cpus_leave,
      what_threads_have_a_session_of_any_cpu_avoids,
      where_sessions_have_all_counters_it_is_said_who_they_are,
      an_ordinary_user_is_told_that_root_sees_who_has_them)
