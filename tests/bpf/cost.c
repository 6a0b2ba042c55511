// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of reading, and of a context switch. */
#include "bpf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* In ns: the least of several rounds, which nobody else has disturbed. */
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

#define LOOPS 10000000u
#define SWITCH_BAR 200

/* Each loop has two instructions. */
static uint64_t loops_ns(void)
{
	uint64_t begun = thread_ns();
	unsigned int n = LOOPS;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
	return thread_ns() - begun;
}

/* Runs the program under the command `by`, and shows its line. */
static double switch_instructions(const char *by, const char *what)
{
	char command[256], line[128] = "";
	double ns = 0;
	FILE *program;

	snprintf(command, sizeof(command), "%s build/tests/bpf/switches '%s'", by, what);
	program = popen(command, "r");
	ck_assert_ptr_nonnull(program);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), program));
	ck_assert_int_eq(pclose(program), 0);
	fputs(line, stdout);
	fflush(stdout);
	ck_assert_int_eq(sscanf(strrchr(line, ':'), ": %lf ns", &ns), 1);
	return ns;
}

/* Switches of all threads while nobody counts: before anybody has counted, and after that. */
START_TEST(an_unused_service_adds_at_most_200_instructions_to_a_switch)
{
	struct perfctr *self;
	double without, with;

	/* A nanosecond is an instruction. */
	ck_assert_double_eq_tol((double)loops_ns(), 2.0 * LOOPS, 0.01 * LOOPS);
	without = switch_instructions("", "not loaded");
	ck_assert_int_eq(system("build/sbin/perfctr-bpfd start"), 0);
	for (int i = 0; i < 2; i++) {
		with = switch_instructions("", "loaded, unused");
		ck_assert_double_le(with - without, SWITCH_BAR);
		self = perfctr_open();
		ck_assert_ptr_nonnull(self);
		switch_instructions("", "loaded, another thread counted");
		perfctr_close(self);
		switch_instructions("build/bin/perfex -o /dev/null", "loaded, counted");
	}
	ck_assert_int_eq(system("build/sbin/perfctr-bpfd stop"), 0);
}
END_TEST

TCase *unused_tests(void)
{
	TCase *tests = tcase_create("unused");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, an_unused_service_adds_at_most_200_instructions_to_a_switch);
	return tests;
}
