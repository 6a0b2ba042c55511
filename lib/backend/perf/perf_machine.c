// SPDX-License-Identifier: LGPL-2.1-or-later
/* What perf_events does not tell of the processor: its counters, and the rate of its time stamp. */
#include "perf.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* IA32_PERFEVTSELx (Intel SDM volume 3, 20.2.1.1; AMD APM volume 2, 13.2.1) */
#define USR (UINT64_C(1) << 16)
#define OS (UINT64_C(1) << 17)
#define EN (UINT64_C(1) << 22)
/* Event, unit mask, USR, OS, edge, EN, inverted, counter mask */
#define EVNTSEL 0xffc7ffffu
/* AMD: bits 8 to 11 of the event */
#define AMD_EVENT_HIGH (UINT64_C(0xf) << 32)

/* CPUID leaf 0AH (SDM volume 2, CPUID) */
static void take_intel(struct perfctr_pmu_info *info)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid_count(0xa, 0, &eax, &ebx, &ecx, &edx) || !(eax & 0xff))
		return;
	info->pmu = PERFCTR_PMU_ARCH;
	info->n_general = eax >> 8 & 0xff;
	info->general_bits = eax >> 16 & 0xff;
	if ((eax & 0xff) > 1) {
		info->n_fixed = edx & 0x1f;
		info->fixed_bits = edx >> 5 & 0xff;
	}
	/* Later ones count slots, which perf_events wants in a group of their own. */
	if (info->n_fixed > 3)
		info->n_fixed = 3;
	info->evntsel_allowed = EVNTSEL;
	info->fixed_allowed = USR | OS | EN;
	snprintf(info->family, sizeof(info->family), "perf_events, Intel v%u", eax & 0xff);
}

/* CPUID 8000_0001H ECX bit 23: PerfCtrExtCore; 8000_0022H EBX: NumPerfCtrCore (APM volume 3, E) */
static void take_amd(struct perfctr_pmu_info *info)
{
	unsigned int eax, ebx, ecx, edx, family;

	__cpuid(1, eax, ebx, ecx, edx);
	family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
	if (family < 0x0f)
		return;
	info->pmu = family == 0x0f ? PERFCTR_PMU_K8 : PERFCTR_PMU_AMD;
	info->n_general = 4;
	info->general_bits = 48;
	if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && ecx & 1u << 23)
		info->n_general = 6;
	if (__get_cpuid(0x80000022, &eax, &ebx, &ecx, &edx) && eax & 1 && ebx & 0xf)
		info->n_general = ebx & 0xf;
	info->evntsel_allowed = EVNTSEL | AMD_EVENT_HIGH;
	snprintf(info->family, sizeof(info->family), "perf_events, AMD family %xh", family);
}

void perfctr_perf_machine(struct perfctr_pmu_info *info)
{
	unsigned int eax, name[3];
	char vendor[sizeof(name) + 1] = "";

	__cpuid(0, eax, name[0], name[2], name[1]);
	memcpy(vendor, name, sizeof(name));
	if (strcmp(vendor, "GenuineIntel") == 0)
		take_intel(info);
	else if (strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0)
		take_amd(info);
	if (!info->n_general)
		return;
	info->evntsel_required = EN;
	info->evntsel_user = USR;
	info->evntsel_kernel = OS;
}

struct instant {
	uint64_t ticks, ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The shortest of some looks at one clock between two at the other was not interrupted. */
static struct instant look_at_cpu(void)
{
	struct instant best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), ns = now_ns();
		uint64_t length = __builtin_ia32_rdtsc() - before;

		if (length >= shortest)
			continue;
		shortest = length;
		best = (struct instant){ before + length / 2, ns };
	}
	return best;
}

enum { MEASURE_NS = 5000000 };

static uint32_t measure_khz(void)
{
	struct instant first = look_at_cpu(), last;

	while (now_ns() - first.ns < MEASURE_NS)
		;
	last = look_at_cpu();
	return (uint32_t)(((last.ticks - first.ticks) * 1000000 + (last.ns - first.ns) / 2) /
			  (last.ns - first.ns));
}

/* The machine has one rate: it is found once, and then the same for everybody in the process. */
uint32_t perfctr_perf_tsc_khz(void)
{
	static uint32_t known;
	uint32_t khz = __atomic_load_n(&known, __ATOMIC_RELAXED), none = 0;

	if (khz)
		return khz;
	khz = perfctr_perf_khz_of_kernel();
	if (!khz)
		khz = measure_khz();
	if (!__atomic_compare_exchange_n(&known, &none, khz, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		khz = none;
	return khz;
}
