/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places for requests: each needs a route and a counter behind it.  On NetBurst the routes are the
 * ESCRs; elsewhere each counter has one of its own.  In one pass every route and every counter
 * serves one request.
 */
#ifndef PERFCTR_SCHEDULE_H
#define PERFCTR_SCHEDULE_H

#include "../line.h"
#include "../pmu/machine.h"

#define MAX_PLACES 128 /* counters, general ones before fixed ones; or routes */

struct place {
	int route; /* -1: none yet */
	int counter;
};

/* The RDPMC index of a counter, and back. */
uint32_t perfctr_place_index(const struct perfctr_pmu_info *info, int counter);
int perfctr_place_counter(const struct perfctr_pmu_info *info, uint32_t index);

/* Does a session, or for a session somebody else, have the counter? */
bool perfctr_place_is_taken(const struct perfctr_pmu_info *info, int counter);

/* Appends " 0, 1, 0x40000000" */
void perfctr_line_add_counters(const struct line *line, const struct perfctr_pmu_info *info,
			       const bool used[]);

/* Who has counters of info->session_counters, in the plural. */
const char *perfctr_takers(const struct perfctr_pmu_info *info);

/* The machine as it would be without them. */
struct perfctr_pmu_info perfctr_without_takers(const struct perfctr_pmu_info *info);

/* How many counters info's machine has: they are 0 .. n - 1. */
int perfctr_place_counters(const struct perfctr_pmu_info *info);

/* The route by which a request gets to a counter; -1: it cannot. */
int perfctr_place_route(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
			int counter);

/*
 * Finds a place for each request, when every route and every counter can be used passes times.
 * Requests whose counter is demanded keep it, and those for which fixed[] has a place (it may be
 * NULL) keep that.  0, or -1 with errno ENOSPC (there is no way) or ENOMEM.
 */
int perfctr_places_find(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int passes, const struct place fixed[],
			struct place found[]);

/*
 * Deals out places that were found for some number of passes, so that no pass uses a route or a
 * counter twice: pass[i] is that of request i.  -1: ENOMEM.
 */
int perfctr_places_deal(const struct place found[], size_t n, unsigned int passes,
			unsigned int pass[]);

/* NetBurst's replay tags are for a whole pass: two conflict.  True: errno ENOSPC and a line. */
bool perfctr_requests_have_two_tags(const struct perfctr_request *requests, size_t n,
				    const struct line *line);

#endif
