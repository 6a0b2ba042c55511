// SPDX-License-Identifier: GPL-2.0-only
/*
 * AMD from family 10h on, and Hygon (APM volume 2, 13.2.1): event selects of 64 bits. There are
 * four counters at K7's addresses, or six at other addresses with CPUID Fn8000_0001_ECX[23]. With
 * PerfMonV2, CPUID Fn8000_0022 has the number of counters, and one MSR enables all of them.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include "evntsel.h"

/*
 * Bits 32 to 35 continue the event select. Bits 40 and 41, which distinguish guests from the host,
 * are not allowed: threads of this kernel belong to the host.
 */
#define EVNTSEL_ALLOWED		(PERFCTR_EVNTSEL_ALLOWED | AMD64_EVENTSEL_EVENT)
#define N_LEGACY		4
#define N_CORE			6
#define N_NORTHBRIDGE		4
#define N_L2			4
#define N_L3			6

#define LAST_WITH_SHARED_NORTHBRIDGE	0x14
#define FAMILY_15H			0x15
#define FAMILY_ZEN			0x17
/*
 * Families 10h to 14h: the cores share the circuit that counts events E0H to FFH, as K8's cores do.
 */
#define NORTHBRIDGE_EVENTS		0xe0
/* From Zen on this event makes a counter the upper half of the one before it (PPR, 2.1.15). */
#define MERGE_EVENT			0xf000000ffULL

static u32 northbridge_check(const struct perfctr_control *control, u32 i)
{
	bool northbridge = (control->event[i].evntsel & NORTHBRIDGE_EVENTS) == NORTHBRIDGE_EVENTS;

	return northbridge ? PERFCTR_BAD_ROUTE : 0;
}

/*
 * Family 15h: masks of the counters that can count an event, indexed by bits 4 to 7 of its number
 * (AMD 42301, BIOS and kernel developer's guide for family 15h models 00h-0Fh, 3.24).
 */
static const u8 f15h_units[16] = {
	[0x0] = 0x38, [0x1] = 0x38,			/* floating point */
	[0x2] = 0x3f, [0x3] = 0x3f,			/* loads and stores */
	[0x4] = 0x3f, [0x5] = 0x3f,			/* data cache */
	[0x6] = 0x07, [0x7] = 0x07,			/* cache unit */
	[0x8] = 0x07, [0x9] = 0x07,			/* instruction cache */
	[0xc] = 0x3f,					/* execution */
	[0xd] = 0x07,					/* decoder */
};

/*
 * The events whose counters differ from f15h_units. wide: the counters if the unit mask has more
 * than one bit.
 */
static const struct {
	u16 first, last;
	u8 counters, wide;
} f15h_events[] = {
	{ 0x000, 0x000, 0x38, 0x08 },
	{ 0x003, 0x003, 0x08, 0x08 },
	{ 0x004, 0x004, 0x38, 0x08 },
	{ 0x00b, 0x00b, 0x08, 0x08 },
	{ 0x00d, 0x00d, 0x08, 0x08 },
	{ 0x023, 0x023, 0x07, 0x07 },
	{ 0x02d, 0x02d, 0x08, 0x08 },
	{ 0x02e, 0x02e, 0x09, 0x09 },
	{ 0x031, 0x031, 0x07, 0x00 },
	{ 0x043, 0x043, 0x07, 0x07 },
	{ 0x045, 0x046, 0x07, 0x07 },
	{ 0x054, 0x055, 0x07, 0x07 },
	{ 0x08f, 0x08f, 0x01, 0x01 },
	{ 0x0db, 0x0df, 0x3f, 0x3f },
	{ 0x187, 0x188, 0x01, 0x01 },
	{ 0x1c0, 0x1c0, 0x38, 0x38 },
	{ 0x1d6, 0x1d6, 0x3f, 0x3f },
	{ 0x1d8, 0x1d8, 0x3f, 0x3f },
};

/*
 * The unit mask of event 0 has a half for each kind of pipe. It is wide only with bits in both
 * halves.
 */
static bool is_unit_mask_wide(u32 event, u32 mask)
{
	return event ? hweight8(mask) > 1 : (mask & 0x0f) && (mask & 0xf0);
}

static u8 f15h_counters(u32 event, u32 unit_mask)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(f15h_events); i++)
		if (event >= f15h_events[i].first && event <= f15h_events[i].last)
			return is_unit_mask_wide(event, unit_mask) ? f15h_events[i].wide :
								     f15h_events[i].counters;
	return f15h_units[event >> 4 & 0xf];
}

static u32 f15h_check(const struct perfctr_control *control, u32 i)
{
	const struct perfctr_event_control *e = &control->event[i];
	u32 event = (e->evntsel & 0xff) | (e->evntsel >> 24 & 0xf00);

	return f15h_counters(event, e->evntsel >> 8 & 0xff) & BIT(e->counter) ? 0 :
									       PERFCTR_BAD_ROUTE;
}

static u32 merge_check(const struct perfctr_control *control, u32 i)
{
	bool merge = (control->event[i].evntsel & AMD64_EVENTSEL_EVENT) == MERGE_EVENT;

	return merge ? PERFCTR_BAD_ROUTE : 0;
}

/*
 * Numbers of the northbridge's and the cache's event selects, which CPUs share. Each event select
 * is followed by its counter.
 */
static u32 n_northbridge, n_cache;

static bool has_enabled_select(u32 select, u32 n)
{
	u64 value;
	u32 i;

	for (i = 0; i < n; i++) {
		rdmsrl(select + 2 * i, value);
		if (value & ARCH_PERFMON_EVENTSEL_ENABLE)
			return true;
	}
	return false;
}

/*
 * RDPMC shows the northbridge's counters at indexes 6 to 9 and from 16 on, and the cache's counters
 * from 10 on.
 */
static bool uncore_counts(void)
{
	return has_enabled_select(MSR_F15H_NB_PERF_CTL, n_northbridge) ||
	       has_enabled_select(MSR_F16H_L2I_PERF_CTL, n_cache);
}

static struct perfctr_pmu amd_pmu = {
	.pmu = PERFCTR_PMU_AMD,
	.features = PERFCTR_FEATURE_RDPMC,
	.general_bits = 48,
	.evntsel_allowed = EVNTSEL_ALLOWED,
	.evntsel_required = ARCH_PERFMON_EVENTSEL_ENABLE,
	.evntsel_user = ARCH_PERFMON_EVENTSEL_USR,
	.evntsel_kernel = ARCH_PERFMON_EVENTSEL_OS,
	.probe_evntsel = PERFCTR_EVNTSEL_PROBE,
};

static const struct perfctr_evntsel_layout legacy_layout __initconst = {
	.evntsel = MSR_K7_EVNTSEL0,
	.counter = MSR_K7_PERFCTR0,
	.step = 1,
	.n = N_LEGACY,	.full_width = true,
};

static const struct perfctr_evntsel_layout core_layout __initconst = {
	.evntsel = MSR_F15H_PERF_CTL,
	.counter = MSR_F15H_PERF_CTR,
	.step = 2,
	.n = N_CORE,	.full_width = true,
};

static struct perfctr_evntsel_layout __init v2_layout(void)
{
	union cpuid_0x80000022_ebx ebx = { .full = cpuid_ebx(EXT_PERFMON_DEBUG_FEATURES) };
	struct perfctr_evntsel_layout layout = core_layout;

	layout.n = ebx.split.num_core_pmc;
	layout.global_ctl = MSR_AMD64_PERF_CNTR_GLOBAL_CTL;
	layout.global_status = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS;
	layout.global_status_clear = MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR;
	amd_pmu.features |= PERFCTR_FEATURE_GLOBAL_ENABLE;
	return layout;
}

/*
 * Returns n, or 0 if the event selects fault: a hypervisor may pass on the bits of CPUID and not
 * the registers.
 */
static u32 __init probe_selects_at(u32 msr, u32 n)
{
	u64 value;

	return rdmsrl_safe(msr, &value) ? 0 : n;
}

/* From Zen on "northbridge" is the data fabric, and "cache" is L3; in family 16h it is L2. */
static void __init probe_uncore(void)
{
	union cpuid_0x80000022_ebx ebx = { .split.num_df_pmc = N_NORTHBRIDGE };

	if (boot_cpu_has(X86_FEATURE_PERFMON_V2))
		ebx.full = cpuid_ebx(EXT_PERFMON_DEBUG_FEATURES);
	if (boot_cpu_has(X86_FEATURE_PERFCTR_NB))
		n_northbridge = probe_selects_at(MSR_F15H_NB_PERF_CTL, ebx.split.num_df_pmc);
	if (boot_cpu_has(X86_FEATURE_PERFCTR_LLC))
		n_cache = probe_selects_at(MSR_F16H_L2I_PERF_CTL,
					   boot_cpu_data.x86 >= FAMILY_ZEN ? N_L3 : N_L2);
	if (n_northbridge || n_cache)
		amd_pmu.uncore_counts = uncore_counts;
}

const struct perfctr_pmu *__init perfctr_amd_probe(void)
{
	struct perfctr_evntsel_layout layout = legacy_layout;
	const char *extension = "";

	if ((boot_cpu_data.x86_vendor != X86_VENDOR_AMD &&
	     boot_cpu_data.x86_vendor != X86_VENDOR_HYGON) || boot_cpu_data.x86 < 0x10)
		return NULL;
	if (boot_cpu_has(X86_FEATURE_PERFMON_V2)) {
		layout = v2_layout();
		extension = ", PerfMonV2";
	} else if (boot_cpu_has(X86_FEATURE_PERFCTR_CORE)) {
		layout = core_layout;
		extension = ", core counters";
	}
	snprintf(amd_pmu.family, sizeof(amd_pmu.family), "AMD family %Xh%s", boot_cpu_data.x86,
		 extension);
	if (boot_cpu_data.x86 <= LAST_WITH_SHARED_NORTHBRIDGE)
		amd_pmu.check = northbridge_check;
	else if (boot_cpu_data.x86 == FAMILY_15H)
		amd_pmu.check = f15h_check;
	else if (boot_cpu_data.x86 >= FAMILY_ZEN)
		amd_pmu.check = merge_check;
	probe_uncore();
	perfctr_evntsel_init(&amd_pmu, &layout);
	return &amd_pmu;
}
