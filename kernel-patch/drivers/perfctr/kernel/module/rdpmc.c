// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: RDPMC in user mode.
 *
 * Whenever the kernel switches to another address space, it sets CR4.PCE by its own rule, which
 * does not consider the driver's pages. So a thread that may RDPMC gets the permission when its
 * first RDPMC after each switch to its address space faults. The kernel's next switch to another
 * address space revokes the permission.
 */
#include <linux/hashtable.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/uaccess.h>
#include <asm/mmu_context.h>
#include "../hooks.h"
#include "cr4.h"

/* An address space with mapped state pages. */
struct space {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int pages;		/* under spaces_lock */
	atomic_t rdpmc_pages;		/* those of contexts with events */
	struct rcu_head rcu;
};

static DEFINE_HASHTABLE(spaces, 8);
static DEFINE_SPINLOCK(spaces_lock);
static atomic_t no_pages;		/* never written */

DEFINE_PER_CPU(const struct task_struct *, perfctr_switching_to);
union perfctr_rdpmc_reasons perfctr_rdpmc_reasons = { .always = true };

static struct space *find_space(const struct mm_struct *mm)
{
	struct space *space;

	hash_for_each_possible_rcu(spaces, space, node, (unsigned long)mm)
		if (space->mm == mm)
			return space;
	return NULL;
}

bool perfctr_has_space(const struct mm_struct *mm)
{
	bool has;

	rcu_read_lock();
	has = mm && find_space(mm);
	rcu_read_unlock();
	return has;
}

int perfctr_space_get(struct mm_struct *mm)
{
	struct space *space, *new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);

	if (!new)
		return -ENOMEM;
	spin_lock(&spaces_lock);
	space = find_space(mm);
	if (!space) {
		space = new;
		new = NULL;
		space->mm = mm;
		hash_add_rcu(spaces, &space->node, (unsigned long)mm);
		atomic_inc(&perfctr_rdpmc_reasons.n_spaces);
	}
	space->pages++;
	spin_unlock(&spaces_lock);
	kfree(new);
	return 0;
}

void perfctr_space_put(struct mm_struct *mm)
{
	struct space *space;

	spin_lock(&spaces_lock);
	space = find_space(mm);
	if (!--space->pages) {
		hash_del_rcu(&space->node);
		atomic_dec(&perfctr_rdpmc_reasons.n_spaces);
		kfree_rcu(space, rcu);
	}
	spin_unlock(&spaces_lock);
}

atomic_t *perfctr_rdpmc_pages(struct mm_struct *mm)
{
	struct space *space;

	if (!atomic_read(&perfctr_rdpmc_reasons.n_spaces))
		return &no_pages;
	/* space stays valid: interrupts are off, or the caller has called perfctr_space_get(). */
	rcu_read_lock();
	space = find_space(mm);
	rcu_read_unlock();
	return space ? &space->rdpmc_pages : &no_pages;
}

void perfctr_forget_noted(struct mm_struct *mm)
{
	if (perfctr_cpu_is_not_perfs())
		atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

/* Has perf_events allowed mm to RDPMC, because of a page that it has mapped there? */
static bool is_rdpmc_for_perf(struct mm_struct *mm)
{
	perfctr_forget_perf(mm);
	return atomic_read(&mm->context.perf_rdpmc_allowed);
}

/*
 * Learns from CR4 whether all processes may RDPMC: when the administrator changes that setting, the
 * kernel changes CR4 before the setting's file. CR4 shows nothing if the current address space may
 * RDPMC for another reason.
 */
bool perfctr_learn_always(void)
{
	struct mm_struct *mm;
	bool learned = false;
	unsigned long flags;

	local_irq_save(flags);
	mm = current->active_mm;
	if (mm && !perfctr_has_space(mm) && !is_rdpmc_for_perf(mm)) {
		WRITE_ONCE(perfctr_rdpmc_reasons.always, perfctr_pce_is_set());
		learned = true;
	}
	local_irq_restore(flags);
	return !learned;
}

/*
 * Also true for a thread that will get the permission by a fault: the switch must clear the counts
 * of other threads before that thread runs. Clearing them at the fault would spoil the read in
 * progress.
 */
noinline bool perfctr_find_user_rdpmc(const struct task_struct *next)
{
	perfctr_forget_perf(next->mm);
	if (next->mm == current->active_mm)
		return perfctr_pce_is_set();
	return perfctr_rdpmc_shows(next) ||
	       (next->mm && atomic_read(perfctr_rdpmc_pages(next->mm)));
}

bool perfctr_user_rdpmc(void)
{
	const struct task_struct *next = __this_cpu_read(perfctr_switching_to);

	return next ? perfctr_next_may_rdpmc(current, next) : perfctr_pce_is_set();
}

void perfctr_update_pce(void)
{
	const struct task_struct *next = __this_cpu_read(perfctr_switching_to);
	struct mm_struct *mm = current->active_mm;
	bool may;

	/* For another address space the kernel sets CR4.PCE itself. */
	if (!mm || (next && next->mm && next->mm != mm))
		return;
	may = !perfctr_rdpmc_is_off() && perfctr_may_rdpmc_now(mm);
	if (may && !perfctr_pce_is_set() && !next) {
		perfctr_tell_rdpmc(mm);
		perfctr_pce_change(true);
	} else if (!may && perfctr_pce_is_set() && !is_rdpmc_for_perf(mm) &&
		   (!READ_ONCE(perfctr_rdpmc_reasons.always) || perfctr_has_space(mm))) {
		/* If mm may RDPMC for an unknown reason, its next RDPMC faults and is handled. */
		perfctr_pce_change(false);
	}
}

/* Nothing to do: clear_no_counters() of entry/module/events.c keeps perf_events from writing. */
void perfctr_settle_perf(void)
{
}

static bool has_flat_code_segment(const struct pt_regs *regs)
{
	return regs->cs == __USER_CS || regs->cs == __USER32_CS;
}

int perfctr_fetch_insn(struct pt_regs *regs, unsigned char *insn)
{
	const void __user *code = (void __user *)regs->ip;

	if (!has_flat_code_segment(regs) || copy_from_user_nofault(insn, code, PERFCTR_RDPMC_BYTES))
		return -EFAULT;
	return PERFCTR_RDPMC_BYTES;
}

/*
 * The traced function must not sleep, so it cannot wait until the page with the code is in memory.
 * This task work can. It runs before the thread returns to user mode. If the code is an RDPMC, the
 * thread executes it again, faults again, and the code is in memory by then. Otherwise the thread
 * gets the signal that the kernel would have sent.
 */
static void look_at_code(struct callback_head *work)
{
	const void __user *code = (void __user *)task_pt_regs(current)->ip;
	unsigned char insn[PERFCTR_RDPMC_BYTES];

	kfree(work);
	if (copy_from_user(insn, code, PERFCTR_RDPMC_BYTES) || !perfctr_insn_is_rdpmc(insn))
		force_sig(SIGSEGV);
	module_put(THIS_MODULE);
}

bool perfctr_wait_for_code(struct pt_regs *regs)
{
	unsigned char insn[PERFCTR_MAX_INSN];
	struct callback_head *work;

	if (!has_flat_code_segment(regs) || perfctr_fetch_insn(regs, insn) >= 0)
		return false;
	work = kmalloc(sizeof(*work), GFP_ATOMIC | __GFP_NOWARN);
	if (!work)
		return false;
	init_task_work(work, look_at_code);
	if (!try_module_get(THIS_MODULE)) {
		kfree(work);
		return false;
	}
	if (task_work_add(current, work, TWA_RESUME)) {
		module_put(THIS_MODULE);
		kfree(work);
		return false;
	}
	return true;
}
