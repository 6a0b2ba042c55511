/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PMU of the P6: two counters of 40 bits with one enable bit. */
#include "code.h"

#define EVNTSEL0	0x186
#define EVNTSEL1	0x187
#define PERFCTR0	0xc1
#define PERFCTR1	0xc2

#define P6_CYCLES	0x79
#define P6_TAKEN	0xc9
#define P6_MASK		0xffffffffffull

void second_test(void)
{
}

static void reset(void)
{
	wrmsr(EVNTSEL0, 0);
	wrmsr(EVNTSEL1, 0);
	wrmsr(PERFCTR0, 0);
	wrmsr(PERFCTR1, 0);
}

/* user_loop() executes 2004 instructions, 1001 of them branches, of which 999 are taken. */
static void count_loop(uint32_t select0, uint32_t select1)
{
	reset();
	wrmsr(EVNTSEL1, select1);
	wrmsr(EVNTSEL0, select0);
	run_user(user_loop);
	wrmsr(EVNTSEL0, 0);
}

static void test_events(void)
{
	count_loop(INSN | USR | EN, BRANCHES | USR);
	check("instructions", 2004, rdpmc(0));
	check("branches.by_en_of_0", 1001, rdpmc(1));
	count_loop(P6_CYCLES | USR | EN, P6_TAKEN | USR);
	check("cycles", 2004, rdpmc(0));
	check("taken", 999, rdpmc(1));
	count_loop(INSN | USR, INSN | USR);
	check("without_en.0", 0, rdpmc(0));
	check("without_en.1", 0, rdpmc(1));
	count_loop(EN, INSN | USR);
	check("en_alone.0", 0, rdpmc(0));
	check("en_alone.1", 2004, rdpmc(1));
	count_loop(BRANCHES | CMASK(1) | INV | USR | EN, INSN | CMASK(2) | USR);
	check("threshold.inv", 1003, rdpmc(0));
	check("threshold.2", 0, rdpmc(1));
}

static void test_rings(void)
{
	uint64_t kernel;

	count_loop(INSN | OS | EN, INSN | USR);
	kernel = rdpmc(0);
	check("rings.user", 2004, rdpmc(1));
	check("rings.kernel_counts", 1, kernel > 10 && kernel < 1000);
	count_loop(INSN | OS | EN, INSN | USR | OS);
	check("rings.kernel", kernel, rdpmc(0));
	check("rings.both", 2004 + kernel, rdpmc(1));
	reset();
	wrmsr(EVNTSEL1, INSN | OS);
	enable_disable(EVNTSEL0, INSN | OS | EN);
	check("enable.0", 12, rdpmc(0));
	check("enable.1", 12, rdpmc(1));
}

/* The low 32 bits are written and extended, whatever the upper ones are. */
static void test_writes(void)
{
	static const struct {
		uint64_t written, kept;
	} writes[] = {
		{ 0x7fffffff, 0x7fffffff },
		{ 0x80000000, 0xff80000000 },
		{ 0xffffffff80000000, 0xff80000000 },
		{ 0x1200000005, 5 },
	};

	reset();
	for (unsigned i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		check("write", NO_FAULT, wrmsr_safe(PERFCTR1, writes[i].written));
		check("write.rdmsr", writes[i].kept, rdmsr(PERFCTR1));
		check("write.rdpmc", writes[i].kept, rdpmc(1));
	}
	wrmsr(PERFCTR0, -4);
	wrmsr(EVNTSEL0, INSN | USR | EN);
	run_user(user_nops);	/* 21 */
	check("wrap", 17, rdpmc(0));
}

static void refuse(const char *name, uint32_t msr, uint64_t value)
{
	uint64_t before = rdmsr(msr);

	check(name, GP, wrmsr_safe(msr, value));
	check("  unchanged", before, rdmsr(msr));
}

static void test_strict(void)
{
	static const uint32_t absent[] = {
		0x11, 0xc3, 0x188, 0x309, 0x345, 0x38d, 0x38f, 0x300, 0x360, 0x3a0, 0x4c1,
		0xc0010000, 0xc0010200, 0xc0000301,
	};
	uint64_t value;
	uint32_t eax = 0, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.no_architectural", 1, eax < 0xa);
	reset();
	refuse("evntsel0.bit_21", EVNTSEL0, INSN | 1 << 21);
	refuse("evntsel1.bit_21", EVNTSEL1, INSN | 1 << 21);
	refuse("evntsel1.enable", EVNTSEL1, INSN | EN);
	refuse("evntsel0.bit_32", EVNTSEL0, 1ull << 32);
	refuse("evntsel1.bit_63", EVNTSEL1, 1ull << 63);
	check("evntsel0.all", NO_FAULT, wrmsr_safe(EVNTSEL0, 0xff9fffff));
	check("evntsel1.all", NO_FAULT, wrmsr_safe(EVNTSEL1, 0xff9fffff));
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check("absent.read", GP, rdmsr_safe(absent[i], &value));
		check("absent.write", GP, wrmsr_safe(absent[i], 0));
	}
	check("rdpmc.last", NO_FAULT, rdpmc_safe(1, &value));
	check("rdpmc.bad", GP, rdpmc_safe(2, &value));
	check("rdpmc.fast", GP, rdpmc_safe(0x80000000, &value));
}

/* The P6 does not change the LVT entry: every overflow interrupts. */
static void test_overflow(void)
{
	reset();
	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(PERFCTR0, -5);
	wrmsr(EVNTSEL0, INSN | USR | INT | EN);
	run_user(user_nops);
	check("overflow.interrupts", 1, pmi_count);
	check("overflow.eip", 5, pmi_frame.eip - (uint32_t)user_nops);
	check("overflow.not_masked", PMI_VECTOR, apic_read(APIC_LVTPC));
	wrmsr(PERFCTR0, -7);
	run_user(user_nops);
	check("overflow.again", 2, pmi_count);
	check("overflow.again_eip", 7, pmi_frame.eip - (uint32_t)user_nops);
}

void test(void)
{
	test_events();
	test_rings();
	test_writes();
	test_strict();
	test_overflow();
}
