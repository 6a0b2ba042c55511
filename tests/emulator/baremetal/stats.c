/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu-stats=on: the window of statistics. */
#include "code.h"
#include "pmu-stats.h"

static uint64_t before[PMU_STATS_NB_MSRS];

void second_test(void)
{
}

static uint64_t stat(unsigned index)
{
	return rdmsr(PMU_STATS_MSR + index);
}

static void start(void)
{
	for (unsigned i = 0; i < PMU_STATS_NB_MSRS; i++)
		before[i] = stat(i);
}

static void check_stat(const char *name, uint64_t expected, unsigned index)
{
	check(name, expected, stat(index) - before[index]);
}

static void test_accesses(void)
{
	uint64_t value;

	start();
	check_stat("window.rdmsr", 0, PMU_STATS_RDMSR);	/* reading it does not count */

	wrmsr(IA32_PERFEVTSEL0, 0);
	wrmsr(IA32_PERFEVTSEL0 + 3, 0);
	wrmsr(IA32_PMC0, 0);
	wrmsr(IA32_A_PMC0, 0);
	wrmsr(IA32_A_PMC0 + 1, 0);
	wrmsr(IA32_FIXED_CTR0, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, 0);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0xf);
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, 0);
	rdmsr(IA32_PERF_GLOBAL_STATUS);
	rdmsr(IA32_PMC0);
	rdmsr(IA32_FIXED_CTR0 + 2);
	rdmsr(IA32_PERF_CAPABILITIES);
	rdmsr(IA32_PERF_GLOBAL_CTRL);
	rdmsr(IA32_APIC_BASE);		/* not of the PMU */
	rdpmc(0);
	rdpmc(FIXED(1));
	rdpmc(1);
	wrmsr_safe(IA32_PERF_GLOBAL_STATUS, 0);	/* faults do not count */
	rdmsr_safe(IA32_PERFEVTSEL0 + 4, &value);
	rdpmc_safe(9, &value);

	check_stat("rdmsr", 6, PMU_STATS_RDMSR);
	check_stat("wrmsr", 9, PMU_STATS_WRMSR);
	check_stat("rdpmc", 3, PMU_STATS_RDPMC);
	check_stat("pmu_rdmsr", 5, PMU_STATS_PMU_RDMSR);
	check_stat("pmu_wrmsr", 9, PMU_STATS_PMU_WRMSR);
	check_stat("wrmsr.evntsel", 2, PMU_STATS_WRMSR_OF + PMU_STATS_EVNTSEL);
	check_stat("wrmsr.counter", 3, PMU_STATS_WRMSR_OF + PMU_STATS_COUNTER);
	check_stat("wrmsr.fixed_ctr", 1, PMU_STATS_WRMSR_OF + PMU_STATS_FIXED_CTR);
	check_stat("wrmsr.fixed_ctr_ctrl", 1, PMU_STATS_WRMSR_OF + PMU_STATS_FIXED_CTR_CTRL);
	check_stat("wrmsr.global_ctrl", 1, PMU_STATS_WRMSR_OF + PMU_STATS_GLOBAL_CTRL);
	check_stat("wrmsr.global_ovf_ctrl", 1, PMU_STATS_WRMSR_OF + PMU_STATS_GLOBAL_OVF_CTRL);
	check_stat("wrmsr.other", 0, PMU_STATS_WRMSR_OF + PMU_STATS_OTHER);
	check_stat("rdmsr.global_status", 1, PMU_STATS_RDMSR_OF + PMU_STATS_GLOBAL_STATUS);
	check_stat("rdmsr.counter", 1, PMU_STATS_RDMSR_OF + PMU_STATS_COUNTER);
	check_stat("rdmsr.fixed_ctr", 1, PMU_STATS_RDMSR_OF + PMU_STATS_FIXED_CTR);
	check_stat("rdmsr.global_ctrl", 1, PMU_STATS_RDMSR_OF + PMU_STATS_GLOBAL_CTRL);
	check_stat("rdmsr.other", 1, PMU_STATS_RDMSR_OF + PMU_STATS_OTHER);
}

/* Between two RDMSR of the same register: RDMSR, MOV, 4 NOP, (RDMSR). */
static uint32_t kernel_insns_delta(void)
{
	uint32_t first, second;

	asm volatile("rdmsr\n\t"
		     "mov %%eax, %1\n\t"
		     "nop; nop; nop; nop\n\t"
		     "rdmsr"
		     : "=a"(second), "=&r"(first)
		     : "c"(PMU_STATS_MSR + PMU_STATS_INSN_KERNEL) : "edx");
	return second - first;
}

static void test_instructions(void)
{
	check("version", 1, stat(PMU_STATS_VERSION));
	check("kernel.delta", 6, kernel_insns_delta());
	start();
	run_user(user_loop);
	check_stat("user.loop", 2004, PMU_STATS_INSN_USER);
	start();
	check_stat("user.none", 0, PMU_STATS_INSN_USER);
}

static void test_interrupts(void)
{
	start();
	apic_write(APIC_LVTPC, PMI_VECTOR);
	reset_pmu();
	wrmsr(IA32_PMC0, -5);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | INT | EN);
	run_user(user_nops);
	check_stat("pmi", 1, PMU_STATS_PMI);
}

static void test_window(void)
{
	check("window.write", GP, wrmsr_safe(PMU_STATS_MSR, 0));
	check("window.unused", 0, stat(9));
}

void test(void)
{
	test_accesses();
	test_instructions();
	test_interrupts();
	test_window();
}
