/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two kinds of cores in one machine: the first processor is a P-core, the second an E-core. The
 * test checks what each one reports, has and refuses, and the counts of the same code on both.
 */
#include "code.h"

#define IA32_PERF_METRICS	0x329

#define ATOM_NEAR_TAKEN		0x80c4
#define METRICS			(1ull << 48)
#define UMASK2			(1ull << 40)

struct registers {
	uint32_t eax, ebx, ecx, edx;
};

static const struct kind {
	uint32_t leaf_1a;
	unsigned general, fixed;
	uint64_t global_ctrl;		/* bits that can be written */
	int metrics;			/* how an access to PERF_METRICS ends */
	uint32_t loads, stores, near_taken;	/* events */
	uint32_t foreign;		/* an event that only the other kind has */
	bool extended;			/* with leaf 23H: UnitMask2 */
} kinds[] = {
	{ 0x40000001, 8, 4, 0x1000f000000ff, NO_FAULT, 0x81d0, 0x82d0, NEAR_TAKEN,
	  ATOM_NEAR_TAKEN, true },
	{ 0x20000001, 6, 3, 0x70000003f, GP, 0x82d0, 0x81d0, ATOM_NEAR_TAKEN, NEAR_TAKEN,
	  false },
};

static struct {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed)) idtr;
static volatile int second_done;
static volatile uint32_t memory;

static struct registers cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct registers r = { .eax = leaf, .ecx = subleaf };

	asm volatile("cpuid" : "+a"(r.eax), "=b"(r.ebx), "+c"(r.ecx), "=d"(r.edx));
	return r;
}

static bool has_leaf_23(void)
{
	return cpuid(0, 0).eax >= 0x23;
}

/* CPUID leaf 0AH reports on each kind what both have. Leaf 23H reports what the kind itself has. */
static void test_cpuid(const struct kind *kind)
{
	struct registers a = cpuid(0xa, 0);

	check("hybrid", 1, cpuid(7, 0).edx >> 15 & 1);
	check("kind", kind->leaf_1a, cpuid(0x1a, 0).eax);
	check("version", 5, a.eax & 0xff);
	check("general", 6, a.eax >> 8 & 0xff);
	/* not available: references and misses of the last level cache */
	check("events", 0x18, a.ebx & 0x7f);
	check("fixed", 3, a.edx & 0x1f);
	check("fixed.mask", 7, a.ecx);
	if (!has_leaf_23())
		return;
	check("announced", 1, cpuid(7, 1).eax >> 8 & 1);
	check("own.bits", kind->extended ? 5 : 0, cpuid(0x23, 0).ebx);
	check("own.general", (1u << kind->general) - 1, cpuid(0x23, 1).eax);
	check("own.fixed", (1u << kind->fixed) - 1, cpuid(0x23, 1).ebx);
}

static void test_registers(const struct kind *kind)
{
	const bool umask2 = kind->extended && has_leaf_23();
	uint64_t value;

	for (unsigned n = 0; n < 9; n++) {
		int general = n < kind->general ? NO_FAULT : GP;
		int fixed = n < kind->fixed ? NO_FAULT : GP;

		check("pmc", general, n < 8 ? rdmsr_safe(IA32_PMC0 + n, &value) : GP);
		check("evntsel", general, n < 8 ? wrmsr_safe(IA32_PERFEVTSEL0 + n, 0) : GP);
		check("rdpmc", general, rdpmc_safe(n, &value));
		check("fixed", fixed, rdmsr_safe(IA32_FIXED_CTR0 + n, &value));
		check("rdpmc.fixed", fixed, rdpmc_safe(FIXED(n), &value));
	}
	for (unsigned bit = 0; bit < 64; bit++)
		check("global_ctrl", kind->global_ctrl >> bit & 1 ? NO_FAULT : GP,
		      wrmsr_safe(IA32_PERF_GLOBAL_CTRL, 1ull << bit));
	check("metrics", kind->metrics, wrmsr_safe(IA32_PERF_METRICS, 0));
	check("umask2", umask2 ? NO_FAULT : GP, wrmsr_safe(IA32_PERFEVTSEL0, UMASK2));
	wrmsr(IA32_PERFEVTSEL0, 0);
}

/* Between the readings there are three loads, one store and one taken branch, in 8 instructions. */
static uint32_t count(uint32_t event)
{
	uint32_t result;

	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERFEVTSEL0, event | OS | EN);
	wrmsr(IA32_PMC0, 0);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 1);
	asm volatile("rdpmc\n\t"
		     "mov %%eax, %%esi\n\t"
		     "mov %1, %%eax\n\t"
		     "mov %1, %%eax\n\t"
		     "mov %1, %%eax\n\t"
		     "mov %%eax, %1\n\t"
		     "jmp 1f\n"
		     "1:\tnop\n\t"
		     "rdpmc\n\t"
		     "sub %%esi, %%eax"
		     : "=&a"(result), "+m"(memory)
		     : "c"(0)
		     : "edx", "esi");
	return result;
}

static void test_counts(const struct kind *kind)
{
	check("instructions", 8, count(INSN));
	check("cycles", 8, count(CYCLES));
	check("branches", 1, count(BRANCHES));
	check("near_taken", 1, count(kind->near_taken));
	check("loads", 3, count(kind->loads));
	check("stores", 1, count(kind->stores));
	check("event_of_the_other_kind", 0, count(kind->foreign));
}

static void test_kind(const struct kind *kind)
{
	check("reset.global_ctrl", (1u << kind->general) - 1, rdmsr(IA32_PERF_GLOBAL_CTRL));
	test_cpuid(kind);
	test_registers(kind);
	test_counts(kind);
}

void second_test(void)
{
	asm volatile("lidt %0" : : "m"(idtr));
	test_kind(&kinds[1]);
	second_done = 1;
}

void test(void)
{
	asm volatile("sidt %0" : "=m"(idtr));
	test_kind(&kinds[0]);
	start_second_cpu();
	while (!second_done)
		asm volatile("pause");
}
