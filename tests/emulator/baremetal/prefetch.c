/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu-mode=hardware: a line that misses the second cache is fetched with the other line of its
 * aligned 128 bytes. Third-party test suites execute 10^6 loads of new lines, and expect 1 to 10^6
 * misses.
 */
#include "code.h"

#define LINE	64
#define BUFFER	0x2000000	/* 64 MB, one to one */
#define N	1000000

#define LLC_USES	0x4f2e
#define LLC_MISSES	0x412e
#define L1D_MISSES	0x0151
#define L1I_MISSES	0x0280

/* Each routine has its own aligned 128 bytes: its code is one miss of a cold L1I, and one of L2. */
asm(".text\n"
    ".balign 128\n"
    "user_walk:\n"		/* ECX loads, ESI bytes apart, from EBX on */
    "1:	mov (%ebx), %eax\n"
    "	add %esi, %ebx\n"
    "	dec %ecx\n"
    "	jnz 1b\n"
    "	int $0x80\n"
    ".balign 128\n"
    "user_lines:\n"		/* 16 lines of code */
    "	.skip 16 * 64 - 2, 0x90\n"
    "	int $0x80\n"
    ".balign 128\n");
void user_walk(void);
void user_lines(void);

void second_test(void)
{
}

static uint64_t count(uint32_t select, void (*code)(void), uint32_t from, uint32_t n, int32_t step)
{
	reset_pmu();
	wrmsr(IA32_PERFEVTSEL0, select | EN);
	asm volatile("wbinvd\n\t"
		     "push %0\n\t"
		     "call run_user\n\t"
		     "add $4, %%esp"
		     : : "a"(code), "b"(from), "c"(n), "S"(step) : "memory", "cc");
	wrmsr(IA32_PERFEVTSEL0, 0);
	return rdpmc(0);
}

static uint64_t count_walk(uint32_t event, uint32_t from, uint32_t n, int32_t step)
{
	return count(event | USR, user_walk, from, n, step);
}

/* Counts both modes, like the suites: beside the loop there are some lines of the harness. */
static void test_as_suites_do(void)
{
	uint64_t misses = count(LLC_MISSES | USR | OS, user_walk, BUFFER, N, LINE);

	check("suite.misses", 1, misses >= 1 && misses <= N);
}

void test(void)
{
	test_as_suites_do();
	check("stride.misses", N / 2 + 1, count_walk(LLC_MISSES, BUFFER, N, LINE));
	check("stride.uses", N + 1, count_walk(LLC_USES, BUFFER, N, LINE));
	check("stride.l1d", N, count_walk(L1D_MISSES, BUFFER, N, LINE));
	check("downwards", N / 2 + 1, count_walk(LLC_MISSES, BUFFER + (N - 1) * LINE, N, -LINE));
	check("every_second", N / 2 + 1, count_walk(LLC_MISSES, BUFFER, N / 2, 2 * LINE));
	check("pair", 1 + 1, count_walk(LLC_MISSES, BUFFER, 2, LINE));
	check("no_pair", 2 + 1, count_walk(LLC_MISSES, BUFFER + LINE, 2, LINE));
	check("code.l1i", 16, count(L1I_MISSES | USR, user_lines, 0, 0, 0));
	check("code.misses", 8, count(LLC_MISSES | USR, user_lines, 0, 0, 0));
}
