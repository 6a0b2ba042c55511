// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The assignment of requests to counters and to runs is compared with trying everything, on random sets of requests,
 * the same each time.  The machines are so small that everything can be tried.
 */
#include "machines.h"
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SET 7

static struct perfctr_request any_of(uint64_t general, uint64_t fixed)
{
	return (struct perfctr_request){
		.name = "event",
		.counter = PERFCTR_ANY,
		.evntsel = 0x4100c0,
		.general = general,
		.fixed = fixed,
	};
}

static uint32_t rdpmc_index(const struct perfctr_pmu_info *info, unsigned int place)
{
	return place < info->n_general ? place : PERFCTR_FIXED + place - info->n_general;
}

/*
 * The routes of NetBurst, written down a second time: for each block of two or three counters, the MSR of the ESCR that
 * each ESCR select chooses.  From SDM volume 3, the table of counters, CCCRs and ESCRs.
 */
static const struct {
	uint32_t counters;
	uint16_t escr[8];
} blocks[] = {
	{ 0x00003, { 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0 } },
	{ 0x0000c, { 0x3b3, 0x3b5, 0x3ab, 0x3b7, 0x3ad, 0x3c9, 0x3a3, 0x3a1 } },
	{ 0x00030, { 0x3c0, 0x3c4, 0x3c2 } },
	{ 0x000c0, { 0x3c1, 0x3c5, 0x3c3 } },
	{ 0x00300, { 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8 } },
	{ 0x00c00, { 0x3a7, 0x3a5, 0x3af, 0x3b1, 0, 0x3a9 } },
	{ 0x13000, { 0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0 } },
	{ 0x2c000, { 0x3bb, 0x3cb, 0x3bd, 0, 0x3b9, 0x3cd, 0x3e1 } },
};

/* Returns the MSR of the ESCR, or 0 if no ESCR leads the event to this counter. */
static unsigned int escr_of(const struct perfctr_request *request, unsigned int counter)
{
	unsigned int select = request->evntsel >> 13 & 7;

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (blocks[i].counters >> counter & 1)
			return blocks[i].escr[select];
	return 0;
}

static bool can_count(const struct perfctr_pmu_info *info, const struct perfctr_request *request,
		      unsigned int place)
{
	if (request->counter != PERFCTR_ANY && request->counter != rdpmc_index(info, place))
		return false;
	if (info->pmu == PERFCTR_PMU_P4 && !escr_of(request, place))
		return false;
	if (request->counter != PERFCTR_ANY)
		return true;
	if (place < info->n_general && info->session_counters >> place & 1)
		return false;
	if (place < info->n_general)
		return request->general >> place & 1;
	return request->fixed >> (place - info->n_general) & 1;
}

struct set {
	const struct perfctr_pmu_info *info;
	const struct perfctr_request *requests;
	size_t n;
	unsigned int place[MAX_SET];
};

static bool conflicts(const struct set *set, size_t i, size_t j)
{
	if (set->place[i] == set->place[j])
		return true;
	return set->info->pmu == PERFCTR_PMU_P4 &&
	       escr_of(&set->requests[i], set->place[i]) ==
		       escr_of(&set->requests[j], set->place[j]);
}

/*
 * Finds the first assignment in the order of places, request by request, from number i on.  Returns false if there is
 * none.
 */
static bool try_all(struct set *set, size_t i)
{
	unsigned int n = set->info->n_general + set->info->n_fixed;

	if (i == set->n)
		return true;
	for (set->place[i] = 0; set->place[i] < n; set->place[i]++) {
		bool good = can_count(set->info, &set->requests[i], set->place[i]);

		for (size_t j = 0; good && j < i; j++)
			good = !conflicts(set, i, j);
		if (good && try_all(set, i + 1))
			return true;
	}
	return false;
}

/* Returns true if these requests fit in one run.  members: a bit for each request. */
static bool subset_fits(const struct set *all, unsigned int members)
{
	struct perfctr_request requests[MAX_SET];
	struct set set = { .info = all->info, .requests = requests };

	for (size_t i = 0; i < all->n; i++)
		if (members >> i & 1)
			requests[set.n++] = all->requests[i];
	return try_all(&set, 0);
}

/* Returns the smallest number of subsets that fit, by trying all divisions. */
static unsigned int smallest_plan(const struct set *set)
{
	unsigned int best[1u << MAX_SET];
	bool fits[1u << MAX_SET];
	unsigned int all = (1u << set->n) - 1;

	best[0] = 0;
	for (unsigned int members = 1; members <= all; members++) {
		fits[members] = subset_fits(set, members);
		best[members] = UINT32_MAX;
		for (unsigned int run = members; run; run = (run - 1) & members)
			if (fits[run] && best[members & ~run] + 1 < best[members] &&
			    best[members & ~run] != UINT32_MAX)
				best[members] = best[members & ~run] + 1;
	}
	return best[all];
}

/*
 * Looks for the first request that no counter can count.  Returns EBUSY if a counter could without sessions, else
 * EINVAL, or 0 if there is no such request.
 */
static int impossible_error(const struct set *set)
{
	struct perfctr_pmu_info alone = *set->info;
	struct set without = *set;

	alone.session_counters = 0;
	without.info = &alone;
	for (size_t i = 0; i < set->n; i++)
		if (!subset_fits(set, 1u << i))
			return subset_fits(&without, 1u << i) ? EBUSY : EINVAL;
	return 0;
}

static void check_set(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
		      size_t n)
{
	struct set set = { .info = info, .requests = requests, .n = n };
	struct perfctr_control control;
	unsigned int run[MAX_SET], n_runs = 0;
	char error[2048] = "";
	bool fits = try_all(&set, 0);
	int impossible = impossible_error(&set), status;

	errno = 0;
	status = perfctr_requests_assign(info, requests, n, &control, error, sizeof(error));
	ck_assert_msg((status == 0) == fits, "%s", error);
	if (fits)
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(control.event[i].counter,
					  rdpmc_index(info, set.place[i]));
	else
		ck_assert_int_eq(errno, impossible ? impossible : ENOSPC);

	status = perfctr_requests_plan(info, requests, n, run, &n_runs, error, sizeof(error));
	ck_assert_int_eq(status, impossible ? -1 : 0);
	if (impossible)
		return;
	ck_assert_uint_eq(n_runs, smallest_plan(&set));
	for (unsigned int r = 0; r < n_runs; r++) {
		unsigned int members = 0;

		for (size_t i = 0; i < n; i++)
			members |= (unsigned int)(run[i] == r) << i;
		ck_assert_uint_ne(members, 0);
		ck_assert(subset_fits(&set, members));
	}
}

/* A linear congruential generator (Knuth's MMIX), so that the sets are the same everywhere. */
static unsigned int random_below(uint64_t *state, unsigned int n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(*state >> 33) % n;
}

START_TEST(a_counter_that_a_session_has_is_for_who_names_it)
{
	struct perfctr_pmu_info info = *be_machine(NEHALEM);
	struct perfctr_request requests[] = { any_of(0xf, 1), any_of(0xf, 0) };
	struct perfctr_control control;
	char error[256];

	info.session_counters = 1 << 0 | 1ull << PERFCTR_FIXED_BIT;
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 2, &control, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(control.event[0].counter, 1);
	ck_assert_uint_eq(control.event[1].counter, 2);
	requests[1].counter = 0;
	ck_assert_int_eq(perfctr_requests_assign(&info, requests, 2, &control, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(control.event[1].counter, 0);
}
END_TEST

static void expect_line(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
			size_t n, int error, const char *line)
{
	struct perfctr_control control;
	char text[256];

	errno = 0;
	ck_assert_int_eq(perfctr_requests_assign(info, requests, n, &control, text, sizeof(text)), -1);
	ck_assert_int_eq(errno, error);
	ck_assert_str_eq(text, line);
}

START_TEST(who_has_the_counters_is_said)
{
	struct perfctr_pmu_info info = *be_machine(NEHALEM);
	struct perfctr_request requests[] = { any_of(0x6, 1), any_of(0x3, 0), any_of(0x3, 0) };
	unsigned int pass[3], n_passes;
	char text[256];

	for (int i = 0; i < 3; i++)
		snprintf(requests[i].name, sizeof(requests[i].name), "e%d", i);
	info.session_counters = 1 << 1 | 1 << 2 | 1ull << PERFCTR_FIXED_BIT;
	expect_line(&info, requests, 1, EBUSY,
		    "event 'e0': sessions have all counters that can count it: 1, 2, 0x40000000");
	ck_assert_int_eq(perfctr_requests_plan(&info, requests, 1, pass, &n_passes, text,
					       sizeof(text)), -1);
	ck_assert_int_eq(errno, EBUSY);
	expect_line(&info, requests + 1, 2, ENOSPC,
		    "events 'e1' and 'e2' conflict: only counter 0 can count them; sessions have 1, "
		    "2, 0x40000000; 2 passes are enough for all");
	/* A session cannot use counters that threads have. */
	info.context_counters = 1 << 1 | 1 << 2 | 1ull << PERFCTR_FIXED_BIT;
	expect_line(&info, requests, 1, EBUSY,
		    "event 'e0': threads have all counters that can count it: 1, 2, 0x40000000");
	info.context_counters = 1 << 1;
	expect_line(&info, requests, 1, EBUSY,
		    "event 'e0': threads and sessions have all counters that can count it: 1, 2, "
		    "0x40000000");
	/* No counter can count this event, even if threads and sessions have none. */
	requests[0] = any_of(0, 0);
	strcpy(requests[0].name, "e0");
	expect_line(&info, requests, 1, EINVAL, "event 'e0' can be counted by no counter");
}
END_TEST

START_TEST(what_sessions_have_on_netburst_is_avoided)
{
	/* The counters of CRU_ESCR0, then those of CRU_ESCR1. */
	static const uint32_t in_order[] = { 12, 13, 16, 14, 15, 17 };
	struct perfctr_pmu_info info = *be_machine(P4);
	struct perfctr_request request = any_of(0x3f000, 0);
	struct perfctr_control control;
	char error[256];

	request.evntsel = 0x39000;
	request.evntsel2 = 0x04000204;
	strcpy(request.name, "e");
	for (size_t i = 0; i < ARRAY_SIZE(in_order); i++)
		info.session_counters |= 1u << in_order[i];
	expect_line(&info, &request, 1, EBUSY,
		    "event 'e': sessions have all counters that can count it: 12, 13, 14, 15, 16, 17");
	for (size_t i = ARRAY_SIZE(in_order); i--;) {
		info.session_counters &= ~(uint64_t)(1u << in_order[i]);
		ck_assert_int_eq(perfctr_requests_assign(&info, &request, 1, &control, error,
							 sizeof(error)), 0);
		ck_assert_uint_lt(control.event[0].counter, 18);
		ck_assert(!(info.session_counters >> control.event[0].counter & 1));
	}
	request.counter = 12;
	info.session_counters = 1 << 12;
	ck_assert_int_eq(perfctr_requests_assign(&info, &request, 1, &control, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(control.event[0].counter, 12);
}
END_TEST

START_TEST(random_sets_get_the_first_of_all_ways)
{
	struct perfctr_pmu_info info = *be_machine(NEHALEM);
	struct perfctr_request requests[MAX_SET];
	uint64_t state = 1 + (uint64_t)_i;

	for (int round = 0; round < 100; round++) {
		size_t n = 1 + random_below(&state, 6);

		info.n_general = 1 + random_below(&state, 4);
		info.n_fixed = random_below(&state, 3);
		for (size_t i = 0; i < n; i++) {
			requests[i] = any_of(random_below(&state, 1u << info.n_general),
					     random_below(&state, 1u << info.n_fixed));
			if (random_below(&state, 6) == 0)
				requests[i].counter = random_below(&state, info.n_general + 1);
		}
		check_set(&info, requests, n);
	}
}
END_TEST

/*
 * Events in the BPU block, or in the MS, FLAME or IQ block, for one or both of the ESCRs; some name their counter.  In
 * each second round sessions have some counters.
 */
START_TEST(random_netburst_sets_get_the_first_of_all_ways)
{
	struct perfctr_pmu_info info = *be_machine(P4);
	struct perfctr_request requests[MAX_SET];
	uint64_t state = 1000 + (uint64_t)_i;

	for (int round = 0; round < 10; round++) {
		size_t n = 1 + random_below(&state, 5);

		info.session_counters = round & 1 ? random_below(&state, 1u << 18) : 0;
		for (size_t i = 0; i < n; i++) {
			size_t block = random_below(&state, 2) * 6;
			uint64_t select = 4 + random_below(&state, 2);
			uint32_t sides[] = { blocks[block].counters, blocks[block + 1].counters,
					     blocks[block].counters | blocks[block + 1].counters };

			requests[i] = any_of(sides[random_below(&state, 3)], 0);
			requests[i].evntsel = 0x31000 | select << 13;
			requests[i].evntsel2 = 0x4;
			if (random_below(&state, 6) == 0)
				requests[i].counter = random_below(&state, 18);
		}
		check_set(&info, requests, n);
	}
}
END_TEST

static void parse(const struct perfctr_pmu_info *info, const char *spec,
		  struct perfctr_request *request)
{
	char error[512] = "";

	ck_assert_msg(perfctr_events_parse_once(info, spec, PERFCTR_MODE_USER, request, error,
						sizeof(error)) == 0,
		      "%s: %s", spec, error);
}

/* The counters are worked out by hand: general ones first, then the remaining ones. */
START_TEST(events_get_the_counters_that_can_count_them)
{
	static const char *const specs[] = { "instructions",	  "cycles",
					     "branches",	  "L1D_CACHE_LD:MESI",
					     "L1D_CACHE_ST:MESI", "ref-cycles" };
	static const uint32_t counters[] = { 2, 3, 0, 0, 1, PERFCTR_FIXED + 2 };
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request requests[ARRAY_SIZE(specs)];
	struct perfctr_control control;
	char error[512] = "";

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		parse(info, specs[i], &requests[i]);
	/* Only counters 0 and 1 count loads and stores, and no fixed counter counts branches. */
	ck_assert_int_eq(perfctr_requests_assign(info, requests, 6, &control, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(control.n_events, 6);
	ck_assert_uint_eq(control.event[0].counter, 2);
	ck_assert_uint_eq(control.event[1].counter, PERFCTR_FIXED + 1);
	ck_assert_uint_eq(control.event[1].evntsel, 0x410000);
	ck_assert_uint_eq(control.event[2].counter, 3);
	ck_assert_uint_eq(control.event[3].counter, counters[3]);
	ck_assert_uint_eq(control.event[4].counter, counters[4]);
	ck_assert_uint_eq(control.event[5].counter, counters[5]);
}
END_TEST

static const struct {
	enum machine machine;
	const char *specs[4];
	const char *line;
} clashes_of[] = {
	{ P6,
	  { "FLOPS", "FP_COMP_OPS_EXE" },
	  "events 'FLOPS' and 'FP_COMP_OPS_EXE' conflict: only counter 0 can count them; 2 "
	  "passes are enough for all" },
	{ P6,
	  { "instructions", "MUL", "DIV" },
	  "events 'MUL' and 'DIV' conflict: only counter 1 can count them; 2 passes are enough for "
	  "all" },
	{ P5,
	  { "DATA_READ", "DATA_WRITE", "BRANCHES" },
	  "events 'DATA_READ', 'DATA_WRITE' and 'BRANCHES' conflict: only counters 0, 1 can "
	  "count them; 2 passes are enough for all" },
	{ NEHALEM,
	  { "ref-cycles:u", "ref-cycles:k" },
	  "events 'ref-cycles:u' and 'ref-cycles:k' conflict: only counter 0x40000002 can "
	  "count them; 2 passes are enough for all" },
	{ NEHALEM,
	  { "0x4100c0@1", "instructions", "branches@1" },
	  "events '0x4100c0@1' and 'branches@1' conflict: only counter 1 can count them; 2 "
	  "passes are enough for all" },
	{ P4,
	  { "instr_retired:NBOGUSNTAG", "uops_retired:NBOGUS", "branch_retired:MMTP",
	    "mispred_branch_retired" },
	  "events 'instr_retired:NBOGUSNTAG', 'uops_retired:NBOGUS' and 'mispred_branch_retired' "
	  "conflict: "
	  "only ESCRs CRU_ESCR0, CRU_ESCR1 can count them; 2 passes are enough for all" },
	{ P4,
	  { "replay_event:NBOGUS:L1_LD_MISS", "replay_event:NBOGUS:L2_LD_MISS" },
	  "events 'replay_event:NBOGUS:L1_LD_MISS' and 'replay_event:NBOGUS:L2_LD_MISS' conflict over "
	  "IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT, which tag replays for a whole pass; count "
	  "them in 2 passes" },
};

START_TEST(clashes_are_explained)
{
	const struct perfctr_pmu_info *info = be_machine(clashes_of[_i].machine);
	struct perfctr_control control = { .n_events = 77 };
	struct perfctr_request requests[4];
	char error[1024] = "";
	size_t n = 0;

	for (; n < 4 && clashes_of[_i].specs[n]; n++)
		parse(info, clashes_of[_i].specs[n], &requests[n]);
	errno = 0;
	ck_assert_int_eq(perfctr_requests_assign(info, requests, n, &control, error, sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_str_eq(error, clashes_of[_i].line);
	ck_assert_uint_eq(control.n_events, 77);
}
END_TEST

START_TEST(an_impossible_event_is_explained)
{
	const struct perfctr_pmu_info *info = be_machine(P4);
	struct perfctr_request request;
	struct perfctr_control control;
	unsigned int run[1], runs;
	char error[512] = "";

	/* The MS block has no ESCR select 4, only 0, 1 and 2. */
	parse(info, "0x39000/0x4000204@4", &request);
	errno = 0;
	ck_assert_int_eq(perfctr_requests_assign(info, &request, 1, &control, error, sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(error,
			 "event '0x39000/0x4000204@4': no ESCR with its ESCR select leads to this "
			 "counter; those that have one: 0 1 2 3 12 13 14 15 16 17");
	ck_assert_int_eq(perfctr_requests_plan(info, &request, 1, run, &runs, error, sizeof(error)),
			 -1);
}
END_TEST

/* 40 events on 4 counters need 10 runs; events of fixed counters need none of the four. */
START_TEST(forty_events_need_ten_passes)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request requests[43];
	unsigned int run[43], runs, per_run[11] = { 0 };
	char error[512] = "", spec[32];

	for (unsigned int i = 0; i < 40; i++) {
		snprintf(spec, sizeof(spec), "r%02xd1", i);
		parse(info, spec, &requests[i]);
	}
	parse(info, "INST_RETIRED:ANY", &requests[40]);
	parse(info, "ref-cycles", &requests[41]);
	ck_assert_int_eq(perfctr_requests_plan(info, requests, 42, run, &runs, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(runs, 10);
	for (unsigned int i = 0; i < 40; i++)
		per_run[run[i]]++;
	for (unsigned int r = 0; r < 10; r++)
		ck_assert_uint_eq(per_run[r], 4);
	parse(info, "branches", &requests[42]);
	ck_assert_int_eq(perfctr_requests_plan(info, requests, 43, run, &runs, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(runs, 11);
}
END_TEST

START_TEST(no_events_need_no_run)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_control control;
	unsigned int runs = 99;
	char error[16];

	ck_assert_int_eq(perfctr_requests_plan(info, NULL, 0, NULL, &runs, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(runs, 0);
	ck_assert_int_eq(perfctr_requests_assign(info, NULL, 0, &control, error, sizeof(error)), 0);
	ck_assert_uint_eq(control.n_events, 0);
}
END_TEST

/* Replays with different tags cannot share a run.  Events without tags fill these runs. */
START_TEST(tags_divide_runs)
{
	static const char *const specs[] = {
		"instr_retired:NBOGUSNTAG",
		"replay_event:NBOGUS:L1_LD_MISS",
		"replay_event:NBOGUS:L2_LD_MISS",
		"replay_event:NBOGUS:L1_LD_MISS",
		"cycles",
	};
	const struct perfctr_pmu_info *info = be_machine(P4);
	struct perfctr_request requests[ARRAY_SIZE(specs)];
	unsigned int run[ARRAY_SIZE(specs)], runs;
	char error[512] = "";

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		parse(info, specs[i], &requests[i]);
	ck_assert_int_eq(perfctr_requests_plan(info, requests, ARRAY_SIZE(specs), run, &runs, error,
					       sizeof(error)),
			 0);
	ck_assert_uint_eq(runs, 2);
	ck_assert_uint_eq(run[1], run[3]);
	ck_assert_uint_ne(run[1], run[2]);
}
END_TEST

START_TEST(tags_are_part_of_the_control)
{
	const struct perfctr_pmu_info *info = be_machine(P4);
	struct perfctr_request requests[2];
	struct perfctr_control control;
	char error[512] = "";

	parse(info, "instr_retired:NBOGUSNTAG", &requests[0]);
	parse(info, "replay_event:NBOGUS:L1_LD_MISS", &requests[1]);
	ck_assert_int_eq(perfctr_requests_assign(info, requests, 2, &control, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(control.p4_pebs_enable, 0x01000001);
	ck_assert_uint_eq(control.p4_pebs_matrix_vert, 1);
	ck_assert_uint_eq(control.event[0].counter, 12);
	ck_assert_uint_eq(control.event[1].counter, 13);
}
END_TEST

/* On the P6 only the register of counter 0 has the enable bit. */
START_TEST(one_bit_enables_both_counters)
{
	const struct perfctr_pmu_info *info = be_machine(P6);
	struct perfctr_request requests[2];
	struct perfctr_control control;
	char error[512] = "";

	parse(info, "instructions", &requests[0]);
	parse(info, "branches", &requests[1]);
	ck_assert_int_eq(perfctr_requests_assign(info, requests, 2, &control, error, sizeof(error)),
			 0);
	ck_assert_uint_eq(control.event[0].evntsel, 0x4100c0);
	ck_assert_uint_eq(control.event[1].evntsel, 0x0100c4);
}
END_TEST

START_TEST(too_many_events_are_refused)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request requests[PERFCTR_MAX_COUNTERS + 1];
	struct perfctr_control control;
	char error[512] = "";

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		requests[i] = any_of(1, 0);
	errno = 0;
	ck_assert_int_eq(perfctr_requests_assign(info, requests, ARRAY_SIZE(requests), &control,
						 error, sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_str_eq(error, "33 events do not fit; one pass counts at most 32");
}
END_TEST

TCase *assign_tests(void)
{
	TCase *tests = tcase_create("assign");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, random_sets_get_the_first_of_all_ways, 0, 10);
	tcase_add_loop_test(tests, random_netburst_sets_get_the_first_of_all_ways, 0, 5);
	tcase_add_test(tests, events_get_the_counters_that_can_count_them);
	tcase_add_test(tests, a_counter_that_a_session_has_is_for_who_names_it);
	tcase_add_test(tests, who_has_the_counters_is_said);
	tcase_add_test(tests, what_sessions_have_on_netburst_is_avoided);
	tcase_add_loop_test(tests, clashes_are_explained, 0, ARRAY_SIZE(clashes_of));
	tcase_add_test(tests, an_impossible_event_is_explained);
	tcase_add_test(tests, forty_events_need_ten_passes);
	tcase_add_test(tests, no_events_need_no_run);
	tcase_add_test(tests, tags_divide_runs);
	tcase_add_test(tests, tags_are_part_of_the_control);
	tcase_add_test(tests, one_bit_enables_both_counters);
	tcase_add_test(tests, too_many_events_are_refused);
	return tests;
}
