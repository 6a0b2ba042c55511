/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu-mode=lenient: reserved bits are ignored, absent registers read as zero. */
#include "code.h"

void second_test(void)
{
}

void test(void)
{
	uint64_t value;

	reset_pmu();
	check("evntsel", NO_FAULT, wrmsr_safe(IA32_PERFEVTSEL0, INSN | 1 << 21 | 1ull << 40));
	check("evntsel.value", INSN, rdmsr(IA32_PERFEVTSEL0));
	check("counter", NO_FAULT, wrmsr_safe(IA32_PMC0, 0x180000000));
	check("counter.value", 0xffff80000000, rdpmc(0));
	check("full_width", NO_FAULT, wrmsr_safe(IA32_A_PMC0, 1ull << 48 | 5));
	check("full_width.value", 5, rdpmc(0));
	check("status", NO_FAULT, wrmsr_safe(IA32_PERF_GLOBAL_STATUS, 3));
	check("status.value", 0, rdmsr(IA32_PERF_GLOBAL_STATUS));
	check("absent.write", NO_FAULT, wrmsr_safe(0xc0010000, INSN));
	check("absent.read", NO_FAULT, rdmsr_safe(0xc0010000, &value));
	check("absent.value", 0, value);
	check("statistics", GP, rdmsr_safe(0x4f564d00, &value));
	check("rdpmc.bad_index", GP, rdpmc_safe(4, &value));
}
