// SPDX-License-Identifier: LGPL-2.1-or-later
/* Assigns a counter to each request. */
#include <errno.h>

#include "../internal.h"
#include "conflict.h"
#include "feasible.h"
#include "schedule.h"

/*
 * Gives the first request the first counter that leaves places for all other requests, then the
 * second request, and so on.
 */
static int choose_places(const struct perfctr_pmu_info *info,
			 const struct perfctr_request *requests, size_t n, struct place place[])
{
	struct place found[PERFCTR_MAX_COUNTERS];

	for (size_t i = 0; i < n; i++)
		place[i] = (struct place){ -1, -1 };
	for (size_t i = 0; i < n; i++) {
		for (int counter = 0; counter < perfctr_place_counters(info); counter++) {
			int route = perfctr_place_route(info, &requests[i], counter);

			if (route < 0)
				continue;
			place[i] = (struct place){ route, counter };
			if (perfctr_places_find(info, requests, n, 1, place, found) == 0)
				break;
			if (errno == ENOMEM)
				return -1;
			place[i] = (struct place){ -1, -1 };
		}
		if (place[i].route < 0) {
			errno = ENOSPC;
			return -1;
		}
	}
	return 0;
}

static void fill_in(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
		    const struct place *place, struct perfctr_control *control)
{
	uint32_t counter = perfctr_place_index(info, place->counter);
	uint64_t evntsel = request->evntsel;

	if (request->counter != PERFCTR_ANY)
		counter = request->counter;
	else if (counter >= PERFCTR_FIXED)
		evntsel &= info->fixed_allowed;
	else if (counter == 0)
		evntsel |= perfctr_machine_enable_first(info);
	perfctr_control_add(control, counter, evntsel, request->evntsel2);
	control->event[control->n_events - 1].kinds = request->kinds;
	control->p4_pebs_enable |= request->p4_pebs_enable;
	control->p4_pebs_matrix_vert |= request->p4_pebs_matrix_vert;
}

static int explain_refusal(const struct perfctr_pmu_info *info,
			   const struct perfctr_request *hardware, size_t n,
			   const struct line *line)
{
	if (errno == ENOMEM)
		return perfctr_line_refuse(line, ENOMEM, "no memory to assign the counters");
	for (size_t i = 0; i < n; i++)
		if (perfctr_request_is_impossible(info, &hardware[i], line))
			return -1;
	if (perfctr_requests_have_two_tags(hardware, n, line))
		return -1;
	return perfctr_explain_conflict(info, hardware, n, line);
}

int perfctr_requests_assign(const struct perfctr_pmu_info *info,
			    const struct perfctr_request *requests, size_t n,
			    struct perfctr_control *control, char *error, size_t size)
{
	struct line line = { error, size };
	struct perfctr_request hardware[PERFCTR_MAX_COUNTERS] = { 0 };
	struct place place[PERFCTR_MAX_COUNTERS];
	struct perfctr_control assigned;
	size_t n_hardware = 0, next = 0;

	if (n > PERFCTR_MAX_COUNTERS)
		return perfctr_line_refuse(&line, ENOSPC,
					   "%zu events do not fit; one pass counts at most %d", n,
					   PERFCTR_MAX_COUNTERS);
	for (size_t i = 0; i < n; i++)
		if (!perfctr_is_software(requests[i].counter))
			hardware[n_hardware++] = requests[i];
	if (choose_places(info, hardware, n_hardware, place) < 0)
		return explain_refusal(info, hardware, n_hardware, &line);
	if (perfctr_requests_have_two_tags(hardware, n_hardware, &line))
		return -1;
	perfctr_control_init(&assigned);
	for (size_t i = 0; i < n; i++)
		if (perfctr_is_software(requests[i].counter))
			perfctr_control_add(&assigned, requests[i].counter, requests[i].evntsel, 0);
		else
			fill_in(info, &requests[i], &place[next++], &assigned);
	*control = assigned;
	return 0;
}
