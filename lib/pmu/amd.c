// SPDX-License-Identifier: LGPL-2.1-or-later
/* AMD processors since the K7. */
#include "evntsel.h"
#include "family.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

EVENT_TABLE(k7);
EVENT_TABLE(amd);

/* Bits 8 to 11 of the event select. */
#define EVENT_HIGH (UINT64_C(0xf) << 32)

/* AMD64 Architecture Programmer's Manual volume 2, "Performance Event-Select Registers". */
static const struct perfctr_field evntsel[] = {
	FIELDS_EVENT,
	FIELDS_MODES,
	FIELD_EDGE,
	FIELD_INTERRUPT,
	FIELD_ENABLE,
	FIELDS_COMPARISON,
	{ 32, 35, "event select 11-8", "the upper bits of the event select" },
	{ 40, 40, "GUEST", "count in guests only" },
	{ 41, 41, "HOST", "count in the host only" },
	{ 0 },
};

static bool is_amd(const char *vendor)
{
	return strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0;
}

static unsigned int cpu_family(void)
{
	unsigned int eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	return (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
}

/* CPUID 8000_0001H ECX bit 23: PerfCtrExtCore; 8000_0022H EBX: NumPerfCtrCore (APM volume 3, E) */
static void tell_counters(struct perfctr_pmu_info *info)
{
	unsigned int eax, ebx, ecx, edx;

	info->n_general = 4;
	info->general_bits = 48;
	if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && ecx & 1u << 23)
		info->n_general = 6;
	if (__get_cpuid(0x80000022, &eax, &ebx, &ecx, &edx) && eax & 1 && ebx & 0xf)
		info->n_general = ebx & 0xf;
	info->evntsel_allowed = EVNTSEL_ALLOWED | EVENT_HIGH;
	snprintf(info->family, sizeof(info->family), "perf_events, AMD family %xh", cpu_family());
}

static bool probe_k8(const char *vendor, struct perfctr_pmu_info *info)
{
	if (!is_amd(vendor) || cpu_family() != 0x0f)
		return false;
	tell_counters(info);
	return true;
}

static bool probe_amd(const char *vendor, struct perfctr_pmu_info *info)
{
	if (!is_amd(vendor) || cpu_family() <= 0x0f)
		return false;
	tell_counters(info);
	return true;
}

const struct family perfctr_pmu_k7 = {
	.name = "k7",
	.libpfm = { "amd64_k7" },
	.table = { &perfctr_table_k7 },
	EVNTSEL_FAMILY(0),
	.evntsel = { "PERF_CTLx", evntsel },
	.info = { .pmu = PERFCTR_PMU_K7, EVNTSEL_INFO(4, 48, 0, EVNTSEL_EN) },
};

const struct family perfctr_pmu_k8 = {
	.name = "k8",
	.libpfm = { "amd64_k8" },
	.table = { &perfctr_table_amd },
	EVNTSEL_FAMILY(EVENT_HIGH),
	.evntsel = { "PERF_CTLx", evntsel },
	.info = { .pmu = PERFCTR_PMU_K8, EVNTSEL_INFO(4, 48, 0, EVNTSEL_EN) },
	.probe = probe_k8,
};

const struct family perfctr_pmu_amd = {
	.name = "amd",
	.libpfm = { "amd64_" },
	.table = { &perfctr_table_amd },
	EVNTSEL_FAMILY(EVENT_HIGH),
	.evntsel = { "PERF_CTLx", evntsel },
	.info = { .pmu = PERFCTR_PMU_AMD, EVNTSEL_INFO(6, 48, EVENT_HIGH, EVNTSEL_EN) },
	.probe = probe_amd,
};
