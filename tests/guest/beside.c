// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A machine on which perf_events counts and samples all the time. perfctr never takes counters from
 * perf_events: it takes them in the moments when perf_events has none, and gives them back. A
 * caller that comes second is told the holder. perf_beside.c checks that perf_events loses nothing.
 */
#include "marks.h"
#include "perf_beside.h"
#include "perfex_shell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAUSE_US 50

/* Tries until perf_events has no counters. Returns how often it was refused. */
static unsigned int take_between(int fd, const struct event *events, size_t n)
{
	unsigned int refused = 0;

	while (try_context_control(fd, events, n) < 0) {
		EXPECT(errno == EBUSY);
		refused++;
		sleep_us(PAUSE_US);
	}
	return refused;
}

/* Counts a program with all counters, from its first instruction to its last. */
static unsigned int count_between(int cpu)
{
	struct counted c = { .pid = stopped_start(cpu, COMMAND(program("loop"))) };
	struct event events[N_COUNTERS];
	size_t n = all_counters(events);
	struct perfctr_counts counts;
	unsigned int refused;
	int status;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	refused = take_between(c.fd, events, n);
	stopped_go(c.pid);
	counts = counted_finish(&c, &status);
	EXPECT(status == 0);
	/* The emulated machine retires one instruction per cycle. */
	for (size_t i = 0; i < n; i++)
		EXPECT(counts.counter[i] == LOOP_INSTRUCTIONS(SHORT_LOOP));
	return refused;
}

/*
 * The first test on this machine: the NMI watchdog had the counters when the driver was loaded, so
 * the driver tries them only now.
 */
START_TEST(counters_are_tried_in_the_first_moment_where_perf_events_has_none)
{
	struct perfctr_pmu_info before = pmu_info(), after;

	perf_beside_set(PERF_BY_TURNS);
	count_between(0);
	after = pmu_info();
	ck_assert_str_eq(after.family, "Intel architectural PerfMon v3");
	ck_assert_uint_eq(after.features, before.features);
	ck_assert_uint_eq(after.n_general, 4);
	ck_assert_uint_eq(after.n_fixed, 3);
	perf_beside_wait(2);
}
END_TEST

static struct perfctr_control stopped_control(void)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));

	control.flags = PERFCTR_CONTROL_STOPPED;
	return control;
}

static void expect_busy(int result)
{
	ck_assert_int_eq(result, -1);
	ck_assert_int_eq(errno, EBUSY);
}

START_TEST(whatever_perf_events_has_all_the_time_nobody_gets)
{
	struct perfctr_control control = stopped_control();
	int context = context_open(0, PERFCTR_OPEN_CREATE), session = session_open(-1, 0);
	struct counted other = { .pid = stopped_start(1, COMMAND(program("loop"))) };

	perf_beside_set(PERF_ALL_THE_TIME);
	expect_holder(PERFCTR_HOLDER_OTHER);
	for (unsigned int i = 0; i < N_COUNTERS; i++) {
		control = control_of(EVENTS({ counter_index[i], USER(0) }));
		expect_busy(ioctl(context, PERFCTR_IOC_CONTROL, &control));
		ck_assert_uint_eq(control.bad_reason, 0);
		expect_busy(try_session_control(
			session, SESSION_EVENTS({ { counter_index[i], USER(0) }, 0 }), &control));
		ck_assert_uint_eq(control.bad_reason, 0);
	}
	other.fd = context_open(other.pid, PERFCTR_OPEN_CREATE);
	expect_busy(try_context_control(other.fd, EVENTS({ 0, USER(INSTRUCTIONS) })));

	/* A stopped context or session may have a control, and time needs no counter. */
	control = stopped_control();
	ck_assert_int_eq(ioctl(context, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_CONTROL, &control), 0);
	expect_busy(ioctl(context, PERFCTR_IOC_START));
	expect_busy(ioctl(session, PERFCTR_IOC_START));
	ck_assert(!(context_read(context).flags & PERFCTR_COUNTS_STARTED));
	ck_assert_uint_eq(context_read(context).counter[0], 0);
	context_control(other.fd, NULL, 0);
	stopped_go(other.pid);
	expect_success(other.pid);
	ck_assert_uint_gt(context_read(other.fd).tsc, LOOP_INSTRUCTIONS(SHORT_LOOP));
	perf_beside_wait(2);
	close(other.fd);

	/* As soon as perf_events has none, callers that were refused before get the counters. */
	perf_beside_set(PERF_BY_TURNS);
	while (ioctl(context, PERFCTR_IOC_START) < 0) {
		ck_assert_int_eq(errno, EBUSY);
		sleep_us(PAUSE_US);
	}
	spin(1000);
	ck_assert_uint_gt(context_read(context).counter[0], 1000);
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	close(session);
	close(context);
	perf_beside_wait(2);
}
END_TEST

/* Runs a process on each CPU that calls without_end(), for so many rounds of perf_events. */
static void do_on_both_cpus(void (*without_end)(int cpu), unsigned int rounds)
{
	pid_t pid[2];
	int status;

	for (int cpu = 0; cpu < 2; cpu++) {
		pid[cpu] = fork();
		ck_assert(pid[cpu] >= 0);
		if (!pid[cpu])
			without_end(cpu);
	}
	perf_beside_wait(rounds);
	for (int cpu = 0; cpu < 2; cpu++) {
		ck_assert_int_eq(kill(pid[cpu], SIGKILL), 0);
		ck_assert_int_eq(wait_for(pid[cpu], &status), pid[cpu]);
		ck_assert_int_eq(status, SIGKILL);
	}
}

static void ask_all_the_time(int cpu)
{
	struct perfctr_control control;
	int context, session;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, cpu);
	context = context_open(0, PERFCTR_OPEN_CREATE);
	session = session_open(-1, 0);
	for (;;) {
		EXPECT(try_context_control(context, EVENTS({ 0, USER(INSTRUCTIONS) })) == -1);
		EXPECT(errno == EBUSY);
		EXPECT(try_session_control(session,
					   SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }),
					   &control) == -1);
		EXPECT(errno == EBUSY);
		pmu_info();
	}
}

START_TEST(who_asks_all_the_time_gets_nothing_and_perf_events_loses_nothing)
{
	perf_beside_set(PERF_ALL_THE_TIME);
	do_on_both_cpus(ask_all_the_time, test_rounds(3));
}
END_TEST

static void count_by_session_between(void)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	struct perfctr_control control;

	while (try_session_control(session,
				   SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
						  { { 1, USER(BRANCHES) }, 0 }),
				   &control) < 0) {
		ck_assert_int_eq(errno, EBUSY);
		ck_assert_uint_eq(control.bad_reason, 0);
		sleep_us(PAUSE_US);
	}
	for (int cpu = 0; cpu < 2; cpu++)
		expect_success(marked_start(mark_fd, cpu, COMMAND(program("loop"))));
	ck_assert_uint_eq(context_read(session).counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(context_read(session).counter[1], 2 * LOOP_BRANCHES(SHORT_LOOP));
	close(session);
	close(mark_fd);
}

#define TURNS 5

START_TEST(by_turns_each_counts_exactly_and_gives_the_counters_back)
{
	unsigned int refused = 0;
	uint32_t theirs;

	perf_beside_set(PERF_BY_TURNS);
	theirs = perf_beside()->refused;
	for (unsigned int turn = 0; turn < test_rounds(TURNS); turn++) {
		refused += count_between(turn & 1);
		count_by_session_between();
		/* The next count begins in a turn of perf_events, and is refused at first. */
		perf_beside_wait(1);
	}
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_gt(perf_beside()->refused, theirs);
}
END_TEST

/* Takes the counters as often as possible, and holds them for a moment. */
static void take_all_the_time(int cpu)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, cpu);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	for (;;) {
		uint64_t before;

		take_between(fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(INSTRUCTIONS) }));
		before = context_read(fd).counter[0];
		spin(1000);
		EXPECT(context_read(fd).counter[0] > before + 1000);
		context_control(fd, NULL, 0);
		sleep_us(PAUSE_US);
	}
}

START_TEST(in_a_race_for_the_counters_nobody_loses_counts)
{
	perf_beside_set(PERF_BY_TURNS);
	do_on_both_cpus(take_all_the_time, test_rounds(TURNS));
}
END_TEST

/* perf_beside.c checks the counts of perf_events meanwhile. */
START_TEST(who_gives_them_back_keeps_perf_events_out_no_longer)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint32_t refused;

	perf_beside_set(PERF_BY_TURNS);
	take_between(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	refused = perf_beside()->refused;
	while (perf_beside()->refused < refused + 3)
		sleep_us(PAUSE_US);
	close(fd);
	refused = perf_beside()->refused;
	perf_beside_wait(2);
	/* perf_events may have tried just before the close. */
	ck_assert_uint_le(perf_beside()->refused, refused + 1);
}
END_TEST

START_TEST(a_running_process_is_counted_from_such_a_moment_on)
{
	struct counted c = { .pid = spawn(COMMAND(program("loop-huge"))) };
	uint64_t before;

	perf_beside_set(PERF_BY_TURNS);
	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	take_between(c.fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) }));
	foreign_wait(&c, 1000000);
	before = context_read(c.fd).counter[0];
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_STOP), 0);
	perf_beside_wait(1);
	ck_assert_uint_ge(context_read(c.fd).counter[0], before);
	before = context_read(c.fd).counter[0];
	while (ioctl(c.fd, PERFCTR_IOC_START) < 0) {
		ck_assert_int_eq(errno, EBUSY);
		sleep_us(PAUSE_US);
	}
	foreign_wait(&c, 1000000);
	ck_assert_uint_gt(context_read(c.fd).counter[0], before + 1000000);
	kill_and_wait(c.pid);
	close(c.fd);
	perf_beside_wait(1);
}
END_TEST

#define BUSY                                                                                       \
	"perfex: the counters are busy: perf_events holds them, or Processor Trace or KVM uses "   \
	"them; end the running perf session, or see perfctr(4)"

#define LEFT_OUT BUSY "; left out: instructions, cycles, branches, branch-misses\n"

/* Runs the script, of which perf_events counts the events, and perfex says why. */
static void expect_perf_events(struct run *r, const char *script)
{
	static const char line[] = BUSY "; until then perf_events counts\n";

	expect(r, script, 0);
	ck_assert_msg(strncmp(r->err, line, strlen(line)) == 0, "%s: %s", script, r->err);
}

/*
 * One event each: for more, perf_events takes counters from the process beside the tests for a
 * while, and that counts no longer exactly. The suite screens has more events.
 */
START_TEST(perfex_counts_by_perf_events_and_says_why)
{
	static const char *const exact[] = {
		"perfex -e instructions:u $LOOP",
		"perfex mark -e instructions:u $LOOP",
	};
	static const char *const other[] = {
		"perfex -e instructions:u -p $$ sleep 1",
		"perfex system -e instructions:u sleep 1",
		"perfex system --cpus=1 -e instructions:u sleep 1",
	};
	struct run r;

	perf_beside_set(PERF_ALL_THE_TIME);
	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		expect_perf_events(&r, exact[i]);
		ck_assert_uint_eq(printed_count(r.err, "instructions:u"),
				  LOOP_INSTRUCTIONS(SHORT_LOOP));
	}
	expect_perf_events(&r, "perfex -e " EVENT " $LOOP");
	ck_assert_uint_eq(printed_count(r.err, EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		expect_perf_events(&r, other[i]);
	perf_beside_wait(1);
}
END_TEST

START_TEST(perfex_says_that_perf_events_has_them_and_what_to_do)
{
	static const char *const refused[] = {
		"perfex --backend=patch -e instructions:u $LOOP",
		"PERFCTR_BACKEND=patch perfex -e instructions:u $LOOP",
		"perfex trace -o trace -e instructions:u $LOOP",
		"perfex record -o samples -e instructions:u $LOOP",
	};
	struct run r;

	perf_beside_set(PERF_ALL_THE_TIME);
	enter_directory();
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		expect(&r, refused[i], EXITED(125));
		ck_assert_msg(strcmp(r.err, BUSY "\n") == 0, "%s: %s", refused[i], r.err);
	}
	expect(&r, "perfex info", 0);
	ck_assert_msg(strstr(r.out, "counters held by: perf_events or the NMI watchdog\n"), "%s",
		      r.out);
	/* Events that need no counter are counted by the driver, and the others have a reason. */
	expect(&r, "perfex --backend=patch $LOOP", 0);
	ck_assert_msg(strncmp(r.err, LEFT_OUT, strlen(LEFT_OUT)) == 0, "%s", r.err);
	ck_assert_uint_gt(printed_count(r.err, "task-clock"), 0);
	ck_assert_uint_eq(lines(r.err, " not counted: others have the counters"), 4);
	expect(&r, "perfex -e page-faults $LOOP", 0);
	ck_assert_msg(strncmp(r.err, "tsc ", 4) == 0, "%s", r.err);
	ck_assert_msg(strstr(r.err, " patch\n"), "%s", r.err);
	perf_beside_wait(1);
}
END_TEST

START_TEST(perf_events_own_backend_counts_exactly_beside_it)
{
	struct run r;

	perf_beside_set(PERF_ALL_THE_TIME);
	enter_directory();
	expect(&r, "perfex --backend=perf_events -e instructions:u $LOOP", 0);
	ck_assert_uint_eq(printed_count(r.err, "instructions:u"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	perf_beside_wait(1);
}
END_TEST

START_TEST(perfex_counts_exactly_in_a_moment_where_perf_events_has_none)
{
	struct run r;

	perf_beside_set(PERF_BY_TURNS);
	enter_directory();
	/* "Busy" is the only reason for which a caller may be refused. */
	do
		RUN(&r, "sh", "-c", "perfex --backend=patch -e instructions:u -e branches:u $LOOP");
	while (r.status == EXITED(125) && strcmp(r.err, BUSY "\n") == 0);
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_uint_eq(printed_count(r.err, "instructions:u"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(printed_count(r.err, "branches:u"), LOOP_BRANCHES(SHORT_LOOP));
	perf_beside_wait(1);
}
END_TEST

SUITE(beside, counters_are_tried_in_the_first_moment_where_perf_events_has_none,
      whatever_perf_events_has_all_the_time_nobody_gets,
      who_asks_all_the_time_gets_nothing_and_perf_events_loses_nothing,
      by_turns_each_counts_exactly_and_gives_the_counters_back,
      in_a_race_for_the_counters_nobody_loses_counts,
      who_gives_them_back_keeps_perf_events_out_no_longer,
      a_running_process_is_counted_from_such_a_moment_on,
      perfex_counts_by_perf_events_and_says_why,
      perfex_says_that_perf_events_has_them_and_what_to_do,
      perf_events_own_backend_counts_exactly_beside_it,
      perfex_counts_exactly_in_a_moment_where_perf_events_has_none)
