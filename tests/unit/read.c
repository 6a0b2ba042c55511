// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the time stamp from a page of the test, which a signal handler changes as the kernel would at a context switch.
 * (RDPMC is tested in the virtual machine, where it does not fault.)
 */
#include "unit.h"

#include <perfctr.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static struct perfctr_page page;

static uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

START_TEST(a_running_time_stamp_is_bias_plus_rdtsc)
{
	uint64_t before, value, after;

	page.flags = PERFCTR_PAGE_STARTED;
	page.tsc.bias = 5000000000;
	page.tsc.ticket = page.tsc.recheck = 7ull << 32;
	page.tsc.sum = 1;
	before = rdtsc();
	value = perfctr_read_tsc(&page);
	after = rdtsc();
	ck_assert_uint_ge(value, before + 5000000000);
	ck_assert_uint_le(value, after + 5000000000);
}
END_TEST

START_TEST(a_stopped_time_stamp_is_the_sum)
{
	page.flags = 0;
	page.tsc.bias = 5;
	page.tsc.ticket = 7ull << 32;
	page.tsc.recheck = ~page.tsc.ticket;
	page.tsc.sum = 0x123456789abcdef0;
	ck_assert_uint_eq(perfctr_read_tsc(&page), 0x123456789abcdef0);
}
END_TEST

static void after_50_ms(void (*handler)(int))
{
	struct itimerval timer = { .it_value.tv_usec = 50000 };

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void resume(int signo)
{
	(void)signo;
	page.tsc.bias = 7000000000;
	page.tsc.ticket = page.tsc.recheck;
}

START_TEST(a_disturbed_read_is_done_again)
{
	page.flags = PERFCTR_PAGE_STARTED;
	page.tsc.bias = 5000000000;
	page.tsc.ticket = 7ull << 32;
	page.tsc.recheck = 8ull << 32;
	page.tsc.sum = 1;
	after_50_ms(resume);
	ck_assert_uint_ge(perfctr_read_tsc(&page), 7000000000);
	ck_assert_uint_eq(page.tsc.bias, 7000000000);
}
END_TEST

static void finish_fold(int signo)
{
	(void)signo;
	page.tsc.sum = 43;
	page.seq++;
}

START_TEST(a_sum_is_not_read_while_it_changes)
{
	page.flags = 0;
	page.seq = 1;
	page.tsc.bias = 0;
	page.tsc.recheck = ~page.tsc.ticket;
	page.tsc.sum = 42;
	after_50_ms(finish_fold);
	ck_assert_uint_eq(perfctr_read_tsc(&page), 43);
}
END_TEST

START_TEST(a_disturbed_snapshot_is_taken_again)
{
	struct perfctr_snapshot snapshot;

	page.flags = PERFCTR_PAGE_STARTED;
	page.tsc.bias = 5000000000;
	page.tsc.ticket = 7ull << 32;
	page.tsc.recheck = 8ull << 32;
	page.tsc.sum = 1;
	after_50_ms(resume);
	perfctr_read_snapshot(&page, 0, &snapshot);
	ck_assert_uint_ge(snapshot.tsc, 7000000000);
	ck_assert_uint_eq(page.tsc.bias, 7000000000);
}
END_TEST

START_TEST(a_stopped_snapshot_is_not_read_while_it_changes)
{
	struct perfctr_snapshot snapshot;

	page.flags = 0;
	page.seq = 1;
	page.tsc.recheck = ~page.tsc.ticket;
	page.tsc.sum = 42;
	after_50_ms(finish_fold);
	perfctr_read_snapshot(&page, 0, &snapshot);
	ck_assert_uint_eq(snapshot.tsc, 43);
}
END_TEST

TCase *read_tests(void)
{
	TCase *tests = tcase_create("read");

	tcase_add_test(tests, a_running_time_stamp_is_bias_plus_rdtsc);
	tcase_add_test(tests, a_stopped_time_stamp_is_the_sum);
	tcase_add_test(tests, a_disturbed_read_is_done_again);
	tcase_add_test(tests, a_sum_is_not_read_while_it_changes);
	tcase_add_test(tests, a_disturbed_snapshot_is_taken_again);
	tcase_add_test(tests, a_stopped_snapshot_is_not_read_while_it_changes);
	return tests;
}
