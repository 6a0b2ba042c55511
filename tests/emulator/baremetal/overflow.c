/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overflow interrupts come exactly after the instruction that overflows the counter, and are masked
 * after that.
 */
#include "code.h"

void second_test(void)
{
}

static void prepare(void)
{
	reset_pmu();
	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
}

/* Runs ring 3 code with PMC0 @n events before its overflow. */
static void run_with_period(void (*code)(void), uint32_t event, uint32_t n)
{
	prepare();
	wrmsr(IA32_PMC0, -(int64_t)n);
	wrmsr(IA32_PERFEVTSEL0, event | USR | INT | EN);
	run_user(code);
}

static void check_offset(const char *name, uint32_t expected, const void *base)
{
	check(name, expected, pmi_frame.eip - (uint32_t)base);
}

static void test_straight_code(void)
{
	for (uint32_t n = 1; n <= 20; n++) {
		run_with_period(user_nops, INSN, n);
		check_offset("nops.eip", n, user_nops);	/* n NOPs have retired, one byte each */
		check("nops.interrupts", 1, pmi_count);
	}
	check("nops.masked", LVT_MASKED | PMI_VECTOR, apic_read(APIC_LVTPC));
	check("nops.status", 1, rdmsr(IA32_PERF_GLOBAL_STATUS));
	check("nops.counter", 1, rdpmc(0));	/* there are 21, of which 20 are needed for the overflow */
	run_with_period(user_nops, INSN, 22);
	check("nops.no_overflow", 0, pmi_count);
	check("nops.no_status", 0, rdmsr(IA32_PERF_GLOBAL_STATUS));
}

static void test_loop(void)
{
	/* MOV, NOP, NOP, 500 times DEC and JNZ */
	run_with_period(user_loop, INSN, 3 + 1000);
	check_offset("loop.top", 0, user_loop_top);
	check("loop.top_ecx", 500, pmi_frame.ecx);
	run_with_period(user_loop, INSN, 3 + 1001);
	check_offset("loop.branch", 0, user_loop_branch);
	check("loop.branch_ecx", 499, pmi_frame.ecx);
	run_with_period(user_loop, BRANCHES, 10);
	check_offset("loop.branches", 0, user_loop_top);
	check("loop.branches_ecx", 990, pmi_frame.ecx);
	run_with_period(user_loop, NEAR_TAKEN, 900);
	check("loop.taken_ecx", 100, pmi_frame.ecx);
	run_with_period(user_loop, INSN | CMASK(1), 503);
	check("loop.threshold_ecx", 750, pmi_frame.ecx);
}

static void test_memory(void)
{
	run_with_period(user_loads, LOADS, 7);
	check_offset("loads.eip", 5 + 7 * 2, user_loads);
	check("loads.counter", 13, rdpmc(0));
	run_with_period(user_popa, LOADS, 10);
	check_offset("popa.eip", 6 + 2, user_popa);	/* the second one reaches 14 */
	check("popa.counter", 18, rdpmc(0));
	run_with_period(user_rep, LOADS, 100);
	check_offset("rep.eip", 0, user_rep_insn);
	check("rep.ecx", 900, pmi_frame.ecx);
	check("rep.counter", 900, rdpmc(0));
	run_with_period(user_rep, STORES, 1000);
	check("rep.last_ecx", 0, pmi_frame.ecx);
	run_with_period(user_rep, INSN, 4);
	check_offset("rep.insn", 2, user_rep_insn);
}

static void test_masking(void)
{
	run_with_period(user_nops, INSN, 5);
	wrmsr(IA32_PMC0, -5);
	run_user(user_nops);
	check("masked.interrupts", 1, pmi_count);
	check("masked.status", 1, rdmsr(IA32_PERF_GLOBAL_STATUS));
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, 1);
	wrmsr(IA32_PMC0, -6);
	run_user(user_nops);
	check("unmasked.interrupts", 2, pmi_count);
	check_offset("unmasked.eip", 6, user_nops);
}

static void test_two_counters(void)
{
	prepare();
	wrmsr(IA32_PMC0, -8);
	wrmsr(IA32_PMC0 + 1, -3);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | INT | EN);
	wrmsr(IA32_PERFEVTSEL0 + 1, INSN | USR | INT | EN);
	run_user(user_nops);
	check("two.interrupts", 1, pmi_count);
	check_offset("two.eip", 3, user_nops);
	check("two.status", 3, rdmsr(IA32_PERF_GLOBAL_STATUS));
}

static void test_fixed(void)
{
	prepare();
	wrmsr(IA32_FIXED_CTR0 + 1, COUNTER_MASK - 11);
	wrmsr(IA32_FIXED_CTR_CTRL, 0xa0);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0x200000000);
	run_user(user_nops);
	check_offset("fixed.eip", 12, user_nops);
	check("fixed.status", 1ull << 33, rdmsr(IA32_PERF_GLOBAL_STATUS));
}

/* Returns ECX of user_loop() when a counter of both rings overflows after @n instructions. */
static uint32_t both_rings(uint32_t n)
{
	uint64_t both, user, kernel;

	prepare();
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PMC0, -(int64_t)n);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | OS | INT | EN);
	wrmsr(IA32_PERFEVTSEL0 + 1, INSN | USR | EN);
	wrmsr(IA32_PERFEVTSEL0 + 2, INSN | OS | EN);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 7);
	run_user(user_loop);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	both = rdpmc(0);
	user = rdpmc(1);
	kernel = rdpmc(2);
	check("both.interrupts", 1, pmi_count);
	check("both.ring", 3, pmi_frame.cs & 3);
	check("both.counter", user + kernel - n, both);
	return pmi_frame.ecx;
}

static void test_both_rings(void)
{
	uint32_t ecx = both_rings(500);

	/* 200 more instructions are 100 more iterations. */
	check("both.distance", ecx - 100, both_rings(700));
	check("both.far_distance", ecx - 600, both_rings(1700));
}

static void test_kernel(void)
{
	prepare();
	wrmsr(IA32_PERFEVTSEL0, INSN | OS | INT | EN);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	asm volatile("sti");
	wrmsr(IA32_PMC0, -1);
	enable_disable(IA32_PERF_GLOBAL_CTRL, 1);
	check_offset("kernel.by_wrmsr", 0, enable_nops);	/* the WRMSR is the first */
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(IA32_PMC0, -7);
	enable_disable(IA32_PERF_GLOBAL_CTRL, 1);
	check_offset("kernel.eip", 6, enable_nops);
	check("kernel.interrupts", 2, pmi_count);

	/*
	 * While interrupts are off, the interrupt waits. It is taken after the instruction after
	 * STI.
	 */
	asm volatile("cli");
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(IA32_PMC0, -3);
	enable_disable(IA32_PERF_GLOBAL_CTRL, 1);
	check("kernel.pending", 2, pmi_count);
	asm volatile("sti; nop; nop; cli");
	check("kernel.delivered", 3, pmi_count);
}

/* The instruction that overflows the counter also enters ring 0, with interrupts off. */
static void test_entry(void)
{
	run_with_period(user_nops, INSN, 21);
	check("entry.sent", LVT_MASKED | PMI_VECTOR, apic_read(APIC_LVTPC));
	check("entry.pending", 0, pmi_count);
	asm volatile("sti; nop; nop; cli");
	check("entry.delivered", 1, pmi_count);
	check("entry.ring", 0, pmi_frame.cs & 3);
}

/*
 * The interrupt of a timer has the lower priority: at the overflow it comes second. With icount an
 * instruction takes a nanosecond, so that in one of the rounds the timer expires there.
 */
static void run_beside_timer(const char *name, void (*code)(void))
{
	unsigned first = 0;

	for (uint32_t distance = 1; distance <= 400; distance++) {
		timer_count = 0;
		apic_write(APIC_TIMER_INITIAL, distance);
		run_with_period(code, INSN, 20);
		first += timer_count && timer_frame.eip == pmi_frame.eip && !pmi_count_at_timer;
	}
	check(name, 0, first);
	check_offset(name, 20, code);
}

static void test_timer(void)
{
	apic_write(APIC_TIMER_DIVIDE, APIC_UNDIVIDED);
	apic_write(APIC_LVT_TIMER, TIMER_VECTOR);
	run_beside_timer("timer.nops", user_nops);
	run_beside_timer("timer.flags", user_flags);
	apic_write(APIC_LVT_TIMER, LVT_MASKED);
}

void test(void)
{
	test_straight_code();
	test_entry();
	test_loop();
	test_memory();
	test_masking();
	test_two_counters();
	test_fixed();
	test_both_rings();
	test_kernel();
	test_timer();
}
