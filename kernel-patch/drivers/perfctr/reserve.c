// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's counters: taken from the rest of the kernel by the first context with events, given
 * back by the last.
 */
#include <linux/cpuhotplug.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <asm/mmu_context.h>
#include "perfctr.h"

const struct perfctr_pmu *perfctr_pmu;

static DEFINE_MUTEX(reserve_lock);	/* inside cpus_read_lock() */
static unsigned int users;

u32 perfctr_features(void)
{
	u32 features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED;

	if (perfctr_pmu)
		features |= perfctr_pmu->features;
	if (static_branch_unlikely(&rdpmc_never_available_key))
		features &= ~PERFCTR_FEATURE_RDPMC;
	return features;
}

static void take_cpu(void *unused)
{
	perfctr_pmu->take_cpu();
	perfctr_cpu_reset();
}

static void give_cpu(void *unused)
{
	perfctr_pmu->give_cpu();
	perfctr_cpu_reset();
}

int perfctr_reserve(void)
{
	int err = 0;

	cpus_read_lock();
	mutex_lock(&reserve_lock);
	if (!users)
		err = perfctr_pmu->reserve();
	if (!err && !users++)
		on_each_cpu(take_cpu, NULL, true);
	mutex_unlock(&reserve_lock);
	cpus_read_unlock();
	return err;
}

void perfctr_release(void)
{
	cpus_read_lock();
	mutex_lock(&reserve_lock);
	if (!--users) {
		on_each_cpu(give_cpu, NULL, true);
		perfctr_pmu->release();
	}
	mutex_unlock(&reserve_lock);
	cpus_read_unlock();
}

u32 perfctr_holder(void)
{
	u32 holder = PERFCTR_HOLDER_NONE;

	mutex_lock(&reserve_lock);
	if (users)
		holder = PERFCTR_HOLDER_PERFCTR;
	else if (perfctr_pmu && perfctr_pmu->reserve())
		holder = PERFCTR_HOLDER_OTHER;
	else if (perfctr_pmu)
		perfctr_pmu->release();
	mutex_unlock(&reserve_lock);
	return holder;
}

static int for_this_cpu(smp_call_func_t fn)
{
	mutex_lock(&reserve_lock);
	if (users)
		smp_call_function_single(smp_processor_id(), fn, NULL, true);
	mutex_unlock(&reserve_lock);
	return 0;
}

/* On the CPU that comes, before user space runs on it, and on the one that goes, after. */
static int perfctr_cpu_online(unsigned int cpu)
{
	return for_this_cpu(take_cpu);
}

static int perfctr_cpu_offline(unsigned int cpu)
{
	return for_this_cpu(give_cpu);
}

int __init perfctr_reserve_init(void)
{
	int state;

	perfctr_pmu = perfctr_arch_probe();
	if (!perfctr_pmu)
		return 0;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perfctr:online", perfctr_cpu_online,
				  perfctr_cpu_offline);
	return state < 0 ? state : 0;
}
