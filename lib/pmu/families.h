/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The families of processors, each a struct family perfctr_pmu_NAME. */
PERFCTR_FAMILY(arch)
PERFCTR_FAMILY(p5)
PERFCTR_FAMILY(p5_mmx)
PERFCTR_FAMILY(p6)
PERFCTR_FAMILY(p4)
PERFCTR_FAMILY(k7)
PERFCTR_FAMILY(k8)
PERFCTR_FAMILY(amd)
PERFCTR_FAMILY(mii)
PERFCTR_FAMILY(winchip_c6)
PERFCTR_FAMILY(winchip_2)
PERFCTR_FAMILY(via_c3)
