// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of whole programs are exact, whatever happens to the programs. The sources of the
 * programs, in asm/, explain the expected numbers.
 */
#include "guest.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `perfex -e 0x004100c0@0 loop` 20 times. Each run is exact. */
static void expect_20_exact_loops(void)
{
	const char *loop = program("loop");
	struct run r;

	for (unsigned int i = 0; i < test_rounds(20); i++) {
		RUN(&r, "perfex", "-e", "0x004100c0@0", loop);
		ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
		ck_assert_uint_eq(printed_count(r.err, "0x004100c0@0"), 2000004);
	}
}

START_TEST(perfex_counts_the_loop_exactly_20_of_20)
{
	expect_20_exact_loops();
}
END_TEST

START_TEST(perfex_counts_the_loop_exactly_20_of_20_against_4_competitors)
{
	competitors_start(4);
	expect_20_exact_loops();
}
END_TEST

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	ck_assert_int_eq(waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid == pid;
}

/*
 * Repeats until it has seen 20 moves: the number of moves in one run depends on the speed of the
 * host.
 */
START_TEST(loop_moved_between_cpus_every_10_ms_is_exact)
{
	uint64_t migrations = 0;

	while (migrations < 20) {
		struct counted c = counted_start(0, COMMAND(program("loop-long")),
						 EVENTS({ 0, USER(INSTRUCTIONS) },
							{ 1, USER(BRANCHES) }));
		struct perfctr_counts counts;
		int status, cpu = 0;

		while (!has_ended(c.pid)) {
			sleep_us(10000);
			cpu = !cpu;
			pin(c.pid, cpu);
		}
		counts = counted_finish(&c, &status);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
		ck_assert_uint_eq(counts.counter[1], LOOP_BRANCHES(LONG_LOOP));
		ck_assert_uint_ge(counts.switches, counts.migrations);
		migrations += counts.migrations;
	}
}
END_TEST

/*
 * A CPU that goes offline loses its counters. The driver has to set them up again when it comes
 * back.
 */
START_TEST(loop_is_exact_while_its_cpu_goes_and_comes)
{
	for (int i = 0; i < 3; i++) {
		struct counted c = counted_start(ANY_CPU, COMMAND(program("loop-long")),
						 EVENTS({ 0, USER(INSTRUCTIONS) }));
		struct perfctr_counts counts;
		int status;

		pin(c.pid, 1);
		write_file("/sys/devices/system/cpu/cpu1/online", "0");
		write_file("/sys/devices/system/cpu/cpu1/online", "1");
		pin(c.pid, 1);
		counts = counted_finish(&c, &status);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	}
}
END_TEST

START_TEST(user_plus_kernel_is_both_in_one_run)
{
	struct run r;
	uint64_t user, kernel, both;

	RUN(&r, "perfex", "-e", "0x004100c0@0", "-e", "0x004200c0@1", "-e", "0x004300c0@2",
	    program("loop"));
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	user = printed_count(r.err, "0x004100c0@0");
	kernel = printed_count(r.err, "0x004200c0@1");
	both = printed_count(r.err, "0x004300c0@2");
	ck_assert_uint_eq(user, 2000004);
	ck_assert_uint_gt(kernel, 0);
	ck_assert_uint_eq(both, user + kernel);
}
END_TEST

/* loop-long executes more user instructions than this, so they are not in the kernel's count. */
START_TEST(kernel_event_alone_counts_no_user_instruction)
{
	uint64_t kernel = count_program("loop-long", (struct event){ 0, KERNEL(INSTRUCTIONS) });

	ck_assert_uint_gt(kernel, 0);
	ck_assert_uint_lt(kernel, LOOP_INSTRUCTIONS(LONG_LOOP));
}
END_TEST

START_TEST(fixed_counter_0_agrees_with_the_general_one)
{
	struct run r;

	RUN(&r, "perfex", "-e", "0x004100c0@0", "-e", "0x00410000@0x40000000", program("loop"));
	ck_assert_msg(r.status == 0, "wait status %#x: %s", r.status, r.err);
	ck_assert_uint_eq(printed_count(r.err, "0x004100c0@0"), 2000004);
	ck_assert_uint_eq(printed_count(r.err, "0x00410000@0x40000000"), 2000004);
}
END_TEST

START_TEST(all_seven_counters_count_at_once)
{
	struct event events[N_COUNTERS];
	struct counted c;
	struct perfctr_counts counts;
	int status;

	c = counted_start(ANY_CPU, COMMAND(program("loop")), events, all_counters(events));
	counts = counted_finish(&c, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(counts.n_counters, N_COUNTERS);
	/*
	 * The emulated machine retires one instruction per cycle, so that fixed counters 1 and 2
	 * agree, too.
	 */
	for (unsigned int i = 0; i < N_COUNTERS; i++)
		ck_assert_uint_eq(counts.counter[i], LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

/* Counted on general counter 3, so that not everything rests on counter 0. */
static const struct {
	const char *program;
	uint16_t event;
	uint64_t expected;
} exact[] = {
	{ "loop", BRANCHES, LOOP_BRANCHES(SHORT_LOOP) },
	{ "loop32", INSTRUCTIONS, 2000004 },
	{ "loop", LOADS, 0 },
	{ "loop", STORES, 0 },
	{ "fault-mix", INSTRUCTIONS, 12005 },
	{ "fault-mix", BRANCHES, 2001 },
	{ "signals", INSTRUCTIONS, 27026 },
	{ "signals", BRANCHES, 9004 },
	{ "smc", INSTRUCTIONS, 6004 },
	{ "smc", BRANCHES, 1001 },
	{ "memory", INSTRUCTIONS, 17004 },
	{ "memory", LOADS, 16000 },
	{ "memory", STORES, 16000 },
	{ "fork", INSTRUCTIONS, 13 },
};

static void expect_exact_table(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		uint64_t got = count_program(exact[i].program,
					     (struct event){ 3, USER(exact[i].event) });

		ck_assert_msg(got == exact[i].expected, "%s, event %#x: %llu instead of %llu",
			      exact[i].program, exact[i].event, (unsigned long long)got,
			      (unsigned long long)exact[i].expected);
	}
}

START_TEST(faults_rep_movsb_system_calls_signals_fork_32_bit_loads_stores_are_exact)
{
	expect_exact_table();
}
END_TEST

START_TEST(the_same_against_4_competitors)
{
	competitors_start(4);
	expect_exact_table();
}
END_TEST

START_TEST(two_programs_with_different_events_on_one_cpu_are_exact)
{
	struct counted a = counted_start(0, COMMAND(program("loop-long")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct counted b = counted_start(0, COMMAND(program("loop-long")),
					 EVENTS({ 0, USER(BRANCHES) },
						{ PERFCTR_FIXED, USER(FIXED) }));
	struct perfctr_counts counts_a, counts_b;
	int status;

	counts_a = counted_finish(&a, &status);
	ck_assert_int_eq(status, 0);
	counts_b = counted_finish(&b, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(counts_a.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(counts_b.counter[0], LOOP_BRANCHES(LONG_LOOP));
	ck_assert_uint_eq(counts_b.counter[1], LOOP_INSTRUCTIONS(LONG_LOOP));
	/* They did take turns. */
	ck_assert_uint_gt(counts_a.switches + counts_b.switches, 3);
}
END_TEST

START_TEST(p1_more_than_2_to_the_32_instructions_are_exact)
{
	ck_assert_uint_eq(count_program("loop-huge", (struct event){ 0, USER(INSTRUCTIONS) }),
			  LOOP_INSTRUCTIONS(HUGE_LOOP));
}
END_TEST

/* Interrupts by performance counters, of all CPUs. */
static uint64_t counter_interrupts(void)
{
	return interrupts("PMI", 0) + interrupts("PMI", 1);
}

/*
 * The driver refuses events that ask for an interrupt (control.c: "interrupt enable"). So no
 * interrupt comes late, in another process, either. Two monitored programs take turns while their
 * counters pass every power of two up to 2^32: counters that are written with 32 bits would
 * interrupt there.
 */
START_TEST(p3_counters_that_pass_2_to_the_31_interrupt_nobody)
{
	uint64_t before = counter_interrupts();
	struct counted a = counted_start(0, COMMAND(program("loop-huge")), EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct counted b = counted_start(0, COMMAND(program("loop-long")), EVENTS({ 0, USER(BRANCHES) }));
	int status;

	ck_assert_uint_eq(counted_finish(&b, &status).counter[0], LOOP_BRANCHES(LONG_LOOP));
	ck_assert_uint_eq(counted_finish(&a, &status).counter[0], LOOP_INSTRUCTIONS(HUGE_LOOP));
	ck_assert_uint_eq(counter_interrupts(), before);
}
END_TEST

SUITE(counts,
      perfex_counts_the_loop_exactly_20_of_20,
      perfex_counts_the_loop_exactly_20_of_20_against_4_competitors,
      loop_moved_between_cpus_every_10_ms_is_exact,
      loop_is_exact_while_its_cpu_goes_and_comes,
      user_plus_kernel_is_both_in_one_run,
      kernel_event_alone_counts_no_user_instruction,
      fixed_counter_0_agrees_with_the_general_one,
      all_seven_counters_count_at_once,
      faults_rep_movsb_system_calls_signals_fork_32_bit_loads_stores_are_exact,
      the_same_against_4_competitors,
      two_programs_with_different_events_on_one_cpu_are_exact,
      p1_more_than_2_to_the_32_instructions_are_exact,
      p3_counters_that_pass_2_to_the_31_interrupt_nobody)
