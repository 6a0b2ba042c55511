// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs go offline and come back: no count is lost, none is made up. */
#include "guest.h"

#include <perfctr.h>
#include <unistd.h>

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

START_TEST(a_tree_is_exact_while_a_cpu_goes_and_comes)
{
	int fd = tree_open(0);
	pid_t child[LOOPS];
	int rounds = 0;

	loops_start(child);
	do {
		write_file(CPU1_ONLINE, "0");
		sleep_us(5000);
		write_file(CPU1_ONLINE, "1");
		pin(child[rounds % LOOPS], 1);
		sleep_us(5000);
	} while (++rounds < 5 && loops_run(fd));
	/* The number of rounds depends on the kernel. There are at least two. */
	ck_assert_int_gt(rounds, 1);
	expect_exact_loops(fd, child);
}
END_TEST

/*
 * A CPU that was offline while the counters were taken or given back must follow when it comes
 * back.
 */
START_TEST(a_cpu_that_was_away_meanwhile_counts_when_it_comes)
{
	struct counted c;
	int fd, status;

	write_file(CPU1_ONLINE, "0");
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	write_file(CPU1_ONLINE, "1");
	c = counted_start(1, COMMAND(program("loop")), EVENTS({ 0, USER(INSTRUCTIONS) }));
	write_file(CPU1_ONLINE, "0");
	ck_assert_uint_eq(counted_finish(&c, &status).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	close(fd);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	write_file(CPU1_ONLINE, "1");
	for (int i = 0; i < 2; i++) {
		c = counted_start(i, COMMAND(program("loop")), EVENTS({ 0, USER(INSTRUCTIONS) }));
		ck_assert_uint_eq(counted_finish(&c, &status).counter[0],
				  LOOP_INSTRUCTIONS(SHORT_LOOP));
	}
}
END_TEST

SUITE(power,
      a_tree_is_exact_while_a_cpu_goes_and_comes,
      a_cpu_that_was_away_meanwhile_counts_when_it_comes)
