/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The units that detect events, where each feeds some of the counters only: ESCRs. */
#ifndef PERFCTR_ROUTE_H
#define PERFCTR_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

struct route {
	const char *name;
	uint16_t msr;
	uint8_t select;	   /* by which evntsel names it */
	uint32_t counters; /* bit i: it feeds counter i */
};

struct routes {
	const char *unit;   /* what one is called */
	unsigned int shift; /* of the three bits of evntsel that select one */
	int n;
	const struct route *route;
};

/*
 * The route that feeds a counter with this evntsel, an index; -1: none.  A select means another
 * one in each block of counters: which block an event is counted in is not in its registers.
 */
int perfctr_route_to(const struct routes *routes, uint64_t evntsel, unsigned int counter);

/* Do both detect the same?  They are in pairs that do, whose addresses differ in bit 0 alone. */
bool perfctr_routes_are_alike(const struct routes *routes, int a, int b);

/* The counters that some route feeds with this evntsel, as a mask. */
uint64_t perfctr_routes_lead(const struct routes *routes, uint64_t evntsel);

/* The counters that routes of these names feed, with ',' between them; 0: there is no such one. */
uint64_t perfctr_routes_named(const struct routes *routes, const char *names);

#endif
