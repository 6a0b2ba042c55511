// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A machine that sleeps. The kernel's own test of suspend to RAM ends when all devices have been
 * suspended. The driver is one of them: it gives the counters back while the machine sleeps. The
 * device of the host's files does not come back, so the suite runs in a deterministic machine,
 * which has none.
 */
#include "guest.h"
#include "marks.h"
#include "msr.h"
#include "suspend.h"

#include <fcntl.h>
#include <perfctr.h>
#include <unistd.h>

#define RDPMC_SWITCH	"/sys/bus/event_source/devices/cpu/rdpmc"
#define GLOBAL_CTRL	0x38f

void suspend_is_a_test(void)
{
	write_file("/sys/module/suspend/parameters/pm_test_delay", "0");
	write_file("/sys/power/pm_test", "devices");
}

void suspend(void)
{
	write_file("/sys/power/state", "mem");
}

START_TEST(a_tree_is_exact_over_suspend_and_its_time_stamps_do_not_jump)
{
	int fd = tree_open(0);
	const struct perfctr_page *page = context_map(fd);
	pid_t child[LOOPS];
	int rounds = 0;

	suspend_is_a_test();
	loops_start(child);
	do {
		uint64_t start = rdtsc(), before = perfctr_read_tsc(page), after, end, pmc;

		pmc = perfctr_read_pmc(page, 0);
		suspend();
		after = perfctr_read_tsc(page);
		end = rdtsc();
		ck_assert_uint_gt(after, before);
		ck_assert_uint_le(after - before, end - start);
		ck_assert_uint_gt(perfctr_read_pmc(page, 0), pmc);
		ck_assert_uint_lt(perfctr_read_pmc(page, 0) - pmc, 1000000);
		ck_assert_uint_le(context_read(fd).tsc, perfctr_read_tsc(page));
	} while (++rounds < 3 && loops_run(fd));
	ck_assert_int_gt(rounds, 1);
	expect_exact_loops(fd, child);
}
END_TEST

START_TEST(trees_that_are_counted_as_one_are_exact_over_suspend)
{
	struct counted c[LOOPS];
	int rounds = 0;

	suspend_is_a_test();
	for (int i = 0; i < LOOPS; i++) {
		c[i] = tree_start(COMMAND(program("loop-long")), PERFCTR_CONTROL_TOTALS);
		pin(c[i].pid, i & 1);
	}
	do
		suspend();
	while (++rounds < 3 && context_read_scope(c[0].fd, PERFCTR_SCOPE_TREE).members);
	ck_assert_int_gt(rounds, 1);
	for (int i = 0; i < LOOPS; i++) {
		expect_success(c[i].pid);
		ck_assert_uint_eq(context_read_scope(c[i].fd, PERFCTR_SCOPE_TREE).counter[0],
				  LOOP_INSTRUCTIONS(LONG_LOOP));
		close(c[i].fd);
	}
}
END_TEST

START_TEST(a_session_is_exact_over_suspend)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	pid_t child[LOOPS];

	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	suspend_is_a_test();
	for (int i = 0; i < LOOPS; i++)
		child[i] = marked_start(mark_fd, i & 1, COMMAND(program("loop-long")));
	for (int i = 0; i < 3; i++)
		suspend();
	for (int i = 0; i < LOOPS; i++)
		expect_success(child[i]);
	ck_assert_uint_eq(context_read(session).counter[0], LOOPS * LOOP_INSTRUCTIONS(LONG_LOOP));
	close(session);
	close(mark_fd);
}
END_TEST

/*
 * CPU 1 ran the idle thread last. No code of user mode has run there since, which would have found
 * nothing.
 */
START_TEST(the_counters_registers_are_left_alone_while_the_machine_sleeps)
{
	uint64_t before = msr_read(1, GLOBAL_CTRL);
	int session;

	ck_assert_uint_ne(before, 0);
	suspend_is_a_test();
	pin(0, 0);
	write_file(RDPMC_SWITCH, "2");
	session = session_open(-1, NOT_PRIVILEGED | PERFCTR_EXCLUDE_IDLE);
	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	expect_success(marked_start(-1, 1, COMMAND(program("loop-tiny"))));
	suspend();
	close(session);
	write_file(RDPMC_SWITCH, "1");
	ck_assert_uint_eq(msr_read(1, GLOBAL_CTRL), before);
}
END_TEST

SUITE(suspend,
      a_tree_is_exact_over_suspend_and_its_time_stamps_do_not_jump,
      trees_that_are_counted_as_one_are_exact_over_suspend, a_session_is_exact_over_suspend,
      the_counters_registers_are_left_alone_while_the_machine_sleeps)
