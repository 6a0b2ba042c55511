// SPDX-License-Identifier: GPL-2.0-only
/* The PMU that the machine has. */
#include <linux/jump_label.h>
#include <linux/perf_event.h>
#include <asm/mmu_context.h>
#include "pmu.h"

const struct perfctr_pmu *perfctr_pmu;
const char *perfctr_family = "no PMU that is known";

u32 perfctr_features(void)
{
	u32 features = PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_ISOLATED;

	if (perfctr_pmu)
		features |= perfctr_pmu->features;
	if (static_branch_unlikely(&rdpmc_never_available_key))
		features &= ~PERFCTR_FEATURE_RDPMC;
	return features;
}
