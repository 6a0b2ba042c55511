/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -perfctr-core: CPUID does not promise the further counters, and they do not exist. */
#include "code.h"

void second_test(void)
{
}

void test(void)
{
	uint32_t eax = 0x80000001, ebx, ecx = 0, edx;
	uint64_t value;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid", 0, ecx & (1u << 23 | 1u << 24 | 1u << 28));
	check("ctl", GP, rdmsr_safe(0xc0010200, &value));
	check("northbridge", GP, rdmsr_safe(0xc0010240, &value));
	check("l3", GP, rdmsr_safe(0xc0010230, &value));
	check("rdpmc_4", GP, rdpmc_safe(4, &value));
	check("rdpmc_6", GP, rdpmc_safe(6, &value));
	check("rdpmc_3", NO_FAULT, rdpmc_safe(3, &value));
	check("evntsel", NO_FAULT, rdmsr_safe(0xc0010003, &value));
	check("global_ctl", GP, rdmsr_safe(0xc0000301, &value));
}
