/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The routes of NetBurst: which ESCR feeds which counters. */
#ifndef PERFCTR_NETBURST_H
#define PERFCTR_NETBURST_H

#include <stdint.h>

#define NETBURST_ESCRS 45
#define NETBURST_COUNTERS 18

struct netburst_escr {
	const char *name; /* SDM, without "MSR_" */
	uint16_t msr;
	uint8_t select;	   /* CCCR, ESCR select */
	uint32_t counters; /* bit i: it feeds counter i */
};

extern const struct netburst_escr perfctr_netburst_escrs[NETBURST_ESCRS]
	__attribute__((visibility("hidden")));

/*
 * The ESCR that feeds a counter with this CCCR, an index; -1: none.  A select means another ESCR in
 * each block of counters: which block an event is counted in is not in its registers.
 */
int perfctr_netburst_route(uint64_t cccr, unsigned int counter);

/* The counters that some ESCR feeds with this CCCR, as a mask. */
uint64_t perfctr_netburst_routed(uint64_t cccr);

/* The counters that these ESCRs feed, names with ',' between them; 0: there is no such ESCR. */
uint64_t perfctr_netburst_fed_by(const char *escrs);

#endif
