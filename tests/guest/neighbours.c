// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of one user at full speed for another: interrupts and time. charges.c tests memory. */
#include "marks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define CALLS 200

static int user_session(int mark_fd)
{
	int session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);

	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	return session;
}

static void user_reads(void *unused)
{
	int session;

	(void)unused;
	pin(0, 0);
	become_nobody();
	session = user_session(mark_open());
	for (int i = 0; i < CALLS; i++)
		context_read(session);
}

/*
 * The number of function calls by which fn interrupts CPU 1, where a foreign process runs without a
 * pause.
 */
static uint64_t interrupts_of(void (*fn)(void *))
{
	pid_t victim = spinner_start(1);
	/* For the first one the module has the kernel's code rewritten. */
	int mark_fd = mark_open();
	uint64_t before;

	sleep_us(50000);
	before = interrupts("CAL", 1);
	in_child(fn, NULL);
	before = interrupts("CAL", 1) - before;
	close(mark_fd);
	kill_and_wait(victim);
	return before;
}

START_TEST(reading_a_user_s_session_interrupts_no_cpu_that_none_of_its_members_runs_on)
{
	ck_assert_uint_lt(interrupts_of(user_reads), CALLS / 4);
}
END_TEST

static void user_starts_and_stops(void *unused)
{
	int session;

	(void)unused;
	pin(0, 0);
	become_nobody();
	session = user_session(mark_open());
	for (int i = 0; i < CALLS; i++) {
		EXPECT(ioctl(session, PERFCTR_IOC_STOP) == 0);
		EXPECT(ioctl(session, PERFCTR_IOC_START) == 0);
	}
}

/*
 * The kernel's code is not rewritten each time, either: that would be three interrupts for each
 * CPU.
 */
START_TEST(starting_and_stopping_a_user_s_session_interrupts_no_cpu_that_none_of_its_members_runs_on)
{
	uint64_t n = interrupts_of(user_starts_and_stops);

	ck_assert_uint_lt(n, CALLS / 4);
	printf("START and STOP: %llu interrupts elsewhere in %d rounds\n", (unsigned long long)n, CALLS);
}
END_TEST

/*
 * A member on each CPU. The session comes to a member's CPU late, but misses none of its
 * instructions.
 */
START_TEST(a_user_s_session_counts_its_members_from_start_to_stop_on_every_cpu)
{
	int mark_fd = mark_open(), session;
	uint64_t sum = 0;
	pid_t pid;

	for (int cpu = 0; cpu < 2; cpu++)
		for (int i = 0; i < 4; i++) {
			pid = fork();
			if (pid == 0) {
				become_nobody();
				session = user_session(mark_fd);
				pid = marked_start(mark_fd, cpu, COMMAND(program("loop")));
				expect_success(pid);
				EXPECT(context_read(session).counter[0] >=
				       LOOP_INSTRUCTIONS(SHORT_LOOP));
				/* STOP keeps the sums. After START they go on from there. */
				EXPECT(ioctl(session, PERFCTR_IOC_STOP) == 0);
				sum = context_read(session).counter[0];
				pid = marked_start(mark_fd, cpu, COMMAND(program("loop")));
				expect_success(pid);
				EXPECT(context_read(session).counter[0] == sum);
				EXPECT(ioctl(session, PERFCTR_IOC_START) == 0);
				pid = marked_start(mark_fd, !cpu, COMMAND(program("loop")));
				expect_success(pid);
				EXPECT(context_read(session).counter[0] - sum >=
				       LOOP_INSTRUCTIONS(SHORT_LOOP));
				_exit(0);
			}
			expect_success(pid);
		}
}
END_TEST

static uint64_t cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &time), 0);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

/* Kernel threads may have the thread's CPU for a moment. */
static void wait_until_it_runs(pid_t pid)
{
	uint64_t before = cpu_ns(pid);

	while (cpu_ns(pid) < before + 100000)
		;
}

/* The member runs on another CPU when the session is started, and never switches. */
START_TEST(a_member_that_runs_already_is_counted_from_start_on)
{
	int mark_fd = mark_open(), first, second;
	struct perfctr_counts a, b;
	pid_t runner = spinner_start(1);

	pin(0, 0);
	mark(runner, mark_fd);
	sleep_us(50000);
	become_nobody();
	first = user_session(mark_fd);
	session_control(first, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	second = user_session(mark_fd);
	a = context_read(second);
	wait_until_it_runs(runner);
	b = context_read(second);
	ck_assert_uint_gt(b.counter[0], a.counter[0]);
	ck_assert_int_eq(ioctl(second, PERFCTR_IOC_STOP), 0);
	a = context_read(second);
	sleep_us(20000);
	ck_assert_uint_eq(context_read(second).counter[0], a.counter[0]);
	ck_assert_int_eq(ioctl(second, PERFCTR_IOC_START), 0);
	a = context_read(second);
	wait_until_it_runs(runner);
	ck_assert_uint_gt(context_read(second).counter[0], a.counter[0]);
	kill(runner, SIGKILL);
}
END_TEST

static pid_t marked_spinner_start(int mark_fd, int cpu)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, !cpu);
		EXPECT(ioctl(mark_fd, PERFCTR_IOC_ENTER) == 0);
		pin(0, cpu);
		for (;;)
			spin(1000);
	}
	return pid;
}

/*
 * The member was marked on another CPU: only its switch tells the driver that it runs on this one.
 */
START_TEST(a_member_that_has_come_to_its_cpu_is_counted_from_start_on)
{
	int mark_fd = mark_open(), session;
	uint64_t before;
	pid_t runner;

	pin(0, 0);
	runner = marked_spinner_start(mark_fd, 1);
	sleep_us(50000);
	become_nobody();
	session = user_session(mark_fd);
	before = context_read(session).counter[0];
	wait_until_it_runs(runner);
	ck_assert_uint_gt(context_read(session).counter[0], before);
	kill(runner, SIGKILL);
}
END_TEST

/* The session is started before the thread is a member. The thread becomes one without a switch. */
START_TEST(who_is_marked_while_it_runs_is_counted_from_then_on)
{
	int mark_fd = mark_open(), session;
	uint64_t before;
	pid_t runner = spinner_start(1);

	pin(0, 0);
	sleep_us(50000);
	session = user_session(mark_fd);
	sleep_us(20000);
	ck_assert_uint_eq(context_read(session).counter[0], 0);
	mark(runner, mark_fd);
	before = context_read(session).counter[0];
	wait_until_it_runs(runner);
	ck_assert_uint_gt(context_read(session).counter[0], before);
	kill(runner, SIGKILL);
}
END_TEST

static int only_root_asks_for_one_instant(int session)
{
	struct perfctr_counts counts = { .size = sizeof(counts),
					 .flags = PERFCTR_COUNTS_CONSISTENT };

	return ioctl(session, PERFCTR_IOC_READ, &counts)  ? errno
	       : counts.flags & PERFCTR_COUNTS_CONSISTENT ? 0
							  : -1;
}

static void user_asks_for_one_instant(void *unused)
{
	(void)unused;
	become_nobody();
	EXPECT(only_root_asks_for_one_instant(user_session(mark_open())) == EPERM);
}

START_TEST(only_root_stops_the_machine_for_sums_of_one_instant)
{
	int session = session_open(-1, 0), consistent = 0;

	session_control(session, SESSION_EVENTS({ { 2, BOTH(INSTRUCTIONS) }, 0 }));
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(only_root_asks_for_one_instant(session), 0);
	/* Without this request no CPU stops: they count while the sums are read. */
	competitors_start(2);
	for (int i = 0; i < 100; i++)
		consistent += !!(context_read(session).flags & PERFCTR_COUNTS_CONSISTENT);
	ck_assert_int_eq(consistent, 0);
	in_child(user_asks_for_one_instant, NULL);
}
END_TEST

/* The kernel-mode instructions that the thread needs to give a context another control. */
static uint64_t cost_of_control(int own, int other)
{
	uint64_t start, best = UINT64_MAX;

	for (int i = 0; i < 9; i++) {
		start = context_read(own).counter[0];
		context_control(other, EVENTS({ 1, USER(i & 1 ? BRANCHES : INSTRUCTIONS) }));
		start = context_read(own).counter[0] - start;
		best = start < best ? start : best;
	}
	return best;
}

#define CONTROLS 2000

START_TEST(a_control_costs_the_same_however_many_others_have)
{
	int own = context_open(0, PERFCTR_OPEN_CREATE), other, fd;
	uint64_t before, after;
	pid_t pid, child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	raise_descriptors(20000);
	other = context_open(child, PERFCTR_OPEN_CREATE);
	context_control(own, EVENTS({ 0, KERNEL(INSTRUCTIONS) }));
	before = cost_of_control(own, other);
	for (int i = 0; i < CONTROLS; i++) {
		struct perfctr_control control =
			control_of(EVENTS({ 2, USER(CYCLES & 0xff) | (i & 0xffu) << 8 |
						       (uint64_t)(i >> 8) << 24 }));

		control.flags = PERFCTR_CONTROL_STOPPED;
		pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		fd = context_open(pid, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
		kill_and_wait(pid);
	}
	after = cost_of_control(own, other);
	kill(child, SIGKILL);
	ck_assert_msg(after < 2 * before, "%llu instructions, %llu with %d controls of others",
		      (unsigned long long)before, (unsigned long long)after, CONTROLS);
	printf("CONTROL: %llu instructions, %llu with %d controls of others\n",
	       (unsigned long long)before, (unsigned long long)after, CONTROLS);
}
END_TEST

SUITE(neighbours, reading_a_user_s_session_interrupts_no_cpu_that_none_of_its_members_runs_on,
      starting_and_stopping_a_user_s_session_interrupts_no_cpu_that_none_of_its_members_runs_on,
      a_user_s_session_counts_its_members_from_start_to_stop_on_every_cpu,
      a_member_that_runs_already_is_counted_from_start_on,
      a_member_that_has_come_to_its_cpu_is_counted_from_start_on,
      who_is_marked_while_it_runs_is_counted_from_then_on,
      only_root_stops_the_machine_for_sums_of_one_instant,
      a_control_costs_the_same_however_many_others_have)
