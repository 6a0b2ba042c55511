// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inheritance: whatever processes and threads a thread makes, each of their instructions is in
 * exactly one sum of the tree. asm/ and guest.h explain the expected numbers.
 */
#include "tree.h"
#include "trees.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits until all members but n have exited. */
static void wait_for_members(int fd, unsigned int n)
{
	while (read_tree(fd).members > n)
		sleep_us(1000);
}

/* The tree is read all the time while it grows and shrinks: no read misses counts that move. */
static void expect_exact_tree(void)
{
	struct counted c = tree_start(COMMAND(program("tree"), program("loop")), 0);
	struct perfctr_counts counts, before = { 0 };
	uint32_t most = 0;
	int status;

	do {
		counts = read_tree(c.fd);
		ck_assert_uint_ge(counts.counter[0], before.counter[0]);
		ck_assert_uint_ge(counts.tsc, before.tsc);
		ck_assert_uint_ge(counts.switches, before.switches);
		before = counts;
		if (counts.members > most)
			most = counts.members;
	} while (counts.members);
	/* The last member may have run and ended during that read. */
	counts = read_tree(c.fd);
	ck_assert_uint_gt(most, 2);
	ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_CONSISTENT, PERFCTR_COUNTS_CONSISTENT);
	ck_assert_uint_eq(read_children(c.fd).counter[0], TREE_BELOW_ROOT);
	counts = counted_finish(&c, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(counts.counter[0], TREE_ROOT);
}

START_TEST(a_tree_of_200_processes_with_threads_and_execs_is_exact)
{
	for (unsigned int i = 0; i < test_rounds(5); i++)
		expect_exact_tree();
}
END_TEST

START_TEST(a_tree_of_200_processes_is_exact_against_4_competitors)
{
	competitors_start(4);
	for (unsigned int i = 0; i < test_rounds(3); i++)
		expect_exact_tree();
}
END_TEST

/* The competitors are started before the tree, so that they are no members. */
static void expect_complete(unsigned int n, uint64_t each, pid_t (*make)(int semaphore))
{
	int status, fd, semaphore = eventfd(n, EFD_SEMAPHORE);
	struct perfctr_counts children;

	competitors_start(2);
	fd = tree_open(0);
	for (unsigned int i = 1; i <= n; i++) {
		pid_t pid = make(semaphore);

		ck_assert_int_eq(wait_for(pid, &status), pid);
		children = read_children(fd);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(children.counter[0], i * each);
	}
	ck_assert_uint_eq(read_tree(fd).members, 1);
}

#define TINY "/tmp/loop-tiny"

static pid_t spawn_tiny(int unused)
{
	(void)unused;
	return spawn(COMMAND(TINY));
}

/* The program is a copy, because files of the host take long to execute. */
START_TEST(sums_of_vforked_and_executing_children_are_complete_when_wait_returns_1000_of_1000)
{
	copy_file(program("loop-tiny"), TINY, 0755);
	expect_complete(1000, SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(TINY_LOOP), spawn_tiny);
}
END_TEST

/* The semaphore lets all children go. */
START_TEST(sums_of_forked_children_are_complete_when_wait_returns_1000_of_1000)
{
	expect_complete(test_rounds(1000), SLEEPER_INSTRUCTIONS, spawn_sleeper);
}
END_TEST

START_TEST(p7_orphans_that_a_subreaper_reaps_are_counted_once_when_wait_returns)
{
	struct counted c;
	struct perfctr_counts sum = { 0 };
	struct perfctr_exit_record record;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (unsigned int round = 0; round < test_rounds(20); round++) {
		c = tree_start(COMMAND(program("chain")), PERFCTR_CONTROL_EXIT_RECORDS);
		sum.counter[0] = 0;
		for (int i = 0; i < CHAIN_LENGTH; i++) {
			pid_t pid = wait_for(-1, &status);

			ck_assert_int_gt(pid, 0);
			ck_assert_int_eq(status, 0);
			/*
			 * The record of this child is there. Records may come in another order than
			 * their threads.
			 */
			ck_assert(next_record(c.fd, &record));
			sum.counter[0] += record.counts.counter[0];
		}
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
		ck_assert(!next_record(c.fd, &record));
		ck_assert_uint_eq(sum.counter[0], CHAIN_INSTRUCTIONS);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		/* The first process: mov, fork, test, jnz, and 3 to exit. */
		ck_assert_uint_eq(context_read(c.fd).counter[0], 8);
		close(c.fd);
	}
}
END_TEST

START_TEST(p7_orphans_that_init_reaps_are_counted_once)
{
	for (unsigned int round = 0; round < test_rounds(20); round++) {
		struct counted c = tree_start(COMMAND(program("chain")), 0);
		int status;

		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		wait_for_members(c.fd, 0);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		close(c.fd);
	}
}
END_TEST

/* The last member releases the counters, which takes some time. */
START_TEST(when_no_member_is_left_all_sums_and_records_are_complete)
{
	struct perfctr_exit_record record;
	int status, records;

	for (unsigned int round = 0; round < test_rounds(50); round++) {
		struct counted c =
			tree_start(COMMAND(program("chain")), PERFCTR_CONTROL_EXIT_RECORDS);

		while (read_tree(c.fd).members)
			;
		ck_assert_uint_eq(read_children(c.fd).counter[0], CHAIN_INSTRUCTIONS - 8);
		for (records = 0; next_record(c.fd, &record); records++)
			;
		ck_assert_int_eq(records, CHAIN_LENGTH);
		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		close(c.fd);
	}
}
END_TEST

#define MANY 8

/*
 * A middle process with running children is killed. Its own count is not known from outside, but
 * the tree and the record must agree on it. The children finish as if nothing had happened.
 */
START_TEST(children_of_a_killed_parent_are_counted_once)
{
	const char *const loop[] = { program("loop-long"), NULL };
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), ready[2], status;
	unsigned int exact = 0;
	uint64_t sum = 0;
	struct perfctr_exit_record record;
	pid_t middle;
	char byte;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert_int_eq(pipe(ready), 0);
	middle = fork();
	if (middle == 0) {
		for (int i = 0; i < MANY; i++)
			spawn(loop);
		EXPECT(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	kill_and_wait(middle);
	ck_assert_uint_gt(read_tree(fd).members, 1);
	while (wait_for(-1, &status) > 0)
		ck_assert_int_eq(status, 0);
	ck_assert_int_eq(errno, ECHILD);
	while (next_record(fd, &record)) {
		sum += record.counts.counter[0];
		if (record.tid == middle)
			continue;
		ck_assert_uint_eq(record.counts.counter[0],
				  SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(LONG_LOOP));
		exact++;
	}
	ck_assert_uint_eq(exact, MANY);
	ck_assert_uint_eq(read_children(fd).counter[0], sum);
}
END_TEST

SUITE(tree,
      a_tree_of_200_processes_with_threads_and_execs_is_exact,
      a_tree_of_200_processes_is_exact_against_4_competitors,
      sums_of_vforked_and_executing_children_are_complete_when_wait_returns_1000_of_1000,
      sums_of_forked_children_are_complete_when_wait_returns_1000_of_1000,
      p7_orphans_that_a_subreaper_reaps_are_counted_once_when_wait_returns,
      p7_orphans_that_init_reaps_are_counted_once,
      when_no_member_is_left_all_sums_and_records_are_complete,
      children_of_a_killed_parent_are_counted_once)
