/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions for bare-metal tests of the emulated PMU. A test runs in ring 0, with 32 bits and
 * paging.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IA32_APIC_BASE			0x1b
#define IA32_PMC0			0xc1
#define IA32_PERFEVTSEL0		0x186
#define IA32_FIXED_CTR0			0x309
#define IA32_PERF_CAPABILITIES		0x345
#define IA32_FIXED_CTR_CTRL		0x38d
#define IA32_PERF_GLOBAL_STATUS		0x38e
#define IA32_PERF_GLOBAL_CTRL		0x38f
#define IA32_PERF_GLOBAL_OVF_CTRL	0x390
#define IA32_A_PMC0			0x4c1

#define USR	0x10000
#define OS	0x20000
#define EDGE	0x40000
#define INT	0x100000
#define EN	0x400000
#define INV	0x800000
#define CMASK(n) ((n) << 24)

#define INSN		0x00c0
#define CYCLES		0x003c
#define REF_CYCLES	0x013c
#define BRANCHES	0x00c4
#define NEAR_TAKEN	0x20c4
#define LOADS		0x81d0
#define STORES		0x82d0

#define FIXED(n) (0x40000000 + (n))	/* for rdpmc() */
#define COUNTER_MASK 0xffffffffffffull

#define TIMER_VECTOR 0x30	/* of lower priority */
#define PMI_VECTOR 0x40

/* Vectors with which access() and run_user() can end. */
#define NO_FAULT	(-1)
#define GP		13

struct frame {
	uint32_t edi, esi, ebp, unused, ebx, edx, ecx, eax;
	uint32_t vector, error, eip, cs, eflags, esp, ss;
};

/* Provided by every test. */
void test(void);
void second_test(void);

void run_user(void (*code)(void));
void finish(void) __attribute__((noreturn));

/* Prints one line of the result. */
void check(const char *name, uint64_t expected, uint64_t got);

/*
 * For code that faults on purpose: the address where it goes on after the next fault, and the
 * vector of that fault.
 */
extern volatile uint32_t fault_resume;
extern volatile int fault_vector;

/*
 * While this is set, a fault in the demand pages maps the page, and the instruction starts again.
 */
extern volatile bool demand_paging;
extern volatile unsigned page_faults;
void unmap_demand_pages(void);

/* The interrupts of the PMU: their number, and the state at the last one. */
extern volatile unsigned pmi_count;
extern volatile struct frame pmi_frame;

/* The interrupts of the local APIC's timer. */
extern volatile unsigned timer_count, pmi_count_at_timer;
extern volatile struct frame timer_frame;

void apic_write(uint32_t reg, uint32_t value);
uint32_t apic_read(uint32_t reg);
#define APIC_LVTPC	0x340
#define APIC_ICR	0x300
#define APIC_LVT_TIMER	0x320
#define APIC_TIMER_INITIAL 0x380	/* in nanoseconds, if it is not divided */
#define APIC_TIMER_DIVIDE 0x3e0
#define APIC_UNDIVIDED	0xb
#define LVT_MASKED	0x10000

void start_second_cpu(void);

/*
 * Switches everything off, and sets all counters and overflow bits to zero, and the enables of
 * GLOBAL_CTRL as at reset.
 */
void reset_pmu(void);

/* Each returns the vector of the fault, or NO_FAULT. */
int rdmsr_safe(uint32_t msr, uint64_t *value);
int wrmsr_safe(uint32_t msr, uint64_t value);
int rdpmc_safe(uint32_t counter, uint64_t *value);

static inline uint64_t rdmsr(uint32_t msr)
{
	uint64_t value;

	asm volatile("rdmsr" : "=A"(value) : "c"(msr) : "memory");
	return value;
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	asm volatile("wrmsr" : : "A"(value), "c"(msr) : "memory");
}

static inline uint64_t rdpmc(uint32_t counter)
{
	uint64_t value;

	asm volatile("rdpmc" : "=A"(value) : "c"(counter) : "memory");
	return value;
}

#endif
