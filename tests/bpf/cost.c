// SPDX-License-Identifier: GPL-2.0-or-later
/* What reading costs. */
#include "bpf.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 10
#define CALLS 20000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ns, the least of rounds that nobody else disturbed. */
static double least(double (*round)(const struct perfctr_page *), const struct perfctr_page *page)
{
	double best = 1e9, ns;

	for (int i = 0; i < ROUNDS; i++) {
		ns = round(page);
		if (ns < best)
			best = ns;
	}
	return best;
}

static double read_page(const struct perfctr_page *page)
{
	uint64_t begun = now_ns();

	for (int i = 0; i < CALLS; i++)
		perfctr_read_tsc(page);
	return (double)(now_ns() - begun) / CALLS;
}

static double system_call(const struct perfctr_page *page)
{
	uint64_t begun = now_ns();

	(void)page;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (double)(now_ns() - begun) / CALLS;
}

START_TEST(a_live_read_costs_a_fifth_of_a_system_call)
{
	struct perfctr *self = perfctr_open();
	struct perfctr_control control;
	double read, call;

	ck_assert_ptr_nonnull(self);
	perfctr_control_init(&control);
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	if (perfctr_tsc_page(self)) {
		read = least(read_page, perfctr_tsc_page(self));
		call = least(system_call, NULL);
		printf("live read %.1f ns, system call %.1f ns\n", read, call);
		ck_assert_double_le(read, call / 5);
	}
	perfctr_close(self);
}
END_TEST

TCase *cost_tests(void)
{
	TCase *tests = clock_case("cost");

	tcase_add_test(tests, a_live_read_costs_a_fifth_of_a_system_call);
	return tests;
}
