// SPDX-License-Identifier: LGPL-2.1-or-later
/* What events need to know about a machine, beyond what the kernel says. */
#include "machine.h"

#include <stddef.h>

static const struct family families[] = {
	{ PERFCTR_PMU_ARCH, "arch", 0xffff, 8, 24 },
	{ PERFCTR_PMU_P5, "p5", 0x13f, 0, 0 },
	{ PERFCTR_PMU_P5_MMX, "p5_mmx", 0x13f, 0, 0 },
	{ PERFCTR_PMU_P6, "p6", 0xffff, 8, 24 },
	{ PERFCTR_PMU_P4, "p4", 0, 0, 0 },
	{ PERFCTR_PMU_K7, "k7", 0xffff, 8, 24 },
	{ PERFCTR_PMU_K8, "k8", 0xf0000ffff, 8, 24 },
	{ PERFCTR_PMU_AMD, "amd", 0xf0000ffff, 8, 24 },
	{ PERFCTR_PMU_MII, "mii", 0x53f, 0, 0 },
	{ PERFCTR_PMU_WINCHIP_C6, "winchip_c6", 0xff, 0, 0 },
	{ PERFCTR_PMU_WINCHIP_2, "winchip_2", 0xff, 0, 0 },
	{ PERFCTR_PMU_VIA_C3, "via_c3", 0x1ff, 0, 0 },
};

const struct family *perfctr_machine_family(const struct perfctr_pmu_info *info)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (families[i].pmu == info->pmu)
			return &families[i];
	return NULL;
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
	return info->pmu == PERFCTR_PMU_P6 ? UINT64_C(1) << 22 : 0;
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
