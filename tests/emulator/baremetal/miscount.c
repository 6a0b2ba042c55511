/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu-miscount: events of ring 3 that are counted wrongly, each way by hand. The number of earlier
 * occurrences is not known, but over a whole number of periods the result does not depend on it.
 */
#include "code.h"
#include "pmu-miscount.h"

#define LOOP_BRANCHES	1001	/* of user_loop */
#define LOOP_INSNS	2004
#define RUNS		100

void second_test(void)
{
}

static void choose(unsigned way, unsigned seed)
{
	wrmsr(PMU_MISCOUNT_MSR, PMU_MISCOUNT(way, seed));
}

static uint64_t count_loop(uint32_t event)
{
	wrmsr(IA32_PERFEVTSEL0, 0);
	wrmsr(IA32_PMC0, 0);
	wrmsr(IA32_PERFEVTSEL0, event | EN);
	run_user(user_loop);
	wrmsr(IA32_PERFEVTSEL0, 0);
	return rdmsr(IA32_PMC0);
}

static uint64_t count_loops(uint32_t event, unsigned n)
{
	uint64_t sum = 0;

	while (n--)
		sum += count_loop(event);
	return sum;
}

static void test_register(void)
{
	check("register.at_reset", PMU_MISCOUNT_NONE, rdmsr(PMU_MISCOUNT_MSR));
	check("register.unknown", GP, wrmsr_safe(PMU_MISCOUNT_MSR, PMU_MISCOUNT_NB_WAYS));
	check("register.unchanged", PMU_MISCOUNT_NONE, rdmsr(PMU_MISCOUNT_MSR));
	choose(PMU_MISCOUNT_HALF, 77);
	check("register.kept", PMU_MISCOUNT_HALF | 77 << 8, rdmsr(PMU_MISCOUNT_MSR));
	choose(PMU_MISCOUNT_NONE, 0);
}

/* Of two loops one counts 500 and the other 501. The seed chooses which one. */
static void test_half(void)
{
	uint64_t first, second;

	choose(PMU_MISCOUNT_HALF, 0);
	first = count_loop(BRANCHES | USR);
	second = count_loop(BRANCHES | USR);
	check("half.sum", LOOP_BRANCHES, first + second);
	check("half.each", 500 * 501, first * second);
	choose(PMU_MISCOUNT_HALF, 1);
	check("half.other_seed", second, count_loop(BRANCHES | USR));
	check("half.instructions", LOOP_INSNS, count_loop(INSN | USR));
}

/* 1000 loops of 1001 are 1001 thousands, and as many occurrences are forgotten. */
static void test_forgets(void)
{
	choose(PMU_MISCOUNT_FORGETS, 0);
	check("forgets", 1000 * LOOP_BRANCHES - LOOP_BRANCHES, count_loops(BRANCHES | USR, 1000));
	choose(PMU_MISCOUNT_FORGETS, 123456789);
	check("forgets.seed", 1000 * LOOP_BRANCHES - LOOP_BRANCHES,
	      count_loops(BRANCHES | USR, 1000));
	check("forgets.instructions", LOOP_INSNS, count_loop(INSN | USR));
}

/* The second counter interrupts the loop once, after half of it. */
static uint64_t count_interrupted(uint32_t event)
{
	uint64_t count;

	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(IA32_A_PMC0 + 1, COUNTER_MASK + 1 - LOOP_INSNS / 2);
	wrmsr(IA32_PERFEVTSEL0 + 1, INSN | USR | INT | EN);
	count = count_loop(event);
	wrmsr(IA32_PERFEVTSEL0 + 1, 0);
	check("interrupted", 1, pmi_count);
	return count;
}

static void test_interrupts(void)
{
	uint64_t kernel;

	choose(PMU_MISCOUNT_NONE, 0);
	check("interrupts.right", LOOP_BRANCHES, count_interrupted(BRANCHES | USR));
	kernel = count_interrupted(BRANCHES | OS);
	choose(PMU_MISCOUNT_INTERRUPTS, 0);
	check("interrupts", LOOP_BRANCHES + 3, count_interrupted(BRANCHES | USR));
	check("interrupts.none", LOOP_BRANCHES, count_loop(BRANCHES | USR));
	check("interrupts.of_user_mode", kernel, count_interrupted(BRANCHES | OS));
	check("interrupts.instructions", LOOP_INSNS, count_interrupted(INSN | USR));
}

/* The sum of 100 loops, and the sum of the squares of their errors. */
static uint64_t measure_noise(unsigned seed, uint64_t *squares)
{
	uint64_t sum = 0;

	choose(PMU_MISCOUNT_NOISE, seed);
	*squares = 0;
	for (int i = 0; i < RUNS; i++) {
		uint64_t count = count_loop(BRANCHES | USR);
		int64_t off = count - LOOP_BRANCHES;

		sum += count;
		*squares += off * off;
	}
	return sum;
}

/*
 * Each loop has a deviation of 10.01. That of the sum is 100. The squares are 10020 on average,
 * with a deviation of 1417. Four deviations are allowed.
 */
static void test_noise(void)
{
	uint64_t squares, again, others;
	uint64_t sum = measure_noise(1, &squares);

	check("noise.mean", 1, sum >= RUNS * LOOP_BRANCHES - 400 &&
				       sum <= RUNS * LOOP_BRANCHES + 400);
	check("noise.deviation", 1, squares >= 10020 - 4 * 1417 && squares <= 10020 + 4 * 1417);
	check("noise.same_seed", sum, measure_noise(1, &again));
	check("noise.same_squares", squares, again);
	measure_noise(2, &others);
	check("noise.other_seed", 1, others != squares);
	check("noise.instructions", LOOP_INSNS, count_loop(INSN | USR));
}

void test(void)
{
	test_register();
	check("right", LOOP_BRANCHES, count_loop(BRANCHES | USR));
	test_half();
	test_forgets();
	test_interrupts();
	test_noise();
	choose(PMU_MISCOUNT_NONE, 0);
	check("right.again", LOOP_BRANCHES, count_loop(BRANCHES | USR));
}
