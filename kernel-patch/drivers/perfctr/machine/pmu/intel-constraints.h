/* SPDX-License-Identifier: GPL-2.0-only */
/* Constraints of single models, from Intel's manuals and specification updates. */
#ifndef _PERFCTR_INTEL_CONSTRAINTS_H
#define _PERFCTR_INTEL_CONSTRAINTS_H

#include "../pmu.h"

/*
 * Returns the constraints of a core with this version of architectural PerfMon. type: as in CPUID
 * leaf 1AH, or 0 if all cores are alike.
 */
u16 perfctr_intel_constraints(u32 version, u32 type);
/*
 * Applies constraints, the value of perfctr_intel_constraints(), to an event on a general counter.
 * Returns 0 or PERFCTR_BAD_*.
 */
u32 perfctr_intel_constraint(u16 kinds, u64 evntsel, u32 counter);
/* Applies such constraints as perfctr_pmu.limit_distance() does. */
void perfctr_intel_limit_distance(u16 kinds, const struct perfctr_hw_event *e,
				  struct perfctr_hw_period *p);
/* Returns whether the counters must be cleansed before another event is selected. */
bool perfctr_intel_cleanse(void);

#endif
