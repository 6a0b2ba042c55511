// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's counters: all are reserved while something that counts events is started, and
 * given back when nothing is. A CPU's registers are taken when the first of it comes to that CPU:
 * the others are left alone. Among us each counter is either shared by contexts, one after the
 * other, or a session's alone.
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/perfctr_hooks.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <asm/mmu_context.h>
#include <asm/nmi.h>
#include "session.h"

/* There are no dynamic states for this section: one of an architecture that this is not. */
#define CPUHP_DYING	CPUHP_AP_PERF_XTENSA_STARTING

const struct perfctr_pmu *perfctr_pmu;
const char *perfctr_family = "no PMU that is known";
static char refused[sizeof_field(struct perfctr_pmu_info, family)];

static DEFINE_MUTEX(reserve_lock);	/* inside cpus_read_lock() and all other locks */
static unsigned int users;	/* trees and sessions that are started and count events */
static unsigned int revokers;	/* who wants that there be none */
static bool held;		/* users != 0 */
static struct perfctr_use contexts_use, sessions_use;
static unsigned int context_users[2][64];	/* trees, by bit of the above */
static DEFINE_PER_CPU(bool, cpu_taken);
static bool only_asking;	/* what reserves looks, and takes nothing */

u32 perfctr_features(void)
{
	u32 features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED;

	if (perfctr_pmu)
		features |= perfctr_pmu->features;
	if (static_branch_unlikely(&rdpmc_never_available_key))
		features &= ~PERFCTR_FEATURE_RDPMC;
	return features;
}

/*
 * perf_events remembers which counters it has left counts in, and clears them when somebody may
 * RDPMC: it has to do that before they are ours.
 */
static void take_cpu(void)
{
	perf_clear_dirty_counters();
	perfctr_pmu->take_cpu(true);
	perfctr_cpu_reset();
}

/* Interrupts off, while something is started. */
void perfctr_cpu_take(void)
{
	if (__this_cpu_read(cpu_taken))
		return;
	__this_cpu_write(cpu_taken, true);
	take_cpu();
}

/*
 * Interrupts off. Are the counters of this CPU ours? Then they are taken, as they hold what others
 * left there. Who gives them back makes held false before it looks for the CPUs that are taken.
 */
bool perfctr_cpu_is_ours(void)
{
	if (__this_cpu_read(cpu_taken))
		return READ_ONCE(held);
	if (!READ_ONCE(held) || perfctr_cpu_paused())
		return false;
	__this_cpu_write(cpu_taken, true);
	smp_mb();	/* cpu_taken before held, in give_all() the other way round */
	if (!READ_ONCE(held)) {
		__this_cpu_write(cpu_taken, false);
		return false;
	}
	take_cpu();
	return true;
}

/* Both on the CPU itself, interrupts off. */
static void give_registers(void)
{
	if (!__this_cpu_read(cpu_taken))
		return;
	perfctr_pmu->give_cpu();
	perfctr_cpu_reset();
	__this_cpu_write(cpu_taken, false);
}

static void give_cpu(void *unused)
{
	give_registers();
	cr4_update_pce(NULL);
}

static bool is_taken(int cpu, void *unused)
{
	return per_cpu(cpu_taken, cpu);
}

static void give_all(void)
{
	WRITE_ONCE(held, false);
	smp_mb();	/* held before cpu_taken */
	on_each_cpu_cond(is_taken, give_cpu, NULL, true);
}

static bool take_evntsel(u32 msr)
{
	return only_asking ? !evntsel_nmi_is_reserved(msr) : reserve_evntsel_nmi(msr);
}

static bool take_counter(u32 msr)
{
	return only_asking ? !perfctr_nmi_is_reserved(msr) : reserve_perfctr_nmi(msr);
}

int perfctr_reserve_evntsels(u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!take_evntsel(first + i)) {
			perfctr_release_evntsels(first, i);
			return -EBUSY;
		}
	}
	return 0;
}

void perfctr_release_evntsels(u32 first, u32 n)
{
	while (n-- && !only_asking)
		release_evntsel_nmi(first + n);
}

int perfctr_reserve_counters(u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!take_counter(first + i)) {
			perfctr_release_counters(first, i);
			return -EBUSY;
		}
	}
	return 0;
}

void perfctr_release_counters(u32 first, u32 n)
{
	while (n-- && !only_asking)
		release_perfctr_nmi(first + n);
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
	if (revokers)
		return -EBUSY;
	err = users ? 0 : reserve_pmu();
	if (err)
		return err;
	users++;
	WRITE_ONCE(held, true);
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
 * What hw wants, where old, a started session's former control or NULL, does not count as in use;
 * it stays reserved itself. -EBUSY: the rest of the kernel has the counters. -EADDRINUSE: one of us
 * has one.
 */
int perfctr_reserve(const struct perfctr_hw_control *hw, const struct perfctr_hw_control *old)
{
	int err;

	if (!hw->slots)
		return 0;
	mutex_lock(&reserve_lock);
	err = reserve(hw, old);
	mutex_unlock(&reserve_lock);
	return err;
}

/* All of hw's, but what a session's new control, or NULL, has of it. */
void perfctr_release(const struct perfctr_hw_control *hw, const struct perfctr_hw_control *new)
{
	if (!hw->slots)
		return;
	mutex_lock(&reserve_lock);
	if (hw->session) {
		sessions_use.slots &= ~(hw->slots & ~(new ? new->slots : 0));
		sessions_use.shared &= ~(hw->shared & ~(new ? new->shared : 0));
	} else {
		contexts_use.slots = count_users(context_users[0], hw->slots, -1);
		contexts_use.shared = count_users(context_users[1], hw->shared, -1);
	}
	if (!--users) {
		give_all();
		release_pmu();
	}
	mutex_unlock(&reserve_lock);
}

/* From now on, and until it is told again, nobody reserves anything. */
void perfctr_refuse(bool refuse)
{
	mutex_lock(&reserve_lock);
	WRITE_ONCE(revokers, revokers + (refuse ? 1 : -1));
	mutex_unlock(&reserve_lock);
}

/* Who asks holds a lock that who revokes takes afterwards. */
bool perfctr_refuses(void)
{
	return READ_ONCE(revokers);
}

static bool others_hold(void)
{
	bool hold;

	if (!perfctr_pmu)
		return false;
	only_asking = true;
	hold = reserve_pmu();
	if (!hold)
		release_pmu();
	only_asking = false;
	return hold;
}

u32 perfctr_holder(void)
{
	u32 holder = PERFCTR_HOLDER_NONE;

	mutex_lock(&reserve_lock);
	if (users)
		holder = PERFCTR_HOLDER_PERFCTR;
	else if (others_hold())
		holder = PERFCTR_HOLDER_OTHER;
	mutex_unlock(&reserve_lock);
	return holder;
}

static int perfctr_cpu_online(unsigned int cpu)
{
	int err = perfctr_kind_online(cpu);

	if (err)
		return err;
	perfctr_sessions_online(cpu);
	return 0;
}

static int perfctr_cpu_offline(unsigned int cpu)
{
	perfctr_sessions_offline(cpu);
	return 0;
}

/*
 * The last that a CPU does, interrupts off: sessions and threads have left it. When it comes again
 * perf_events may be there first.
 */
static int perfctr_cpu_dying(unsigned int cpu)
{
	give_registers();
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
	give_cpu(NULL);
}

static void resume_cpu(void *unused)
{
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
	const char *fault;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes) && !pmu; i++)
		pmu = probes[i]();
	if (!pmu)
		return;
	perfctr_family = pmu->family;
	if (pmu->pmu == PERFCTR_PMU_NONE)
		return;
	fault = perfctr_probe_fault(pmu);
	if (fault) {
		pr_info("perfctr: the PMU calls itself %s, but its %s\n", pmu->family, fault);
		snprintf(refused, sizeof(refused), "refused: %s", fault);
		perfctr_family = refused;
		return;
	}
	perfctr_pmu = pmu;
}

int __init perfctr_reserve_init(void)
{
	int state, err;

	probe_pmu();
	perfctr_kinds_init();
	err = PTR_ERR_OR_ZERO(platform_create_bundle(&power_driver, probe_device, NULL, 0, NULL,
						     0));
	if (err)
		return err;
	register_reboot_notifier(&reboot_notifier);
	err = cpuhp_setup_state_nocalls(CPUHP_DYING, "perfctr:dying", NULL,
					perfctr_cpu_dying);
	if (err)
		return err;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perfctr:online", perfctr_cpu_online,
				  perfctr_cpu_offline);
	return state < 0 ? state : 0;
}
