/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Pentium's PMU, on processors with and without MMX: registers, rings, events. */
#include "code.h"

#define CESR		0x11
#define CTR0		0x12

#define UD		6

/* A half of CESR. */
#define KERNEL		0x40
#define USER		0x80
#define CLOCKS		0x100
#define PIN		0x200
#define SECOND(half)	((half) << 16)

#define DATA_READ	0x00
#define DATA_WRITE	0x01
#define BRANCH		0x12
#define TAKEN		0x14
#define INSTRUCTION	0x16

#define MAX_COUNT	0xffffffffffull

static bool mmx;

void second_test(void)
{
}

static void identify(void)
{
	uint32_t eax = 0, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.no_leaf_a", 1, eax < 10);
	eax = 1;
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.family", 5, eax >> 8 & 0xf);
	mmx = edx >> 23 & 1;
}

static void reset(void)
{
	wrmsr(CESR, 0);
	wrmsr(CTR0, 0);
	wrmsr(CTR0 + 1, 0);
}

/* Returns the counts of both counters for code in ring 3. */
static void count_user(uint32_t cesr, void (*code)(void), uint64_t *counts)
{
	reset();
	wrmsr(CESR, cesr);
	run_user(code);
	wrmsr(CESR, 0);
	counts[0] = rdmsr(CTR0);
	counts[1] = rdmsr(CTR0 + 1);
}

static const struct {
	const char *name;
	uint32_t half;
	void (*code)(void);
	uint64_t expected;
} cases[] = {
	{ "instructions", INSTRUCTION | USER, user_loop, 2004 },
	{ "branches", BRANCH | USER, user_loop, 1001 },
	{ "taken", TAKEN | USER, user_loop, 999 },
	{ "clocks", BRANCH | USER | CLOCKS, user_loop, 2004 },
	{ "clocks.of_an_event_not_modelled", 0x18 | USER | CLOCKS, user_loop, 2004 },
	{ "reads", DATA_READ | USER, user_loads, 20 },
	{ "reads.string", DATA_READ | USER, user_rep, 1000 },
	{ "writes", DATA_WRITE | USER, user_rep, 1000 },
	{ "writes.none", DATA_WRITE | USER, user_loads, 0 },
	{ "pin", INSTRUCTION | USER | PIN, user_nops, 21 },
	{ "disabled", INSTRUCTION, user_loop, 0 },
	{ "disabled.clocks", INSTRUCTION | CLOCKS, user_loop, 0 },
	{ "not_modelled", 0x03 | USER, user_loop, 0 },
	{ "reserved", 0x3f | USER, user_loop, 0 },
};

static void test_events(void)
{
	uint64_t counts[2];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		count_user(cases[i].half, cases[i].code, counts);
		check(cases[i].name, cases[i].expected, counts[0]);
		check("  other_counter", 0, counts[1]);
		count_user(SECOND(cases[i].half), cases[i].code, counts);
		check("  second_counter", cases[i].expected, counts[1]);
		check("  first_counter", 0, counts[0]);
	}
	count_user(INSTRUCTION | USER | SECOND(BRANCH | USER), user_loop, counts);
	check("two.instructions", 2004, counts[0]);
	check("two.branches", 1001, counts[1]);
}

/* Codes of the Pentium with MMX. Each one is for one counter. */
static void test_mmx_events(void)
{
	uint64_t counts[2];

	count_user(0x30 | USER | SECOND(0x30 | USER), user_loop, counts);
	check("mmx.not_halted", mmx ? 2004 : 0, counts[0]);
	check("mmx.not_halted_on_the_other", 0, counts[1]);
	count_user(0x32 | USER | SECOND(0x32 | USER), user_loop, counts);
	check("mmx.taken_on_the_other", 0, counts[0]);
	check("mmx.taken", mmx ? 999 : 0, counts[1]);
}

/* The WRMSR that enables counting is counted, the one that disables it is not. */
static void test_rings(void)
{
	uint64_t counts[2];

	reset();
	enable_disable(CESR, INSTRUCTION | KERNEL | SECOND(INSTRUCTION | USER));
	check("rings.kernel", 12, rdmsr(CTR0));
	check("rings.not_user", 0, rdmsr(CTR0 + 1));
	reset();
	enable_disable(CESR, CLOCKS | KERNEL | SECOND(INSTRUCTION | USER | KERNEL));
	check("rings.clocks", 12, rdmsr(CTR0));
	check("rings.both", 12, rdmsr(CTR0 + 1));
	count_user(INSTRUCTION | KERNEL | SECOND(INSTRUCTION | KERNEL | USER), user_loop, counts);
	check("rings.difference", 2004, counts[1] - counts[0]);
}

static void test_counters(void)
{
	uint64_t counts[2];

	reset();
	check("counter.full_width", NO_FAULT, wrmsr_safe(CTR0, MAX_COUNT));
	check("counter.kept", MAX_COUNT, rdmsr(CTR0));
	check("counter.bit_40", GP, wrmsr_safe(CTR0, MAX_COUNT + 1));
	check("counter.negative", GP, wrmsr_safe(CTR0 + 1, -1ull));
	check("counter.unchanged", 0, rdmsr(CTR0 + 1));
	wrmsr(CTR0, MAX_COUNT - 3);
	wrmsr(CESR, INSTRUCTION | USER);
	run_user(user_nops);
	wrmsr(CESR, 0);
	counts[0] = rdmsr(CTR0);
	check("counter.wraps", 17, counts[0]);
}

static void test_strict(void)
{
	static const uint64_t refused[] = {
		1 << 10, 1 << 15, 1 << 26, 1u << 31, 1ull << 32, 1ull << 63,
	};
	static const uint32_t absent[] = {
		0xc1, 0x186, 0x309, 0x345, 0x38d, 0x38f, 0x300, 0x360, 0x3a0, 0xc0010000,
	};
	uint64_t value;

	reset();
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		check("cesr.reserved", GP, wrmsr_safe(CESR, refused[i]));
	check("cesr.unchanged", 0, rdmsr(CESR));
	check("cesr.all", NO_FAULT, wrmsr_safe(CESR, 0x033f033f));
	check("cesr.kept", 0x033f033f, rdmsr(CESR));
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check("absent.read", GP, rdmsr_safe(absent[i], &value));
		check("absent.write", GP, wrmsr_safe(absent[i], 0));
	}
}

static void test_rdpmc(void)
{
	uint64_t value = 0;

	reset();
	wrmsr(CTR0, 1000);
	wrmsr(CTR0 + 1, MAX_COUNT);
	if (!mmx) {
		check("rdpmc.absent", UD, rdpmc_safe(0, &value));
		return;
	}
	check("rdpmc.first", 1000, rdpmc(0));
	check("rdpmc.second", MAX_COUNT, rdpmc(1));
	check("rdpmc.bad", GP, rdpmc_safe(2, &value));
	check("rdpmc.fixed", GP, rdpmc_safe(FIXED(0), &value));
	reset();
	wrmsr(CESR, INSTRUCTION | KERNEL);
	check("rdpmc.delta", 6, rdpmc_delta(0));
}

void test(void)
{
	identify();
	test_events();
	test_mmx_events();
	test_rings();
	test_counters();
	test_strict();
	test_rdpmc();
}
