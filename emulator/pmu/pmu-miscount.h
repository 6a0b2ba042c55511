/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MSR by which a guest chooses how the emulated PMU of its vCPU counts wrongly: one of the
 * ways below, plus a seed from bit 8 on. The MSR exists if the processor has the property
 * pmu-miscount, which gives its value at reset. On an emulated PMU without the property, accesses
 * fault (#GP). The emulator and tests include this header.
 */
#ifndef PMU_MISCOUNT_H
#define PMU_MISCOUNT_H

#define PMU_MISCOUNT_MSR	0x4f564d40

#define PMU_MISCOUNT_NONE	0
#define PMU_MISCOUNT_HALF	1	/* every second occurrence */
#define PMU_MISCOUNT_INTERRUPTS	2	/* three more for each external interrupt in a counted mode */
#define PMU_MISCOUNT_FORGETS	3	/* all but every 1000th occurrence */
#define PMU_MISCOUNT_NOISE	4	/* a normal error, deviation 1 %; another one after each access */
#define PMU_MISCOUNT_NB_WAYS	5

#define PMU_MISCOUNT(way, seed)	((way) | (uint64_t)(seed) << 8)

#endif
