// SPDX-License-Identifier: GPL-2.0-only
/* The driver at boot, CPU hotplug, suspend and resume, and reboot. */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/printk.h>
#include <linux/reboot.h>
#include "../session/session.h"
#include "../cpu/cpu.h"
#include "../machine/machine.h"
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "entry.h"

/*
 * The hotplug states of a dying CPU include no dynamic state, so the driver uses a state of another
 * architecture. A state has one owner: if another driver did the same first, this driver would get
 * -EBUSY, and not load.
 */
#define CPUHP_DYING	CPUHP_AP_PERF_XTENSA_STARTING

/* The machine suspends or reboots: no CPU counts, nor does a CPU that comes online. */
static bool suspended;

static bool may_cpu_count(unsigned int cpu)
{
	const struct perfctr_pmu *pmu = perfctr_usable_pmu();

	return perfctr_kind_online(cpu) && (!pmu || !pmu->may_count || pmu->may_count(cpu));
}

/*
 * Runs on the CPU that comes online. The CPU's flags may be stale: a CPU that has failed to resume
 * is still marked as paused. Never returns an error: the kernel would take the CPU offline again.
 */
static int bring_cpu_online(unsigned int cpu)
{
	bool mute = !may_cpu_count(cpu);

	if (mute)
		pr_warn("perfctr: CPU %u counts no events: its counters are unknown, or a sibling's\n",
			cpu);
	local_irq_disable();
	WRITE_ONCE(this_cpu_ptr(&perfctr_cpu)->mute, mute);
	perfctr_cpu_pause(READ_ONCE(suspended));
	local_irq_enable();
	perfctr_sessions_online(cpu);
	return 0;
}

static int take_cpu_offline(unsigned int cpu)
{
	perfctr_sessions_offline(cpu);
	return 0;
}

/*
 * Runs on the dying CPU with interrupts off, after sessions and threads have left the CPU. Gives
 * the registers back, because perf_events may be the first to use them when the CPU comes online
 * again.
 */
static int give_back_registers(unsigned int cpu)
{
	perfctr_cpu_give();
	return 0;
}

/*
 * Counting pauses while devices are suspended: the counters lose their contents, and the time stamp
 * may start from 0 at resume. All threads of user space are frozen at that time, so no instruction
 * of user mode is missed.
 */
static void pause_cpu(void *unused)
{
	perfctr_cpu_pause(true);
	perfctr_cpu_give();
	perfctr_update_pce();
}

static void resume_cpu(void *unused)
{
	perfctr_cpu_pause(false);
}

/*
 * perfctr_on_all_cpus() takes cpus_read_lock(). A CPU that comes online before that runs the
 * function. A CPU that comes online afterwards sees suspended as written here.
 */
static void set_suspended(bool suspend)
{
	WRITE_ONCE(suspended, suspend);
	perfctr_on_all_cpus(suspend ? pause_cpu : resume_cpu);
}

static int suspend_device(struct device *device)
{
	set_suspended(true);
	return 0;
}

static int resume_device(struct device *device)
{
	set_suspended(false);
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(power_ops, suspend_device, resume_device);

static int __init probe_device(struct platform_device *device)
{
	return 0;
}

/* The driver of a device that exists only for its suspend and resume callbacks. */
static struct platform_driver power_driver = {
	.driver = {
		.name = "perfctr",
		.pm = pm_sleep_ptr(&power_ops),
	},
};

/* Leaves the counters to the next kernel, or to the firmware, as this kernel found them. */
static int handle_reboot(struct notifier_block *nb, unsigned long event, void *unused)
{
	set_suspended(true);
	return NOTIFY_OK;
}

static struct notifier_block reboot_notifier = { .notifier_call = handle_reboot };

static struct platform_device *power_device;
static enum cpuhp_state online_state;

int __init perfctr_lifecycle_init(void)
{
	int state, err;

	perfctr_probe();
	perfctr_try_at_boot();
	perfctr_uncore_init();
	perfctr_kinds_init();
	if (perfctr_usable_pmu() && perfctr_pmu->preset)
		perfctr_vector_init(perfctr_interrupt);
	power_device = platform_create_bundle(&power_driver, probe_device, NULL, 0, NULL, 0);
	if (IS_ERR(power_device))
		return PTR_ERR(power_device);
	register_reboot_notifier(&reboot_notifier);
	err = cpuhp_setup_state_nocalls(CPUHP_DYING, "perfctr:dying", NULL,
					give_back_registers);
	if (err)
		goto no_dying;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perfctr:online", bring_cpu_online,
				  take_cpu_offline);
	if (state < 0) {
		err = state;
		goto no_online;
	}
	online_state = state;
	return 0;

no_online:
	cpuhp_remove_state_nocalls(CPUHP_DYING);
no_dying:
	unregister_reboot_notifier(&reboot_notifier);
	platform_device_unregister(power_device);
	platform_driver_unregister(&power_driver);
	return err;
}

void perfctr_lifecycle_exit(void)
{
	cpuhp_remove_state_nocalls(online_state);
	cpuhp_remove_state_nocalls(CPUHP_DYING);
	unregister_reboot_notifier(&reboot_notifier);
	platform_device_unregister(power_device);
	platform_driver_unregister(&power_driver);
}
