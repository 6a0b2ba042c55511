// SPDX-License-Identifier: GPL-2.0-or-later
/* Periods where time stands still while the kernel interrupts: none of them is late. */
#include "period.h"

#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Alone: an interrupt of another event would leave a distance that is too short for a counter. The
 * last branch, and of some periods the last event, is the system call with which the program ends.
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

/* Ticks of the time stamp that the machine's last context with a period takes to be stopped. */
static uint64_t time_of_stop(uint64_t period)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t before;

	set_control(fd, with_period(control, period));
	spin(100000);
	before = rdtsc();
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	before = rdtsc() - before;
	close(fd);
	return before;
}

START_TEST(a_stop_waits_50_microseconds_for_an_interrupt_after_an_overflow_alone)
{
	uint64_t wait = pmu_info().tsc_khz / 20;

	time_of_stop(1000000000);
	ck_assert_uint_lt(time_of_stop(1000000000), wait / 2);
	/* Less what comes between the overflow and the call. */
	ck_assert_uint_gt(time_of_stop(1009), wait - wait / 10);
}
END_TEST

PROMPT_SUITE(period_prompt, interrupts_that_come_at_once_leave_no_period_late,
	     a_stop_waits_50_microseconds_for_an_interrupt_after_an_overflow_alone)
