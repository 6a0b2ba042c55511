// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals at the ends of periods. Each end is reported by a signal at the next instruction of user
 * mode, or counted as lost. A thread that waits counts nothing.
 */
#include "overflow_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

START_TEST(every_period_of_a_program_sends_its_signal)
{
	static const uint64_t periods[] = { 503, 1009, 100003, 1000003, 2000027, 1ull << 40 };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		int mask = periods[i] <= OVERFLOW_INSTRUCTIONS(0);

		count_signals(signal_control(periods[i], SIGRTMIN, 0), mask);
		count_signals(signal_control(periods[i], SIGPROF, 0), mask);
	}
}
END_TEST

/* Both events have the same signal, and end their periods with the same instruction. */
START_TEST(one_signal_tells_of_all_events_that_ask_for_it)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(INSTRUCTIONS) }));

	if (pmu_info().pmu == PERFCTR_PMU_P4) {
		control.event[0] = control.event[1] = signal_control(1, 0, 0).event[0];
		control.event[1].counter = 13;
	}
	control.event[0].period = control.event[1].period = 10007;
	control.event[0].signal = control.event[1].signal = SIGRTMIN;
	count_signals(control, 3);
	/* An event that does not ask for a signal is not in the mask. */
	control.event[0].signal = 0;
	count_signals(control, 2);
	/* Each event has its own signal. The period of event 1 does not end. */
	control.event[0].signal = SIGPROF;
	control.event[1].period = 1ull << 40;
	count_signals(control, 1);
}
END_TEST

#define ROUNDS 100000u

/* The registers show how many instructions the thread has executed. */
static void expect_exact_stop(int fd, uint64_t period, int signal)
{
	struct perfctr_counts counts;
	uint64_t at;

	catch_signal(signal, 0);
	control_and_loop(fd, signal_control(period, signal, PERFCTR_EVENT_STOP), ROUNDS);
	counts = context_read(fd);
	at = counted_at(caught.ip, caught.cx, ROUNDS);
	ck_assert_int_eq(caught.n, 1);
	ck_assert_int_eq(caught.signal, signal);
	ck_assert_int_eq(caught.code, PERFCTR_SI_OVERFLOW);
	ck_assert_uint_eq(caught.mask, 1);
	ck_assert_int_eq(caught.tid, getpid());
	ck_assert_msg(counts.counter[0] == at, "period %llu: %llu counted, %llu executed",
		      (unsigned long long)period, (unsigned long long)counts.counter[0],
		      (unsigned long long)at);
	ck_assert_uint_ge(at, period);
	ck_assert_uint_le(at, (period < LEAST_DISTANCE ? LEAST_DISTANCE : period) + MOST_SKID);
	ck_assert_uint_eq(counts.flags & (PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_WAITING),
			  PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_WAITING);
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_SELF).over[0], at / period);
}

START_TEST(a_signal_comes_at_the_next_instruction_and_counting_stops_there)
{
	static const uint64_t periods[] = { 2, 3, 31, 101, 1009, 10007, 100003, 199000 };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		expect_exact_stop(fd, periods[i], SIGRTMIN + 5);
		expect_exact_stop(fd, periods[i], SIGPROF);
	}
	close(fd);
}
END_TEST

/* The thread is switched, moved, read from another CPU, and goes through ticks. */
START_TEST(who_waits_counts_no_event_until_it_goes_on)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_counts stopped, now;
	struct counted other = { .pid = stopped_start(0, COMMAND(program("loop-huge"))) };

	/* The other program counts with the same counter. */
	other.fd = context_open(other.pid, PERFCTR_OPEN_CREATE);
	set_control(other.fd, signal_control(0, 0, 0));
	stopped_go(other.pid);
	pin(0, 0);
	expect_exact_stop(fd, 10007, SIGRTMIN);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	stopped = context_read(fd);
	for (int i = 0; i < 20; i++) {
		spin(1000000);
		pin(0, i % 2);
		sleep_us(1000);
		now = context_read(fd);
		ck_assert_uint_eq(now.counter[0], stopped.counter[0]);
		ck_assert_uint_gt(now.tsc, stopped.tsc + 1000000);
		ck_assert(!(now.flags & PERFCTR_COUNTS_DISTURBED));
	}
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_SELF).over[0], stopped.counter[0] / 10007);
	caught.n = 0;
	resume(fd);
	ck_assert_int_eq(caught.n, 0);
	now = context_read(fd);
	ck_assert_uint_gt(now.counter[0], stopped.counter[0]);
	ck_assert_uint_lt(now.counter[0], stopped.counter[0] + 9000);
	ck_assert(!(now.flags & PERFCTR_COUNTS_WAITING));
	spin(100000);
	ck_assert_int_eq(caught.n, 1);
	now = context_read(fd);
	ck_assert_uint_ge(now.counter[0], 2 * 10007);
	ck_assert_uint_le(now.counter[0], 2 * 10007 + MOST_SKID);
	kill_and_wait(other.pid);
	close(other.fd);
	close(fd);
}
END_TEST

static void expect_no_wait(int fd)
{
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_RESUME), -1);
	ck_assert_int_eq(errno, EALREADY);
	ck_assert(!(context_read(fd).flags & PERFCTR_COUNTS_WAITING));
}

START_TEST(a_stop_or_another_control_ends_the_wait)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE), other;
	uint64_t before;

	expect_no_wait(fd);
	expect_exact_stop(fd, 10007, SIGRTMIN);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	expect_no_wait(fd);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	before = context_read(fd).counter[0];
	ck_assert_uint_gt(context_read(fd).counter[0], before);
	/* Stops it first: the next period may end before the other control is there. */
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	expect_exact_stop(fd, 10007, SIGRTMIN);
	/* A descriptor that has not made the context. */
	other = context_open(0, 0);
	ck_assert(ioctl(other, PERFCTR_IOC_RESUME) == -1 && errno == EPERM);
	ck_assert(context_read(other).flags & PERFCTR_COUNTS_WAITING);
	close(other);
	set_control(fd, signal_control(1ull << 40, SIGRTMIN, PERFCTR_EVENT_STOP));
	expect_no_wait(fd);
	set_control(fd, signal_control(0, 0, 0));
	expect_no_wait(fd);
	close(fd);
}
END_TEST

/* Without a signal: another process looks from time to time. */
START_TEST(a_thread_can_be_waited_for_and_released_from_outside)
{
	const uint64_t period = 1000003, expected = LOOP_INSTRUCTIONS(LONG_LOOP);
	struct counted c = { .pid = stopped_start(1, COMMAND(program("loop-huge"))) };
	struct perfctr_counts counts;
	uint64_t last = 0;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	set_control(c.fd, signal_control(period, 0, PERFCTR_EVENT_STOP));
	stopped_go(c.pid);
	for (int i = 1; i <= 20; i++) {
		do
			counts = context_read(c.fd);
		while (!(counts.flags & PERFCTR_COUNTS_WAITING));
		ck_assert_uint_ge(counts.counter[0], i * period);
		/*
		 * A tick may have found the end of the period, so that the count is not known
		 * exactly.
		 */
		ck_assert_uint_gt(counts.counter[0], last);
		sleep_us(2000);
		ck_assert_uint_eq(context_read(c.fd).counter[0], counts.counter[0]);
		ck_assert_uint_lt(counts.counter[0], expected);
		last = counts.counter[0];
		resume(c.fd);
	}
	kill_and_wait(c.pid);
	ck_assert(ioctl(c.fd, PERFCTR_IOC_RESUME) == -1 && errno == ESRCH);
	close(c.fd);
}
END_TEST

/* Takes the pending signals one by one. Returns their number. */
static int take_waiting(const sigset_t *set)
{
	const struct timespec none = { 0 };
	siginfo_t info;
	int n = 0;

	while (sigtimedwait(set, &info, &none) > 0) {
		EXPECT(info.si_code == PERFCTR_SI_OVERFLOW && info.si_pid == 1);
		n++;
	}
	return n;
}

static void block(int signal, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, signal);
	EXPECT(sigprocmask(SIG_BLOCK, set, NULL) == 0);
}

/* Neither signal has a handler: unblocked, it would kill the process. */
START_TEST(of_blocked_signals_those_that_wait_and_those_lost_are_all)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_periods told;
	sigset_t real_time, classic;

	block(SIGRTMIN + 1, &real_time);
	block(SIGVTALRM, &classic);
	set_control(fd, signal_control(10007, SIGRTMIN + 1, 0));
	spin(1000000);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	told = periods_of(fd, PERFCTR_SCOPE_SELF);
	ck_assert_uint_ge(told.over[0], 99);
	ck_assert_uint_eq(take_waiting(&real_time), told.over[0]);
	ck_assert_uint_eq(told.lost_signals, 0);
	set_control(fd, signal_control(10007, SIGVTALRM, 0));
	spin(1000000);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	told = periods_of(fd, PERFCTR_SCOPE_SELF);
	ck_assert_int_eq(take_waiting(&classic), 1);
	ck_assert_uint_eq(told.lost_signals, told.over[0] - 1);
	/* The lost signals are those of the control. */
	set_control(fd, signal_control(10007, 0, 0));
	ck_assert_uint_eq(lost_signals(fd), 0);
	close(fd);
}
END_TEST

static void fill_queue(void *unused)
{
	const struct rlimit three = { 3, 3 };
	struct perfctr_periods told;
	sigset_t set;
	int fd;

	(void)unused;
	become(4711, 0);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(setrlimit(RLIMIT_SIGPENDING, &three) == 0);
	block(SIGRTMIN, &set);
	set_control(fd, signal_control(10007, SIGRTMIN, 0));
	spin(1000000);
	EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
	told = periods_of(fd, PERFCTR_SCOPE_SELF);
	EXPECT(told.over[0] >= 99);
	EXPECT(take_waiting(&set) == 3);
	EXPECT(told.lost_signals == told.over[0] - 3);
}

START_TEST(what_a_full_queue_has_no_room_for_is_told_as_lost)
{
	in_child(fill_queue, NULL);
}
END_TEST

START_TEST(an_ignored_signal_is_nothing)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_ptr_ne(signal(SIGRTMIN, SIG_IGN), SIG_ERR);
	set_control(fd, signal_control(1009, SIGRTMIN, 0));
	spin(1000000);
	ck_assert_uint_ge(periods_of(fd, PERFCTR_SCOPE_SELF).over[0], 990);
	ck_assert_uint_eq(lost_signals(fd), 0);
	close(fd);
}
END_TEST

START_TEST(the_handler_can_have_a_stack_of_its_own)
{
	static char memory[65536];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	catch_signal(SIGRTMIN, SA_ONSTACK);
	set_control(fd, signal_control(100003, SIGRTMIN, 0));
	spin(1000000);
	close(fd);
	ck_assert_int_ge(caught.n, 9);
	ck_assert_uint_ge(caught.handler_sp, (uintptr_t)memory);
	ck_assert_uint_lt(caught.handler_sp, (uintptr_t)memory + sizeof(memory));
}
END_TEST

static int resumed;

static void go_on(int signal)
{
	(void)signal;
	ioctl(resumed, PERFCTR_IOC_RESUME);
}

/* The handler's own instructions before the call are not counted. */
START_TEST(a_handler_can_go_on_itself)
{
	struct perfctr_counts counts;
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	resumed = fd;
	ck_assert_ptr_ne(signal(SIGRTMIN, go_on), SIG_ERR);
	set_control(fd, signal_control(10007, SIGRTMIN, PERFCTR_EVENT_STOP));
	spin(2000000);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	counts = context_read(fd);
	ck_assert_uint_gt(counts.counter[0], 2000000 - 200 * MOST_SKID);
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_SELF).over[0], counts.counter[0] / 10007);
	close(fd);
}
END_TEST

PROMPT_SUITE(overflow_signal, every_period_of_a_program_sends_its_signal,
	     one_signal_tells_of_all_events_that_ask_for_it,
	     a_signal_comes_at_the_next_instruction_and_counting_stops_there,
	     who_waits_counts_no_event_until_it_goes_on, a_stop_or_another_control_ends_the_wait,
	     a_thread_can_be_waited_for_and_released_from_outside,
	     of_blocked_signals_those_that_wait_and_those_lost_are_all,
	     what_a_full_queue_has_no_room_for_is_told_as_lost, an_ignored_signal_is_nothing,
	     the_handler_can_have_a_stack_of_its_own, a_handler_can_go_on_itself)
