// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills one pass after the other with sets of events: first with those that share an event with the
 * pass.  A set is added only if the passes behind have room for all events that are left.  The
 * library plans the events for which no set is left.
 */
#include "together.h"
#include "../perfex.h"
#include "shares.h"

#include <stdlib.h>
#include <string.h>

/* Most requests in all plans that are tried: some 100 ms. */
enum { MOST_TRIED = 20000 };
#define OPEN UINT32_MAX

struct plan {
	const struct perfctr_pmu_info *info;
	const struct perfctr_request *request;
	size_t n;
	bool **set;	      /* says of each event whether it is in the set */
	size_t n_sets, first; /* first: where next_set() begins */
	bool *tried;	      /* of each set: in the pass that is filled */
	unsigned int *pass;   /* of each event; OPEN: none yet */
	size_t n_tried;	      /* requests */
};

/* Appends the set, for free(), if it has more than one event. */
static void append_set(struct plan *plan, bool *set)
{
	size_t members = 0;

	for (size_t i = 0; i < plan->n; i++)
		members += set[i];
	if (members < 2) {
		free(set);
		return;
	}
	plan->set = grow(plan->set, plan->n_sets, sizeof(*plan->set));
	plan->set[plan->n_sets++] = set;
}

static void append_rules(struct plan *plan, const struct rules *rules)
{
	struct rule_event *event = allocate(plan->n, sizeof(*event));
	bool **uses = allocate(rules_count(rules), sizeof(*uses));

	for (size_t i = 0; i < plan->n; i++)
		event[i].name = plan->request[i].name;
	for (size_t i = 0; i < rules_count(rules); i++)
		uses[i] = allocate(plan->n, sizeof(**uses));
	rules_uses(rules, event, plan->n, uses);
	for (size_t i = 0; i < rules_count(rules); i++)
		append_set(plan, uses[i]);
	free(uses);
	free(event);
}

static void append_share(struct plan *plan, const struct share *share)
{
	const struct perfctr_request *request = plan->request;

	for (size_t i = 0; i < plan->n; i++)
		for (size_t k = 0; is_named(&request[i], share->name) && k < plan->n; k++)
			if (is_named(&request[k], share->by) &&
			    request[k].modes == request[i].modes) {
				bool *set = allocate(plan->n, sizeof(*set));

				set[i] = set[k] = true;
				append_set(plan, set);
			}
}

/* Plans the events of this pass.  Each gets its own: first, or one behind it. */
static int plan_events(const struct plan *plan, unsigned int which, unsigned int first,
		       unsigned int pass[], unsigned int *n_passes)
{
	struct perfctr_request *request = allocate(plan->n, sizeof(*request));
	unsigned int *planned = allocate(plan->n, sizeof(*planned));
	char error[512];
	size_t n = 0;
	int status;

	for (size_t i = 0; i < plan->n; i++)
		if (plan->pass[i] == which)
			request[n++] = plan->request[i];
	status = perfctr_requests_plan(plan->info, request, n, planned, n_passes, error,
				       sizeof(error));
	n = 0;
	for (size_t i = 0; status == 0 && i < plan->n; i++)
		pass[i] = plan->pass[i] == which ? first + planned[n++] : plan->pass[i];
	free(planned);
	free(request);
	return status;
}

/* Do the events of this pass fit into so many passes? */
static bool fit_in(struct plan *plan, unsigned int which, unsigned int n_passes)
{
	unsigned int *pass = allocate(plan->n, sizeof(*pass)), needed = 0;
	bool good;

	for (size_t i = 0; i < plan->n; i++)
		plan->n_tried += plan->pass[i] == which;
	good = plan->n_tried < MOST_TRIED && plan_events(plan, which, 0, pass, &needed) == 0 &&
	       needed <= n_passes;
	free(pass);
	return good;
}

/* Could all events of the set still be in this pass? */
static bool is_open(const struct plan *plan, const bool set[], unsigned int pass)
{
	for (size_t i = 0; i < plan->n; i++)
		if (set[i] && plan->pass[i] != OPEN && plan->pass[i] != pass)
			return false;
	return true;
}

static bool is_needed(const struct plan *plan, size_t event)
{
	for (size_t i = 0; i < plan->n_sets; i++)
		if (plan->set[i][event] && is_open(plan, plan->set[i], OPEN))
			return true;
	return false;
}

/*
 * Adds open events to the pass until "behind" passes have room for the others: first events that no
 * open set has, then those of the last rules.
 */
static bool fill_up(struct plan *plan, unsigned int pass, unsigned int behind)
{
	for (int needed = 0; needed <= 1; needed++)
		for (size_t i = plan->n; i-- > 0;) {
			if (plan->pass[i] != OPEN || is_needed(plan, i) > needed)
				continue;
			if (fit_in(plan, OPEN, behind))
				return true;
			plan->pass[i] = pass;
			if (!fit_in(plan, pass, 1))
				plan->pass[i] = OPEN;
		}
	return fit_in(plan, OPEN, behind);
}

/* Adds the set to the pass, unless the pass or those behind it have no room then. */
static bool add_set(struct plan *plan, const bool set[], unsigned int pass, unsigned int behind)
{
	size_t size = plan->n * sizeof(*plan->pass);
	unsigned int *before = memcpy(allocate(plan->n, sizeof(*before)), plan->pass, size);
	unsigned int *after = allocate(plan->n, sizeof(*after));
	bool good;

	for (size_t i = 0; i < plan->n; i++)
		if (set[i])
			plan->pass[i] = pass;
	memcpy(after, plan->pass, size);
	good = fit_in(plan, pass, 1) && fill_up(plan, pass, behind);
	memcpy(plan->pass, good ? after : before, size);
	free(before);
	free(after);
	return good;
}

/*
 * Returns the set that adds the fewest events to the pass; n_sets: there is none.  alone: also a
 * set that shares no event with the pass.
 */
static size_t next_set(const struct plan *plan, unsigned int pass, bool alone)
{
	size_t best = plan->n_sets, fewest = SIZE_MAX;

	for (size_t i = 0; i < plan->n_sets; i++) {
		size_t which = (plan->first + i) % plan->n_sets, added = 0, shared = 0;
		const bool *set = plan->set[which];

		if (plan->tried[which] || !is_open(plan, set, pass))
			continue;
		for (size_t k = 0; k < plan->n; k++) {
			added += set[k] && plan->pass[k] == OPEN;
			shared += set[k] && plan->pass[k] == pass;
		}
		if (added && added < fewest && (shared || alone)) {
			best = which;
			fewest = added;
		}
	}
	return best;
}

/* Returns false if the pass can have no set; then its events are open. */
static bool fill_pass(struct plan *plan, unsigned int pass, unsigned int behind)
{
	bool begun = false;
	size_t next;

	memset(plan->tried, 0, plan->n_sets * sizeof(*plan->tried));
	do {
		next = next_set(plan, pass, !begun);
		if (next == plan->n_sets && begun && !fit_in(plan, OPEN, behind))
			next = next_set(plan, pass, true);
		if (next < plan->n_sets) {
			plan->tried[next] = true;
			begun |= add_set(plan, plan->set[next], pass, behind);
		}
	} while (next < plan->n_sets);
	if (begun && fill_up(plan, pass, behind))
		return true;
	for (size_t i = 0; i < plan->n; i++)
		if (plan->pass[i] == pass)
			plan->pass[i] = OPEN;
	return false;
}

static size_t sets_kept(const struct plan *plan, const unsigned int pass[])
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->n_sets; i++) {
		const bool *set = plan->set[i];
		size_t first = 0, k;

		while (!set[first])
			first++;
		for (k = first; k < plan->n && (!set[k] || pass[k] == pass[first]); k++)
			;
		kept += k == plan->n;
	}
	return kept;
}

/* Plans all events, from this set on.  Takes the plan if it keeps more sets. */
static void try_from(struct plan *plan, size_t set, unsigned int pass[], unsigned int *n_passes)
{
	unsigned int *better = allocate(plan->n, sizeof(*better)), filled = 0, left;

	for (size_t i = 0; i < plan->n; i++)
		plan->pass[i] = OPEN;
	plan->first = set;
	while (filled + 1 < *n_passes && fill_pass(plan, filled, *n_passes - filled - 1))
		filled++;
	if (plan_events(plan, OPEN, filled, better, &left) == 0 && filled + left <= *n_passes &&
	    sets_kept(plan, better) > sets_kept(plan, pass)) {
		memcpy(pass, better, plan->n * sizeof(*pass));
		*n_passes = filled + left;
	}
	free(better);
}

int together_plan(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
		  size_t n, const struct rules *rules, unsigned int pass[], unsigned int *n_passes,
		  char *error, size_t size)
{
	struct plan plan = { .info = info, .request = requests, .n = n };

	if (perfctr_requests_plan(info, requests, n, pass, n_passes, error, size) < 0)
		return -1;
	if (rules)
		append_rules(&plan, rules);
	for (size_t i = 0; i < N_SHARES; i++)
		append_share(&plan, &text_shares[i]);
	plan.tried = allocate(plan.n_sets, sizeof(*plan.tried));
	plan.pass = allocate(n, sizeof(*plan.pass));
	for (size_t i = 0;
	     i < plan.n_sets && plan.n_tried < MOST_TRIED && sets_kept(&plan, pass) < plan.n_sets;
	     i++)
		try_from(&plan, i, pass, n_passes);
	for (size_t i = 0; i < plan.n_sets; i++)
		free(plan.set[i]);
	free(plan.set);
	free(plan.tried);
	free(plan.pass);
	return 0;
}
