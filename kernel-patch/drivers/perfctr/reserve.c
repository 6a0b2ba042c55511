// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's counters: all are taken from the rest of the kernel by the first control with
 * events, and given back by the last. Among us each counter is either shared by contexts, one after
 * the other, or a session's alone.
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <asm/mmu_context.h>
#include <asm/nmi.h>
#include "session.h"

const struct perfctr_pmu *perfctr_pmu;
const char *perfctr_family = "no PMU that is known";

static DEFINE_MUTEX(reserve_lock);	/* inside cpus_read_lock() */
static unsigned int users;	/* controls with events */
static struct perfctr_use contexts_use, sessions_use;
static unsigned int context_users[2][64];	/* controls of contexts, by bit of the above */
static DEFINE_PER_CPU(bool, cpu_taken);

u32 perfctr_features(void)
{
	u32 features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED;

	if (perfctr_pmu)
		features |= perfctr_pmu->features;
	if (static_branch_unlikely(&rdpmc_never_available_key))
		features &= ~PERFCTR_FEATURE_RDPMC;
	return features;
}

/* Both on the CPU itself, interrupts off. */
static void take_cpu(void *unused)
{
	bool *taken = this_cpu_ptr(&cpu_taken);

	perfctr_pmu->take_cpu(!*taken);
	perfctr_cpu_reset();
	*taken = true;
}

static void give_cpu(void *unused)
{
	perfctr_pmu->give_cpu();
	perfctr_cpu_reset();
	__this_cpu_write(cpu_taken, false);
}

int perfctr_reserve_evntsels(u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!reserve_evntsel_nmi(first + i)) {
			perfctr_release_evntsels(first, i);
			return -EBUSY;
		}
	}
	return 0;
}

void perfctr_release_evntsels(u32 first, u32 n)
{
	while (n--)
		release_evntsel_nmi(first + n);
}

static int reserve_pmu(void)
{
	return perfctr_pmu->reserve ? perfctr_pmu->reserve() : 0;
}

static void release_pmu(void)
{
	if (perfctr_pmu->release)
		perfctr_pmu->release();
}

/* The bits of mask that are in use by contexts from now on, or not any more. */
static u64 count_users(unsigned int *count, u64 mask, int change)
{
	u64 in_use = 0;
	unsigned int i;

	for (i = 0; i < 64; i++) {
		if (mask & BIT_ULL(i))
			count[i] += change;
		if (count[i])
			in_use |= BIT_ULL(i);
	}
	return in_use;
}

void perfctr_get_use(struct perfctr_use *contexts, struct perfctr_use *sessions)
{
	mutex_lock(&reserve_lock);
	*contexts = contexts_use;
	*sessions = sessions_use;
	mutex_unlock(&reserve_lock);
}

static bool in_use(const struct perfctr_hw_control *hw, const struct perfctr_use *use,
		   const struct perfctr_hw_control *but)
{
	u64 slots = use->slots & ~(but ? but->slots : 0);
	u64 shared = use->shared & ~(but ? but->shared : 0);

	return (hw->slots & slots) || (hw->shared & shared);
}

static int reserve(const struct perfctr_hw_control *hw, const struct perfctr_hw_control *old)
{
	int err;

	if (in_use(hw, &sessions_use, old) || (hw->session && in_use(hw, &contexts_use, NULL)))
		return -EADDRINUSE;
	err = users ? 0 : reserve_pmu();
	if (err)
		return err;
	if (!users++)
		on_each_cpu(take_cpu, NULL, true);
	if (hw->session) {
		sessions_use.slots |= hw->slots;
		sessions_use.shared |= hw->shared;
	} else {
		contexts_use.slots = count_users(context_users[0], hw->slots, 1);
		contexts_use.shared = count_users(context_users[1], hw->shared, 1);
	}
	return 0;
}

/*
 * What hw wants, where old, a session's former control or NULL, does not count as in use; it stays
 * reserved itself. -EBUSY: the rest of the kernel has the counters. -EADDRINUSE: one of us has one.
 */
int perfctr_reserve(const struct perfctr_hw_control *hw, const struct perfctr_hw_control *old)
{
	int err;

	if (!hw->slots)
		return 0;
	cpus_read_lock();
	mutex_lock(&reserve_lock);
	err = reserve(hw, old);
	mutex_unlock(&reserve_lock);
	cpus_read_unlock();
	return err;
}

/* All of hw's, but what a session's new control, or NULL, has of it. */
void perfctr_release(const struct perfctr_hw_control *hw, const struct perfctr_hw_control *new)
{
	if (!hw->slots)
		return;
	cpus_read_lock();
	mutex_lock(&reserve_lock);
	if (hw->session) {
		sessions_use.slots &= ~(hw->slots & ~(new ? new->slots : 0));
		sessions_use.shared &= ~(hw->shared & ~(new ? new->shared : 0));
	} else {
		contexts_use.slots = count_users(context_users[0], hw->slots, -1);
		contexts_use.shared = count_users(context_users[1], hw->shared, -1);
	}
	if (!--users) {
		on_each_cpu(give_cpu, NULL, true);
		release_pmu();
	}
	mutex_unlock(&reserve_lock);
	cpus_read_unlock();
}

u32 perfctr_holder(bool ask)
{
	u32 holder = PERFCTR_HOLDER_NONE;

	mutex_lock(&reserve_lock);
	if (users)
		holder = PERFCTR_HOLDER_PERFCTR;
	else if (ask && perfctr_pmu && reserve_pmu())
		holder = PERFCTR_HOLDER_OTHER;
	else if (ask && perfctr_pmu)
		release_pmu();
	mutex_unlock(&reserve_lock);
	return holder;
}

/*
 * Of contexts a CPU that goes has nothing: the last that left it stopped its counters. One
 * that comes may have lost its registers or have missed our take or give. No thread of user
 * space runs on it yet.
 */
static int perfctr_cpu_online(unsigned int cpu)
{
	smp_call_func_t fn = NULL;

	mutex_lock(&reserve_lock);
	if (users)
		fn = take_cpu;
	else if (per_cpu(cpu_taken, cpu))
		fn = give_cpu;
	if (fn)
		smp_call_function_single(cpu, fn, NULL, true);
	mutex_unlock(&reserve_lock);
	perfctr_sessions_online(cpu);
	return 0;
}

static int perfctr_cpu_offline(unsigned int cpu)
{
	perfctr_sessions_offline(cpu);
	return 0;
}

/*
 * While devices are suspended, counting pauses: the counters lose their contents, and at the end
 * the time stamp may begin anew. All threads of user space are frozen then: no user instruction
 * is missed.
 */
static void pause_cpu(void *unused)
{
	perfctr_cpu_pause(true);
	if (__this_cpu_read(cpu_taken))
		perfctr_pmu->give_cpu();
}

static void resume_cpu(void *unused)
{
	if (__this_cpu_read(cpu_taken))
		take_cpu(NULL);
	perfctr_cpu_pause(false);
}

static void for_all_cpus(smp_call_func_t fn)
{
	cpus_read_lock();
	mutex_lock(&reserve_lock);
	on_each_cpu(fn, NULL, true);
	mutex_unlock(&reserve_lock);
	cpus_read_unlock();
}

static int suspend_device(struct device *device)
{
	for_all_cpus(pause_cpu);
	return 0;
}

static int resume_device(struct device *device)
{
	for_all_cpus(resume_cpu);
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(power_ops, suspend_device, resume_device);

static int __init probe_device(struct platform_device *device)
{
	return 0;
}

/* A device that is there to be told of suspend and resume. */
static struct platform_driver power_driver = {
	.driver = {
		.name = "perfctr",
		.pm = pm_sleep_ptr(&power_ops),
	},
};

/* The next kernel, or the firmware, finds the counters as this one found them. */
static int reboot_event(struct notifier_block *nb, unsigned long event, void *unused)
{
	for_all_cpus(pause_cpu);
	return NOTIFY_OK;
}

static struct notifier_block reboot_notifier = { .notifier_call = reboot_event };

static void __init probe_pmu(void)
{
	static const struct perfctr_pmu *(*const probes[])(void) __initconst = {
#define PERFCTR_FAMILY(name) perfctr_##name##_probe,
#include "pmu/families.h"
#undef PERFCTR_FAMILY
	};
	const struct perfctr_pmu *pmu = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes) && !pmu; i++)
		pmu = probes[i]();
	if (!pmu)
		return;
	perfctr_family = pmu->family;
	if (pmu->pmu != PERFCTR_PMU_NONE)
		perfctr_pmu = pmu;
}

int __init perfctr_reserve_init(void)
{
	int state, err;

	probe_pmu();
	err = PTR_ERR_OR_ZERO(platform_create_bundle(&power_driver, probe_device, NULL, 0, NULL,
						     0));
	if (err)
		return err;
	register_reboot_notifier(&reboot_notifier);
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perfctr:online", perfctr_cpu_online,
				  perfctr_cpu_offline);
	return state < 0 ? state : 0;
}
