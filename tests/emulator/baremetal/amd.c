/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AMD's PMUs from the K7 to PerfMonV2. CPUID says which one the processor has. */
#include "code.h"

#define K7_EVNTSEL0		0xc0010000
#define K7_COUNTER0		0xc0010004
#define CORE_CTL0		0xc0010200
#define CORE_CTR0		0xc0010201
#define GLOBAL_STATUS		0xc0000300
#define GLOBAL_CTL		0xc0000301
#define GLOBAL_STATUS_CLR	0xc0000302

#define GUEST_ONLY	(1ull << 40)
#define HOST_ONLY	(1ull << 41)

#define AMD_INSN	0xc0
#define AMD_CYCLES	0x76
#define AMD_BRANCHES	0xc2
#define AMD_TAKEN	0xc4
#define ZEN_LOADS	0x129
#define ZEN_STORES	0x229

static struct {
	unsigned family, n;
	uint32_t evntsel, counter, step;
	uint64_t reserved;	/* of an event select register */
	bool core, v2;
} pmu;

static void cpuid(uint32_t leaf, uint32_t *eax, uint32_t *ebx, uint32_t *ecx)
{
	uint32_t edx;

	*eax = leaf;
	*ecx = 0;
	asm volatile("cpuid" : "+a"(*eax), "=b"(*ebx), "+c"(*ecx), "=d"(edx));
}

static void identify(void)
{
	uint32_t eax, ebx, ecx, last;

	cpuid(1, &eax, &ebx, &ecx);
	pmu.family = (eax >> 8 & 0xf) + ((eax >> 8 & 0xf) == 0xf ? eax >> 20 & 0xff : 0);
	pmu.reserved = pmu.family < 0x10 ? ~0xffdfffffull : ~0x30fffdfffffull;
	cpuid(0x80000000, &last, &ebx, &ecx);
	cpuid(0x80000001, &eax, &ebx, &ecx);
	pmu.core = ecx >> 23 & 1;
	if (last >= 0x80000022) {
		cpuid(0x80000022, &eax, &ebx, &ecx);
		pmu.v2 = eax & 1;
		check("cpuid.counters", 6, ebx & 0xf);
	}
	check("cpuid.core_counters", pmu.family >= 0x15, pmu.core);
	cpuid(0xa, &eax, &ebx, &ecx);
	check("cpuid.no_architectural", 0, eax);
	pmu.n = pmu.core ? 6 : 4;
	pmu.evntsel = pmu.core ? CORE_CTL0 : K7_EVNTSEL0;
	pmu.counter = pmu.core ? CORE_CTR0 : K7_COUNTER0;
	pmu.step = pmu.core ? 2 : 1;
}

static uint32_t evntsel(unsigned n)
{
	return pmu.evntsel + n * pmu.step;
}

static uint32_t counter(unsigned n)
{
	return pmu.counter + n * pmu.step;
}

static void reset(void)
{
	for (unsigned n = 0; n < pmu.n; n++) {
		wrmsr(evntsel(n), 0);
		wrmsr(counter(n), 0);
	}
	if (pmu.v2) {
		wrmsr(GLOBAL_CTL, 0x3f);
		wrmsr(GLOBAL_STATUS_CLR, 0x3f);
	}
}

/* user_loop() executes 2004 instructions, 1001 of them branches, of which 999 are taken. */
static uint64_t count_loop_in(unsigned n, uint64_t select)
{
	uint64_t count;

	reset();
	wrmsr(evntsel(n), select | EN);
	run_user(user_loop);
	count = rdpmc(n);
	wrmsr(evntsel(n), 0);
	return count;
}

static uint64_t count_loop(unsigned n, uint64_t select)
{
	return count_loop_in(n, select | USR);
}

static void test_events(void)
{
	for (unsigned n = 0; n < pmu.n; n++) {
		check("instructions", 2004, count_loop(n, AMD_INSN));
		check("branches", 1001, count_loop(n, AMD_BRANCHES));
	}
	check("cycles", 2004, count_loop(0, AMD_CYCLES));
	check("taken", 999, count_loop(0, AMD_TAKEN));
	check("unknown", 0, count_loop(0, 0xab));
	check("unknown_umask", 0, count_loop(0, 0x1c0));
	check("threshold", 0, count_loop(0, AMD_INSN | CMASK(2)));
	check("threshold.inv", 1003, count_loop(0, AMD_BRANCHES | CMASK(1) | INV));
	if (pmu.family >= 0x10) {
		check("extended_event", 0, count_loop(0, AMD_INSN | 1ull << 32));
		check("guest_only", 0, count_loop(0, AMD_INSN | GUEST_ONLY));
		check("host_only", 0, count_loop(0, AMD_INSN | HOST_ONLY));
		check("guest_and_host", 2004, count_loop(0, AMD_INSN | GUEST_ONLY | HOST_ONLY));
	}
	reset();
	wrmsr(evntsel(1), ZEN_LOADS | USR | EN);
	wrmsr(evntsel(2), ZEN_STORES | USR | EN);
	run_user(user_rep);	/* REP MOVSB of 1000 bytes */
	check("loads", pmu.core ? 1000 : 0, rdpmc(1));
	check("stores", pmu.core ? 1000 : 0, rdpmc(2));
}

static void test_rings(void)
{
	uint64_t kernel = count_loop_in(0, AMD_INSN | OS);

	check("rings.none", 0, count_loop_in(0, AMD_INSN));
	check("rings.kernel_counts", 1, kernel > 10 && kernel < 1000);
	check("rings.both", 2004 + kernel, count_loop_in(0, AMD_INSN | USR | OS));
}

static void test_enabling(void)
{
	reset();
	enable_disable(evntsel(0), AMD_INSN | OS | EN);
	check("enable.evntsel", 12, rdpmc(0));
	if (!pmu.v2)
		return;
	reset();
	wrmsr(GLOBAL_CTL, 0);
	wrmsr(evntsel(0), AMD_INSN | OS | EN);
	wrmsr(evntsel(5), AMD_INSN | OS | EN);
	wrmsr(evntsel(1), AMD_INSN | OS | EN);
	enable_disable(GLOBAL_CTL, 0x21);
	check("enable.global_0", 12, rdpmc(0));
	check("enable.global_5", 12, rdpmc(5));
	check("enable.global_1", 0, rdpmc(1));
}

static void test_aliases(void)
{
	if (!pmu.core)
		return;
	for (unsigned n = 0; n < 4; n++) {
		reset();
		wrmsr(K7_EVNTSEL0 + n, AMD_INSN | USR);
		wrmsr(K7_COUNTER0 + n, 77);
		check("alias.evntsel", AMD_INSN | USR, rdmsr(evntsel(n)));
		check("alias.counter", 77, rdmsr(counter(n)));
	}
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
		0x11, 0xc1, 0xc2, 0x186, 0x187, 0x309, 0x345, 0x38d, 0x38f, 0x300, 0x360, 0x3a0,
		0x4c1, 0xc0000303,
	};
	uint64_t value;

	reset();
	for (unsigned bit = 0; bit < 64; bit++) {
		if (bit != 22 && pmu.reserved >> bit & 1)
			refuse("evntsel.reserved", evntsel(0), 1ull << bit);
		else if (bit != 22)
			check("evntsel.allowed", NO_FAULT, wrmsr_safe(evntsel(0), 1ull << bit));
	}
	reset();
	check("counter.widest", NO_FAULT, wrmsr_safe(counter(0), COUNTER_MASK));
	check("counter.value", COUNTER_MASK, rdpmc(0));
	refuse("counter.bit_48", counter(0), 1ull << 48);
	refuse("counter.negative", counter(pmu.n - 1), -1ull);
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check("absent.read", GP, rdmsr_safe(absent[i], &value));
		check("absent.write", GP, wrmsr_safe(absent[i], 0));
	}
	check("absent.core", pmu.core ? NO_FAULT : GP, rdmsr_safe(CORE_CTL0, &value));
	check("absent.global", pmu.v2 ? NO_FAULT : GP, rdmsr_safe(GLOBAL_CTL, &value));
	check("rdpmc.last", NO_FAULT, rdpmc_safe(pmu.n - 1, &value));
	check("absent.northbridge", pmu.core ? NO_FAULT : GP, rdmsr_safe(0xc0010240, &value));
	check("rdpmc.bad", pmu.core ? NO_FAULT : GP, rdpmc_safe(pmu.n, &value));
	check("rdpmc.fixed", GP, rdpmc_safe(0x40000000, &value));
	if (!pmu.v2)
		return;
	refuse("global_ctl.bit_6", GLOBAL_CTL, 0x40);
	refuse("global_status", GLOBAL_STATUS, 0);
	check("global_status_clr.all", NO_FAULT, wrmsr_safe(GLOBAL_STATUS_CLR, -1ull));
}

/* AMD's processors do not change the LVT entry: every overflow interrupts. */
static void test_overflow(void)
{
	reset();
	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(counter(0), COUNTER_MASK - 4);	/* 5 before its overflow */
	wrmsr(evntsel(0), AMD_INSN | USR | INT | EN);
	run_user(user_nops);
	check("overflow.interrupts", 1, pmi_count);
	check("overflow.eip", 5, pmi_frame.eip - (uint32_t)user_nops);
	check("overflow.not_masked", PMI_VECTOR, apic_read(APIC_LVTPC));
	if (pmu.v2) {
		check("overflow.status", 1, rdmsr(GLOBAL_STATUS));
		wrmsr(GLOBAL_STATUS_CLR, 1);
		check("overflow.status_cleared", 0, rdmsr(GLOBAL_STATUS));
	}
	wrmsr(counter(0), COUNTER_MASK - 6);
	run_user(user_nops);
	check("overflow.again", 2, pmi_count);
	check("overflow.again_eip", 7, pmi_frame.eip - (uint32_t)user_nops);
}

void second_test(void)
{
}

void test(void)
{
	identify();
	if (pmu.v2)
		check("global_ctl.reset", 0x3f, rdmsr(GLOBAL_CTL));
	test_events();
	test_rings();
	test_enabling();
	test_aliases();
	test_strict();
	test_overflow();
}
