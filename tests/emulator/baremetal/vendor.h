/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of counter n, for tests that run on Intel's processors and on AMD's. */
#ifndef VENDOR_H
#define VENDOR_H

#include "harness.h"

#define K7_EVNTSEL0	0xc0010000
#define K7_COUNTER0	0xc0010004

static inline bool is_amd(void)
{
	uint32_t eax = 0, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return ecx == 0x444d4163;	/* "cAMD" */
}

static inline uint32_t evntsel(unsigned n)
{
	return (is_amd() ? K7_EVNTSEL0 : IA32_PERFEVTSEL0) + n;
}

static inline uint32_t counter(unsigned n)
{
	return (is_amd() ? K7_COUNTER0 : IA32_PMC0) + n;
}

#endif
