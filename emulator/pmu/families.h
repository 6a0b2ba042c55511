/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The families, in the order in which find_family() asks whether one has the processor. Each is an
 * X86PMUFamily x86_pmu_NAME in one of the files pmu-*.c.
 */
PMU_FAMILY(arch)
PMU_FAMILY(arch_v1)
PMU_FAMILY(arch_v2)
PMU_FAMILY(arch_v3)
PMU_FAMILY(arch_v4)
PMU_FAMILY(arch_tfa)
PMU_FAMILY(arch_v5)
PMU_FAMILY(arch_v6)
PMU_FAMILY(hybrid)
PMU_FAMILY(hybrid_ext)
PMU_FAMILY(hybrid_atom)
PMU_FAMILY(hybrid_ext_atom)
PMU_FAMILY(p5)
PMU_FAMILY(p5_mmx)
PMU_FAMILY(mii)
PMU_FAMILY(c3)
PMU_FAMILY(k7)
PMU_FAMILY(amd_f10)
PMU_FAMILY(amd_f15)
PMU_FAMILY(zen_v2)
PMU_FAMILY(zen)
PMU_FAMILY(p4)
PMU_FAMILY(p4_late)
PMU_FAMILY(p6)
