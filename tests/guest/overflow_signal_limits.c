// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals at the ends of periods with the default limits of interrupts: each end is reported by a
 * signal or as late, and the rest of the time is left for other work.
 */
#include "overflow_signals.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

START_TEST(what_is_not_told_at_once_is_told_as_late)
{
	count_signals(signal_control(503, SIGRTMIN, 0), 1);
	count_signals(signal_control(1009, SIGPROF, 0), 1);
}
END_TEST

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/*
 * The thread's kernel instructions end periods on its way to sleep and back. So do those that send
 * a signal, which take longer than a period.
 */
START_TEST(no_system_call_is_interrupted)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE), ends[2];
	char byte;

	catch_signal(SIGRTMIN, 0); /* without SA_RESTART */
	ck_assert_int_eq(pipe(ends), 0);
	pin(0, 0);
	set_control(fd, both_modes(601, SIGRTMIN));
	for (int i = 0; i < 50; i++) {
		uint64_t before = now_us();
		struct timespec left, time = { 0, 10000000 };
		int n = caught.n;

		ck_assert_int_eq(poll(NULL, 0, 10), 0);
		ck_assert_int_eq(nanosleep(&time, &left), 0);
		ck_assert_uint_ge(now_us() - before, 20000);
		ck_assert_int_eq(write(ends[1], "x", 1), 1);
		ck_assert_int_eq(read(ends[0], &byte, 1), 1);
		ck_assert_int_gt(caught.n, n);
	}
	close(fd);
}
END_TEST

/* Each interrupt executes more on its way out than is left until the next one. */
START_TEST(a_storm_in_the_kernel_leaves_time_for_its_thread)
{
	static const uint64_t periods[] = { 2, 31, 101, 301 };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	catch_signal(SIGRTMIN, 0);
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		set_control(fd, both_modes(periods[i], SIGRTMIN));
		spin(20000000);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_SELF).over[0],
				  context_read(fd).counter[0] / periods[i]);
	}
	close(fd);
}
END_TEST

SUITE(overflow_signal_limits, what_is_not_told_at_once_is_told_as_late,
      no_system_call_is_interrupted, a_storm_in_the_kernel_leaves_time_for_its_thread)
