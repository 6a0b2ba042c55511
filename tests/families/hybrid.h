/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hybrid processors: CPU 0 is a P-core, kind 0, CPU 1 an E-core, kind 1. */
#ifndef HYBRID_H
#define HYBRID_H

#include "families.h"

#define P 1u /* perfctr_event_control.kinds */
#define E 2u

#define EN 0x00400000u
#define INSTRUCTIONS 0xc0u
#define BRANCHES 0xc4u
#define NEAR_TAKEN_P 0x20c4u
#define NEAR_TAKEN_E 0x80c4u
#define D0_81 0x81d0u /* loads on P-cores, stores on E-cores */
#define D0_82 0x82d0u /* stores on P-cores, loads on E-cores */

#define FIXED(n) (PERFCTR_FIXED + (n))
#define COUNTERS(general, fixed) \
	(((1ull << (general)) - 1) | ((1ull << (fixed)) - 1) << PERFCTR_FIXED_BIT)

/* With CPUID leaf 23H, which reports what P-cores have beyond E-cores. */
bool is_extended(void);
void control_kind(struct perfctr_control *control, uint32_t counter, uint64_t code, uint32_t kinds);
/* Events of both kinds, of one kind each, and codes that only one kind has. */
struct perfctr_control mixed(void);

/* A child whose rounds are executed on the chosen CPU. */
struct walker {
	struct workload workload;
	pid_t pid;
	int start, end;
	uint64_t rounds[2]; /* on each CPU */
	uint64_t random;
};

bool walker_start(struct walker *w);
bool walker_end(struct walker *w);
bool round_on(struct walker *w, unsigned int cpu);
unsigned int random_cpu(uint64_t *random);
/* Starts a process that sends the calling thread to and fro at random, until it is killed. */
pid_t start_rival(void);
bool set_online(bool online); /* CPU 1 */

/* Are these counts under mixed() those of the walker's rounds? */
bool mixed_counts_are_exact(const struct perfctr_counts *counts, const struct walker *w,
			    const struct perfctr_control *control);
bool parts_make_up_whole(const struct perfctr_counts *counts);

#endif
