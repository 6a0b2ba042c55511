/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routes: the units that detect events, on a machine where each unit feeds only some of the
 * counters.  These are NetBurst's ESCRs.
 */
#ifndef PERFCTR_ROUTE_H
#define PERFCTR_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

struct route {
	const char *name;
	uint16_t msr;
	uint8_t select;	   /* the value of evntsel's field that selects it */
	uint32_t counters; /* bit i: it feeds counter i */
};

struct routes {
	const char *unit;   /* what a route is called */
	unsigned int shift; /* of the three bits of evntsel that select a route */
	int n;
	const struct route *route;
};

/*
 * Returns the index of the route that feeds the counter with this evntsel; -1: none.  The select
 * bits mean another route in each block of counters.  The registers of an event do not contain its
 * block.
 */
int perfctr_route_to(const struct routes *routes, uint64_t evntsel, unsigned int counter);

/*
 * Do routes a and b detect the same events?  They do if they are a pair: then their addresses
 * differ only in bit 0.
 */
bool perfctr_routes_are_alike(const struct routes *routes, int a, int b);

/* Returns the mask of the counters that any route feeds with this evntsel. */
uint64_t perfctr_routes_lead(const struct routes *routes, uint64_t evntsel);

/*
 * Returns the mask of the counters that the named routes feed.  The names are separated by ','.  0:
 * there is no route of any of these names.
 */
uint64_t perfctr_routes_named(const struct routes *routes, const char *names);

#endif
