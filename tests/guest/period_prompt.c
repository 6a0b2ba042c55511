// SPDX-License-Identifier: GPL-2.0-or-later
/* Periods where time stands still while the kernel interrupts: none of them is late. */
#include "period.h"

/*
 * Alone: an interrupt of another event would leave a distance that is too short for a counter. The
 * last branch, and of some periods the last event, is the system call with which the program ends.
 */
static void expect_prompt(const char *name, uint64_t evntsel, uint64_t period, uint64_t expected)
{
	struct perfctr_periods told = count_periods(name, control_of(EVENTS({ 0, evntsel })),
						     period, &expected);

	ck_assert_msg(told.late == 0, "event %llx, period %llu: %llu late",
		      (unsigned long long)evntsel, (unsigned long long)period,
		      (unsigned long long)told.late);
}

START_TEST(interrupts_that_come_at_once_leave_no_period_late)
{
	static const uint64_t periods[] = { 2, 3, 7, 31, 101, 1001, 1002, 2003, 2004, 2005 };

	limit_interrupts("4294967295", "100");
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		expect_prompt("loop-tiny", USER(INSTRUCTIONS), periods[i],
			      LOOP_INSTRUCTIONS(TINY_LOOP));
		expect_prompt("loop-tiny", USER(BRANCHES), periods[i], LOOP_BRANCHES(TINY_LOOP));
	}
	expect_prompt("loop", USER(BRANCHES), 101, LOOP_BRANCHES(SHORT_LOOP));
	limit_interrupts("400", "25");
}
END_TEST

SUITE(period_prompt, interrupts_that_come_at_once_leave_no_period_late)
