// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module, since Linux 7: CR4.PCE of this CPU. The kernel has a copy of CR4, which no module but
 * KVM can change, and writes the register when the copy changes. So the module lets the register
 * differ from the copy while one address space runs. It restores the register before the kernel
 * reads or changes the bit, and before another address space runs.
 */
#include <linux/sched.h>
#include <asm/processor-flags.h>
#include <asm/special_insns.h>
#include "cr4.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
DEFINE_PER_CPU(u64, perfctr_pce_changed);
static DEFINE_PER_CPU(bool, pce_of_copy);

/* Does not use __write_cr4(), because the kernel may not export the functions that it calls. */
static void write_pce(bool set)
{
	unsigned long cr4 = native_read_cr4() & ~X86_CR4_PCE;

	cr4 |= set ? X86_CR4_PCE : 0;
	asm volatile("mov %0, %%cr4" : : "r" (cr4) : "memory");
}

bool perfctr_pce_is_set(void)
{
	return native_read_cr4() & X86_CR4_PCE;
}

void perfctr_pce_change(bool set)
{
	if (!__this_cpu_read(perfctr_pce_changed)) {
		__this_cpu_write(pce_of_copy, perfctr_pce_is_set());
		__this_cpu_write(perfctr_pce_changed, current->active_mm->context.ctx_id);
	}
	write_pce(set);
}

void perfctr_pce_give_back(void)
{
	if (!__this_cpu_read(perfctr_pce_changed))
		return;
	__this_cpu_write(perfctr_pce_changed, 0);
	write_pce(__this_cpu_read(pce_of_copy));
}
#endif
