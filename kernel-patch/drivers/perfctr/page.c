// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping of the state page, and RDPMC for who has mapped one.
 *
 * CR4.PCE is given lazily: by the next switch to the address space, or by the fault of the first
 * RDPMC. While the counters are ours it is not given where a session counts kernel mode and RDPMC
 * would show it. A thread that may have read a valid ticket before it was taken away must not die of
 * it: as long as a page is mapped its RDPMC is executed here, and gives what is its own.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/perfctr_hooks.h>
#include <linux/ptrace.h>
#include <asm/insn-eval.h>
#include <asm/mmu_context.h>
#include <asm/tlbflush.h>
#include "compat.h"
#include "perfctr.h"

bool perfctr_may_rdpmc(void)
{
	return !perfctr_gate_shows_kernel() && perfctr_cpu_shows_own();
}

static void update_rdpmc_here(void)
{
	unsigned long flags;

	local_irq_save(flags);
	cr4_update_pce(NULL);
	local_irq_restore(flags);
}

static void update_rdpmc(struct mm_struct *mm)
{
	on_each_cpu_mask(mm_cpumask(mm), cr4_update_pce, NULL, true);
}

/* Serialised by the mmap lock, held for writing. */
static void page_vma_open(struct vm_area_struct *vma)
{
	atomic_inc(&vma->vm_mm->context.perf_rdpmc_allowed);
	update_rdpmc_here();
}

static void page_vma_close(struct vm_area_struct *vma)
{
	if (atomic_dec_and_test(&vma->vm_mm->context.perf_rdpmc_allowed))
		update_rdpmc(vma->vm_mm);
}

static const struct vm_operations_struct page_vm_ops = {
	.open = page_vma_open,
	.close = page_vma_close,
};

int perfctr_mmap(struct perfctr_context *ctx, struct vm_area_struct *vma)
{
	int err;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	/* A child must not mistake its parent's page for its own. */
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	err = perfctr_lock_tree(ctx->tree);
	if (err)
		return err;
	err = perfctr_may_map(ctx);
	if (!err)
		err = vm_insert_page(vma, vma->vm_start, virt_to_page(ctx->page));
	perfctr_unlock_tree(ctx->tree);
	if (err)
		return err;
	vma->vm_ops = &page_vm_ops;
	page_vma_open(vma);
	return 0;
}

static bool counter_exists(u32 counter)
{
	const struct perfctr_pmu *pmu = perfctr_pmu;
	u32 fast = pmu->features & PERFCTR_FEATURE_FAST_RDPMC ? PERFCTR_FAST : 0;
	u32 n = counter & ~fast;

	return n & PERFCTR_FIXED ? (n & ~PERFCTR_FIXED) < pmu->n_fixed : n < pmu->n_general;
}

static bool is_rdpmc(struct pt_regs *regs)
{
	static const unsigned char rdpmc[] = { 0x0f, 0x33 };
	unsigned char insn[MAX_INSN_SIZE];

	return insn_fetch_from_user(regs, insn) >= (int)sizeof(rdpmc) &&
	       !memcmp(insn, rdpmc, sizeof(rdpmc));
}

static bool user_rdpmc(void)
{
	return cr4_read_shadow() & X86_CR4_PCE;
}

/* True when it is allowed now and was not: the instruction is to be tried again. */
static bool allow_rdpmc(void)
{
	if (user_rdpmc())
		return false;
	cr4_update_pce(NULL);
	return user_rdpmc();
}

/* After a fault of user mode where a page is mapped. True: it may go on. */
bool perfctr_emulate_rdpmc(struct pt_regs *regs)
{
	unsigned long flags;
	u64 value;

	if (!perfctr_pmu || !(perfctr_pmu->features & PERFCTR_FEATURE_RDPMC) ||
	    !is_rdpmc(regs) || !counter_exists(regs->cx))
		return false;
	local_irq_save(flags);
	if (!allow_rdpmc()) {
		value = perfctr_cpu_rdpmc(regs->cx);
		regs->ax = lower_32_bits(value);
		regs->dx = upper_32_bits(value);
		regs->ip += 2;
	}
	local_irq_restore(flags);
	return true;
}
