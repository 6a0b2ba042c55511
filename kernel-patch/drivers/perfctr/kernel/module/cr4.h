/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module: CR4.PCE of this CPU. Interrupts off. Before Linux 7 the module changes the register
 * and the kernel's copy of CR4 by the kernel's own functions. For later kernels see cr4.c.
 */
#ifndef _PERFCTR_CR4_MODULE_H
#define _PERFCTR_CR4_MODULE_H

#include <linux/compiler.h>
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/version.h>
#include <asm/tlbflush.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
/* The ctx_id of the address space for which the register differs from the copy, or 0. */
DECLARE_PER_CPU(u64, perfctr_pce_changed);

bool perfctr_pce_is_set(void);
void perfctr_pce_change(bool set);	/* while current->active_mm runs */
void perfctr_pce_give_back(void);	/* before the kernel reads or changes the bit */

/* This CPU is about to switch to next, or to a kernel thread if next is NULL. */
static __always_inline void perfctr_pce_leave(const struct mm_struct *next)
{
	u64 changed = __this_cpu_read(perfctr_pce_changed);

	if (unlikely(changed) && !(next && next->context.ctx_id == changed))
		perfctr_pce_give_back();
}
#else
static inline bool perfctr_pce_is_set(void)
{
	return cr4_read_shadow() & X86_CR4_PCE;
}

static inline void perfctr_pce_change(bool set)
{
	cr4_update_irqsoff(set ? X86_CR4_PCE : 0, set ? 0 : X86_CR4_PCE);
}

static inline void perfctr_pce_give_back(void)
{
}

static inline void perfctr_pce_leave(const struct mm_struct *next)
{
}
#endif

#endif
