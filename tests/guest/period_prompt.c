// SPDX-License-Identifier: GPL-2.0-or-later
/* Time stands still while the kernel handles an interrupt, so that no period is late. */
#include "period.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/*
 * One event alone: the interrupt of another event would leave a distance that is too short for a
 * counter. The last branch, and of some periods the last event, is the system call that ends the
 * program.
 */
static void expect_prompt(const char *name, uint64_t evntsel, uint64_t period, uint64_t expected)
{
	struct perfctr_periods told =
		count_periods(name, control_of(EVENTS({ 0, evntsel })), period, &expected);

	ck_assert_msg(told.late == 0, "event %llx, period %llu: %llu late",
		      (unsigned long long)evntsel, (unsigned long long)period,
		      (unsigned long long)told.late);
}

START_TEST(interrupts_that_come_at_once_leave_no_period_late)
{
	static const uint64_t periods[] = { 2, 3, 7, 31, 101, 1001, 1002, 2003, 2004, 2005 };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		expect_prompt("loop-tiny", USER(INSTRUCTIONS), periods[i],
			      LOOP_INSTRUCTIONS(TINY_LOOP));
		expect_prompt("loop-tiny", USER(BRANCHES), periods[i], LOOP_BRANCHES(TINY_LOOP));
	}
	expect_prompt("loop", USER(BRANCHES), 101, LOOP_BRANCHES(SHORT_LOOP));
}
END_TEST

/* In microseconds. */
struct duration {
	double all;
	double on_cpu;		/* while the caller ran */
};

static double microseconds(clockid_t clock)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(clock, &now), 0);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* The time that it takes to stop the machine's last context with a period. */
static struct duration duration_of_stop(uint64_t period)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct duration before, after;

	set_control(fd, with_period(control, period));
	spin(100000);
	before.all = microseconds(CLOCK_MONOTONIC);
	before.on_cpu = microseconds(CLOCK_THREAD_CPUTIME_ID);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	after.on_cpu = microseconds(CLOCK_THREAD_CPUTIME_ID);
	after.all = microseconds(CLOCK_MONOTONIC);
	close(fd);
	return (struct duration){ after.all - before.all, after.on_cpu - before.on_cpu };
}

#define LATEST_INTERRUPT 50 /* microseconds */

/*
 * The stop sleeps: otherwise a user who starts and stops in a loop would keep the CPU from
 * everybody.
 */
static void expect_that_a_stop_waits(void)
{
	struct duration duration;

	duration_of_stop(1000000000);
	duration = duration_of_stop(1000000000);
	ck_assert_double_lt(duration.all, LATEST_INTERRUPT / 2.0);
	/* The time between the overflow and the call is over already. */
	duration = duration_of_stop(1009);
	ck_assert_double_gt(duration.all, LATEST_INTERRUPT * 0.9);
	ck_assert_double_lt(duration.on_cpu, LATEST_INTERRUPT / 2.0);
}

START_TEST(a_stop_sleeps_50_microseconds_for_an_interrupt_after_an_overflow_alone)
{
	pid_t other = stopped_start(ANY_CPU, COMMAND(program("loop")));
	int fd;

	expect_that_a_stop_waits();
	/* The other context counts without periods, and keeps the counters. */
	fd = context_open(other, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 1, USER(BRANCHES) }));
	expect_that_a_stop_waits();
	close(fd);
	kill_and_wait(other);
}
END_TEST

PROMPT_SUITE(period_prompt, interrupts_that_come_at_once_leave_no_period_late,
	     a_stop_sleeps_50_microseconds_for_an_interrupt_after_an_overflow_alone)
