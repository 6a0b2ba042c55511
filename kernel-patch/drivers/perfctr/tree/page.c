// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping of the state page, and RDPMC for address spaces that have mapped one.
 *
 * CR4.PCE is set on a CPU for an address space while all of these are true: a page of a context
 * with events is mapped there; the CPU's counters belong to the driver; they hold no counts of
 * kernel mode that the running thread may not see; no session of the CPU counts kernel mode on a
 * counter that RDPMC would show; no uncore counter that RDPMC would show is running.
 *
 * The permission is revoked at once, or by a tick if the uncore is the reason. It is granted
 * lazily: by the next switch to the address space, or by the fault of the first RDPMC. A thread may
 * have read a valid ticket before the permission was revoked, and the RDPMC that follows must not
 * kill the thread. Therefore, as long as a page is mapped, the driver executes such an RDPMC for
 * the thread, and returns only the thread's own counts.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <asm/mmu_context.h>
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/compat.h"
#include "../kernel/hooks.h"
#include "internal.h"
#include "members.h"

/*
 * A state page mapped into an address space. n_vmas needs no lock of its own: the mapping has two
 * VMAs only within an mremap(), which holds the mmap lock for writing. munmap() may have downgraded
 * the mmap lock when it closes the only one.
 */
struct mapping {
	struct list_head list;		/* of its context, under the context's lock */
	struct perfctr_context *ctx;
	struct perfctr_page *page;	/* a reference: ctx may use another page by now */
	struct mm_struct *mm;
	unsigned int n_vmas;		/* two for a moment while mremap() moves it */
	bool counted;			/* in perfctr_rdpmc_pages(); under the context's lock */
};

bool perfctr_may_rdpmc(struct mm_struct *mm)
{
	return atomic_read(perfctr_rdpmc_pages(mm)) && !perfctr_gate_shows_kernel() &&
	       !perfctr_cpu_is_secret() && perfctr_cpu_is_ours() &&
	       !(static_branch_unlikely(&perfctr_shows_uncore) && perfctr_uncore_counts());
}

static void update_rdpmc_here(void *unused)
{
	unsigned long flags;

	local_irq_save(flags);
	perfctr_cpu_renew_secret();
	perfctr_update_pce();
	local_irq_restore(flags);
}

static void update_rdpmc(struct mm_struct *mm)
{
	on_each_cpu_mask(mm_cpumask(mm), update_rdpmc_here, NULL, true);
}

static void count_mapping(struct mapping *mapping, bool counted)
{
	if (counted != mapping->counted)
		atomic_add(counted ? 1 : -1, perfctr_rdpmc_pages(mapping->mm));
	mapping->counted = counted;
}

static bool has_use_for_rdpmc(const struct perfctr_context *ctx)
{
	return ctx->hw && ctx->hw->n_events && !ctx->shared &&
	       perfctr_pmu->features & PERFCTR_FEATURE_RDPMC;
}

/*
 * Records in shown_to whether the address space of ctx's thread has mapped ctx's page. Under
 * ctx->lock. A process that has mapped a page with counts of kernel mode was allowed to count
 * kernel mode.
 */
static void update_shown_to(struct perfctr_context *ctx)
{
	const struct mm_struct *mm = ctx->task ? READ_ONCE(ctx->task->mm) : NULL;
	const struct mapping *mapping;
	u64 shown_to = 0;

	lockdep_assert_held(&ctx->lock);
	list_for_each_entry(mapping, &ctx->mappings, list)
		if (mapping->mm == mm && mapping->page == ctx->page)
			shown_to = mm->context.ctx_id;
	WRITE_ONCE(ctx->shown_to, shown_to);
}

/* ctx has a new control: RDPMC may have become useful to its mappings, or useless. */
void perfctr_update_mappings(struct perfctr_context *ctx)
{
	struct mapping *mapping;
	bool own = false;

	spin_lock(&ctx->lock);
	list_for_each_entry(mapping, &ctx->mappings, list) {
		own |= mapping->counted != has_use_for_rdpmc(ctx) && mapping->mm == current->mm;
		count_mapping(mapping, has_use_for_rdpmc(ctx));
	}
	update_shown_to(ctx);
	spin_unlock(&ctx->lock);
	if (own)
		update_rdpmc(current->mm);
}

/*
 * Returns a new mapping that no other thread can see, or an error. The mapping has a blank page,
 * which becomes the context's if the context has none.
 */
static struct mapping *alloc_mapping(struct mm_struct *mm)
{
	struct mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	int err;

	if (!mapping)
		return ERR_PTR(-ENOMEM);
	mapping->page = (struct perfctr_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	err = mapping->page ? perfctr_space_get(mm) : -ENOMEM;
	if (err) {
		free_page((unsigned long)mapping->page);
		kfree(mapping);
		return ERR_PTR(err);
	}
	mapping->mm = mm;
	perfctr_page_blank(mapping->page);
	return mapping;
}

static void free_mapping(struct mapping *mapping)
{
	perfctr_space_put(mapping->mm);
	free_page((unsigned long)mapping->page);
	kfree(mapping);
}

static void page_vma_open(struct vm_area_struct *vma)
{
	struct mapping *mapping = vma->vm_private_data;

	mapping->n_vmas++;
}

static void page_vma_close(struct vm_area_struct *vma)
{
	struct mapping *mapping = vma->vm_private_data;
	struct perfctr_context *ctx = mapping->ctx;
	struct mm_struct *mm = mapping->mm;

	if (--mapping->n_vmas)
		return;
	spin_lock(&ctx->lock);
	count_mapping(mapping, false);
	list_del(&mapping->list);
	update_shown_to(ctx);
	spin_unlock(&ctx->lock);
	if (!atomic_read(perfctr_rdpmc_pages(mm)))
		update_rdpmc(mm);
	free_mapping(mapping);
}

static const struct vm_operations_struct page_vm_ops = {
	.open = page_vma_open,
	.close = page_vma_close,
};

static void add_mapping(struct perfctr_context *ctx, struct vm_area_struct *vma,
			struct mapping *mapping)
{
	mapping->ctx = ctx;
	mapping->n_vmas = 1;
	vma->vm_private_data = mapping;
	vma->vm_ops = &page_vm_ops;
	spin_lock(&ctx->lock);
	list_add(&mapping->list, &ctx->mappings);
	count_mapping(mapping, has_use_for_rdpmc(ctx));
	update_shown_to(ctx);
	spin_unlock(&ctx->lock);
	update_rdpmc_here(NULL);
}

/* Moves ctx's state to page. A detached context's state does not change, so no call is needed. */
static void give_page(struct perfctr_context *ctx, struct perfctr_page *page)
{
	get_page(virt_to_page(page));
	if (perfctr_call(ctx, perfctr_move_fn, page) == -ESRCH)
		perfctr_move_fn(ctx, false, page);
}

/* Under the tree's lock. */
static int map_page(struct perfctr_context *ctx, struct vm_area_struct *vma,
		    struct mapping *mapping)
{
	int err = perfctr_may_map(ctx);

	if (err)
		return err;
	if (!perfctr_has_page(ctx))
		give_page(ctx, mapping->page);
	get_page(virt_to_page(ctx->page));
	free_page((unsigned long)mapping->page);
	mapping->page = ctx->page;
	return vm_insert_page(vma, vma->vm_start, virt_to_page(mapping->page));
}

int perfctr_mmap(struct perfctr_context *ctx, struct vm_area_struct *vma)
{
	struct mapping *mapping;
	int err;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	mapping = alloc_mapping(vma->vm_mm);
	if (IS_ERR(mapping))
		return PTR_ERR(mapping);
	/*
	 * VM_DONTCOPY: a child must not mistake its parent's page for its own, and two address
	 * spaces must not share a struct mapping. VM_IO: madvise() cannot clear VM_DONTCOPY.
	 */
	vm_flags_mod(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	err = perfctr_lock_tree(ctx->tree);
	if (!err) {
		err = map_page(ctx, vma, mapping);
		perfctr_unlock_tree(ctx->tree);
	}
	if (err)
		free_mapping(mapping);
	else
		add_mapping(ctx, vma, mapping);
	return err;
}

/*
 * Does the machine have the counter? On a hybrid machine any kind of core may have it: the thread
 * may have read the ticket on a core of another kind than this one.
 */
static bool is_machine_counter(u32 counter)
{
	const struct perfctr_pmu *pmu = perfctr_pmu;
	u32 fast = pmu->features & PERFCTR_FEATURE_FAST_RDPMC ? PERFCTR_FAST : 0;
	u32 n = counter & ~fast;

	if (pmu->n_kinds)
		return perfctr_some_kind_has(pmu, n);
	return n & PERFCTR_FIXED ? (n & ~PERFCTR_FIXED) < pmu->n_fixed : n < pmu->n_general;
}

static bool is_rdpmc_insn(struct pt_regs *regs)
{
	unsigned char insn[PERFCTR_MAX_INSN];

	return perfctr_fetch_insn(regs, insn) >= PERFCTR_RDPMC_BYTES && perfctr_insn_is_rdpmc(insn);
}

/* Grants RDPMC to user mode, if it may. True: granted only now, so the thread retries its RDPMC. */
static bool allow_rdpmc(void)
{
	if (perfctr_user_rdpmc())
		return false;
	perfctr_cpu_renew_secret();
	perfctr_update_pce();
	return perfctr_user_rdpmc();
}

/*
 * Handles a fault of user mode in an address space with a mapped page. True: the fault was an RDPMC
 * of one of the machine's counters. Either the thread may execute the RDPMC now, or the driver has
 * executed it for the thread.
 */
bool perfctr_emulate_rdpmc(struct pt_regs *regs)
{
	unsigned long flags;
	u64 value;

	if (!perfctr_usable_pmu() || !(perfctr_pmu->features & PERFCTR_FEATURE_RDPMC) ||
	    !is_rdpmc_insn(regs) || !is_machine_counter(regs->cx))
		return false;
	local_irq_save(flags);
	if (!allow_rdpmc()) {
		value = perfctr_cpu_rdpmc(regs->cx);
		regs->ax = lower_32_bits(value);
		regs->dx = upper_32_bits(value);
		regs->ip += PERFCTR_RDPMC_BYTES;
	}
	local_irq_restore(flags);
	return true;
}
