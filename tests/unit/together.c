// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Passes that keep the events of a rule together.  Each plan is one that the library could have made: as few passes,
 * and all events of each fit.  Random ones are compared with all plans that there are.
 */
#include "machines.h"
#include "mutate.h"
#include "unit.h"
#include "../../perfex/run/together.h"

#include <stdio.h>
#include <string.h>

#define MAX_EVENTS 12
#define SOFTWARE 1ull << 63

/* Two general and three fixed counters. */
static struct perfctr_pmu_info machine(void)
{
	struct perfctr_pmu_info info = *be_machine(NEHALEM);

	info.n_general = 2;
	return info;
}

static struct perfctr_request request(const char *name, uint64_t general, uint64_t fixed)
{
	struct perfctr_request request = {
		.counter = PERFCTR_ANY,
		.modes = PERFCTR_MODE_USER,
		.evntsel = 0x4100c0,
		.general = general,
		.fixed = fixed,
	};

	snprintf(request.name, sizeof(request.name), "%s", name);
	if (general == (SOFTWARE)) {
		request.general = 0;
		request.counter = PERFCTR_SOFTWARE;
	}
	return request;
}

static struct rules *parse(const char *text)
{
	struct rules *rules = rules_new();
	struct text_error error;

	ck_assert_msg(rules_add(rules, text, strlen(text), &error) && rules_link(rules, &error), "%s: %s", text,
		      error.text);
	return rules;
}

static bool fits(const struct perfctr_pmu_info *info, const struct perfctr_request *requests, size_t n,
		 const unsigned int pass[], unsigned int which)
{
	struct perfctr_request members[MAX_EVENTS];
	struct perfctr_control control;
	unsigned int n_members = 0;
	char error[512];

	for (size_t i = 0; i < n; i++)
		if (pass[i] == which)
			members[n_members++] = requests[i];
	return !n_members || perfctr_requests_assign(info, members, n_members, &control, error, sizeof(error)) == 0;
}

/* Makes a plan, and checks that it has as few passes as the library's, and that their events fit. */
static unsigned int plan(const struct perfctr_pmu_info *info, const struct perfctr_request *requests, size_t n,
			 const struct rules *rules, unsigned int pass[])
{
	unsigned int other[MAX_EVENTS], fewest, n_passes;
	char error[512];

	ck_assert_int_eq(perfctr_requests_plan(info, requests, n, other, &fewest, error, sizeof(error)), 0);
	ck_assert_int_eq(together_plan(info, requests, n, rules, pass, &n_passes, error, sizeof(error)), 0);
	ck_assert_uint_eq(n_passes, fewest);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_lt(pass[i], n_passes);
	for (unsigned int which = 0; which < n_passes; which++)
		ck_assert_msg(fits(info, requests, n, pass, which), "pass %u does not fit", which);
	return n_passes;
}

#define EVENT(name)	{ name, 3, 0 } /* of both general counters */

static const struct {
	struct {
		const char *name;
		uint64_t general, fixed;
	} event[MAX_EVENTS];
	const char *rules;
	unsigned int n_passes;
	const char *together; /* the letters a, b .. of events that share a pass */
} lists[] = {
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = a / d\ns = b / c", 2, "ad bc" },
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = a / c\ns = b / d", 2, "ac bd" },
	/* By another rule, behind it. */
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = a / s\ns = d + 1", 2, "ad" },
	{ { EVENT("0x4100c0"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = '0x004100c0/0x0' / d", 2, "ad" },
	/* Two of the three rules, without the first; the first of two that cannot both be. */
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = b / c\ns = a / b\nt = c / d", 2, "ab cd" },
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = a / c\ns = a / d", 2, "ac" },
	/* Three events cannot be together; two passes are enough. */
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d") }, "r = a + b + c\ns = a / d", 2, "ad" },
	/* Events of one counter alone. */
	{ { { "a", 1, 0 }, { "b", 1, 0 }, EVENT("c"), EVENT("d") }, "r = a / d\ns = b / c", 2, "ad bc" },
	{ { { "a", 1, 0 }, { "b", 1, 0 }, EVENT("c"), EVENT("d") }, "r = a / b", 2, "" },
	/* Two rules that share an event, which a fixed counter counts. */
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d"), { "i", 3, 1 } }, "r = b / i\ns = d / i", 2, "bde" },
	/* With what the operating system counts. */
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d"), { "t", SOFTWARE, 0 } }, "r = d / t\ns = b / t", 2, "bde" },
	/* The shares of the text. */
	{ { EVENT("branches"), EVENT("cache-references"), EVENT("cache-misses"), EVENT("branch-misses") }, "", 2,
	  "ad bc" },
	{ { EVENT("instructions:u"), EVENT("b"), EVENT("c"), EVENT("cycles:u") }, "", 2, "ad" },
	/* A rule goes before them. */
	{ { EVENT("instructions"), EVENT("b"), EVENT("c"), EVENT("cycles") }, "r = b / cycles", 2, "bd" },
	{ { EVENT("a"), EVENT("b"), EVENT("c"), EVENT("d"), EVENT("e"), EVENT("f") }, "r = a / f\ns = b / e\nt = c / d",
	  3, "af be cd" },
	{ { EVENT("a"), EVENT("b"), EVENT("a"), EVENT("d") }, "r = a / d", 2, "ad" },
};

START_TEST(events_of_rules_share_a_pass)
{
	struct perfctr_request requests[MAX_EVENTS];
	struct perfctr_pmu_info info = machine();
	struct rules *rules = parse(lists[_i].rules);
	unsigned int pass[MAX_EVENTS];
	size_t n = 0;

	for (; lists[_i].event[n].name; n++)
		requests[n] = request(lists[_i].event[n].name, lists[_i].event[n].general, lists[_i].event[n].fixed);
	ck_assert_uint_eq(plan(&info, requests, n, rules, pass), lists[_i].n_passes);
	for (const char *event = lists[_i].together; *event && event[1]; event++)
		if (event[0] != ' ' && event[1] != ' ')
			ck_assert_msg(pass[event[0] - 'a'] == pass[event[1] - 'a'], "not together: %.2s of %s", event,
				      lists[_i].together);
	rules_free(rules);
}
END_TEST

/* Without something to keep together, the plan is that of the library: messages show it. */
START_TEST(without_rules_the_library_plans)
{
	struct perfctr_pmu_info info = machine();
	struct perfctr_request requests[5];
	unsigned int pass[5], other[5], n_passes;
	char name[2] = "a", error[512];

	for (int i = 0; i < 5; i++, name[0]++)
		requests[i] = request(name, 3, 0);
	plan(&info, requests, 5, NULL, pass);
	perfctr_requests_plan(&info, requests, 5, other, &n_passes, error, sizeof(error));
	ck_assert_mem_eq(pass, other, sizeof(pass));
}
END_TEST

START_TEST(what_no_counter_counts_is_refused)
{
	struct perfctr_pmu_info info = machine();
	struct perfctr_request requests[] = { request("a", 3, 0), request("b", 0, 0) };
	unsigned int pass[2], n_passes;
	char text[512], expected[512];

	ck_assert_int_eq(together_plan(&info, requests, 2, NULL, pass, &n_passes, text, sizeof(text)), -1);
	ck_assert_int_eq(perfctr_requests_plan(&info, requests, 2, pass, &n_passes, expected, sizeof(expected)), -1);
	ck_assert_str_eq(text, expected);
}
END_TEST

static unsigned int pairs_kept(const int pair[][2], int n_pairs, const unsigned int pass[])
{
	unsigned int kept = 0;

	for (int i = 0; i < n_pairs; i++)
		kept += pass[pair[i][0]] == pass[pair[i][1]];
	return kept;
}

/* Returns the most pairs that any plan with so many passes keeps. */
static unsigned int best_of_all(const struct perfctr_pmu_info *info, const struct perfctr_request *requests, int n,
				unsigned int n_passes, const int pair[][2], int n_pairs)
{
	unsigned int best = 0, plans = 1;

	for (int i = 0; i < n; i++)
		plans *= n_passes;
	for (unsigned int number = 0; number < plans; number++) {
		unsigned int pass[MAX_EVENTS], rest = number, kept;
		bool good = true;

		for (int i = 0; i < n; i++, rest /= n_passes)
			pass[i] = rest % n_passes;
		kept = pairs_kept(pair, n_pairs, pass);
		for (unsigned int which = 0; good && kept > best && which < n_passes; which++)
			good = fits(info, requests, (size_t)n, pass, which);
		if (good && kept > best)
			best = kept;
	}
	return best;
}

START_TEST(almost_as_many_rules_are_kept_as_could_be)
{
	enum { N = 6, PAIRS = 4, TRIALS = 150 };
	struct perfctr_pmu_info info = machine();
	unsigned int kept = 0, best = 0;
	uint64_t seed = 7;

	for (int trial = 0; trial < TRIALS; trial++) {
		struct perfctr_request requests[N];
		unsigned int pass[N], n_passes;
		char text[256] = "", name[2] = "a";
		int pair[PAIRS][2], length = 0;
		struct rules *rules;

		for (int i = 0; i < N; i++, name[0]++)
			requests[i] = request(name, 1 + mutate_random(&seed) % 3, mutate_random(&seed) % 4 ? 0 : 1);
		for (int i = 0; i < PAIRS; i++) {
			pair[i][0] = (int)(mutate_random(&seed) % N);
			pair[i][1] = (int)((unsigned int)pair[i][0] + 1 + mutate_random(&seed) % (N - 1)) % N;
			length += sprintf(text + length, "r%d = %c / %c\n", i, 'a' + pair[i][0], 'a' + pair[i][1]);
		}
		rules = parse(text);
		n_passes = plan(&info, requests, N, rules, pass);
		kept += pairs_kept(pair, PAIRS, pass);
		best += best_of_all(&info, requests, N, n_passes, pair, PAIRS);
		rules_free(rules);
	}
	ck_assert_msg(kept >= best * 98 / 100, "%u of %u", kept, best);
}
END_TEST

TCase *together_tests(void)
{
	TCase *tests = tcase_create("together");

	tcase_add_loop_test(tests, events_of_rules_share_a_pass, 0, ARRAY_SIZE(lists));
	tcase_add_test(tests, without_rules_the_library_plans);
	tcase_add_test(tests, what_no_counter_counts_is_refused);
	tcase_add_test(tests, almost_as_many_rules_are_kept_as_could_be);
	return tests;
}
