/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD's counters beside those of each processor: of the northbridge from family 15H on, which is
 * the data fabric from Zen on, and from Zen on of the L3 cache, too. All processors share them.
 */
#include "code.h"

#define PERFCTR_NB	(1u << 24)	/* CPUID 80000001H ECX */
#define PERFCTR_LLC	(1u << 28)
#define LEFT		0x123456789abcull
#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

/*
 * Bits that can be written: those of the event, bits 8 to 15 of the unit mask, bit 22 to enable
 * (BIOS and kernel developer's guide for family 15h models 00h-0Fh, MSRC001_024[6,4,2,0]; PPR for
 * family 17h model 01h, MSRC001_023[A...0] and MSRC001_024[6...0]).
 */
static const struct block {
	unsigned first_family, last_family;
	uint32_t msr, n, rdpmc;
	uint64_t writable;
} blocks[] = {
	{ 0x15, 0x16, 0xc0010240, 4, 6, 0x1ff0050ffff },
	{ 0x17, -1, 0xc0010240, 4, 6, 0x1800000f0040ffff },
	{ 0x17, -1, 0xc0010230, 6, 10, 0xff0f00000040ffff },
};

static volatile int second_done;

static void cpuid(uint32_t leaf, uint32_t r[4])
{
	asm volatile("cpuid"
		     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(0));
}

static unsigned family(void)
{
	uint32_t r[4];

	cpuid(1, r);
	return 0xf + (r[0] >> 20 & 0xff);
}

static bool is_here(const struct block *b)
{
	return family() >= b->first_family && family() <= b->last_family;
}

static uint32_t ctl(const struct block *b, unsigned n)
{
	return b->msr + 2 * n;
}

static uint32_t ctr(const struct block *b, unsigned n)
{
	return b->msr + 2 * n + 1;
}

static void test_promises(void)
{
	uint32_t r[4], last[4];

	cpuid(0x80000001, r);
	check("cpuid.northbridge", 1, !!(r[2] & PERFCTR_NB));
	check("cpuid.l3", family() >= 0x17, !!(r[2] & PERFCTR_LLC));
	cpuid(0x80000000, last);
	if (last[0] < 0x80000022)
		return;
	cpuid(0x80000022, r);
	check("cpuid.perfmon_v2", 4, r[1] >> 10 & 0x3f);
}

static void test_selects(const struct block *b)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		bool there = b->writable >> bit & 1;
		uint64_t value = 1ull << bit;

		check("select.bit", there ? NO_FAULT : GP, wrmsr_safe(ctl(b, b->n - 1), value));
		check("  kept", there ? value : 0, rdmsr(ctl(b, b->n - 1)));
		wrmsr(ctl(b, b->n - 1), 0);
	}
}

/* Reads each counter by its MSR and by RDPMC. None of them counts, because no event is modelled. */
static void test_counters(const struct block *b)
{
	for (unsigned n = 0; n < b->n; n++)
		wrmsr(ctr(b, n), LEFT + n);
	for (unsigned n = 0; n < b->n; n++) {
		wrmsr(ctl(b, n), 0x0040ff04);
		run_user(user_loop);
		check("counter.msr", LEFT + n, rdmsr(ctr(b, n)));
		check("counter.rdpmc", LEFT + n, rdpmc(b->rdpmc + n));
		check("counter.bit_48", GP, wrmsr_safe(ctr(b, n), 1ull << 48));
		wrmsr(ctl(b, n), 0);
	}
}

/* With CR4.PCE everybody can read them. */
static void test_user_mode(const struct block *b)
{
	for (unsigned n = 0; n < b->n; n++) {
		wrmsr(ctr(b, n), LEFT + n);
		set_pce(false);
		check("user.without_pce", GP, user_rdpmc_fault(b->rdpmc + n));
		set_pce(true);
		check("user.with_pce", NO_FAULT, user_rdpmc_fault(b->rdpmc + n));
		check("user.value", (uint32_t)LEFT + n, rdpmc_result);
	}
	set_pce(false);
}

/*
 * In each block the second processor writes counter 0 and reads what the first one has left in
 * counter 1.
 */
static volatile uint64_t second_saw[LENGTH(blocks)];

void second_test(void)
{
	for (unsigned i = 0; i < LENGTH(blocks); i++) {
		if (!is_here(&blocks[i]))
			continue;
		second_saw[i] = rdpmc(blocks[i].rdpmc + 1);
		wrmsr(ctr(&blocks[i], 0), 2 * LEFT);
		wrmsr(ctl(&blocks[i], 0), EN);
	}
	second_done = 1;
}

static void test_sharing(void)
{
	start_second_cpu();
	while (!second_done)
		asm volatile("pause");
	for (unsigned i = 0; i < LENGTH(blocks); i++) {
		const struct block *b = &blocks[i];

		if (!is_here(b))
			continue;
		check("shared.seen", LEFT + 1, second_saw[i]);
		check("shared.rdpmc", 2 * LEFT, rdpmc(b->rdpmc));
		check("shared.counter", 2 * LEFT, rdmsr(ctr(b, 0)));
		check("shared.select", EN, rdmsr(ctl(b, 0)));
	}
}

void test(void)
{
	uint32_t beyond = family() >= 0x17 ? 16 : 10;
	uint64_t value;

	test_promises();
	for (unsigned i = 0; i < LENGTH(blocks); i++) {
		if (!is_here(&blocks[i]))
			continue;
		test_selects(&blocks[i]);
		test_counters(&blocks[i]);
		test_user_mode(&blocks[i]);
	}
	check("rdpmc.beyond", GP, rdpmc_safe(beyond, &value));
	check("l3.absent", family() >= 0x17 ? NO_FAULT : GP, rdmsr_safe(0xc0010230, &value));
	test_sharing();
}
