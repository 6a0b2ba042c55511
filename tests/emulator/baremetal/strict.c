/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu-mode=strict, the default: a write that the manual forbids faults and changes nothing. */
#include "code.h"

void second_test(void)
{
}

static const struct {
	const char *name;
	uint32_t msr;
	uint64_t value;
} refused[] = {
	{ "evntsel.any_thread", IA32_PERFEVTSEL0, INSN | 1 << 21 },
	{ "evntsel.bit_32", IA32_PERFEVTSEL0, 1ull << 32 },
	{ "evntsel.bit_63", IA32_PERFEVTSEL0 + 3, 1ull << 63 },
	{ "fixed_ctr_ctrl.any_thread", IA32_FIXED_CTR_CTRL, 4 },
	{ "fixed_ctr_ctrl.bit_12", IA32_FIXED_CTR_CTRL, 1 << 12 },
	{ "global_ctrl.bit_4", IA32_PERF_GLOBAL_CTRL, 0x10 },
	{ "global_ctrl.bit_35", IA32_PERF_GLOBAL_CTRL, 1ull << 35 },
	{ "global_status", IA32_PERF_GLOBAL_STATUS, 0 },
	{ "global_ovf_ctrl.bit_4", IA32_PERF_GLOBAL_OVF_CTRL, 0x10 },
	{ "global_ovf_ctrl.bit_61", IA32_PERF_GLOBAL_OVF_CTRL, 1ull << 61 },
	{ "capabilities", IA32_PERF_CAPABILITIES, 1 << 13 },
	{ "counter.not_extended", IA32_PMC0, 0x80000000 },
	{ "counter.wider", IA32_PMC0, 1ull << 32 },
	{ "counter.half_extended", IA32_PMC0 + 1, 0x00ffffff80000000 },
	{ "full_width.bit_48", IA32_A_PMC0, 1ull << 48 },
	{ "full_width.negative", IA32_A_PMC0 + 3, -1ull },
	{ "fixed.bit_48", IA32_FIXED_CTR0, 1ull << 48 },
	{ "fixed.negative", IA32_FIXED_CTR0 + 2, -1ull },
};

static const struct {
	uint32_t msr;
	uint64_t value;
} accepted[] = {
	{ IA32_PERFEVTSEL0, 0xffdfffff & ~EN },
	{ IA32_FIXED_CTR_CTRL, 0xbbb },
	{ IA32_PERF_GLOBAL_CTRL, 0x70000000f },
	{ IA32_PERF_GLOBAL_OVF_CTRL, 0xc00000070000000f },
	{ IA32_PMC0, 0x7fffffff },
	{ IA32_PMC0, 0xffffffff80000000 },
	{ IA32_PMC0, 0x0000ffff80000000 },	/* masked to the width of the counter */
	{ IA32_A_PMC0, COUNTER_MASK },
	{ IA32_FIXED_CTR0, COUNTER_MASK },
};

/* The first register after each group of this PMU, and those of other processors' PMUs. */
static const uint32_t absent[] = {
	IA32_PMC0 + 4, IA32_PERFEVTSEL0 + 4, IA32_FIXED_CTR0 + 3, IA32_A_PMC0 + 4, 0x391,
	0x11, 0x12, 0x1a6, 0x300, 0x329, 0x360, 0x3a0, 0x3f1, 0x3f6,
	0xc0000300, 0xc0000301, 0xc0010000, 0xc0010004, 0xc0010200, 0xc0010201,
	0x4f564d00,	/* the statistics, which are switched off */
	0x4f564d40,	/* the register for wrong counts, which is switched off */
	0x4f565000,	/* the counts of system calls, which are switched off */
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void test_refused(void)
{
	for (unsigned i = 0; i < LENGTH(refused); i++) {
		uint64_t before, after;

		reset_pmu();
		before = rdmsr(refused[i].msr);
		check(refused[i].name, GP, wrmsr_safe(refused[i].msr, refused[i].value));
		after = rdmsr(refused[i].msr);
		check("  unchanged", before, after);
	}
}

static void test_accepted(void)
{
	for (unsigned i = 0; i < LENGTH(accepted); i++) {
		reset_pmu();
		check("accepted", NO_FAULT, wrmsr_safe(accepted[i].msr, accepted[i].value));
	}
}

static void test_absent(void)
{
	uint64_t value;

	for (unsigned i = 0; i < LENGTH(absent); i++) {
		check("absent.read", GP, rdmsr_safe(absent[i], &value));
		check("absent.write", GP, wrmsr_safe(absent[i], 0));
	}
	/* QEMU's other unknown registers stay as they are. */
	check("unknown.read", NO_FAULT, rdmsr_safe(0x12345, &value));
	check("unknown.value", 0, value);
	check("unknown.write", NO_FAULT, wrmsr_safe(0x12345, 0));
}

void test(void)
{
	test_refused();
	test_accepted();
	test_absent();
}
