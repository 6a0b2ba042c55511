// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * On a machine whose interrupts come at once, each signal comes with the instruction that ends the
 * period.
 */
#include "overflow_signals.h"

#include <stdio.h>
#include <unistd.h>

#define ROUNDS 100000u

/* P4 interrupts with the event after an overflow, and cannot interrupt sooner. */
START_TEST(signals_and_stops_are_late_by_nothing)
{
	static const uint64_t periods[] = { 2, 3, 4, 31, 101, 1009, 100003 };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		catch_signal(SIGRTMIN, 0);
		control_and_loop(fd, signal_control(periods[i], SIGRTMIN, PERFCTR_EVENT_STOP),
				 ROUNDS);
		ck_assert_int_eq(caught.n, 1);
		ck_assert_uint_eq(counted_at(caught.ip, caught.cx, ROUNDS), periods[i]);
		ck_assert_uint_eq(context_read(fd).counter[0], periods[i]);
	}
	close(fd);
}
END_TEST

/*
 * No two periods share a signal, and none is lost. The count shows how often the handler has run.
 */
START_TEST(each_period_has_its_own_signal)
{
	static const uint64_t periods[] = { 503, 10007 };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program("overflow"))) };
		struct perfctr_periods told;
		int status;

		c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
		set_control(c.fd, signal_control(periods[i], SIGRTMIN, 0));
		stopped_go(c.pid);
		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		ck_assert_int_eq(status, EXITED(1));
		told = periods_of(c.fd, PERFCTR_SCOPE_SELF);
		ck_assert_uint_ge(told.over[0], OVERFLOW_INSTRUCTIONS(0) / periods[i]);
		ck_assert_uint_eq(context_read(c.fd).counter[0],
				  OVERFLOW_INSTRUCTIONS(told.over[0]));
		close(c.fd);
	}
}
END_TEST

/* The cost of signals, in instructions of user mode and of the kernel. */
static uint64_t ticks_of(int fd, uint64_t period)
{
	uint64_t before;

	set_control(fd, signal_control(period, period ? SIGRTMIN : 0, 0));
	before = rdtsc();
	spin(1000000);
	return rdtsc() - before;
}

START_TEST(a_signal_costs_no_more_than_said)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t without, with;

	catch_signal(SIGRTMIN, 0);
	ticks_of(fd, 0);
	without = ticks_of(fd, 0);
	with = ticks_of(fd, 10007);
	printf("a signal, its handler and its return: %llu instructions\n",
	       (unsigned long long)(with - without) / caught.n);
	ck_assert_int_ge(caught.n, 90);
	ck_assert_uint_le((with - without) / caught.n, 4500);
	close(fd);
}
END_TEST

PROMPT_SUITE(overflow_signal_prompt, signals_and_stops_are_late_by_nothing,
	     each_period_has_its_own_signal, a_signal_costs_no_more_than_said)
