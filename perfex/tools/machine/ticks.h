/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_MACHINE_TICKS_H
#define PERFEX_MACHINE_TICKS_H

#include <stdint.h>

/* Reads the time stamp counter after all earlier instructions have completed. */
static inline uint64_t read_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

#endif
