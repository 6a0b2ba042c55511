/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of read-only MSRs in which the emulated PMU shows its statistics to the guest. Each
 * vCPU shows its own. The window exists if the processor has the property pmu-stats=on. On an
 * emulated PMU without it, RDMSR faults (#GP). The statistics count an RDMSR of the window only as
 * an instruction. The emulator and tests include this header.
 */
#ifndef PMU_STATS_H
#define PMU_STATS_H

#define PMU_STATS_MSR			0x4f564d00

#define PMU_STATS_VERSION		0	/* of this layout and of the JSON file: 1 */
#define PMU_STATS_RDMSR			1	/* executed without a fault */
#define PMU_STATS_WRMSR			2
#define PMU_STATS_RDPMC			3
#define PMU_STATS_PMU_RDMSR		4	/* of registers of the PMU */
#define PMU_STATS_PMU_WRMSR		5
#define PMU_STATS_PMI			6	/* raised, whether or not the LVT entry was masked */
#define PMU_STATS_INSN_KERNEL		7	/* instructions retired in rings 0 to 2, before this RDMSR */
#define PMU_STATS_INSN_USER		8	/* and in ring 3 */

/* RDMSR and WRMSR of one kind of register: PMU_STATS_RDMSR_OF + PMU_STATS_GLOBAL_CTRL */
#define PMU_STATS_RDMSR_OF		0x10
#define PMU_STATS_WRMSR_OF		0x20

#define PMU_STATS_EVNTSEL		0
#define PMU_STATS_COUNTER		1	/* general, both addresses */
#define PMU_STATS_FIXED_CTR		2
#define PMU_STATS_FIXED_CTR_CTRL	3
#define PMU_STATS_GLOBAL_CTRL		4
#define PMU_STATS_GLOBAL_STATUS		5
#define PMU_STATS_GLOBAL_OVF_CTRL	6
#define PMU_STATS_OTHER			7
#define PMU_STATS_NB_KINDS		8

#define PMU_STATS_NB_MSRS		0x30

#endif
