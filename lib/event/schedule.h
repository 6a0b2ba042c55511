/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds places for requests.  A place is a route and a counter to which the route leads.  On
 * NetBurst the routes are the ESCRs.  Elsewhere each counter has its own route.  In one pass each
 * route and each counter serves at most one request.
 */
#ifndef PERFCTR_SCHEDULE_H
#define PERFCTR_SCHEDULE_H

#include "../line.h"
#include "../pmu/machine.h"

#define MAX_PLACES 128 /* of counters (general ones first), and of routes */

struct place {
	int route; /* -1: none yet */
	int counter;
};

/* Convert the number of a counter to its RDPMC index, and back (-1: there is no such counter). */
uint32_t perfctr_place_index(const struct perfctr_pmu_info *info, int counter);
int perfctr_place_counter(const struct perfctr_pmu_info *info, uint32_t index);

/*
 * Does somebody else have the counter: a session or, for the caller that asks for a session, a
 * context?
 */
bool perfctr_place_is_taken(const struct perfctr_pmu_info *info, int counter);

/* Appends the indices of the used counters: " 0, 1, 0x40000000". */
void perfctr_line_add_counters(const struct line *line, const struct perfctr_pmu_info *info,
			       const bool used[]);

/* Names the users that have counters of info->session_counters: "threads", "sessions", or both. */
const char *perfctr_takers(const struct perfctr_pmu_info *info);

/* Returns info as if nobody else had counters. */
struct perfctr_pmu_info perfctr_without_takers(const struct perfctr_pmu_info *info);

/* Returns the number n of counters of info's machine.  The counters are numbered 0 .. n - 1. */
int perfctr_place_counters(const struct perfctr_pmu_info *info);

/* Returns the route by which the request reaches the counter; -1: there is none. */
int perfctr_place_route(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
			int counter);

/*
 * Finds a place for each request, where each route and each counter can be used passes times.  A
 * request that demands a counter gets that counter.  A request with a place in fixed[] keeps that
 * place; fixed may be NULL.  Returns 0, or -1 with errno ENOSPC (the requests do not fit) or
 * ENOMEM.
 */
int perfctr_places_find(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int passes, const struct place fixed[],
			struct place found[]);

/*
 * Distributes the places that perfctr_places_find() has found for this number of passes.  No pass
 * uses a route or a counter twice.  Stores the pass of request i in pass[i].  -1: ENOMEM.
 */
int perfctr_places_deal(const struct place found[], size_t n, unsigned int passes,
			unsigned int pass[]);

/*
 * Do the requests have two different replay tags of NetBurst?  These conflict, as a tag applies to
 * a whole pass.  True: errno ENOSPC and a line.
 */
bool perfctr_requests_have_two_tags(const struct perfctr_request *requests, size_t n,
				    const struct line *line);

#endif
