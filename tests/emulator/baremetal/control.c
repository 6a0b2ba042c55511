/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers: the counters that they enable, the values that they read, the rings and events
 * that they select.
 */
#include "code.h"

void second_test(void)
{
}

static void test_identification(void)
{
	uint32_t eax = 0xa, ebx, ecx = 0, edx;

	check("global_ctrl.reset", 0xf, rdmsr(IA32_PERF_GLOBAL_CTRL));
	check("evntsel.reset", 0, rdmsr(IA32_PERFEVTSEL0));
	check("capabilities.full_width", 1 << 13, rdmsr(IA32_PERF_CAPABILITIES));
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.version", 2, eax & 0xff);
	check("cpuid.counters", 4, eax >> 8 & 0xff);
	check("cpuid.width", 48, eax >> 16 & 0xff);
	/* all seven are available */
	check("cpuid.events", 0, ebx & 0x7f);
	check("cpuid.fixed_counters", 3, edx & 0x1f);
	check("cpuid.fixed_width", 48, edx >> 5 & 0xff);
	eax = 1;
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	check("cpuid.pdcm", 1, ecx >> 15 & 1);
}

static void test_readings(void)
{
	reset_pmu();
	wrmsr(IA32_PERFEVTSEL0, INSN | OS | EN);
	check("rdpmc.delta", 6, rdpmc_delta(0));
	check("rdmsr.delta", 6, rdmsr_delta(0));
	check("loop.delta", 2000004, loop_delta(0));
	check("write_while_counting", 102, write_while_counting());
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	check("frozen.delta", 0, rdpmc_delta(0));
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0xf);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	check("user_only.delta", 0, rdpmc_delta(0));
}

static void test_enabling(void)
{
	reset_pmu();
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERFEVTSEL0, INSN | OS | EN);
	wrmsr(IA32_PERFEVTSEL0 + 1, INSN | USR | EN);
	enable_disable(IA32_PERF_GLOBAL_CTRL, 3);
	check("enable.global_ctrl", 12, rdpmc(0));
	check("enable.other_ring", 0, rdpmc(1));

	reset_pmu();
	enable_disable(IA32_PERFEVTSEL0, INSN | OS | EN);
	check("enable.evntsel", 12, rdpmc(0));

	reset_pmu();
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0x700000000);
	enable_disable(IA32_FIXED_CTR_CTRL, 0x111);
	check("enable.fixed0", 12, rdpmc(FIXED(0)));
	check("enable.fixed1", 12, rdpmc(FIXED(1)));
	check("enable.fixed2", 12, rdpmc(FIXED(2)));
}

static void test_rings(void)
{
	static const uint32_t modes[3] = { USR, OS, USR | OS };
	uint64_t count[3], fixed[3];

	reset_pmu();
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	for (int i = 0; i < 3; i++)
		wrmsr(IA32_PERFEVTSEL0 + i, INSN | EN | modes[i]);
	wrmsr(IA32_FIXED_CTR_CTRL, 0x312);	/* USR, OS, both */
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0x70000000f);
	run_user(user_loop);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	for (int i = 0; i < 3; i++) {
		count[i] = rdpmc(i);
		fixed[i] = rdpmc(FIXED(i));
	}
	check("rings.user", 2004, count[0]);
	check("rings.kernel_counts", 1, count[1] > 10 && count[1] < 1000);
	check("rings.both", count[0] + count[1], count[2]);
	check("rings.fixed_user", count[0], fixed[0]);
	check("rings.fixed_kernel", count[1], fixed[1]);
	check("rings.fixed_both", count[2], fixed[2]);
}

/* The count of user_loop() with an event register: 2004 instructions, 1001 of them branches. */
static uint64_t count_loop(uint32_t evntsel)
{
	reset_pmu();
	wrmsr(IA32_PERFEVTSEL0, evntsel | USR | EN);
	run_user(user_loop);
	return rdpmc(0);
}

static void test_events(void)
{
	check("event.cycles", 2004, count_loop(CYCLES));
	check("event.ref_cycles", 2004, count_loop(REF_CYCLES));
	check("event.branches", 1001, count_loop(BRANCHES));
	check("event.near_taken", 999, count_loop(NEAR_TAKEN));
	check("event.unknown", 0, count_loop(0x00ab));
	check("event.unknown_umask", 0, count_loop(0x77c0));
	check("threshold.1", 2004, count_loop(INSN | CMASK(1)));
	check("threshold.2", 0, count_loop(INSN | CMASK(2)));
	check("threshold.2_inv", 2004, count_loop(INSN | CMASK(2) | INV));
	check("threshold.branches_2_inv", 2004, count_loop(BRANCHES | CMASK(2) | INV));
	check("threshold.branches_1", 1001, count_loop(BRANCHES | CMASK(1)));
	check("threshold.branches_1_inv", 1003, count_loop(BRANCHES | CMASK(1) | INV));
	check("threshold.inv_alone", 2004, count_loop(INSN | INV));
	check("threshold.edge", 0, count_loop(INSN | EDGE));
}

static void test_wrap(void)
{
	uint64_t status;

	reset_pmu();
	wrmsr(IA32_A_PMC0, COUNTER_MASK - 9);		/* 10 below the wrap */
	wrmsr(IA32_FIXED_CTR0, COUNTER_MASK - 2003);	/* 2004 */
	wrmsr(IA32_FIXED_CTR0 + 1, COUNTER_MASK - 2004);
	wrmsr(IA32_FIXED_CTR_CTRL, 0x22);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0x300000001);
	run_user(user_loop);
	status = rdmsr(IA32_PERF_GLOBAL_STATUS);
	check("wrap.status", 1 | 1ull << 32, status);
	check("wrap.counter", 1994, rdpmc(0));
	check("wrap.fixed0", 0, rdpmc(FIXED(0)));
	check("wrap.fixed1", COUNTER_MASK, rdpmc(FIXED(1)));
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, 1);
	check("wrap.cleared", 1ull << 32, rdmsr(IA32_PERF_GLOBAL_STATUS));
	check("wrap.ovf_ctrl_reads", 0, rdmsr(IA32_PERF_GLOBAL_OVF_CTRL));
}

static void test_writes(void)
{
	reset_pmu();
	wrmsr(IA32_A_PMC0, 0x123456789abc);
	check("write.full_width", 0x123456789abc, rdmsr(IA32_PMC0));
	check("write.alias", 0x123456789abc, rdmsr(IA32_A_PMC0));
	wrmsr(IA32_PMC0 + 1, 0xffffffff80000000);
	check("write.sign_extended", 0xffff80000000, rdpmc(1));
	wrmsr(IA32_PMC0 + 1, 0x7fffffff);
	check("write.positive", 0x7fffffff, rdpmc(1));
	wrmsr(IA32_FIXED_CTR0 + 2, 0x800000000000);
	check("write.fixed", 0x800000000000, rdpmc(FIXED(2)));
}

static void test_rdpmc(void)
{
	static const uint32_t bad[] = { 4, 18, 0x40000003, 0x80000000, 0xc0000000, 0x20000000 };
	uint64_t value;

	reset_pmu();
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	set_pce(false);
	check("rdpmc.kernel_without_pce", NO_FAULT, rdpmc_safe(0, &value));
	check("rdpmc.user_without_pce", GP, user_rdpmc_fault(0));
	set_pce(true);
	wrmsr(IA32_PMC0, 1000);
	check("rdpmc.user_with_pce", NO_FAULT, user_rdpmc_fault(0));
	check("rdpmc.user_value", 1001, rdpmc_result);	/* includes the MOV before it */
	check("rdpmc.user_bad", GP, user_rdpmc_fault(4));
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check("rdpmc.bad_index", GP, rdpmc_safe(bad[i], &value));
	set_pce(false);
}

void test(void)
{
	test_identification();
	test_readings();
	test_enabling();
	test_rings();
	test_events();
	test_wrap();
	test_writes();
	test_rdpmc();
}
