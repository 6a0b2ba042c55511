// SPDX-License-Identifier: LGPL-2.1-or-later
#include "route.h"

#include <string.h>

int perfctr_route_to(const struct routes *routes, uint64_t evntsel, unsigned int counter)
{
	unsigned int select = evntsel >> routes->shift & 7;

	for (int i = 0; i < routes->n; i++)
		if (routes->route[i].select == select && routes->route[i].counters >> counter & 1)
			return i;
	return -1;
}

bool perfctr_routes_are_alike(const struct routes *routes, int a, int b)
{
	return routes->route[a].msr >> 1 == routes->route[b].msr >> 1;
}

uint64_t perfctr_routes_lead(const struct routes *routes, uint64_t evntsel)
{
	unsigned int select = evntsel >> routes->shift & 7;
	uint64_t counters = 0;

	for (int i = 0; i < routes->n; i++)
		if (routes->route[i].select == select)
			counters |= routes->route[i].counters;
	return counters;
}

uint64_t perfctr_routes_named(const struct routes *routes, const char *names)
{
	uint64_t counters = 0;

	while (*names) {
		size_t length = strcspn(names, ",");

		for (int i = 0; i < routes->n; i++)
			if (strlen(routes->route[i].name) == length &&
			    strncmp(routes->route[i].name, names, length) == 0)
				counters |= routes->route[i].counters;
		names += length;
		names += *names == ',';
	}
	return counters;
}
