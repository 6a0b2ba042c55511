// SPDX-License-Identifier: GPL-2.0-only
/* The PMU that the machine has. */
#include "hooks.h"
#include "pmu.h"

const struct perfctr_pmu *perfctr_pmu;
const char *perfctr_family = "no PMU that is known";

u32 perfctr_features(void)
{
	u32 features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED | PERFCTR_FEATURE_TOTALS |
		       PERFCTR_KIND_FEATURES;

	if (perfctr_pmu)
		features |= perfctr_pmu->features;
	if (perfctr_rdpmc_is_off())
		features &= ~PERFCTR_FEATURE_RDPMC;
	if (perfctr_pmu && perfctr_pmu->preset && perfctr_has_vector())
		features |= PERFCTR_FEATURE_INTERRUPT | PERFCTR_FEATURE_SIGNAL;
	return features;
}
