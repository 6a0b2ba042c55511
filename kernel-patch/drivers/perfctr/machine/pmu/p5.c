// SPDX-License-Identifier: GPL-2.0-only
/* Intel Pentium, and Pentium with MMX (SDM volume 3, 20.6.9 and the tables of events in 19). */
#include <linux/nospec.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include "cesr.h"

#define P5_BITS		40

/* The event codes that the manual defines for each counter: bit n for code n. */
#define P5_EVENTS	(GENMASK_ULL(0x29, 0) & \
			 ~(BIT_ULL(0x10) | BIT_ULL(0x11) | BIT_ULL(0x20) | BIT_ULL(0x21)))
#define P5_MMX_EVENTS	GENMASK_ULL(0x3b, 0x2a)

static const u64 p5_events[CESR_COUNTERS] = { P5_EVENTS, P5_EVENTS };
static const u64 p5_mmx_events[CESR_COUNTERS] = {
	P5_EVENTS | P5_MMX_EVENTS,
	(P5_EVENTS | P5_MMX_EVENTS) & ~BIT_ULL(0x39),
};

static u32 check_code(const u64 *events, const struct perfctr_event_control *e)
{
	u64 codes = events[array_index_nospec(e->counter, CESR_COUNTERS)];

	return codes & BIT_ULL(e->evntsel & CESR_EVENT) ? 0 : PERFCTR_BAD_ROUTE;
}

static u32 p5_check(const struct perfctr_control *control, u32 i)
{
	return check_code(p5_events, &control->event[i]);
}

static u32 p5_mmx_check(const struct perfctr_control *control, u32 i)
{
	return check_code(p5_mmx_events, &control->event[i]);
}

#define P5_COMMON						\
	PERFCTR_CESR_COMMON,					\
	.general_bits = P5_BITS,				\
	.evntsel_allowed = CESR_ALLOWED,			\
	.evntsel_user = CESR_USER,				\
	.evntsel_kernel = CESR_KERNEL

static const struct perfctr_pmu p5_pmu = {
	P5_COMMON,
	.family = "Intel Pentium",
	.pmu = PERFCTR_PMU_P5,
	.features = PERFCTR_FEATURE_GLOBAL_ENABLE,
	.check = p5_check,
	.read = perfctr_cesr_read_msr,	/* there is no RDPMC */
};

static struct perfctr_pmu p5_mmx_pmu = {
	P5_COMMON,
	.family = "Intel Pentium MMX",
	.pmu = PERFCTR_PMU_P5_MMX,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_GLOBAL_ENABLE,
	.check = p5_mmx_check,
};

/* The type of the processor is in bits 13:12 of EAX; 1: OverDrive. */
static bool __init is_overdrive(void)
{
	return (cpuid_eax(1) >> 12 & 3) == 1;
}

/* Pentium erratum 74: RDPMC in user mode faults, whatever CR4.PCE is. */
static bool __init user_rdpmc_fails(void)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	return c->x86_model == 4 &&
	       (c->x86_stepping == 4 || (c->x86_stepping == 3 && is_overdrive()));
}

const struct perfctr_pmu *__init perfctr_p5_probe(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 5)
		return NULL;
	if (!boot_cpu_has(X86_FEATURE_MMX))
		return &p5_pmu;
	if (user_rdpmc_fails())
		p5_mmx_pmu.features &= ~PERFCTR_FEATURE_RDPMC;
	return &p5_mmx_pmu;
}
