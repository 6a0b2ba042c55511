// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conflict.h"

#include <errno.h>
#include <string.h>

#include "schedule.h"

/*
 * Finds a smallest conflict: requests that do not fit, but do fit if any one of them is left out.
 * Returns their number.
 */
static size_t smallest_conflict(const struct perfctr_pmu_info *info,
				const struct perfctr_request *requests, size_t n,
				struct perfctr_request conflict[])
{
	struct place found[PERFCTR_MAX_COUNTERS];

	memcpy(conflict, requests, n * sizeof(*conflict));
	for (size_t i = 0; i < n;) {
		struct perfctr_request out = conflict[i];

		memmove(&conflict[i], &conflict[i + 1], (n - i - 1) * sizeof(*conflict));
		if (perfctr_places_find(info, conflict, n - 1, 1, NULL, found) < 0) {
			n--;
			continue;
		}
		memmove(&conflict[i + 1], &conflict[i], (n - i - 1) * sizeof(*conflict));
		conflict[i++] = out;
	}
	return n;
}

static void add_routes(const struct routes *all, const bool used[], const struct line *line)
{
	const char *comma = " ";

	for (int i = 0; i < all->n; i++) {
		if (!used[i])
			continue;
		perfctr_line_add(line, "%s%s", comma, all->route[i].name);
		comma = ", ";
	}
}

static size_t count_used(const bool used[])
{
	size_t n = 0;

	for (int i = 0; i < MAX_PLACES; i++)
		n += used[i];
	return n;
}

/*
 * Appends the counters, or the routes, that the requests compete for: all that any of them can use.
 */
static void add_bottleneck(const struct perfctr_pmu_info *info,
			   const struct perfctr_request *conflict, size_t n,
			   const struct line *line)
{
	const struct routes *all = perfctr_machine_routes(info);
	bool counters[MAX_PLACES] = { false }, routes[MAX_PLACES] = { false };

	for (size_t i = 0; i < n; i++) {
		for (int counter = 0; counter < perfctr_place_counters(info); counter++) {
			int route = perfctr_place_route(info, &conflict[i], counter);

			if (route < 0)
				continue;
			counters[counter] = true;
			routes[route] = true;
		}
	}
	if (all && (count_used(routes) < n || count_used(counters) >= n)) {
		perfctr_line_add(line, "%s%s", all->unit, count_used(routes) == 1 ? "" : "s");
		add_routes(all, routes, line);
	} else {
		perfctr_line_add(line, count_used(counters) == 1 ? "counter" : "counters");
		perfctr_line_add_counters(line, info, counters);
	}
}

/*
 * If the requests would fit with the counters that other users have, says so and names these
 * counters.
 */
static void add_takers(const struct perfctr_pmu_info *info, const struct perfctr_request *conflict,
		       size_t n, const struct line *line)
{
	const struct perfctr_pmu_info all = perfctr_without_takers(info);
	struct place found[PERFCTR_MAX_COUNTERS];
	bool taken[MAX_PLACES] = { false };

	if (perfctr_places_find(&all, conflict, n, 1, NULL, found) < 0)
		return;
	for (int i = 0; i < perfctr_place_counters(info); i++)
		taken[i] = perfctr_place_is_taken(info, i);
	perfctr_line_add(line, "; %s have", perfctr_takers(info));
	perfctr_line_add_counters(line, info, taken);
}

int perfctr_explain_conflict(const struct perfctr_pmu_info *info,
			     const struct perfctr_request *requests, size_t n,
			     const struct line *line)
{
	struct perfctr_request conflict[PERFCTR_MAX_COUNTERS];
	unsigned int pass[PERFCTR_MAX_COUNTERS], passes;
	char ignored[1];
	size_t n_conflict = smallest_conflict(info, requests, n, conflict);

	perfctr_line_refuse(line, ENOSPC, "events");
	for (size_t i = 0; i < n_conflict; i++)
		perfctr_line_add(line, "%s'%s'",
				 !i		      ? " "
				 : i + 1 < n_conflict ? ", "
						      : " and ",
				 conflict[i].name);
	perfctr_line_add(line, " conflict: only ");
	add_bottleneck(info, conflict, n_conflict, line);
	perfctr_line_add(line, " can count them");
	add_takers(info, conflict, n_conflict, line);
	if (perfctr_requests_plan(info, requests, n, pass, &passes, ignored, sizeof(ignored)) == 0)
		perfctr_line_add(line, "; %u passes are enough for all", passes);
	errno = ENOSPC;
	return -1;
}
