// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a context switch costs.  The suite "baseline" measures the unpatched kernel and leaves the
 * result in a file; "switch" measures the patched one against it.
 */
#include "cost.h"

#include <unistd.h>

START_TEST(unpatched_kernel_switch_cost_is_recorded)
{
	struct cost cost = measure_round_trips(NULL, 0, NULL, 0);

	ck_assert_msg(access("/dev/perfctr", F_OK) < 0, "this kernel is patched");
	write_baseline(&cost);
}
END_TEST

SUITE(baseline, unpatched_kernel_switch_cost_is_recorded)

START_TEST(a_switch_of_unmonitored_threads_costs_what_it_cost_unpatched)
{
	struct cost unpatched = read_baseline(), patched = measure_round_trips(NULL, 0, NULL, 0);

	ck_assert_uint_eq(patched.instructions, unpatched.instructions);
	ck_assert_uint_eq(patched.statistics[PMU_RDMSR], 0);
	ck_assert_uint_eq(patched.statistics[PMU_WRMSR], 0);
	ck_assert_uint_eq(patched.statistics[RDPMC], 0);
	/* Others, such as FS_BASE and the timer's, as often as before: the timer ticks a little. */
	ck_assert_uint_eq(patched.statistics[WRMSR] / ROUND_TRIPS, unpatched.statistics[WRMSR] / ROUND_TRIPS);
	ck_assert_uint_eq(patched.statistics[RDMSR] / ROUND_TRIPS, unpatched.statistics[RDMSR] / ROUND_TRIPS);
}
END_TEST

/* Away and back: at most 2 WRMSR, none of an event register, 1 RDPMC per counter each way. */
static void expect_cheap(const struct cost *cost, unsigned int n)
{
	/* The process did leave its CPU in every round. */
	ck_assert_uint_ge(cost->switches, ROUND_TRIPS);
	ck_assert_uint_le(cost->statistics[PMU_WRMSR], 2 * cost->switches);
	ck_assert_uint_eq(cost->statistics[EVENT_SELECT], 0);
	ck_assert_uint_eq(cost->statistics[PMU_RDMSR], 0);
	/* The two context_read() and every tick read the counters as well. */
	ck_assert_uint_le(cost->statistics[RDPMC], n * (2 * cost->switches + 2 + cost->ticks));
}

START_TEST(a_monitored_switch_to_the_same_owner_is_at_most_2_wrmsr_and_no_event_register)
{
	struct cost one = measure_round_trips(EVENTS({ 0, USER(INSTRUCTIONS) }), NULL, 0);
	struct cost two = measure_round_trips(EVENTS({ 0, USER(INSTRUCTIONS) }, { PERFCTR_FIXED, USER(FIXED) }),
				  NULL, 0);

	expect_cheap(&one, 1);
	expect_cheap(&two, 2);
}
END_TEST

SUITE(switch,
      a_switch_of_unmonitored_threads_costs_what_it_cost_unpatched,
      a_monitored_switch_to_the_same_owner_is_at_most_2_wrmsr_and_no_event_register)
