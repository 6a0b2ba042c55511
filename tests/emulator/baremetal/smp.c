/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processors count at the same time. Each one counts its own instructions and none of the
 * other's.
 */
#include "code.h"

#define ROUNDS 10

static volatile int second_started, second_done;
static volatile uint32_t second_counts[ROUNDS], second_stray, second_reset;

static void setup_counters(void)
{
	reset_pmu();
	wrmsr(IA32_PERFEVTSEL0, INSN | OS | EN);
	wrmsr(IA32_PERFEVTSEL0 + 1, INSN | USR | EN);
}

void second_test(void)
{
	second_reset = rdmsr(IA32_PERF_GLOBAL_CTRL);
	setup_counters();
	second_started = 1;
	for (int i = 0; i < ROUNDS; i++)
		second_counts[i] = loop_delta(0);
	second_stray = rdpmc(1);
	second_done = 1;
}

void test(void)
{
	setup_counters();
	start_second_cpu();
	while (!second_started)
		asm volatile("pause");
	for (int i = 0; i < ROUNDS; i++)
		check("first.loop", 2000004, loop_delta(0));
	check("first.user", 0, rdpmc(1));
	run_user(user_loop);
	check("first.user_loop", 2004, rdpmc(1));
	while (!second_done)
		asm volatile("pause");
	check("second.reset", 0xf, second_reset);
	for (int i = 0; i < ROUNDS; i++)
		check("second.loop", 2000004, second_counts[i]);
	check("second.user", 0, second_stray);
}
