// SPDX-License-Identifier: GPL-2.0-or-later
#include "machines.h"

#include <stdlib.h>

/* An event select register without bits 19 (pin control), 20 (interrupt), 21 (any thread). */
#define P6_STYLE 0xffc7ffffull
/* Also bits 32 to 35, which extend the event select, and 40 and 41, host only and guest only. */
#define AMD_STYLE (P6_STYLE | 0x30full << 32)
#define USR (1ull << 16)
#define OS (1ull << 17)
#define EN (1ull << 22)

#define EVNTSEL(family, counters, bits, allowed)                                                   \
	.pmu = (family), .n_general = (counters), .general_bits = (bits),                          \
	.evntsel_allowed = (allowed), .evntsel_required = EN, .evntsel_user = USR,                 \
	.evntsel_kernel = OS
#define ARCH(counters)                                                                             \
	EVNTSEL(PERFCTR_PMU_ARCH, counters, 48, P6_STYLE), .n_fixed = 3, .fixed_bits = 48,         \
							   .fixed_allowed = USR | OS | EN
/* Half of a CESR: bit 6 counts in CPL 0 to 2, bit 7 in CPL 3. */
#define CESR(family, allowed)                                                                      \
	.pmu = (family), .n_general = 2, .general_bits = 40, .evntsel_allowed = (allowed),         \
	.evntsel_user = 0x80, .evntsel_kernel = 0x40

static const struct {
	struct perfctr_pmu_info info;
	const char *libpfm; /* LIBPFM_FORCE_PMU; libpfm(3) */
} machines[] = {
	[NEHALEM] = { { ARCH(4) }, "nhm" },
	[SKYLAKE] = { { ARCH(4) }, "skl" },
	[ICELAKE] = { { ARCH(8) }, "icl" },
	[SAPPHIRE_RAPIDS] = { { ARCH(8) }, "spr" },
	[P5] = { { CESR(PERFCTR_PMU_P5, 0x1ff) }, "perf" },
	[P5_MMX] = { { CESR(PERFCTR_PMU_P5_MMX, 0x1ff) }, "perf" },
	/* Only the register of counter 0 has EN. */
	[P6] = { { .pmu = PERFCTR_PMU_P6,
		   .n_general = 2,
		   .general_bits = 40,
		   .evntsel_allowed = P6_STYLE,
		   .evntsel_user = USR,
		   .evntsel_kernel = OS },
		 "perf" },
	/* The CCCR without reserved and overflow bits; the ESCR with the modes of thread 0. */
	[P4] = { { .pmu = PERFCTR_PMU_P4,
		   .n_general = 18,
		   .general_bits = 40,
		   .evntsel_allowed = 0x01fff000,
		   .evntsel_required = 0x1000,
		   .evntsel2_allowed = 0x7ffffffc,
		   .evntsel2_user = 4,
		   .evntsel2_kernel = 8,
		   .p4_pebs_enable_allowed = 0x01000607,
		   .p4_pebs_matrix_vert_allowed = 3 },
		 "netburst" },
	[K7] = { { EVNTSEL(PERFCTR_PMU_K7, 4, 48, P6_STYLE) }, "amd64_k7" },
	[K8] = { { EVNTSEL(PERFCTR_PMU_K8, 4, 48, P6_STYLE) }, "amd64_k8_revb" },
	[FAM10H] = { { EVNTSEL(PERFCTR_PMU_AMD, 4, 48, AMD_STYLE) }, "amd64_fam10h_barcelona" },
	[ZEN] = { { EVNTSEL(PERFCTR_PMU_AMD, 6, 48, AMD_STYLE) }, "amd64_fam17h_zen2" },
	[MII] = { { CESR(PERFCTR_PMU_MII, 0x5ff) }, "perf" },
	[WINCHIP_C6] = { { .pmu = PERFCTR_PMU_WINCHIP_C6,
			   .n_general = 2,
			   .general_bits = 40,
			   .evntsel_allowed = 0xff },
			 "perf" },
	[WINCHIP_2] = { { .pmu = PERFCTR_PMU_WINCHIP_2,
			  .n_general = 2,
			  .general_bits = 40,
			  .evntsel_allowed = 0xff },
			"perf" },
	[VIA_C3] = { { .pmu = PERFCTR_PMU_VIA_C3,
		       .n_general = 2,
		       .general_bits = 32,
		       .evntsel_allowed = 0x1ff },
		     "perf" },
};

const struct perfctr_pmu_info *machine_info(enum machine machine)
{
	return &machines[machine].info;
}

static void force_libpfm(const char *name)
{
	setenv("LIBPFM_FORCE_PMU", name, 1);
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("PERFCTR_EVENTS");
}

const struct perfctr_pmu_info *be_machine(enum machine machine)
{
	force_libpfm(machines[machine].libpfm);
	return &machines[machine].info;
}

const struct perfctr_pmu_info *be_processor(const char *name)
{
	force_libpfm(name);
	return perfctr_family_info(name);
}
