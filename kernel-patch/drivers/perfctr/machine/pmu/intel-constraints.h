/* SPDX-License-Identifier: GPL-2.0-only */
/* What Intel's manuals and specification updates say about single models. */
#ifndef _PERFCTR_INTEL_CONSTRAINTS_H
#define _PERFCTR_INTEL_CONSTRAINTS_H

#include "../pmu.h"

/*
 * The constraints for a core with this version of architectural PerfMon; its type as in CPUID leaf
 * 1AH, 0 where all are alike.
 */
u16 perfctr_intel_constraints(u32 version, u32 type);
/* By them, PERFCTR_BAD_* of an event on a general counter, or 0. */
u32 perfctr_intel_constraint(u16 kinds, u64 evntsel, u32 counter);
/* By them, as perfctr_pmu.limit_distance(). */
void perfctr_intel_limit_distance(u16 kinds, const struct perfctr_hw_event *e,
				  struct perfctr_hw_period *p);
/* Must the counters be cleansed before another event is selected? */
bool perfctr_intel_cleanse(void);

#endif
