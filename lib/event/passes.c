// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans passes for more requests than fit at once. */
#include <errno.h>
#include <stdlib.h>

#include "../internal.h"
#include "feasible.h"
#include "schedule.h"

/* Finds the smallest number of passes in which each route and each counter is used at most once. */
static int plan_by_flow(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int pass[], unsigned int *n_passes)
{
	struct place *found = malloc(n * sizeof(*found));
	unsigned int low = 1, high = (unsigned int)n;
	int status = found ? 0 : -1;

	/* n passes are always enough: each request then has its own. */
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
		status = perfctr_places_deal(found, n, high, pass);
	if (!status)
		*n_passes = high;
	free(found);
	return status;
}

static bool fits_pass(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
		      size_t n, const unsigned int pass[], unsigned int which,
		      struct perfctr_request members[])
{
	struct place found[PERFCTR_MAX_COUNTERS + 1];
	struct line none = { 0 };
	size_t n_members = 0;

	for (size_t i = 0; i < n; i++)
		if (pass[i] == which && n_members <= PERFCTR_MAX_COUNTERS)
			members[n_members++] = requests[i];
	return n_members <= PERFCTR_MAX_COUNTERS &&
	       !perfctr_requests_have_two_tags(members, n_members, &none) &&
	       perfctr_places_find(info, members, n_members, 1, NULL, found) == 0;
}

/*
 * Plans passes for requests with different tags of NetBurst replays, which cannot share a pass.
 * Each request goes to the first pass that has room for it.  Tagged requests go first, because the
 * others can fill any pass.
 */
static int plan_by_tags(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int pass[], unsigned int *n_passes)
{
	struct perfctr_request *members = malloc((PERFCTR_MAX_COUNTERS + 1) * sizeof(*members));

	if (!members)
		return -1;
	*n_passes = 0;
	for (size_t i = 0; i < n; i++)
		pass[i] = UINT32_MAX;
	for (int tagged = 1; tagged >= 0; tagged--) {
		for (size_t i = 0; i < n; i++) {
			if (!!requests[i].p4_pebs_enable != tagged)
				continue;
			pass[i] = 0;
			while (!fits_pass(info, requests, n, pass, pass[i], members))
				pass[i]++;
			if (pass[i] >= *n_passes)
				*n_passes = pass[i] + 1;
		}
	}
	free(members);
	return 0;
}

static int plan_hardware(const struct perfctr_pmu_info *info,
			 const struct perfctr_request *requests, size_t n, unsigned int pass[],
			 unsigned int *n_passes)
{
	struct line none = { 0 };

	*n_passes = 0;
	if (!n)
		return 0;
	if (perfctr_requests_have_two_tags(requests, n, &none))
		return plan_by_tags(info, requests, n, pass, n_passes);
	return plan_by_flow(info, requests, n, pass, n_passes);
}

static size_t count_members(const unsigned int pass[], size_t n, unsigned int which)
{
	size_t members = 0;

	for (size_t i = 0; i < n; i++)
		members += pass[i] == which;
	return members;
}

/*
 * Hardware events keep their passes.  Each software event goes to the first pass with room in its
 * control.
 */
static void deal_out(const struct perfctr_request *requests, size_t n,
		     const unsigned int hardware_pass[], unsigned int pass[],
		     unsigned int *n_passes)
{
	size_t next = 0;

	for (size_t i = 0; i < n; i++)
		pass[i] = perfctr_is_software(requests[i].counter) ? UINT32_MAX
								   : hardware_pass[next++];
	for (size_t i = 0; i < n; i++) {
		unsigned int which = 0;

		if (pass[i] != UINT32_MAX)
			continue;
		while (count_members(pass, n, which) >= PERFCTR_MAX_COUNTERS)
			which++;
		pass[i] = which;
		if (which >= *n_passes)
			*n_passes = which + 1;
	}
}

int perfctr_requests_plan(const struct perfctr_pmu_info *info,
			  const struct perfctr_request *requests, size_t n, unsigned int pass[],
			  unsigned int *n_passes, char *error, size_t size)
{
	struct perfctr_request *hardware = malloc((n + 1) * sizeof(*hardware));
	unsigned int *hardware_pass = malloc((n + 1) * sizeof(*hardware_pass)), n_hardware_passes;
	struct line line = { error, size };
	size_t n_hardware = 0;
	int status = hardware && hardware_pass ? 0 : -1;

	for (size_t i = 0; !status && i < n; i++)
		if (!perfctr_is_software(requests[i].counter))
			hardware[n_hardware++] = requests[i];
	for (size_t i = 0; i < n_hardware; i++)
		if (perfctr_request_is_impossible(info, &hardware[i], &line)) {
			status = -1;
			goto free;
		}
	if (!status)
		status = plan_hardware(info, hardware, n_hardware, hardware_pass,
				       &n_hardware_passes);
	if (status < 0) {
		perfctr_line_refuse(&line, ENOMEM, "no memory to plan the passes");
	} else {
		*n_passes = n_hardware_passes;
		deal_out(requests, n, hardware_pass, pass, n_passes);
	}
free:
	free(hardware);
	free(hardware_pass);
	return status;
}
