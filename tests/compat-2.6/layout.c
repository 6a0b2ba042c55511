// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts of perfctr 2.6, for programs of 32 and of 64 bits: compiled for both, and never run. The
 * numbers were read from the structs of its headers by sizeof and offsetof.
 */
#include <libperfctr.h>
#include <signal.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#define OFFSET(type, field, bytes)                                                                 \
	_Static_assert(__builtin_offsetof(type, field) == (bytes), #type "." #field)
#define NUMBER(name, value) _Static_assert((name) == (value), #name)

SIZE(struct perfctr_info, 64);
OFFSET(struct perfctr_info, abi_version, 0);
OFFSET(struct perfctr_info, driver_version, 4);
OFFSET(struct perfctr_info, cpu_type, 36);
OFFSET(struct perfctr_info, cpu_features, 40);
OFFSET(struct perfctr_info, cpu_khz, 44);
OFFSET(struct perfctr_info, tsc_to_cpu_mult, 48);
OFFSET(struct perfctr_info, _reserved2, 52);

SIZE(struct perfctr_cpu_mask, 8);
OFFSET(struct perfctr_cpu_mask, nrwords, 0);
OFFSET(struct perfctr_cpu_mask, mask, 4);
SIZE(struct perfctr_cpus_info, 2 * sizeof(void *));
OFFSET(struct perfctr_cpus_info, cpus, 0);
OFFSET(struct perfctr_cpus_info, cpus_forbidden, sizeof(void *));

SIZE(struct perfctr_sum_ctrs, 152);
OFFSET(struct perfctr_sum_ctrs, tsc, 0);
OFFSET(struct perfctr_sum_ctrs, pmc, 8);

SIZE(struct perfctr_cpu_control, 324);
OFFSET(struct perfctr_cpu_control, tsc_on, 0);
OFFSET(struct perfctr_cpu_control, nractrs, 4);
OFFSET(struct perfctr_cpu_control, nrictrs, 8);
OFFSET(struct perfctr_cpu_control, pmc_map, 12);
OFFSET(struct perfctr_cpu_control, evntsel, 84);
OFFSET(struct perfctr_cpu_control, p4.escr, 156);
OFFSET(struct perfctr_cpu_control, evntsel_high, 156);
OFFSET(struct perfctr_cpu_control, p4.pebs_enable, 228);
OFFSET(struct perfctr_cpu_control, nhlm.offcore_rsp, 228);
OFFSET(struct perfctr_cpu_control, p4.pebs_matrix_vert, 232);
OFFSET(struct perfctr_cpu_control, ireset, 236);
OFFSET(struct perfctr_cpu_control, _reserved1, 308);

SIZE(struct vperfctr_control, 348);
OFFSET(struct vperfctr_control, si_signo, 0);
OFFSET(struct vperfctr_control, cpu_control, 4);
OFFSET(struct vperfctr_control, preserve, 328);
OFFSET(struct vperfctr_control, flags, 332);
OFFSET(struct vperfctr_control, _reserved1, 336);

SIZE(struct gperfctr_cpu_control, 344);
OFFSET(struct gperfctr_cpu_control, cpu, 0);
OFFSET(struct gperfctr_cpu_control, cpu_control, 4);
OFFSET(struct gperfctr_cpu_control, _reserved1, 328);
SIZE(struct gperfctr_cpu_state, 496);
OFFSET(struct gperfctr_cpu_state, cpu, 0);
OFFSET(struct gperfctr_cpu_state, cpu_control, 4);
OFFSET(struct gperfctr_cpu_state, sum, 328);
OFFSET(struct gperfctr_cpu_state, _reserved1, 480);

SIZE(struct perfctr_unit_mask_value, 2 * sizeof(void *));
OFFSET(struct perfctr_unit_mask_value, description, sizeof(void *));
SIZE(struct perfctr_unit_mask, 3 * sizeof(void *));
OFFSET(struct perfctr_unit_mask, default_value, 0);
OFFSET(struct perfctr_unit_mask, nvalues, 3);
OFFSET(struct perfctr_unit_mask, values, sizeof(void *));
SIZE(struct perfctr_event, 4 * sizeof(void *));
OFFSET(struct perfctr_event, evntsel, 0);
OFFSET(struct perfctr_event, counters_set, 2);
OFFSET(struct perfctr_event, unit_mask, sizeof(void *));
OFFSET(struct perfctr_event, name, 2 * sizeof(void *));
OFFSET(struct perfctr_event, description, 3 * sizeof(void *));
SIZE(struct perfctr_event_set, 5 * sizeof(void *));
OFFSET(struct perfctr_event_set, cpu_type, 0);
OFFSET(struct perfctr_event_set, event_prefix, sizeof(void *));
OFFSET(struct perfctr_event_set, include, 2 * sizeof(void *));
OFFSET(struct perfctr_event_set, nevents, 3 * sizeof(void *));
OFFSET(struct perfctr_event_set, events, 4 * sizeof(void *));
NUMBER(perfctr_um_type_fixed, 0);
NUMBER(perfctr_um_type_exclusive, 1);
NUMBER(perfctr_um_type_bitmask, 2);

/* At the place of si_pid. */
OFFSET(siginfo_t, si_pmc_ovf_mask, sizeof(void *) == 8 ? 16 : 12);

NUMBER(PERFCTR_ABI_VERSION, 0x05020501);
NUMBER(VPERFCTR_CONTROL_CLOEXEC, 1);
NUMBER(VPERFCTR_OPEN_CREAT_EXCL, 3);
NUMBER(SI_PMC_OVF, 80);
NUMBER(PERFCTR_FEATURE_RDPMC, 1);
NUMBER(PERFCTR_FEATURE_RDTSC, 2);
NUMBER(PERFCTR_FEATURE_PCINT, 4);

/* All these numbers must differ. */
static inline int number_of_type(unsigned int type)
{
	switch (type) {
	case PERFCTR_X86_GENERIC:
	case PERFCTR_X86_INTEL_P5:
	case PERFCTR_X86_INTEL_P5MMX:
	case PERFCTR_X86_INTEL_P6:
	case PERFCTR_X86_INTEL_PII:
	case PERFCTR_X86_INTEL_PIII:
	case PERFCTR_X86_CYRIX_MII:
	case PERFCTR_X86_WINCHIP_C6:
	case PERFCTR_X86_WINCHIP_2:
	case PERFCTR_X86_AMD_K7:
	case PERFCTR_X86_VIA_C3:
	case PERFCTR_X86_INTEL_P4:
	case PERFCTR_X86_INTEL_P4M2:
	case PERFCTR_X86_AMD_K8:
	case PERFCTR_X86_INTEL_PENTM:
	case PERFCTR_X86_AMD_K8C:
	case PERFCTR_X86_INTEL_P4M3:
	case PERFCTR_X86_INTEL_CORE:
	case PERFCTR_X86_INTEL_CORE2:
	case PERFCTR_X86_AMD_FAM10H:
	case PERFCTR_X86_INTEL_ATOM:
	case PERFCTR_X86_INTEL_NHLM:
	case PERFCTR_X86_INTEL_WSTMR:
		return 1;
	default:
		return 0;
	}
}

NUMBER(PERFCTR_X86_INTEL_P4M3, 16);
NUMBER(PERFCTR_X86_AMD_FAM10, 19);
NUMBER(PERFCTR_X86_INTEL_COREI7, 21);
NUMBER(PERFCTR_X86_INTEL_WSTMR, 22);
