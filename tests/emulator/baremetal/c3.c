/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VIA C3's one counter: events, both rings at once, registers. */
#include "code.h"

#define EVNTSEL1	0x187
#define PMC1		0xc2

#define CLOCKS		0x079
#define INSTRUCTIONS	0x0c0

void second_test(void)
{
}

static uint32_t count_ring0(uint32_t event)
{
	wrmsr(EVNTSEL1, 0);
	wrmsr(PMC1, 0);
	enable_disable(EVNTSEL1, event);
	return rdpmc(1);
}

/* Not inlined: its own instructions are counted, too, and must be the same each time. */
static __attribute__((noinline)) uint32_t count_ring3(void (*code)(void))
{
	wrmsr(EVNTSEL1, 0);
	wrmsr(PMC1, 0);
	wrmsr(EVNTSEL1, INSTRUCTIONS);
	run_user(code);
	wrmsr(EVNTSEL1, 0);
	return rdmsr(PMC1);
}

static void test_events(void)
{
	check("instructions", 12, count_ring0(INSTRUCTIONS));
	check("clocks", 12, count_ring0(CLOCKS));
	check("none", 0, count_ring0(0));
	check("undefined", 0, count_ring0(0xc4));
	check("both_rings", 2004 - 1, count_ring3(user_loop) - count_ring3(user_nothing));
}

static void test_registers(void)
{
	static const uint32_t absent[] = { 0xc1, 0x186, 0x188, 0xc3, 0x11, 0x38f, 0xc0010000 };
	uint64_t value;

	wrmsr(EVNTSEL1, 0x1ff);
	check("evntsel.kept", 0x1ff, rdmsr(EVNTSEL1));
	check("evntsel.bit_9", GP, wrmsr_safe(EVNTSEL1, 1 << 9));
	check("evntsel.bit_22", GP, wrmsr_safe(EVNTSEL1, 1 << 22));
	wrmsr(EVNTSEL1, 0);
	wrmsr(PMC1, 0xffffffff);
	check("counter.kept", 0xffffffff, rdpmc(1));
	check("counter.bit_32", GP, wrmsr_safe(PMC1, 1ull << 32));
	check("rdpmc.time_stamp", NO_FAULT, rdpmc_safe(0, &value));
	check("rdpmc.bad", GP, rdpmc_safe(2, &value));
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check("absent.read", GP, rdmsr_safe(absent[i], &value));
		check("absent.write", GP, wrmsr_safe(absent[i], 0));
	}
}

void test(void)
{
	test_events();
	test_registers();
}
