// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of a switch while a session counts marked threads. */
#include "cost.h"
#include "marks.h"

#include <unistd.h>

/*
 * Measures round trips between the test and a partner. own, others: the test, the partner is
 * marked.
 */
static struct cost measure_marked(bool own, bool others)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	struct partner partner = partner_start();
	struct cost cost;

	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
						{ { 1, USER(BRANCHES) }, 0 }));
	if (own)
		mark(0, mark_fd);
	if (others)
		mark(partner.pid, mark_fd);
	cost = measure_partner(&partner, -1);
	partner_stop(&partner);
	close(session);
	close(mark_fd);
	return cost;
}

START_TEST(between_members_of_a_mark_nothing_is_read_and_nothing_is_written)
{
	struct cost cost = measure_marked(true, true);

	/* Kernel threads, which the tick wakes now and then, are not members. */
	ck_assert_uint_le(cost.statistics[PMU_WRMSR], 2 * (cost.ticks + 1));
	/* The tick checks that the enables and both events are still as the driver has set them. */
	ck_assert_uint_le(cost.statistics[PMU_RDMSR], 3 * (cost.ticks + 1));
	/* The tick publishes both sums, and so does a switch to an unmarked thread. */
	ck_assert_uint_le(cost.statistics[RDPMC], 2 * 2 * (cost.ticks + 1));
	ck_assert_uint_lt(cost.ticks, ROUND_TRIPS / 100);
}
END_TEST

START_TEST(to_and_from_a_marked_thread_is_one_write_each)
{
	struct cost cost = measure_marked(false, true);

	ck_assert_uint_ge(cost.statistics[PMU_WRMSR], 2 * ROUND_TRIPS);
	ck_assert_uint_le(cost.statistics[PMU_WRMSR], 2 * (ROUND_TRIPS + cost.ticks + 1));
	ck_assert_uint_eq(cost.statistics[EVENT_SELECT], 0);
	/* A switch from a marked thread to an unmarked one publishes both sums. */
	ck_assert_uint_le(cost.statistics[RDPMC], 2 * (ROUND_TRIPS + 2 * cost.ticks + 1));
}
END_TEST

START_TEST(beside_a_session_unmarked_threads_switch_as_on_an_unpatched_kernel)
{
	struct cost unpatched = read_baseline(), cost = measure_marked(false, false);

	ck_assert_uint_eq(cost.instructions, unpatched.instructions);
	ck_assert_uint_eq(cost.statistics[PMU_WRMSR], 0);
	ck_assert_uint_eq(cost.statistics[PMU_RDMSR], 0);
}
END_TEST

SUITE(gate,
      between_members_of_a_mark_nothing_is_read_and_nothing_is_written,
      to_and_from_a_marked_thread_is_one_write_each)

SUITE(gate_unpatched,
      beside_a_session_unmarked_threads_switch_as_on_an_unpatched_kernel)
