// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel P6 without architectural PerfMon: Pentium Pro, II, III, M. Two counters of 40 bits; EN of
 * event select register 0 starts and stops both (SDM volume 3, 20.6.8).
 */
#include <asm/processor.h>
#include "evntsel.h"

#define FAMILY_P6	6
#define PENTIUM_PRO	1
/* Erratum 26: before this stepping RDPMC in user mode can break system management mode. */
#define RDPMC_STEPPING	9

/*
 * An event sets EN only on counter 0. If only counter 1 is in use, the driver sets EN in register
 * 0, without an event.
 */
static u32 p6_check(const struct perfctr_control *control, u32 i)
{
	const struct perfctr_event_control *e = &control->event[i];
	bool en = e->evntsel & ARCH_PERFMON_EVENTSEL_ENABLE;

	if (e->counter == 0)
		return en ? 0 : PERFCTR_BAD_ENABLE;
	return en ? PERFCTR_BAD_EVNTSEL : 0;
}

static struct perfctr_pmu p6_pmu = {
	.family = "Intel P6",
	.pmu = PERFCTR_PMU_P6,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_GLOBAL_ENABLE,
	.general_bits = 40,
	.evntsel_allowed = PERFCTR_EVNTSEL_ALLOWED,
	.evntsel_user = ARCH_PERFMON_EVENTSEL_USR,
	.evntsel_kernel = ARCH_PERFMON_EVENTSEL_OS,
	.probe_evntsel = PERFCTR_EVNTSEL_PROBE,
	.probe_enable = ARCH_PERFMON_EVENTSEL_ENABLE,
	.check = p6_check,
};

static const struct perfctr_evntsel_layout p6_layout __initconst = {
	.evntsel = MSR_P6_EVNTSEL0,
	.counter = MSR_P6_PERFCTR0,
	.step = 1,
	.n = 2,
	.single_enable = true,
};

const struct perfctr_pmu *__init perfctr_p6_probe(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != FAMILY_P6 ||
	    boot_cpu_has(X86_FEATURE_ARCH_PERFMON))
		return NULL;
	if (boot_cpu_data.x86_model == PENTIUM_PRO && boot_cpu_data.x86_stepping < RDPMC_STEPPING)
		p6_pmu.features &= ~PERFCTR_FEATURE_RDPMC;
	perfctr_evntsel_init(&p6_pmu, &p6_layout);
	return &p6_pmu;
}
