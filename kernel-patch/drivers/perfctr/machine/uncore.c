// SPDX-License-Identifier: GPL-2.0-only
/*
 * On some processors RDPMC also shows counters of the uncore, which count events of several CPUs.
 * perf_events uses these counters, and root can use them through their MSRs. While one of them
 * counts, a mapped page does not let any thread execute RDPMC. A CPU looks at these counters when
 * it decides on CR4.PCE, and at each tick while CR4.PCE is set.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <asm/msr.h>
#include "../kernel/hooks.h"
#include "machine.h"

DEFINE_STATIC_KEY_FALSE(perfctr_shows_uncore);

struct look {
	unsigned long when;	/* jiffies */
	bool counts;
};

static DEFINE_PER_CPU(struct look, last_look);

/*
 * Reads the registers at most once per jiffy, because each switch to an address space with a page
 * decides on CR4.PCE.
 */
bool perfctr_uncore_counts(void)
{
	struct look *look = this_cpu_ptr(&last_look);
	unsigned long now = jiffies;

	lockdep_assert_irqs_disabled();
	if (look->when != now) {
		look->when = now;
		look->counts = perfctr_pmu->uncore_counts();
	}
	return look->counts;
}

/*
 * Called at each tick, whether or not the current thread is counted: the thread may have to lose
 * RDPMC either way.
 */
void perfctr_tick_uncore(void)
{
	if (perfctr_user_rdpmc() && perfctr_uncore_counts())
		perfctr_update_pce();
}

void __init perfctr_uncore_init(void)
{
	if (perfctr_usable_pmu() && perfctr_pmu->uncore_counts)
		static_branch_enable(&perfctr_shows_uncore);
}
