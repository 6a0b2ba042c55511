// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Scheduling is a maximum flow from requests through routes to counters.  The capacity of each
 * route and of each counter is the number of passes.  The flow is a bipartite graph of routes and
 * counters, in which no node has more edges than there are passes.  By König's theorem the edges of
 * such a graph can be coloured with that many colours.  Each colour is a pass.
 */
#include "schedule.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t n_general(const struct perfctr_pmu_info *info)
{
	return perfctr_machine_most_general(info);
}

static uint32_t n_fixed(const struct perfctr_pmu_info *info)
{
	return perfctr_machine_most_fixed(info);
}

int perfctr_place_counters(const struct perfctr_pmu_info *info)
{
	uint32_t n = n_general(info) + n_fixed(info);

	return n < MAX_PLACES ? (int)n : MAX_PLACES;
}

uint32_t perfctr_place_index(const struct perfctr_pmu_info *info, int counter)
{
	uint32_t i = (uint32_t)counter;

	return i < n_general(info) ? i : PERFCTR_FIXED + i - n_general(info);
}

int perfctr_place_counter(const struct perfctr_pmu_info *info, uint32_t index)
{
	uint32_t i = index & ~PERFCTR_FAST;

	if (i >= PERFCTR_FIXED)
		i = i - PERFCTR_FIXED < n_fixed(info) ? i - PERFCTR_FIXED + n_general(info)
						      : MAX_PLACES;
	else if (i >= n_general(info))
		i = MAX_PLACES;
	return (int)i < perfctr_place_counters(info) ? (int)i : -1;
}

/* A taken counter is used only for a request that names it. */
bool perfctr_place_is_taken(const struct perfctr_pmu_info *info, int counter)
{
	uint32_t i = (uint32_t)counter;
	uint32_t bit = i < n_general(info) ? i : PERFCTR_FIXED_BIT + i - n_general(info);

	return info->session_counters >> bit & 1;
}

struct perfctr_pmu_info perfctr_without_takers(const struct perfctr_pmu_info *info)
{
	struct perfctr_pmu_info all = *info;

	all.session_counters = 0;
	return all;
}

const char *perfctr_takers(const struct perfctr_pmu_info *info)
{
	/* For a session, the caller has added the counters of contexts to session_counters. */
	uint64_t contexts = info->session_counters & info->context_counters;

	if (!contexts)
		return "sessions";
	return contexts == info->session_counters ? "threads" : "threads and sessions";
}

void perfctr_line_add_counters(const struct line *line, const struct perfctr_pmu_info *info,
			       const bool used[])
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

static bool can_count(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
		      int counter)
{
	uint32_t i = (uint32_t)counter;

	if (request->counter != PERFCTR_ANY)
		return perfctr_place_counter(info, request->counter) == counter;
	if (perfctr_place_is_taken(info, counter))
		return false;
	if (i < n_general(info))
		return request->general >> i & 1;
	return request->fixed >> (i - n_general(info)) & 1;
}

int perfctr_place_route(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
			int counter)
{
	const struct routes *routes = perfctr_machine_routes(info);
	int route;

	if (!can_count(info, request, counter))
		return -1;
	if (!routes)
		return counter;
	route = perfctr_route_to(routes, request->evntsel, (unsigned int)counter);
	/*
	 * The flow may lead on from the route to any of its counters that is not taken.  So the
	 * request must be able to use all of them.
	 */
	if (route >= 0 && request->counter == PERFCTR_ANY &&
	    routes->route[route].counters & ~request->general)
		return -1;
	return route;
}

/* A directed edge.  The reverse of edge e is edge e ^ 1. */
struct edge {
	int to;
	int next;	       /* next edge from the same node; -1: none */
	unsigned int capacity; /* capacity left */
};

/* Nodes: source, sink, then requests, routes (in and out), counters. */
enum { SOURCE, SINK, FIRST_REQUEST };

struct flow {
	size_t n_requests;
	int n_nodes, n_edges;
	struct edge *edge;
	int *first; /* first edge from a node; -1: none */
	int *by;    /* the edge by which the path reaches a node */
	int *queue;
};

static int request_node(size_t i)
{
	return FIRST_REQUEST + (int)i;
}

static int route_in(const struct flow *flow, int route)
{
	return FIRST_REQUEST + (int)flow->n_requests + 2 * route;
}

static int route_out(const struct flow *flow, int route)
{
	return route_in(flow, route) + 1;
}

static int counter_node(const struct flow *flow, int counter)
{
	return FIRST_REQUEST + (int)flow->n_requests + 2 * MAX_PLACES + counter;
}

/*
 * Returns an upper bound of the number of edges.  Each request has an edge from the source, and at
 * most one to each route.  Each route has one from its in node to its out node, and one to each of
 * its counters.  Each counter has one to the sink.
 */
static size_t most_edges(const struct perfctr_pmu_info *info, size_t n_requests)
{
	const struct routes *routes = perfctr_machine_routes(info);
	size_t n_counters = (size_t)perfctr_place_counters(info);
	size_t n_routes = routes ? (size_t)routes->n : n_counters, led_to = n_counters;

	if (routes) {
		led_to = 0;
		for (size_t i = 0; i < n_routes; i++)
			led_to += (size_t)__builtin_popcount(routes->route[i].counters);
	}
	return n_requests * (n_routes + 1) + n_routes + led_to + n_counters;
}

static bool flow_begin(struct flow *flow, const struct perfctr_pmu_info *info, size_t n_requests)
{
	size_t edges = most_edges(info, n_requests);
	size_t nodes = FIRST_REQUEST + n_requests + 3 * MAX_PLACES;

	*flow = (struct flow){ .n_requests = n_requests, .n_nodes = (int)nodes };
	flow->edge = reallocarray(NULL, 2 * edges, sizeof(*flow->edge));
	flow->first = calloc(nodes, sizeof(*flow->first));
	flow->by = calloc(nodes, sizeof(*flow->by));
	flow->queue = calloc(nodes, sizeof(*flow->queue));
	if (!flow->edge || !flow->first || !flow->by || !flow->queue)
		return false;
	for (size_t i = 0; i < nodes; i++)
		flow->first[i] = -1;
	return true;
}

static void flow_end(struct flow *flow)
{
	free(flow->edge);
	free(flow->first);
	free(flow->by);
	free(flow->queue);
}

static void add_half(struct flow *flow, int from, int to, unsigned int capacity)
{
	flow->edge[flow->n_edges] = (struct edge){ to, flow->first[from], capacity };
	flow->first[from] = flow->n_edges++;
}

static void add_edge(struct flow *flow, int from, int to, unsigned int capacity)
{
	add_half(flow, from, to, capacity);
	add_half(flow, to, from, 0);
}

/* Finds a shortest path with capacity left from source to sink.  flow->by describes the path. */
static bool find_path(struct flow *flow)
{
	int head = 0, tail = 0;

	for (int i = 0; i < flow->n_nodes; i++)
		flow->by[i] = -1;
	flow->queue[tail++] = SOURCE;
	while (head < tail) {
		int node = flow->queue[head++];

		for (int e = flow->first[node]; e >= 0; e = flow->edge[e].next) {
			int to = flow->edge[e].to;

			if (!flow->edge[e].capacity || to == SOURCE || flow->by[to] >= 0)
				continue;
			flow->by[to] = e;
			if (to == SINK)
				return true;
			flow->queue[tail++] = to;
		}
	}
	return false;
}

static void push_flow(struct flow *flow)
{
	for (int node = SINK; node != SOURCE; node = flow->edge[flow->by[node] ^ 1].to) {
		flow->edge[flow->by[node]].capacity--;
		flow->edge[flow->by[node] ^ 1].capacity++;
	}
}

/* The flow through an edge is the capacity that its reverse has gained. */
static unsigned int has_flow(const struct flow *flow, int e)
{
	return flow->edge[e ^ 1].capacity;
}

struct search {
	const struct perfctr_pmu_info *info;
	const struct perfctr_request *requests;
	size_t n;
	unsigned int route_left[MAX_PLACES], counter_left[MAX_PLACES];
	struct place *found;
};

/*
 * Takes the places that leave no choice: those in fixed[], and those of requests that demand a
 * counter.
 */
static int take_given(struct search *search, const struct place fixed[])
{
	for (size_t i = 0; i < search->n; i++) {
		struct place *place = &search->found[i];

		*place = (struct place){ -1, -1 };
		if (fixed && fixed[i].route >= 0) {
			*place = fixed[i];
		} else if (search->requests[i].counter != PERFCTR_ANY) {
			place->counter =
				perfctr_place_counter(search->info, search->requests[i].counter);
			if (place->counter < 0)
				return -1;
			place->route = perfctr_place_route(search->info, &search->requests[i],
							   place->counter);
			if (place->route < 0)
				return -1;
		}
		if (place->route < 0)
			continue;
		if (!search->route_left[place->route]-- || !search->counter_left[place->counter]--)
			return -1;
	}
	return 0;
}

static size_t add_requests(struct flow *flow, const struct search *search)
{
	size_t wanted = 0;

	for (size_t i = 0; i < search->n; i++) {
		bool seen[MAX_PLACES] = { false };

		if (search->found[i].route >= 0)
			continue;
		wanted++;
		add_edge(flow, SOURCE, request_node(i), 1);
		for (int counter = perfctr_place_counters(search->info); counter--;) {
			int route =
				perfctr_place_route(search->info, &search->requests[i], counter);

			if (route < 0 || seen[route])
				continue;
			seen[route] = true;
			add_edge(flow, request_node(i), route_in(flow, route), 1);
		}
	}
	return wanted;
}

static void add_routes(struct flow *flow, const struct search *search)
{
	int n = perfctr_place_counters(search->info);
	const struct routes *routes = perfctr_machine_routes(search->info);
	int n_routes = routes ? routes->n : n;

	for (int route = 0; route < n_routes; route++) {
		unsigned int left = search->route_left[route];

		add_edge(flow, route_in(flow, route), route_out(flow, route), left);
		for (int counter = n; counter--;)
			if (routes ? routes->route[route].counters >> counter & 1
				   : route == counter)
				add_edge(flow, route_out(flow, route), counter_node(flow, counter),
					 left);
	}
	for (int counter = 0; counter < n; counter++)
		if (!perfctr_place_is_taken(search->info, counter))
			add_edge(flow, counter_node(flow, counter), SINK,
				 search->counter_left[counter]);
}

/* Returns a counter to which the route has flow left, and takes one unit of that flow. */
static int take_counter(struct flow *flow, int route)
{
	for (int e = flow->first[route_out(flow, route)]; e >= 0; e = flow->edge[e].next) {
		int counter = flow->edge[e].to - counter_node(flow, 0);

		if (counter < 0 || !has_flow(flow, e))
			continue;
		flow->edge[e ^ 1].capacity--;
		return counter;
	}
	return -1;
}

static void take_places(struct flow *flow, struct search *search)
{
	for (size_t i = 0; i < search->n; i++) {
		int e;

		if (search->found[i].route >= 0)
			continue;
		for (e = flow->first[request_node(i)]; e >= 0; e = flow->edge[e].next)
			if (flow->edge[e].to != SOURCE && has_flow(flow, e))
				break;
		search->found[i].route = (flow->edge[e].to - route_in(flow, 0)) / 2;
		search->found[i].counter = take_counter(flow, search->found[i].route);
	}
}

int perfctr_places_find(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, unsigned int passes, const struct place fixed[],
			struct place found[])
{
	struct search search = { .info = info, .requests = requests, .n = n, .found = found };
	struct flow flow;
	size_t wanted;

	for (int i = 0; i < MAX_PLACES; i++)
		search.route_left[i] = search.counter_left[i] = passes;
	if (take_given(&search, fixed) < 0) {
		errno = ENOSPC;
		return -1;
	}
	if (!flow_begin(&flow, info, n)) {
		flow_end(&flow);
		errno = ENOMEM;
		return -1;
	}
	wanted = add_requests(&flow, &search);
	add_routes(&flow, &search);
	for (; wanted && find_path(&flow); wanted--)
		push_flow(&flow);
	if (!wanted)
		take_places(&flow, &search);
	flow_end(&flow);
	if (wanted)
		errno = ENOSPC;
	return wanted ? -1 : 0;
}

/*
 * request_at[side][node * passes + pass]: the request that uses the node in that pass; -1: none.
 * The nodes of side 0 are routes, those of side 1 counters.
 */
struct deal {
	const struct place *found;
	unsigned int passes;
	int *request_at[2];
	unsigned int *pass;
};

static int node_of(const struct deal *deal, int side, int request)
{
	return side ? deal->found[request].counter : deal->found[request].route;
}

static int *edge_at(const struct deal *deal, int side, int node, unsigned int pass)
{
	return &deal->request_at[side][(size_t)node * deal->passes + pass];
}

static unsigned int free_pass(const struct deal *deal, int side, int node)
{
	unsigned int pass = 0;

	while (*edge_at(deal, side, node, pass) >= 0)
		pass++;
	return pass;
}

/*
 * Frees the counter in pass from.  The counter is free in pass to.  A path of requests, which are
 * in pass from and in pass to by turns, begins at the counter.  Each request of the path moves to
 * the other pass.
 */
static void swap_passes(const struct deal *deal, int counter, unsigned int from, unsigned int to)
{
	int request = *edge_at(deal, 1, counter, from);
	int side = 1;

	*edge_at(deal, 1, counter, from) = -1;
	while (request >= 0) {
		int near = node_of(deal, side, request), far = node_of(deal, !side, request);
		int displaced = *edge_at(deal, !side, far, to);
		unsigned int other = from;

		*edge_at(deal, !side, far, from) = -1;
		*edge_at(deal, side, near, to) = request;
		*edge_at(deal, !side, far, to) = request;
		deal->pass[request] = to;
		request = displaced;
		side = !side;
		from = to;
		to = other;
	}
}

static void deal_one(const struct deal *deal, int request)
{
	int route = node_of(deal, 0, request), counter = node_of(deal, 1, request);
	unsigned int a = free_pass(deal, 0, route), b = free_pass(deal, 1, counter);

	if (a != b && *edge_at(deal, 1, counter, a) >= 0)
		swap_passes(deal, counter, a, b);
	deal->pass[request] = a;
	*edge_at(deal, 0, route, a) = request;
	*edge_at(deal, 1, counter, a) = request;
}

int perfctr_places_deal(const struct place found[], size_t n, unsigned int passes,
			unsigned int pass[])
{
	size_t size = (size_t)MAX_PLACES * passes;
	int *slots = malloc(2 * size * sizeof(*slots));
	struct deal deal = {
		.found = found,
		.passes = passes,
		.request_at = { slots, slots ? slots + size : NULL },
		.pass = pass,
	};

	if (!slots) {
		errno = ENOMEM;
		return -1;
	}
	for (size_t i = 0; i < 2 * size; i++)
		slots[i] = -1;
	for (size_t i = 0; i < n; i++)
		deal_one(&deal, (int)i);
	free(slots);
	return 0;
}

static bool has_tag(const struct perfctr_request *request)
{
	return request->p4_pebs_enable || request->p4_pebs_matrix_vert;
}

static bool same_tag(const struct perfctr_request *a, const struct perfctr_request *b)
{
	return a->p4_pebs_enable == b->p4_pebs_enable &&
	       a->p4_pebs_matrix_vert == b->p4_pebs_matrix_vert;
}

bool perfctr_requests_have_two_tags(const struct perfctr_request *requests, size_t n,
				    const struct line *line)
{
	const struct perfctr_request *tagged = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!has_tag(&requests[i]))
			continue;
		if (tagged && !same_tag(tagged, &requests[i])) {
			perfctr_line_refuse(
				line, ENOSPC,
				"events '%s' and '%s' conflict over IA32_PEBS_ENABLE and "
				"MSR_PEBS_MATRIX_VERT, which tag replays for a whole pass; count "
				"them in 2 passes",
				tagged->name, requests[i].name);
			return true;
		}
		tagged = &requests[i];
	}
	return false;
}
