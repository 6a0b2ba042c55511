// SPDX-License-Identifier: LGPL-2.1-or-later
/* Intel processors with architectural performance monitoring. */
#include "evntsel.h"
#include "family.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>

EVENT_TABLE(arch);

/* Intel SDM volume 3, "Architectural Performance Monitoring": figure of IA32_PERFEVTSELx. */
static const struct perfctr_field evntsel[] = {
	FIELDS_EVENT,	 FIELDS_MODES,
	FIELD_EDGE,	 { 19, 19, "PC", "toggle a pin" },
	FIELD_INTERRUPT, { 21, 21, "ANY", "count for both logical processors of a core" },
	FIELD_ENABLE,	 FIELDS_COMPARISON,
	{ 0 },
};

/*
 * Intel SDM volume 3, "Fixed-function Performance Counters".  The driver moves the bits to their
 * place.
 */
static const struct perfctr_field fixed[] = { FIELDS_MODES, FIELD_ENABLE, { 0 } };

#define FIXED_ALLOWED (EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_EN)

/* CPUID leaf 0AH (SDM volume 2, CPUID) */
static bool probe_arch(const char *vendor, struct perfctr_pmu_info *info)
{
	unsigned int eax, ebx, ecx, edx;

	if (strcmp(vendor, "GenuineIntel") != 0 ||
	    !__get_cpuid_count(0xa, 0, &eax, &ebx, &ecx, &edx) || !(eax & 0xff) ||
	    !(eax >> 8 & 0xff))
		return false;
	info->n_general = eax >> 8 & 0xff;
	info->general_bits = eax >> 16 & 0xff;
	if ((eax & 0xff) > 1) {
		info->n_fixed = edx & 0x1f;
		info->fixed_bits = edx >> 5 & 0xff;
	}
	/*
	 * Fixed counters beyond these count slots.  perf_events wants them in a group of their own.
	 */
	if (info->n_fixed > 3)
		info->n_fixed = 3;
	info->evntsel_allowed = EVNTSEL_ALLOWED;
	info->fixed_allowed = FIXED_ALLOWED;
	snprintf(info->family, sizeof(info->family), "perf_events, Intel v%u", eax & 0xff);
	return true;
}

const struct family perfctr_pmu_arch = {
	.name = "arch",
	.libpfm = { "" },
	.table = { &perfctr_table_arch },
	EVNTSEL_FAMILY(0),
	.evntsel = { "IA32_PERFEVTSELx", evntsel },
	.fixed = { "IA32_FIXED_CTR_CTRL, as", fixed },
	.info = { .pmu = PERFCTR_PMU_ARCH,
		  EVNTSEL_INFO(4, 48, 0, EVNTSEL_EN),
		  .n_fixed = 3,
		  .fixed_bits = 48,
		  .fixed_allowed = FIXED_ALLOWED },
	.probe = probe_arch,
};
