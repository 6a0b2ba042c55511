/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu=off: there is no PMU, and QEMU behaves as it does without one. */
#include "harness.h"

#define UD 6

void second_test(void)
{
}

void test(void)
{
	uint32_t eax = 0xa, ebx, ecx = 0, edx;
	uint64_t value;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.version", 0, eax);
	eax = 1;
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.pdcm", 0, ecx >> 15 & 1);
	check("rdpmc", UD, rdpmc_safe(0, &value));
	check("evntsel", NO_FAULT, rdmsr_safe(IA32_PERFEVTSEL0, &value));
	check("evntsel.value", 0, value);
}
