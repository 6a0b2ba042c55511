/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architectural PMU's versions 1 to 6: the registers that each has, the values that it keeps
 * and refuses.
 */
#include "code.h"

#define IA32_PERF_GLOBAL_STATUS_SET	0x391
#define IA32_PERF_GLOBAL_INUSE		0x392
#define IA32_PMC_GPN_CTR(n)		(0x1900 + 4 * (n))
#define IA32_PMC_GPN_CFG_A(n)		(0x1901 + 4 * (n))
#define IA32_PMC_FXN_CTR(n)		(0x1980 + 4 * (n))

#define ANY_THREAD	(1u << 21)
#define USER_DISABLE	(1ull << 37)
#define UMASK2(n)	((uint64_t)(n) << 40)
#define CTR_FRZ		(1ull << 59)

/* The versions of the processors: pmu-model=arch-vN in the emulator. */
static const struct version {
	unsigned general, width;
	uint32_t fixed;			/* mask */
	uint64_t evntsel_reserved;
	uint64_t fixed_ctrl;		/* bits that can be written */
	bool full_width;
} versions[] = {
	[1] = { 2, 40, 0x00, ~0xffdfffffull, 0, false },
	[2] = { 2, 40, 0x07, ~0xffdfffffull, 0xbbb, false },
	[3] = { 4, 48, 0x07, ~0xffffffffull, 0xfff, false },
	[4] = { 8, 48, 0x07, ~0xffffffffull, 0xfff, true },
	[5] = { 8, 48, 0x17, ~0xff20ffdfffffull, 0x20222000b0bbb, true },
	[6] = { 10, 48, 0x17, ~0xff20ffdfffffull, 0x20222000b0bbb, true },
};

static unsigned number;
static const struct version *v;

void second_test(void)
{
}

struct registers {
	uint32_t eax, ebx, ecx, edx;
};

static struct registers cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct registers r = { .eax = leaf, .ecx = subleaf };

	asm volatile("cpuid" : "+a"(r.eax), "=b"(r.ebx), "+c"(r.ecx), "=d"(r.edx));
	return r;
}

static bool has_fixed(unsigned n)
{
	return v->fixed >> n & 1;
}

/* Bits of the status register beside those of counters. */
static uint64_t status_bits(void)
{
	return number < 4 ? 0xcull << 60 : 0xecull << 56;
}

static uint64_t counter_bits(void)
{
	return (1u << v->general) - 1 + ((uint64_t)v->fixed << 32);
}

static void reset(void)
{
	for (unsigned n = 0; n < v->general; n++) {
		wrmsr(IA32_PERFEVTSEL0 + n, 0);
		wrmsr(IA32_PMC0 + n, 0);
	}
	if (number < 2)
		return;
	wrmsr(IA32_FIXED_CTR_CTRL, 0);
	for (unsigned n = 0; n < 5; n++)
		if (has_fixed(n))
			wrmsr(IA32_FIXED_CTR0 + n, 0);
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, counter_bits() | status_bits());
	wrmsr(IA32_PERF_GLOBAL_CTRL, counter_bits());
}

static void test_cpuid(void)
{
	struct registers a = cpuid(0xa, 0), ext = cpuid(0x23, 0);
	bool has_ext = cpuid(7, 0).eax >= 1 && cpuid(7, 1).eax >> 8 & 1;

	check("cpuid.counters", v->general, a.eax >> 8 & 0xff);
	check("cpuid.width", v->width, a.eax >> 16 & 0xff);
	check("cpuid.fixed", number == 1 ? 0 : 3, a.edx & 0x1f);
	check("cpuid.fixed_width", number == 1 ? 0 : v->width, a.edx >> 5 & 0xff);
	check("cpuid.fixed_mask", number >= 5 ? v->fixed : 0, a.ecx);
	check("cpuid.any_thread_deprecated", number >= 5, a.edx >> 15 & 1);
	check("cpuid.extensions", number >= 5, has_ext);
	if (has_ext) {
		check("cpuid.23.bits", 5, ext.ebx);
		check("cpuid.23.general", (1u << v->general) - 1, cpuid(0x23, 1).eax);
		check("cpuid.23.fixed", v->fixed, cpuid(0x23, 1).ebx);
	}
}

/* Writes each bit of a register alone. */
static void check_bits(const char *name, uint32_t msr, uint64_t reserved)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		int expected = reserved >> bit & 1 ? GP : NO_FAULT;

		/*
		 * There is no name for each bit: the line shows the bit by its place in both
		 * numbers.
		 */
		if (wrmsr_safe(msr, 1ull << bit) != expected)
			check(name, 1ull << bit, reserved);
	}
	check(name, NO_FAULT, wrmsr_safe(msr, 0));
}

static void test_reserved(void)
{
	reset();
	for (unsigned n = 0; n < v->general; n++)
		check_bits("evntsel.bits", IA32_PERFEVTSEL0 + n, v->evntsel_reserved);
	if (number < 2)
		return;
	check_bits("fixed_ctr_ctrl.bits", IA32_FIXED_CTR_CTRL, ~v->fixed_ctrl);
	check_bits("global_ctrl.bits", IA32_PERF_GLOBAL_CTRL, ~counter_bits());
	check_bits("ovf_ctrl.bits", IA32_PERF_GLOBAL_OVF_CTRL,
		   ~(counter_bits() | status_bits()));
	if (number >= 4)
		check_bits("status_set.bits", IA32_PERF_GLOBAL_STATUS_SET,
			   ~(counter_bits() | 0x6cull << 56));
	reset();
}

static void check_present(const char *name, uint32_t msr, bool present)
{
	uint64_t value;

	check(name, present ? NO_FAULT : GP, rdmsr_safe(msr, &value));
}

static void test_registers(void)
{
	uint64_t value;

	for (unsigned n = 0; n < 8 || n < v->general; n++) {
		check_present("pmc", IA32_PMC0 + n, n < v->general);
		check_present("evntsel", IA32_PERFEVTSEL0 + n, n < v->general);
		check_present("a_pmc", IA32_A_PMC0 + n, v->full_width && n < v->general);
		check_present("fixed", IA32_FIXED_CTR0 + n, has_fixed(n));
		check("rdpmc", n < v->general ? NO_FAULT : GP, rdpmc_safe(n, &value));
		check("rdpmc.fixed", has_fixed(n) ? NO_FAULT : GP, rdpmc_safe(FIXED(n), &value));
	}
	check_present("capabilities", IA32_PERF_CAPABILITIES, number >= 2);
	check_present("fixed_ctr_ctrl", IA32_FIXED_CTR_CTRL, number >= 2);
	check_present("global_ctrl", IA32_PERF_GLOBAL_CTRL, number >= 2);
	check_present("global_status", IA32_PERF_GLOBAL_STATUS, number >= 2);
	check_present("status_set", IA32_PERF_GLOBAL_STATUS_SET, number >= 4);
	check_present("inuse", IA32_PERF_GLOBAL_INUSE, number >= 4);
}

/* user_loop() executes 2004 instructions, 1001 of them branches. */
static uint64_t count_loop(unsigned n, uint64_t select)
{
	reset();
	wrmsr(IA32_PERFEVTSEL0 + n, select | USR | EN);
	run_user(user_loop);
	return rdpmc(n);
}

static void test_counts(void)
{
	const uint64_t last = (1ull << v->width) - 1;

	for (unsigned n = 0; n < v->general; n++) {
		check("instructions", 2004, count_loop(n, INSN));
		check("branches", 1001, count_loop(n, BRANCHES));
	}
	reset();
	wrmsr(IA32_PMC0, -1ull);
	check("all_ones", last, rdpmc(0));
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	run_user(user_loop);
	check("wrapped", 2003, rdpmc(0));
	for (unsigned n = 0; n < 5; n++) {
		if (!has_fixed(n))
			continue;
		reset();
		wrmsr(IA32_FIXED_CTR_CTRL, 2ull << 4 * n);
		run_user(user_loop);
		check("fixed", n < 3 ? 2004 : 0, rdpmc(FIXED(n)));
	}
}

static void test_enabling(void)
{
	if (number < 2)
		return;
	reset();
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	run_user(user_loop);
	check("global_ctrl.off", 0, rdpmc(0));
	if (number < 4)
		return;
	reset();
	wrmsr(IA32_PERF_GLOBAL_STATUS_SET, CTR_FRZ | 1);
	check("status_set.status", CTR_FRZ | 1, rdmsr(IA32_PERF_GLOBAL_STATUS));
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	run_user(user_loop);
	check("frozen", 0, rdpmc(0));
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, CTR_FRZ);
	check("status_reset.status", 1, rdmsr(IA32_PERF_GLOBAL_STATUS));
	run_user(user_loop);
	check("thawed", 2004, rdpmc(0));
	wrmsr(IA32_FIXED_CTR_CTRL, 0x10);
	check("inuse", 0x200000001, rdmsr(IA32_PERF_GLOBAL_INUSE));
	wrmsr(IA32_FIXED_CTR_CTRL, 0x80);
	check("inuse.pmi", 1ull << 63 | 1, rdmsr(IA32_PERF_GLOBAL_INUSE));
}

static uint32_t user_value(uint32_t index)
{
	rdpmc_index = index;
	rdpmc_result = 12345;
	run_user(user_rdpmc);
	return rdpmc_result;
}

static void test_extensions(void)
{
	uint32_t cr4;

	if (number < 5)
		return;
	check("umask2", 0, count_loop(0, INSN | UMASK2(1)));
	reset();
	asm volatile("mov %%cr4, %0" : "=r"(cr4));
	asm volatile("mov %0, %%cr4" : : "r"(cr4 | 1 << 8));
	wrmsr(IA32_PMC0 + 1, 1000);
	wrmsr(IA32_FIXED_CTR0 + 4, 2000);
	check("user", 1000, user_value(1));
	check("user.fixed", 2000, user_value(FIXED(4)));
	wrmsr(IA32_PERFEVTSEL0 + 1, USER_DISABLE);
	wrmsr(IA32_FIXED_CTR_CTRL, 1ull << (33 + 16));
	check("hidden", 0, user_value(1));
	check("hidden.fixed", 0, user_value(FIXED(4)));
	check("hidden.kernel", 1000, rdpmc(1));
	check("hidden.fixed_kernel", 2000, rdpmc(FIXED(4)));
	asm volatile("mov %0, %%cr4" : : "r"(cr4));
}

/*
 * The same registers at other addresses. The registers for reloads and records of counters do not
 * exist.
 */
static void test_addresses(void)
{
	uint64_t value;

	if (number < 6) {
		check("v6.general", GP, rdmsr_safe(IA32_PMC_GPN_CTR(0), &value));
		check("v6.fixed", GP, rdmsr_safe(IA32_PMC_FXN_CTR(0), &value));
		return;
	}
	reset();
	for (unsigned n = 0; n < v->general; n++) {
		wrmsr(IA32_PERFEVTSEL0 + n, 0x4100c0 + n);
		check("v6.evntsel", 0x4100c0 + n, rdmsr(IA32_PMC_GPN_CFG_A(n)));
		wrmsr(IA32_PMC_GPN_CFG_A(n), 0);
		check("v6.evntsel_back", 0, rdmsr(IA32_PERFEVTSEL0 + n));
		wrmsr(IA32_PMC_GPN_CTR(n), (1ull << 47) + n);
		check("v6.counter", (1ull << 47) + n, rdmsr(IA32_PMC0 + n));
		check("v6.cfg_b", GP, rdmsr_safe(IA32_PMC_GPN_CFG_A(n) + 1, &value));
		check("v6.cfg_c", GP, rdmsr_safe(IA32_PMC_GPN_CFG_A(n) + 2, &value));
	}
	check("v6.no_counter", GP, rdmsr_safe(IA32_PMC_GPN_CTR(v->general), &value));
	for (unsigned n = 0; n < 5; n++) {
		if (!has_fixed(n)) {
			check("v6.no_fixed", GP, rdmsr_safe(IA32_PMC_FXN_CTR(n), &value));
			continue;
		}
		wrmsr(IA32_PMC_FXN_CTR(n), 1000 + n);
		check("v6.fixed", 1000 + n, rdmsr(IA32_FIXED_CTR0 + n));
	}
	reset();
}

void test(void)
{
	number = cpuid(0xa, 0).eax & 0xff;
	if (number < 1 || number > 6) {
		check("version", 1, number);
		return;
	}
	v = &versions[number];
	test_cpuid();
	test_reserved();
	test_registers();
	test_counts();
	test_enabling();
	test_extensions();
	test_addresses();
}
