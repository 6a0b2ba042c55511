/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of read-only MSRs in which the emulated PMU lists how many system calls of Linux each
 * number has had: SYSCALL, SYSENTER and INT 80H in ring 3, while a counter of the vCPU is enabled in
 * at least one mode. All vCPUs show the same list, which is that of the machine since it was started. The
 * window exists if the processor has the property pmu-syscalls=on. On an emulated PMU without it,
 * RDMSR faults (#GP). The emulator, perfex and tests include this header.
 */
#ifndef PMU_SYSCALLS_H
#define PMU_SYSCALLS_H

/* The ABI by which the kernel takes the call */
#define PMU_SYSCALLS_X86_64		0	/* SYSCALL in 64-bit mode */
#define PMU_SYSCALLS_X32		1	/* the same, with bit 30 of EAX; the number is without it */
#define PMU_SYSCALLS_I386		2	/* INT 80H, SYSENTER, SYSCALL in compatibility mode */
#define PMU_SYSCALLS_NB_ABIS		3

/* The number is that in EAX. Larger numbers share the last count. */
#define PMU_SYSCALLS_OTHER		1023
#define PMU_SYSCALLS_NB_NUMBERS		1024

/*
 * Reading the first MSR makes a list of the numbers that have a count, by ABI and number, and shows a
 * magic number and their number. The MSRs behind it show that list, and 0 behind its end.
 */
#define PMU_SYSCALLS_MSR		0x4f565000
#define PMU_SYSCALLS_HEAD		PMU_SYSCALLS_MSR
#define PMU_SYSCALLS_LIST		(PMU_SYSCALLS_MSR + 1)
#define PMU_SYSCALLS_MAX		(PMU_SYSCALLS_NB_ABIS * PMU_SYSCALLS_NB_NUMBERS)
#define PMU_SYSCALLS_NB_MSRS		(1 + PMU_SYSCALLS_MAX)

#define PMU_SYSCALLS_MAGIC		0x63616c6cu
#define PMU_SYSCALLS_MAGIC_OF(head)	((head) >> 32)
#define PMU_SYSCALLS_N_OF(head)		((head) & 0xffffffffu)

/* An entry of the list: 2 bits of ABI, 14 of number, 48 of count */
#define PMU_SYSCALLS_ENTRY(abi, number, count) \
	((unsigned long long)(abi) << 62 | (unsigned long long)(number) << 48 | (count))
#define PMU_SYSCALLS_ABI(entry)		((unsigned)((entry) >> 62))
#define PMU_SYSCALLS_NUMBER(entry)	((unsigned)((entry) >> 48) & 0x3fff)
#define PMU_SYSCALLS_COUNT(entry)	((entry) & 0xffffffffffffull)

#endif
