/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MSR by which a guest chooses how the emulated PMU of its vCPU counts wrongly: one of the
 * ways, plus a seed from bit 8 on. It exists with the processor property pmu-miscount, which is its
 * value at reset. Otherwise accesses fault (#GP). Used by the emulator and by tests.
 */
#ifndef PMU_MISCOUNT_H
#define PMU_MISCOUNT_H

#define PMU_MISCOUNT_MSR	0x4f564d40

#define PMU_MISCOUNT_NONE	0
#define PMU_MISCOUNT_HALF	1	/* every second occurrence */
#define PMU_MISCOUNT_INTERRUPTS	2	/* three more for each external interrupt of a counted mode */
#define PMU_MISCOUNT_FORGETS	3	/* all but every 1000th occurrence */
#define PMU_MISCOUNT_NOISE	4	/* more or less by 1 %, another number after each reading */
#define PMU_MISCOUNT_NB_WAYS	5

#define PMU_MISCOUNT(way, seed)	((way) | (uint64_t)(seed) << 8)

#endif
