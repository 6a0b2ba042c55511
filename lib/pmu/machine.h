/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_MACHINE_H
#define PERFCTR_MACHINE_H

#include "family.h"

/* NULL: a PMU that this library does not know, or none. */
const struct family *perfctr_machine_family(const struct perfctr_pmu_info *info);

/* That of a processor by its name in libpfm4. */
const struct family *perfctr_machine_of_libpfm(const char *pmu);

/*
 * What CPUID says of the counters of this machine, whose vendor CPUID names so; *info stays as it
 * is if perf_events counts on no family that it is of.
 */
void perfctr_machine_probe(const char *vendor, struct perfctr_pmu_info *info);

/* NULL: an event gets to each counter by itself, as far as the tables do not restrict it. */
const struct routes *perfctr_machine_routes(const struct perfctr_pmu_info *info);

/*
 * Does counter b count what counter a does with this evntsel?  Where there are routes: only if one
 * route, or the two of a pair, lead to both.
 */
bool perfctr_machine_counts_alike(const struct perfctr_pmu_info *info, uint64_t evntsel, uint32_t a,
				  uint32_t b);

/* All bits of evntsel and evntsel2 that select modes. */
uint64_t perfctr_machine_mode_bits(const struct perfctr_pmu_info *info);
uint64_t perfctr_machine_mode_bits2(const struct perfctr_pmu_info *info);

/* Without them an event is counted in all modes. */
bool perfctr_machine_has_modes(const struct perfctr_pmu_info *info);

/* Sets the bits of modes in *evntsel and *evntsel2, and clears those of others. */
void perfctr_machine_set_modes(const struct perfctr_pmu_info *info, unsigned int modes,
			       uint64_t *evntsel, uint64_t *evntsel2);

/* PERFCTR_MODE_* that the registers count. */
unsigned int perfctr_machine_modes(const struct perfctr_pmu_info *info, uint64_t evntsel,
				   uint64_t evntsel2);

/*
 * The bit of evntsel that counter 0 must have and the others must not: P6 enables all counters by
 * one.  0: there is none such.
 */
uint64_t perfctr_machine_enable_first(const struct perfctr_pmu_info *info);

/* What general and fixed counters are numbered up to, on whatever kind of core. */
uint32_t perfctr_machine_most_general(const struct perfctr_pmu_info *info);
uint32_t perfctr_machine_most_fixed(const struct perfctr_pmu_info *info);

/* What cores of this kind alone are. */
struct perfctr_pmu_info perfctr_machine_of_kind(const struct perfctr_pmu_info *info,
						unsigned int kind);

/* Does each kind of core count these registers alike, on general counters? */
bool perfctr_machine_is_common(const struct perfctr_pmu_info *info, uint64_t evntsel);

/* Masks of the counters: bit i stands for counter i. */
uint64_t perfctr_machine_general(const struct perfctr_pmu_info *info);
uint64_t perfctr_machine_fixed(const struct perfctr_pmu_info *info);

#endif
