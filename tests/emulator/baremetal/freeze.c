/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With DEBUGCTL bit 12, all counters stop when one that interrupts overflows. The architectural
 * versions before 4 then clear IA32_PERF_GLOBAL_CTRL. Later versions and AMD's PerfMonV2 set bit 59
 * of the status register.
 */
#include "code.h"
#include "vendor.h"

#define DEBUGCTL		0x1d9
#define FREEZE_LBRS		(1 << 11)
#define FREEZE_PMCS		(1 << 12)
#define CTR_FRZ			(1ull << 59)

#define AMD_GLOBAL_STATUS	0xc0000300
#define AMD_GLOBAL_CTL		0xc0000301
#define AMD_GLOBAL_STATUS_CLR	0xc0000302

static bool sets_bit;	/* in the status register */
static uint32_t global_ctrl, global_status, status_clear;

void second_test(void)
{
}

static void cpuid(uint32_t leaf, uint32_t *eax)
{
	uint32_t ebx, ecx = 0, edx;

	*eax = leaf;
	asm volatile("cpuid" : "+a"(*eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
}

static void identify(void)
{
	uint32_t eax;

	if (is_amd()) {
		global_ctrl = AMD_GLOBAL_CTL;
		global_status = AMD_GLOBAL_STATUS;
		status_clear = AMD_GLOBAL_STATUS_CLR;
		cpuid(0x80000022, &eax);
		check("cpuid.freeze", 1, eax >> 2 & 1);
		sets_bit = true;
		return;
	}
	global_ctrl = IA32_PERF_GLOBAL_CTRL;
	global_status = IA32_PERF_GLOBAL_STATUS;
	status_clear = IA32_PERF_GLOBAL_OVF_CTRL;
	cpuid(0xa, &eax);
	sets_bit = (eax & 0xff) >= 4;
}

/* Counter 0 overflows with the 5th of 21 instructions. Counter 1 counts beside it. */
static void run(uint64_t debugctl, uint32_t interrupt)
{
	wrmsr(DEBUGCTL, debugctl);
	wrmsr(global_ctrl, 0);
	wrmsr(status_clear, 3 | (sets_bit ? CTR_FRZ : 0));
	wrmsr(counter(0), COUNTER_MASK - 4);
	wrmsr(counter(1), 0);
	wrmsr(evntsel(0), INSN | USR | EN | interrupt);
	wrmsr(evntsel(1), INSN | USR | EN);
	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
	wrmsr(global_ctrl, 3);
	run_user(user_nops);
}

static void check_run(const char *name, uint32_t first, uint32_t second, uint64_t status)
{
	check(name, first, rdpmc(0));
	check("  other", second, rdpmc(1));
	check("  status", status, rdmsr(global_status));
}

static void check_reserved(uint32_t bit)
{
	check("reserved", GP, wrmsr_safe(DEBUGCTL, 1ull << bit));
	check("  unchanged", FREEZE_PMCS, rdmsr(DEBUGCTL));
}

void test(void)
{
	identify();
	run(0, INT);
	check_run("off", 16, 21, 1);
	check("off.count", 1, pmi_count);
	run(FREEZE_LBRS, INT);
	check_run("only_lbrs", 16, 21, 1);
	run(FREEZE_PMCS, 0);
	check_run("no_interrupt", 16, 21, 1);
	run(FREEZE_PMCS, INT);
	check_run("frozen", 0, 5, sets_bit ? CTR_FRZ | 1 : 1);
	check("frozen.count", 1, pmi_count);
	check("frozen.global_ctrl", sets_bit ? 3 : 0, rdmsr(global_ctrl));
	run_user(user_nops);
	check("frozen.stays", 5, rdpmc(1));
	/* The overflow may be acknowledged without a thaw. */
	wrmsr(status_clear, 1);
	run_user(user_nops);
	check("acknowledged", 5, rdpmc(1));
	if (sets_bit)
		wrmsr(status_clear, CTR_FRZ);
	else
		wrmsr(global_ctrl, 3);
	run_user(user_nops);
	check("thawed", 5 + 21, rdpmc(1));
	check_reserved(is_amd() ? 6 : 2);
	check_reserved(16);
	check_reserved(63);
}
