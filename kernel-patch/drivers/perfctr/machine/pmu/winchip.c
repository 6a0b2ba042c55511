// SPDX-License-Identifier: GPL-2.0-only
/*
 * IDT WinChip C6, 2, 3. They have the Pentium's registers, but their counters count only while no
 * code can use the time stamp counter. The kernel itself uses the time stamp, and every context
 * counts it.
 */
#include <asm/processor.h>
#include "../pmu.h"

static const struct perfctr_pmu winchip_pmu = {
	.family = "WinChip: no counters beside TSC",
	.pmu = PERFCTR_PMU_NONE,
};

const struct perfctr_pmu *__init perfctr_winchip_probe(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_CENTAUR || boot_cpu_data.x86 != 5)
		return NULL;
	return &winchip_pmu;
}
