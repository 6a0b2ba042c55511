// SPDX-License-Identifier: GPL-2.0-or-later
/* A tracer steps through the ends of regions: each read in vain is reported. */
#include "regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* More steps than a few reads in vain. */
#define STEPS (5 * DISTURBANCE)

/* The tracer gets control before each end. */
_Noreturn static void pass_twice_traced(void)
{
	struct subject s = subject(TWO_EVENTS);
	struct perfctr_region_result r;

	EXPECT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		rounds = 1000;
		perfctr_region_enter(&s.mine[A], 2);
		loop();
		__asm__ volatile("int3");
		perfctr_region_exit(&s.mine[A], 2);
	}
	r = result_of(&s, A, 0);
	printf("a switch at each of %d instructions: %llu too many, %llu readings in vain\n", STEPS,
	       (unsigned long long)(r.counter[0].total - 2 * r.counter[0].min),
	       (unsigned long long)r.retried);
	fflush(stdout);
	EXPECT(r.passes == 2);
	EXPECT(r.retried >= STEPS / DISTURBANCE);
	EXPECT(r.counter[0].total - 2 * r.counter[0].min <= DISTURBANCE * r.retried);
	_exit(0);
}

static void expect_trap(pid_t pid)
{
	int status;

	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "wait status %#x", status);
}

static void trace_on(pid_t pid, enum __ptrace_request how)
{
	ck_assert_int_eq(ptrace(how, pid, NULL, NULL), 0);
	expect_trap(pid);
}

/* A tracer's step is a switch: there is one after each instruction of the second end. */
static void trace_second_end(void (*pass_twice)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert(pid >= 0);
	if (pid == 0)
		pass_twice();
	expect_trap(pid);
	trace_on(pid, PTRACE_CONT);
	for (int i = 0; i < STEPS; i++)
		trace_on(pid, PTRACE_SINGLESTEP);
	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(each_reading_in_vain_of_an_end_is_told)
{
	trace_second_end(pass_twice_traced);
}
END_TEST

_Noreturn static void pass_named_twice_traced(void)
{
	setenv("PERFCTR_REGIONS", SAVED, 1);
	setenv("PERFCTR_REGIONS_EVENTS", "instructions:u", 1);
	EXPECT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		rounds = 1000;
		perfctr_region_begin("named");
		loop();
		__asm__ volatile("int3");
		perfctr_region_end("named");
	}
	exit(0);
}

START_TEST(each_reading_in_vain_of_the_end_of_a_named_region_is_told)
{
	unsigned long long retried, total, min;
	const char *row;
	struct run r;

	trace_second_end(pass_named_twice_traced);
	RUN(&r, program("../../bin/perfex"), "stat-of", "--csv", SAVED);
	unlink(SAVED);
	ck_assert_msg(r.status == 0, "status %#x: %s", r.status, r.err);
	row = strstr(r.out, ",instructions:u,");
	ck_assert_msg(row, "no instructions in\n%s", r.out);
	while (row[-1] != '\n')
		row--;
	ck_assert_msg(sscanf(row, "named,1,2,2,%llu,instructions:u,user,%llu,%*[^,],%llu,",
			     &retried, &total, &min) == 3,
		      "%s", row);
	ck_assert_uint_ge(retried, STEPS / DISTURBANCE);
	ck_assert_uint_le(total - 2 * min, DISTURBANCE * retried);
}
END_TEST

SUITE(regions_traced, each_reading_in_vain_of_an_end_is_told,
      each_reading_in_vain_of_the_end_of_a_named_region_is_told)
