// SPDX-License-Identifier: LGPL-2.1-or-later
/* What events need to know about a machine, beyond what the kernel says. */
#include "machine.h"

#include <stddef.h>
#include <string.h>

/* Event select register with a unit mask and a counter mask. */
#define EVNTSEL .event_bits = 0xffff, .umask_shift = 8, .cmask_shift = 24
#define EVNTSEL_AMD .event_bits = 0xf0000ffff, .umask_shift = 8, .cmask_shift = 24

static const struct family families[] = {
	{ PERFCTR_PMU_ARCH, "arch", .libpfm = { "" }, EVNTSEL },
	{ PERFCTR_PMU_P5, "p5", .event_bits = 0x13f },
	{ PERFCTR_PMU_P5_MMX, "p5_mmx", .event_bits = 0x13f },
	{ PERFCTR_PMU_P6, "p6", .libpfm = { "pm", "ppro", "pii" }, EVNTSEL,
	  .enable_first = UINT64_C(1) << 22 },
	{ PERFCTR_PMU_P4, "p4", .libpfm = { "netburst" }, .netburst = true },
	{ PERFCTR_PMU_K7, "k7", .libpfm = { "amd64_k7" }, EVNTSEL },
	{ PERFCTR_PMU_K8, "k8", .libpfm = { "amd64_k8" }, EVNTSEL_AMD },
	{ PERFCTR_PMU_AMD, "amd", .libpfm = { "amd64_" }, EVNTSEL_AMD },
	{ PERFCTR_PMU_MII, "mii", .event_bits = 0x53f },
	{ PERFCTR_PMU_WINCHIP_C6, "winchip_c6", .event_bits = 0xff },
	{ PERFCTR_PMU_WINCHIP_2, "winchip_2", .event_bits = 0xff },
	{ PERFCTR_PMU_VIA_C3, "via_c3", .event_bits = 0x1ff },
};

enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

const struct family *perfctr_machine_family(const struct perfctr_pmu_info *info)
{
	for (size_t i = 0; i < N_FAMILIES; i++)
		if (families[i].pmu == info->pmu)
			return &families[i];
	return NULL;
}

/* The longest prefix decides: there is one of no length. */
uint32_t perfctr_machine_of_libpfm(const char *pmu)
{
	size_t longest = 0;
	uint32_t found = PERFCTR_PMU_ARCH;

	for (size_t i = 0; i < N_FAMILIES; i++)
		for (size_t k = 0; k < MAX_PREFIXES && families[i].libpfm[k]; k++) {
			size_t length = strlen(families[i].libpfm[k]);

			if (length > longest && strncmp(pmu, families[i].libpfm[k], length) == 0) {
				longest = length;
				found = families[i].pmu;
			}
		}
	return found;
}

bool perfctr_machine_is_netburst(const struct perfctr_pmu_info *info)
{
	const struct family *family = perfctr_machine_family(info);

	return family && family->netburst;
}

uint64_t perfctr_machine_mode_bits(const struct perfctr_pmu_info *info)
{
	return info->evntsel_user | info->evntsel_kernel;
}

uint64_t perfctr_machine_mode_bits2(const struct perfctr_pmu_info *info)
{
	return info->evntsel2_user | info->evntsel2_kernel;
}

bool perfctr_machine_has_modes(const struct perfctr_pmu_info *info)
{
	return perfctr_machine_mode_bits(info) || perfctr_machine_mode_bits2(info);
}

void perfctr_machine_set_modes(const struct perfctr_pmu_info *info, unsigned int modes,
			       uint64_t *evntsel, uint64_t *evntsel2)
{
	*evntsel &= ~perfctr_machine_mode_bits(info);
	*evntsel2 &= ~perfctr_machine_mode_bits2(info);
	if (modes & PERFCTR_MODE_USER) {
		*evntsel |= info->evntsel_user;
		*evntsel2 |= info->evntsel2_user;
	}
	if (modes & PERFCTR_MODE_KERNEL) {
		*evntsel |= info->evntsel_kernel;
		*evntsel2 |= info->evntsel2_kernel;
	}
}

unsigned int perfctr_machine_modes(const struct perfctr_pmu_info *info, uint64_t evntsel,
				   uint64_t evntsel2)
{
	unsigned int modes = 0;

	if (!perfctr_machine_has_modes(info))
		return PERFCTR_MODE_BOTH;
	if (evntsel & info->evntsel_user || evntsel2 & info->evntsel2_user)
		modes |= PERFCTR_MODE_USER;
	if (evntsel & info->evntsel_kernel || evntsel2 & info->evntsel2_kernel)
		modes |= PERFCTR_MODE_KERNEL;
	return modes;
}

uint64_t perfctr_machine_enable_first(const struct perfctr_pmu_info *info)
{
	const struct family *family = perfctr_machine_family(info);

	return family ? family->enable_first : 0;
}

static uint64_t mask_of(uint32_t n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

uint64_t perfctr_machine_general(const struct perfctr_pmu_info *info)
{
	return mask_of(info->n_general);
}

uint64_t perfctr_machine_fixed(const struct perfctr_pmu_info *info)
{
	return mask_of(info->n_fixed);
}

static uint32_t mask_width(uint64_t mask)
{
	uint32_t n = 0;

	while (mask >> n)
		n++;
	return n;
}

static uint32_t most_counters(const struct perfctr_pmu_info *info, uint32_t n, unsigned int first)
{
	for (uint32_t k = 0; k < info->n_kinds && k < PERFCTR_MAX_KINDS; k++) {
		uint32_t own = mask_width(info->kind[k].counters >> first & UINT32_MAX);

		n = own > n ? own : n;
	}
	return n;
}

uint32_t perfctr_machine_most_general(const struct perfctr_pmu_info *info)
{
	return most_counters(info, info->n_general, 0);
}

uint32_t perfctr_machine_most_fixed(const struct perfctr_pmu_info *info)
{
	return most_counters(info, info->n_fixed, PERFCTR_FIXED_BIT);
}

struct perfctr_pmu_info perfctr_machine_of_kind(const struct perfctr_pmu_info *info,
						unsigned int kind)
{
	struct perfctr_pmu_info own = *info;

	own.n_kinds = 0;
	own.n_general = mask_width(info->kind[kind].counters & UINT32_MAX);
	own.n_fixed = mask_width(info->kind[kind].counters >> PERFCTR_FIXED_BIT);
	own.evntsel_allowed = info->kind[kind].evntsel_allowed;
	return own;
}

bool perfctr_machine_is_common(const struct perfctr_pmu_info *info, uint64_t evntsel)
{
	/* Intel SDM volume 3, "Pre-defined Architectural Performance Events". */
	static const uint64_t architectural[] = { 0x003c, 0x00c0, 0x013c, 0x4f2e,
						  0x412e, 0x00c4, 0x00c5, 0x01a4 };

	if (!info->n_kinds)
		return true;
	for (size_t i = 0; i < sizeof(architectural) / sizeof(architectural[0]); i++)
		if ((evntsel & 0xff000000ffff) == architectural[i])
			return true;
	return false;
}
