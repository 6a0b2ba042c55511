/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_MACHINE_H
#define PERFCTR_MACHINE_H

#include "family.h"

/* Returns NULL if the library does not know the PMU, or if there is no PMU. */
const struct family *perfctr_machine_family(const struct perfctr_pmu_info *info);

/* Returns the family of a processor by libpfm4's name of the processor. */
const struct family *perfctr_machine_of_libpfm(const char *pmu);

/*
 * Stores in *info what CPUID says about the counters of this machine.  vendor is CPUID's name of
 * the vendor.  Leaves *info alone if the machine is of no family that the backend perf_events
 * supports.
 */
void perfctr_machine_probe(const char *vendor, struct perfctr_pmu_info *info);

/*
 * Returns NULL if events reach the counters without routes.  Then only the tables restrict an event
 * to some of the counters.
 */
const struct routes *perfctr_machine_routes(const struct perfctr_pmu_info *info);

/*
 * Do counters a and b count the same with this evntsel?  On a machine with routes they do only if
 * one route, or the two routes of a pair, lead to both.
 */
bool perfctr_machine_counts_alike(const struct perfctr_pmu_info *info, uint64_t evntsel, uint32_t a,
				  uint32_t b);

/* All bits of evntsel and evntsel2 that select modes. */
uint64_t perfctr_machine_mode_bits(const struct perfctr_pmu_info *info);
uint64_t perfctr_machine_mode_bits2(const struct perfctr_pmu_info *info);

/* Can counters tell modes apart?  If not, an event is counted in all modes. */
bool perfctr_machine_has_modes(const struct perfctr_pmu_info *info);

/* Sets the bits of modes in *evntsel and *evntsel2, and clears the bits of other modes. */
void perfctr_machine_set_modes(const struct perfctr_pmu_info *info, unsigned int modes,
			       uint64_t *evntsel, uint64_t *evntsel2);

/* Returns the modes, PERFCTR_MODE_*, in which the registers count. */
unsigned int perfctr_machine_modes(const struct perfctr_pmu_info *info, uint64_t evntsel,
				   uint64_t evntsel2);

/*
 * Returns the bit of evntsel that counter 0 must have and the other counters must not have: the P6
 * enables all counters by this bit.  0: there is no such bit.
 */
uint64_t perfctr_machine_enable_first(const struct perfctr_pmu_info *info);

/* Return one more than the highest number of a general or a fixed counter, on any kind of core. */
uint32_t perfctr_machine_most_general(const struct perfctr_pmu_info *info);
uint32_t perfctr_machine_most_fixed(const struct perfctr_pmu_info *info);

/* Returns info as if the machine had only cores of this kind. */
struct perfctr_pmu_info perfctr_machine_of_kind(const struct perfctr_pmu_info *info,
						unsigned int kind);

/* Do general counters count the same with this evntsel on each kind of core? */
bool perfctr_machine_is_common(const struct perfctr_pmu_info *info, uint64_t evntsel);

/* Masks of the counters: bit i stands for counter i. */
uint64_t perfctr_machine_general(const struct perfctr_pmu_info *info);
uint64_t perfctr_machine_fixed(const struct perfctr_pmu_info *info);

#endif
