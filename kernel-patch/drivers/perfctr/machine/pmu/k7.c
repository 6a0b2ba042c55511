// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD K7 (Athlon, Duron) and K8 (Opteron, Athlon 64): four counters of 48 bits, each with its own
 * enable bit (AMD 22007, Athlon code optimization guide, appendix D; AMD 26094, BIOS and kernel
 * developer's guide for Athlon 64 and Opteron, chapter 10).
 */
#include <asm/processor.h>
#include "evntsel.h"

#define FAMILY_K7	0x6
#define FAMILY_K8	0xf

/*
 * K8's events E0H to FFH are those of the northbridge. The cores of a processor share the circuit
 * that counts them: a core that selects one disturbs the other cores, and sees events that they
 * cause.
 */
#define NORTHBRIDGE_EVENTS	0xe0

static u32 k8_check(const struct perfctr_control *control, u32 i)
{
	bool northbridge = (control->event[i].evntsel & NORTHBRIDGE_EVENTS) == NORTHBRIDGE_EVENTS;

	return northbridge ? PERFCTR_BAD_ROUTE : 0;
}

static struct perfctr_pmu k7_pmu = {
	.family = "AMD K7",
	.pmu = PERFCTR_PMU_K7,
	.features = PERFCTR_FEATURE_RDPMC,
	.general_bits = 48,
	.evntsel_allowed = PERFCTR_EVNTSEL_ALLOWED,
	.evntsel_required = ARCH_PERFMON_EVENTSEL_ENABLE,
	.evntsel_user = ARCH_PERFMON_EVENTSEL_USR,
	.evntsel_kernel = ARCH_PERFMON_EVENTSEL_OS,
	.probe_evntsel = PERFCTR_EVNTSEL_PROBE,
};

static const struct perfctr_evntsel_layout k7_layout __initconst = {
	.evntsel = MSR_K7_EVNTSEL0,
	.counter = MSR_K7_PERFCTR0,
	.step = 1,
	.n = 4,	.full_width = true,
};

const struct perfctr_pmu *__init perfctr_k7_probe(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_AMD)
		return NULL;
	if (boot_cpu_data.x86 == FAMILY_K8) {
		strscpy(k7_pmu.family, "AMD K8", sizeof(k7_pmu.family));
		k7_pmu.pmu = PERFCTR_PMU_K8;
		k7_pmu.check = k8_check;
	} else if (boot_cpu_data.x86 != FAMILY_K7) {
		return NULL;
	}
	perfctr_evntsel_init(&k7_pmu, &k7_layout);
	return &k7_pmu;
}
