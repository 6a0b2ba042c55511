/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between the PMU of the Cyrix MII and the Pentium's: the width, and a seventh bit of
 * the code.
 */
#include "code.h"

#define CESR		0x11
#define CTR0		0x12

#define USER		0x80		/* of a half of CESR */
#define CLOCKS		0x100
#define PIN		0x200
#define CODE_HIGH	0x400
#define SECOND(half)	((half) << 16)

#define BRANCH		0x12
#define INSTRUCTION	0x16

void second_test(void)
{
}

static void count_user(uint32_t cesr, uint64_t first, uint64_t second)
{
	wrmsr(CESR, 0);
	wrmsr(CTR0, 0);
	wrmsr(CTR0 + 1, 0);
	wrmsr(CESR, cesr);
	run_user(user_loop);
	wrmsr(CESR, 0);
	check("event.first", first, rdpmc(0));
	check("event.second", second, rdpmc(1));
}

static void test_events(void)
{
	count_user(INSTRUCTION | USER | SECOND(BRANCH | USER), 2004, 1001);
	count_user(BRANCH | USER | PIN | SECOND(INSTRUCTION | USER), 1001, 2004);
	/* With this bit it is another code, which is not modelled. */
	count_user(INSTRUCTION | CODE_HIGH | USER | SECOND(BRANCH | CODE_HIGH | USER), 0, 0);
	count_user(CODE_HIGH | CLOCKS | USER | SECOND(CODE_HIGH | CLOCKS), 2004, 0);
}

static void test_registers(void)
{
	static const uint64_t refused[] = { 1 << 11, 1 << 15, 1 << 27, 1u << 31, 1ull << 32 };
	uint64_t value;

	wrmsr(CESR, 0x06000600);
	check("cesr.kept", 0x06000600, rdmsr(CESR));
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		check("cesr.reserved", GP, wrmsr_safe(CESR, refused[i]));
	wrmsr(CESR, 0);
	wrmsr(CTR0 + 1, COUNTER_MASK);
	check("counter.kept", COUNTER_MASK, rdpmc(1));
	check("counter.bit_48", GP, wrmsr_safe(CTR0, COUNTER_MASK + 1));
	check("rdpmc.bad", GP, rdpmc_safe(2, &value));
	check("absent.p6", GP, rdmsr_safe(0x186, &value));
}

void test(void)
{
	test_events();
	test_registers();
}
