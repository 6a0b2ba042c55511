// SPDX-License-Identifier: GPL-2.0-or-later
/* Processors that go and come, a machine that sleeps: no count is lost, none is made up. */
#include "guest.h"

#include <perfctr.h>
#include <unistd.h>

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"
#define PM_TEST		"/sys/power/pm_test"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"

#define CHILDREN 4

/* Programs of known length, on both CPUs: while this lasts, CPUs and power come and go. */
static void children_start(pid_t child[CHILDREN])
{
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = spawn(COMMAND(program("loop-long")));
		pin(child[i], i & 1);
	}
}

static bool children_run(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_TREE).members > 1;
}

static void expect_exact_children(int fd, const pid_t child[CHILDREN])
{
	int status;

	for (int i = 0; i < CHILDREN; i++) {
		ck_assert_int_eq(wait_for(child[i], &status), child[i]);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0],
			  CHILDREN * (SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(LONG_LOOP)));
}

START_TEST(a_tree_is_exact_while_a_cpu_goes_and_comes)
{
	int fd = tree_open(0);
	pid_t child[CHILDREN];
	int rounds = 0;

	children_start(child);
	do {
		write_file(CPU1_ONLINE, "0");
		sleep_us(5000);
		write_file(CPU1_ONLINE, "1");
		pin(child[rounds % CHILDREN], 1);
		sleep_us(5000);
	} while (++rounds < 5 && children_run(fd));
	/* How many rounds they last depends on the kernel: one at least. */
	ck_assert_int_gt(rounds, 1);
	expect_exact_children(fd, child);
}
END_TEST

/* A CPU that was away while the counters were taken or given back must follow when it comes. */
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

/*
 * The kernel's own test of suspend to RAM, as far as the devices: beyond it the host's files would be
 * lost, whose virtual device does not come back.  The processes are frozen wherever they are, which
 * makes loops execute nothing twice, and the driver gives the counters back meanwhile.
 */
START_TEST(a_tree_is_exact_over_suspend_and_its_time_stamps_do_not_jump)
{
	int fd = tree_open(0);
	const struct perfctr_page *page = context_map(fd);
	pid_t child[CHILDREN];
	int rounds = 0;

	write_file(PM_TEST_DELAY, "0");
	write_file(PM_TEST, "freezer");
	children_start(child);
	do {
		uint64_t start = rdtsc(), before = perfctr_read_tsc(page), after, end, pmc;

		pmc = perfctr_read_pmc(page, 0);
		write_file("/sys/power/state", "mem");
		after = perfctr_read_tsc(page);
		end = rdtsc();
		ck_assert_uint_gt(after, before);
		ck_assert_uint_le(after - before, end - start);
		ck_assert_uint_gt(perfctr_read_pmc(page, 0), pmc);
		ck_assert_uint_lt(perfctr_read_pmc(page, 0) - pmc, 1000000);
		ck_assert_uint_le(context_read(fd).tsc, perfctr_read_tsc(page));
	} while (++rounds < 3 && children_run(fd));
	ck_assert_int_gt(rounds, 1);
	write_file(PM_TEST, "none");
	expect_exact_children(fd, child);
}
END_TEST

SUITE(power,
      a_tree_is_exact_while_a_cpu_goes_and_comes,
      a_cpu_that_was_away_meanwhile_counts_when_it_comes,
      a_tree_is_exact_over_suspend_and_its_time_stamps_do_not_jump)
