// SPDX-License-Identifier: LGPL-2.1-or-later
#include "clash.h"

#include <errno.h>
#include <string.h>

#include "../pmu/netburst.h"
#include "schedule.h"

/* Requests that do not fit, any of which left out, do. */
static size_t smallest_clash(const struct perfctr_pmu_info *info,
			     const struct perfctr_request *requests, size_t n,
			     struct perfctr_request clash[])
{
	struct place found[PERFCTR_MAX_COUNTERS];

	memcpy(clash, requests, n * sizeof(*clash));
	for (size_t i = 0; i < n;) {
		struct perfctr_request out = clash[i];

		memmove(&clash[i], &clash[i + 1], (n - i - 1) * sizeof(*clash));
		if (perfctr_places_find(info, clash, n - 1, 1, NULL, found) < 0) {
			n--;
			continue;
		}
		memmove(&clash[i + 1], &clash[i], (n - i - 1) * sizeof(*clash));
		clash[i++] = out;
	}
	return n;
}

static void add_counters(const struct perfctr_pmu_info *info, const bool used[],
			 const struct line *line)
{
	const char *comma = " ";

	for (int i = 0; i < perfctr_place_counters(info); i++) {
		uint32_t index = perfctr_place_index(info, i);

		if (!used[i])
			continue;
		perfctr_line_add(line, index >= PERFCTR_FIXED ? "%s0x%x" : "%s%u", comma, index);
		comma = ", ";
	}
}

static void add_escrs(const bool used[], const struct line *line)
{
	const char *comma = " ";

	for (int i = 0; i < NETBURST_ESCRS; i++) {
		if (!used[i])
			continue;
		perfctr_line_add(line, "%s%s", comma, perfctr_netburst_escrs[i].name);
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

/* What all of them together could use. */
static void add_bottleneck(const struct perfctr_pmu_info *info, const struct perfctr_request *clash,
			   size_t n, const struct line *line)
{
	bool counters[MAX_PLACES] = { false }, routes[MAX_PLACES] = { false };

	for (size_t i = 0; i < n; i++) {
		for (int counter = 0; counter < perfctr_place_counters(info); counter++) {
			int route = perfctr_place_route(info, &clash[i], counter);

			if (route < 0)
				continue;
			counters[counter] = true;
			routes[route] = true;
		}
	}
	if (info->pmu == PERFCTR_PMU_P4 && (count_used(routes) < n || count_used(counters) >= n)) {
		perfctr_line_add(line, count_used(routes) == 1 ? "ESCR" : "ESCRs");
		add_escrs(routes, line);
	} else {
		perfctr_line_add(line, count_used(counters) == 1 ? "counter" : "counters");
		add_counters(info, counters, line);
	}
}

int perfctr_explain_clash(const struct perfctr_pmu_info *info,
			  const struct perfctr_request *requests, size_t n, const struct line *line)
{
	struct perfctr_request clash[PERFCTR_MAX_COUNTERS];
	unsigned int run[PERFCTR_MAX_COUNTERS], runs;
	char ignored[1];
	size_t n_clash = smallest_clash(info, requests, n, clash);

	perfctr_line_refuse(line, ENOSPC, "events");
	for (size_t i = 0; i < n_clash; i++)
		perfctr_line_add(line, "%s'%s'",
				 !i		   ? " "
				 : i + 1 < n_clash ? ", "
						   : " and ",
				 clash[i].name);
	perfctr_line_add(line, " clash: they have only ");
	add_bottleneck(info, clash, n_clash, line);
	if (perfctr_requests_plan(info, requests, n, run, &runs, ignored, sizeof(ignored)) == 0)
		perfctr_line_add(line, "; %u runs are enough for all", runs);
	errno = ENOSPC;
	return -1;
}
