// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex where cores differ: CPU 0 is of one kind, CPU 1 of the other. */
#include "perfex_csv.h"
#include "perfex_shell.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

static const char *const kinds[] = { "tsc.core", "tsc.atom" };

static uint64_t total(const char *name)
{
	struct row row = find_row(contents("out"), "total", name);

	return integer(&row, COUNT);
}

/* The kinds of core add up to the whole. core, atom: has this kind counted something? */
static void expect_kinds(bool core, bool atom)
{
	ck_assert_uint_eq(total("tsc"), total(kinds[0]) + total(kinds[1]));
	ck_assert_int_eq(total(kinds[0]) > 0, core);
	ck_assert_int_eq(total(kinds[1]) > 0, atom);
}

START_TEST(the_time_of_a_program_is_that_on_its_kind_of_core)
{
	struct run r;

	enter_directory();
	for (int cpu = 0; cpu < 2; cpu++) {
		pin(0, cpu);
		expect(&r, "perfex --csv -o out -e " EVENT " $LOOP", 0);
		expect_kinds(cpu == 0, cpu == 1);
		ck_assert_uint_eq(total(EVENT), LOOP_INSTRUCTIONS(SHORT_LOOP));
		RUN(&r, "perfex", "-e", EVENT, program("loop"));
		ck_assert_uint_eq(printed_count(r.err, kinds[cpu]), printed_count(r.err, "tsc"));
		ck_assert_uint_eq(printed_count(r.err, kinds[!cpu]), 0);
	}
}
END_TEST

START_TEST(the_times_of_a_tree_are_those_on_both_kinds)
{
	struct run r;

	enter_directory();
	expect(&r,
	       "perfex --csv -o out -e " EVENT
	       " sh -c 'taskset -c 0 $LOOP & taskset -c 1 $LOOP; wait'",
	       0);
	expect_kinds(true, true);
	ck_assert_uint_ge(total(EVENT), 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

_Noreturn static void *work_on(void *cpu)
{
	pin(0, *(int *)cpu);
	for (;;)
		;
}

/* One thread on each kind of core. */
static pid_t two_threads_start(void)
{
	static int cpu[] = { 0, 1 };
	pid_t pid = fork();
	pthread_t thread;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	EXPECT(pthread_create(&thread, NULL, work_on, &cpu[1]) == 0);
	work_on(&cpu[0]);
}

START_TEST(the_times_of_threads_that_are_attached_add_up)
{
	pid_t pid = two_threads_start();
	char script[128];
	struct run r;

	enter_directory();
	snprintf(script, sizeof(script), "perfex --csv -o out -e " EVENT " -p %d sleep 0.05", pid);
	expect(&r, script, 0);
	expect_kinds(true, true);
	kill_and_wait(pid);
}
END_TEST

SUITE(perfex_hybrid, the_time_of_a_program_is_that_on_its_kind_of_core,
      the_times_of_a_tree_are_those_on_both_kinds, the_times_of_threads_that_are_attached_add_up)
