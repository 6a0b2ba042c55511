// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cyrix 6x86MX, MII, III (M II data book, 2.7): the Pentium's registers with one more bit of event
 * code. The codes that are reserved depend on the model, so all codes are accepted.
 */
#include <asm/processor.h>
#include "cesr.h"

#define MII_BITS	48
#define MII_EVENT_HIGH	BIT(10)		/* the seventh bit of the event code */

static const struct perfctr_pmu mii_pmu = {
	PERFCTR_CESR_COMMON,
	.family = "Cyrix MII",
	.pmu = PERFCTR_PMU_MII,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_GLOBAL_ENABLE,
	.general_bits = MII_BITS,
	.evntsel_allowed = CESR_ALLOWED | MII_EVENT_HIGH,
	.evntsel_user = CESR_USER,
	.evntsel_kernel = CESR_KERNEL,
};

const struct perfctr_pmu *__init perfctr_mii_probe(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_CYRIX || boot_cpu_data.x86 != 6)
		return NULL;
	return &mii_pmu;
}
