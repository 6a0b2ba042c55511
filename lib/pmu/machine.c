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

uint64_t perfctr_machine_ring_bits(const struct perfctr_pmu_info *info)
{
	return info->evntsel_user | info->evntsel_kernel;
}

uint64_t perfctr_machine_ring_bits2(const struct perfctr_pmu_info *info)
{
	return info->evntsel2_user | info->evntsel2_kernel;
}

bool perfctr_machine_has_rings(const struct perfctr_pmu_info *info)
{
	return perfctr_machine_ring_bits(info) || perfctr_machine_ring_bits2(info);
}

void perfctr_machine_set_rings(const struct perfctr_pmu_info *info, unsigned int rings,
			       uint64_t *evntsel, uint64_t *evntsel2)
{
	*evntsel &= ~perfctr_machine_ring_bits(info);
	*evntsel2 &= ~perfctr_machine_ring_bits2(info);
	if (rings & PERFCTR_RING_USER) {
		*evntsel |= info->evntsel_user;
		*evntsel2 |= info->evntsel2_user;
	}
	if (rings & PERFCTR_RING_KERNEL) {
		*evntsel |= info->evntsel_kernel;
		*evntsel2 |= info->evntsel2_kernel;
	}
}

unsigned int perfctr_machine_rings(const struct perfctr_pmu_info *info, uint64_t evntsel,
				   uint64_t evntsel2)
{
	unsigned int rings = 0;

	if (!perfctr_machine_has_rings(info))
		return PERFCTR_RING_BOTH;
	if (evntsel & info->evntsel_user || evntsel2 & info->evntsel2_user)
		rings |= PERFCTR_RING_USER;
	if (evntsel & info->evntsel_kernel || evntsel2 & info->evntsel2_kernel)
		rings |= PERFCTR_RING_KERNEL;
	return rings;
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
