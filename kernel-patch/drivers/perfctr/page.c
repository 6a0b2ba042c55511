// SPDX-License-Identifier: GPL-2.0-only
/* Mapping of the state page. An address space that maps one may execute RDPMC. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <asm/mmu_context.h>
#include <asm/tlbflush.h>
#include "compat.h"
#include "perfctr.h"

static void update_rdpmc(struct mm_struct *mm)
{
	on_each_cpu_mask(mm_cpumask(mm), cr4_update_pce, NULL, true);
}

static bool may_rdpmc(void)
{
	return perfctr_features() & PERFCTR_FEATURE_RDPMC;
}

/* Serialised by the mmap lock, held for writing. */
static void page_vma_open(struct vm_area_struct *vma)
{
	if (!may_rdpmc())
		return;
	if (atomic_inc_return(&vma->vm_mm->context.perf_rdpmc_allowed) == 1)
		update_rdpmc(vma->vm_mm);
}

static void page_vma_close(struct vm_area_struct *vma)
{
	if (!may_rdpmc())
		return;
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
