// SPDX-License-Identifier: LGPL-2.1-or-later
/* More requests than fit at once: the smallest number of runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clash.h"
#include "places.h"

/* The smallest number of runs in which every route and every counter is used once at most. */
static int plan_by_flow(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int run[], unsigned int *n_runs)
{
	struct place *found = malloc(n * sizeof(*found));
	unsigned int low = 1, high = (unsigned int)n;
	int status = found ? 0 : -1;

	/* With n runs each request has its own. */
	while (!status && low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (perfctr_places_find(info, requests, n, middle, NULL, found) == 0)
			high = middle;
		else if (errno == ENOSPC)
			low = middle + 1;
		else
			status = -1;
	}
	if (!status)
		status = perfctr_places_find(info, requests, n, high, NULL, found);
	if (!status)
		status = perfctr_places_deal(found, n, high, run);
	if (!status)
		*n_runs = high;
	free(found);
	return status;
}

static bool fits(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
		 size_t n, const unsigned int run[], unsigned int which,
		 struct perfctr_request members[])
{
	struct place found[PERFCTR_MAX_COUNTERS + 1];
	struct line none = { 0 };
	size_t n_members = 0;

	for (size_t i = 0; i < n; i++)
		if (run[i] == which && n_members <= PERFCTR_MAX_COUNTERS)
			members[n_members++] = requests[i];
	return n_members <= PERFCTR_MAX_COUNTERS &&
	       !perfctr_requests_have_two_tags(members, n_members, &none) &&
	       perfctr_places_find(info, members, n_members, 1, NULL, found) == 0;
}

/*
 * Tags of NetBurst replays divide the requests further.  The first run that has room for a request
 * gets it: tagged ones first, as the others are free to fill their runs.
 */
static int plan_by_tags(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int run[], unsigned int *n_runs)
{
	struct perfctr_request *members = malloc((PERFCTR_MAX_COUNTERS + 1) * sizeof(*members));

	if (!members)
		return -1;
	*n_runs = 0;
	for (size_t i = 0; i < n; i++)
		run[i] = UINT32_MAX;
	for (int tagged = 1; tagged >= 0; tagged--) {
		for (size_t i = 0; i < n; i++) {
			if (!!requests[i].p4_pebs_enable != tagged)
				continue;
			run[i] = 0;
			while (!fits(info, requests, n, run, run[i], members))
				run[i]++;
			if (run[i] >= *n_runs)
				*n_runs = run[i] + 1;
		}
	}
	free(members);
	return 0;
}

int perfctr_requests_plan(const struct perfctr_pmu_info *info,
			  const struct perfctr_request *requests, size_t n, unsigned int pass[],
			  unsigned int *n_passes, char *error, size_t size)
{
	struct line line = { error, size }, none = { 0 };
	unsigned int *run, n_runs = 0;
	int status;

	for (size_t i = 0; i < n; i++)
		if (perfctr_request_is_impossible(info, &requests[i], &line))
			return -1;
	if (!n) {
		*n_passes = 0;
		return 0;
	}
	run = malloc(n * sizeof(*run));
	if (!run)
		return perfctr_line_refuse(&line, ENOMEM, "no memory to plan the runs");
	if (perfctr_requests_have_two_tags(requests, n, &none))
		status = plan_by_tags(info, requests, n, run, &n_runs);
	else
		status = plan_by_flow(info, requests, n, run, &n_runs);
	if (status < 0) {
		perfctr_line_refuse(&line, ENOMEM, "no memory to plan the runs");
	} else {
		memcpy(pass, run, n * sizeof(*run));
		*n_passes = n_runs;
	}
	free(run);
	return status;
}
