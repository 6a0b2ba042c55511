/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu-mode=hardware: faults where processors fault, and ignores the same as processors. */
#include "code.h"

#define AMD_CTL0		0xc0010200
#define AMD_CTR0		0xc0010201
#define K7_EVNTSEL0		0xc0010000
#define K7_PERFCTR0		0xc0010004
#define AMD_L3_CTL0		0xc0010230
#define AMD_GLOBAL_STATUS	0xc0000300
#define AMD_GLOBAL_CTL		0xc0000301
#define PERFCTR_CORE		(1u << 23)	/* CPUID 80000001H ECX */

void second_test(void)
{
}

static void cpuid(uint32_t leaf, uint32_t r[4])
{
	asm volatile("cpuid"
		     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(0));
}

static uint64_t rdtsc(void)
{
	uint64_t value;

	asm volatile("rdtsc" : "=A"(value));
	return value;
}

static bool is_amd(void)
{
	uint32_t r[4];

	cpuid(0, r);
	return r[2] == 0x444d4163;	/* "cAMD" */
}

/*
 * SDM volume 3, 20.2.8: IA32_PMCx takes 32 bits and extends their sign. IA32_A_PMCx takes all bits.
 */
static const struct {
	const char *name;
	uint32_t msr;
	int fault;
	uint64_t value, kept;
} intel[] = {
	{ "counter.upper_ignored", IA32_PMC0, NO_FAULT, 0xffffff0123456789, 0x23456789 },
	{ "counter.extended", IA32_PMC0 + 3, NO_FAULT, 0x180000000, 0xffff80000000 },
	{ "counter.not_extended", IA32_PMC0, NO_FAULT, 0x80000000, 0xffff80000000 },
	{ "full_width", IA32_A_PMC0, NO_FAULT, 0xff0123456789, 0xff0123456789 },
	{ "full_width.bit_48", IA32_A_PMC0, GP, 1ull << 48, 0 },
	{ "fixed", IA32_FIXED_CTR0, NO_FAULT, 0xff0123456789, 0xff0123456789 },
	{ "fixed.bit_48", IA32_FIXED_CTR0, GP, 1ull << 48, 0 },
	{ "evntsel.any_thread", IA32_PERFEVTSEL0, GP, 1 << 21, 0 },
	{ "evntsel.bit_32", IA32_PERFEVTSEL0, GP, 1ull << 32, 0 },
	{ "fixed_ctr_ctrl.bit_12", IA32_FIXED_CTR_CTRL, GP, 1 << 12, 0 },
	{ "global_status", IA32_PERF_GLOBAL_STATUS, GP, 1, 0 },
	{ "capabilities", IA32_PERF_CAPABILITIES, GP, 0, 1 << 13 },
};

static const uint32_t intel_absent[] = { IA32_PMC0 + 4, IA32_PERFEVTSEL0 + 4, K7_EVNTSEL0, 0x300 };

static void test_intel(void)
{
	uint64_t value;

	for (unsigned i = 0; i < sizeof(intel) / sizeof(intel[0]); i++) {
		reset_pmu();
		check(intel[i].name, intel[i].fault, wrmsr_safe(intel[i].msr, intel[i].value));
		check("  kept", intel[i].kept, rdmsr(intel[i].msr));
	}
	for (unsigned i = 0; i < sizeof(intel_absent) / sizeof(intel_absent[0]); i++)
		check("absent", GP, rdmsr_safe(intel_absent[i], &value));
}

struct sample {
	uint64_t reference, event, time;
};

/* Two calls read their three values at the same distances. */
static __attribute__((noinline)) void take_sample(struct sample *s)
{
	s->reference = rdpmc(FIXED(2));
	s->event = rdpmc(0);
	s->time = rdtsc();
}

/* Where time is the number of instructions, reference cycles are ticks of the time stamp. */
static void test_reference_cycles(void)
{
	struct sample before, after;

	reset_pmu();
	wrmsr(IA32_FIXED_CTR_CTRL, 0x300);
	wrmsr(IA32_PERFEVTSEL0, REF_CYCLES | OS | EN);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 1ull << 34 | 1);
	take_sample(&before);
	for (volatile int i = 0; i < 1000; i++)
		;
	take_sample(&after);
	check("reference.long", 1, after.time - before.time >= 3000);
	check("reference.fixed", after.time - before.time, after.reference - before.reference);
	check("reference.general", after.time - before.time, after.event - before.event);
}

/* A counter near its end overflows with the instruction that takes it over the end. */
static void test_reference_overflow(void)
{
	reset_pmu();
	wrmsr(IA32_FIXED_CTR0 + 2, COUNTER_MASK - 4000);
	wrmsr(IA32_FIXED_CTR_CTRL, 0xb00);
	apic_write(APIC_LVTPC, PMI_VECTOR);
	pmi_count = 0;
	asm volatile("sti");
	wrmsr(IA32_PERF_GLOBAL_CTRL, 1ull << 34);
	for (volatile int i = 0; i < 10000; i++)
		;
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	asm volatile("cli");
	check("reference.overflow", 1, pmi_count);
	check("reference.status", 1ull << 34, rdmsr(IA32_PERF_GLOBAL_STATUS));
}

/* AMD's PPR: reserved bits are ignored, and so is a write to a read-only register. */
static void test_amd_ignores(uint32_t evntsel, uint32_t counter)
{
	check("amd.evntsel", NO_FAULT, wrmsr_safe(evntsel, INSN | 1ull << 21 | 1ull << 63));
	check("  kept", INSN, rdmsr(evntsel));
	check("amd.counter", NO_FAULT, wrmsr_safe(counter, -5ull));
	check("  kept", COUNTER_MASK - 4, rdmsr(counter));
	check("  rdpmc", COUNTER_MASK - 4, rdpmc(0));
}

static void test_amd(void)
{
	uint32_t r[4], max[4];
	uint64_t value;

	cpuid(0x80000001, r);
	cpuid(0x80000000, max);
	test_amd_ignores(K7_EVNTSEL0, K7_PERFCTR0);
	check("amd.absent", GP, rdmsr_safe(IA32_PERFEVTSEL0, &value));
	check("amd.rdpmc_16", GP, rdpmc_safe(16, &value));
	if (r[2] & PERFCTR_CORE) {
		test_amd_ignores(AMD_CTL0, AMD_CTR0);
		check("amd.rdpmc_5", NO_FAULT, rdpmc_safe(5, &value));
		check("amd.l3", NO_FAULT, wrmsr_safe(AMD_L3_CTL0, -1ull));
		check("  kept", 0xff0f00000040ffff, rdmsr(AMD_L3_CTL0));
	} else {
		check("amd.rdpmc_6", GP, rdpmc_safe(6, &value));
		check("amd.no_core", GP, rdmsr_safe(AMD_CTL0, &value));
		check("amd.no_rdpmc_4", GP, rdpmc_safe(4, &value));
	}
	if (max[0] >= 0x80000022) {
		check("amd.status", NO_FAULT, wrmsr_safe(AMD_GLOBAL_STATUS, 1));
		check("  kept", 0, rdmsr(AMD_GLOBAL_STATUS));
		check("amd.global_ctl", NO_FAULT, wrmsr_safe(AMD_GLOBAL_CTL, -1ull));
		check("  kept", 0x3f, rdmsr(AMD_GLOBAL_CTL));
	} else {
		check("amd.no_global_ctl", GP, rdmsr_safe(AMD_GLOBAL_CTL, &value));
	}
}

void test(void)
{
	if (is_amd()) {
		test_amd();
		return;
	}
	test_intel();
	test_reference_cycles();
	test_reference_overflow();
}
