// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds requests that no counter can count, even alone. */
#include "feasible.h"

#include <errno.h>

#include "schedule.h"

/* If other users have all counters that can count the request, returns true, with a line. */
static bool is_taken(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
		     const struct line *line)
{
	const struct perfctr_pmu_info all = perfctr_without_takers(info);
	bool able[MAX_PLACES] = { false }, any = false;

	for (int i = 0; i < perfctr_place_counters(info); i++) {
		able[i] = perfctr_place_route(&all, request, i) >= 0;
		any |= able[i];
	}
	if (!any)
		return false;
	perfctr_line_refuse(line, EBUSY, "event '%s': %s have all counters that can count it:",
			    request->name, perfctr_takers(info));
	perfctr_line_add_counters(line, info, able);
	return true;
}

bool perfctr_request_is_impossible(const struct perfctr_pmu_info *info,
				   const struct perfctr_request *request, const struct line *line)
{
	const struct routes *routes = perfctr_machine_routes(info);
	struct place place;
	uint64_t counters;

	if (perfctr_places_find(info, request, 1, 1, NULL, &place) == 0)
		return false;
	if (errno == ENOMEM) {
		perfctr_line_refuse(line, ENOMEM, "no memory to assign the counters");
		return true;
	}
	if (request->counter != PERFCTR_ANY && perfctr_place_counter(info, request->counter) < 0) {
		perfctr_line_refuse(
			line, EINVAL,
			"event '%s': there is no counter 0x%x; this machine has %u general ones "
			"from 0 on, and %u fixed ones from 0x%x on",
			request->name, request->counter, info->n_general, info->n_fixed,
			PERFCTR_FIXED);
		return true;
	}
	if (is_taken(info, request, line))
		return true;
	if (!routes) {
		perfctr_line_refuse(line, EINVAL, "event '%s' can be counted by no counter",
				    request->name);
		return true;
	}
	counters = perfctr_routes_lead(routes, request->evntsel);
	perfctr_line_refuse(line, EINVAL,
			    "event '%s': no %s with its %s select leads to this counter; those "
			    "that have one:",
			    request->name, routes->unit, routes->unit);
	for (unsigned int i = 0; i < 64; i++)
		if (counters >> i & 1)
			perfctr_line_add(line, " %u", i);
	if (!counters)
		perfctr_line_add(line, " none");
	return true;
}
