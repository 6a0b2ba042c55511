// SPDX-License-Identifier: GPL-2.0-only
/* The PMU of this machine. */
#include <linux/printk.h>
#include "../kernel/hooks.h"
#include "pmu.h"

const struct perfctr_pmu *perfctr_pmu;
const char *perfctr_family = "no PMU that is known";

static bool refused;

/* Called under reserve_lock. perfctr_usable_pmu() reads refused without that lock. */
void perfctr_refuse_pmu(const char *fault)
{
	static char refusal[sizeof_field(struct perfctr_pmu_info, family)];

	pr_info("perfctr: the PMU calls itself %s, but its %s\n", perfctr_pmu->family, fault);
	snprintf(refusal, sizeof(refusal), "refused: %s", fault);
	WRITE_ONCE(perfctr_family, refusal);
	WRITE_ONCE(refused, true);
}

const struct perfctr_pmu *perfctr_usable_pmu(void)
{
	return READ_ONCE(refused) ? NULL : perfctr_pmu;
}

u32 perfctr_features(void)
{
	const struct perfctr_pmu *pmu = perfctr_usable_pmu();
	u32 features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED | PERFCTR_FEATURE_TOTALS |
		       PERFCTR_PORT_FEATURES;

	if (pmu)
		features |= pmu->features;
	if (perfctr_rdpmc_is_off())
		features &= ~PERFCTR_FEATURE_RDPMC;
	if (pmu && pmu->preset && perfctr_has_vector())
		features |= PERFCTR_FEATURE_INTERRUPT | PERFCTR_FEATURE_SIGNAL;
	return features;
}
