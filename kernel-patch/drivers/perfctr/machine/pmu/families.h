/* SPDX-License-Identifier: GPL-2.0-only */
/* The PMU families, in the order in which their probes are called. */
PERFCTR_FAMILY(p4)
PERFCTR_FAMILY(arch)
PERFCTR_FAMILY(k7)
PERFCTR_FAMILY(amd)
PERFCTR_FAMILY(p5)
PERFCTR_FAMILY(mii)
PERFCTR_FAMILY(winchip)
PERFCTR_FAMILY(c3)
PERFCTR_FAMILY(p6)
