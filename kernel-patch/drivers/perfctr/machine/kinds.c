// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kinds of cores, which differ in their counters and events: what a control may ask for, and how
 * long a thread has run on each kind.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "../kernel/user.h"
#include "machine.h"
#include "percpu.h"

DEFINE_STATIC_KEY_FALSE(perfctr_kinds);

static DEFINE_PER_CPU(u32, kind_of_cpu);

void __init perfctr_kinds_init(void)
{
	if (perfctr_usable_pmu() && perfctr_pmu->n_kinds)
		static_branch_enable(&perfctr_kinds);
}

/*
 * Called on a CPU that comes online. Returns false if no CPU of the same kind was there at boot: a
 * control that was accepted for all kinds may be invalid for a new one.
 */
bool perfctr_kind_online(unsigned int cpu)
{
	int kind;

	if (!static_branch_unlikely(&perfctr_kinds) || !perfctr_usable_pmu())
		return true;
	kind = perfctr_pmu->kind();
	if (kind >= 0)
		per_cpu(kind_of_cpu, cpu) = kind;
	return kind >= 0;
}

static u32 all_kinds(const struct perfctr_pmu *pmu)
{
	return pmu->n_kinds ? GENMASK(pmu->n_kinds - 1, 0) : 0;
}

bool perfctr_kinds_exist(const struct perfctr_pmu *pmu, u32 kinds)
{
	return !(kinds & ~all_kinds(pmu));
}

/* Returns the counters that all kinds of the mask have. The mask is not empty. */
u64 perfctr_kinds_counters(const struct perfctr_pmu *pmu, u32 kinds)
{
	u64 counters = ~0ull;
	u32 k;

	for (k = 0; k < pmu->n_kinds; k++)
		if (kinds & BIT(k))
			counters &= pmu->kinds[k].counters;
	return counters;
}

u64 perfctr_kinds_evntsel(const struct perfctr_pmu *pmu, u32 kinds)
{
	u64 allowed = ~0ull;
	u32 k;

	for (k = 0; k < pmu->n_kinds; k++)
		if (kinds & BIT(k))
			allowed &= pmu->kinds[k].evntsel_allowed;
	return allowed;
}

/* Returns whether some kind has the counter with this RDPMC index. */
bool perfctr_some_kind_has(const struct perfctr_pmu *pmu, u32 counter)
{
	u32 n = counter & ~PERFCTR_FIXED;
	u32 slot = counter & PERFCTR_FIXED ? PERFCTR_FIXED_SLOT + n : n;
	u32 k;

	for (k = 0; k < pmu->n_kinds && n < PERFCTR_FIXED_SLOT; k++)
		if (pmu->kinds[k].counters & BIT_ULL(slot))
			return true;
	return false;
}

bool perfctr_kinds_lack(const struct perfctr_pmu *pmu, u64 slots)
{
	return pmu->n_kinds && slots & ~perfctr_kinds_counters(pmu, all_kinds(pmu));
}

/*
 * Returns the part of the page's time that belongs to kind, the page's present one: to a kind of
 * core, or to mute CPUs if that is PERFCTR_NO_KIND.
 */
static u64 present_time(const struct perfctr_page *page, u32 kind)
{
	u64 time = page->tsc.sum;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(page->kind_tsc); k++)
		if (k != kind)
			time -= page->kind_tsc[k];
	return time;
}

/*
 * From now on the page's time belongs to kind. The caller has brought the page's sums up to date.
 */
static void change_kind(struct perfctr_page *page, u32 kind)
{
	if (page->kind == kind)
		return;
	page->kind_tsc[page->kind] = present_time(page, page->kind);
	page->kind = kind;
}

/* The thread has come to this CPU from another one. */
void perfctr_kind_enter(struct perfctr_page *page)
{
	change_kind(page, __this_cpu_read(kind_of_cpu));
}

/*
 * The thread begins or ceases to run on this mute CPU. The time in between belongs to no kind.
 * Afterwards the page has the CPU's kind again, because the CPU may be able to count when the
 * thread comes back.
 */
void perfctr_kind_mute(struct perfctr_page *page, bool begins)
{
	if (static_branch_unlikely(&perfctr_kinds))
		change_kind(page, begins ? PERFCTR_NO_KIND : __this_cpu_read(kind_of_cpu));
}

void perfctr_kind_times(const struct perfctr_page *page, u64 *time)
{
	u32 kind = READ_ONCE(page->kind);	/* another CPU may change it */

	memcpy(time, page->kind_tsc, PERFCTR_MAX_KINDS * sizeof(*time));
	if (kind != PERFCTR_NO_KIND)
		time[kind] = present_time(page, kind);
}

void perfctr_kind_add(u64 *sum, const u64 *time)
{
	u32 k;

	for (k = 0; k < PERFCTR_MAX_KINDS; k++)
		sum[k] += time[k];
}

u32 perfctr_kind_of_cpu(unsigned int cpu)
{
	return per_cpu(kind_of_cpu, cpu);
}

void perfctr_kinds_tell(struct perfctr_pmu_info *info)
{
	const struct perfctr_pmu *pmu = perfctr_usable_pmu();

	if (!pmu)
		return;
	info->n_kinds = pmu->n_kinds;
	memcpy(info->kind, pmu->kinds, info->n_kinds * sizeof(info->kind[0]));
}

/*
 * Copies the mask of the kind's CPUs to the user's buffer. If the buffer has room for more CPUs
 * than are possible, fills the rest with zeros.
 */
static int put_cpus(const struct perfctr_kind_cpus *kind)
{
	u32 known = BITS_TO_LONGS(nr_cpu_ids) * sizeof(long);
	void __user *user = u64_to_user_ptr(kind->cpus);
	cpumask_var_t cpus;
	unsigned int cpu;
	int err = 0;

	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	for_each_online_cpu(cpu)
		if (!perfctr_cpu_is_mute(cpu) && perfctr_kind_of_cpu(cpu) == kind->kind)
			cpumask_set_cpu(cpu, cpus);
	if (copy_to_user(user, cpumask_bits(cpus), known) ||
	    clear_user(user + known, kind->cpus_bytes - known))
		err = -EFAULT;
	free_cpumask_var(cpus);
	return err;
}

long perfctr_ioctl_kind_cpus(void __user *user)
{
	const struct perfctr_pmu *pmu = perfctr_usable_pmu();
	struct perfctr_kind_cpus kind;
	u32 size;
	int err = perfctr_get_struct(&kind, sizeof(kind), user, &size);

	if (err)
		return err;
	if (!pmu || kind.kind >= pmu->n_kinds)
		return -ENOENT;
	if (kind.reserved || kind.cpus_bytes > PAGE_SIZE ||
	    kind.cpus_bytes < BITS_TO_LONGS(nr_cpu_ids) * sizeof(long))
		return -EINVAL;
	return put_cpus(&kind);
}
