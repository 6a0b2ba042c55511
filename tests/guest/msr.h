/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Model-specific registers of a CPU, through /dev/cpu/N/msr. If a function fails, it ends the test.
 */
#ifndef TESTS_GUEST_MSR_H
#define TESTS_GUEST_MSR_H

#include <stdint.h>

/* flags: of open(2). */
int msr_open(int cpu, int flags);
uint64_t msr_read(int cpu, uint32_t msr);
void msr_write(int cpu, uint32_t msr, uint64_t value);

#endif
