// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inheritance: whatever processes and threads a thread makes, every instruction that they execute
 * is in one sum of the tree and in one only.  Expected numbers are worked out in asm/ and guest.h.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <perfctr.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The program "tree" with "loop" to execute: asm/tree.S. */
#define TREE_ROOT	119ull
#define TREE_MIDDLES	8
#define TREE_MIDDLE	331ull
#define TREE_SIXES	(TREE_MIDDLES * 4)	/* of leaves */
#define TREE_LOOPING	20006ull
#define TREE_EXECUTING	(7 + LOOP_INSTRUCTIONS(SHORT_LOOP))
#define TREE_THREADED	20013ull		/* the first thread's */
#define TREE_THREAD	20004ull
#define TREE_BELOW_ROOT	(TREE_MIDDLES * TREE_MIDDLE + TREE_SIXES * (3 * TREE_LOOPING + \
			 2 * TREE_EXECUTING + TREE_THREADED + TREE_THREAD))
#define TREE_PROCESSES	(1 + TREE_MIDDLES + TREE_SIXES * 6)
#define TREE_THREADS	(TREE_PROCESSES + TREE_SIXES)

/* The program "chain": asm/chain.S. */
#define CHAIN_LENGTH		11
#define CHAIN_INSTRUCTIONS	2000115ull

static struct perfctr_counts read_tree(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_TREE);
}

static struct perfctr_counts read_children(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_CHILDREN);
}

static bool next_record(int fd, struct perfctr_record *record)
{
	memset(record, 0, sizeof(*record));
	record->size = sizeof(*record);
	if (ioctl(fd, PERFCTR_IOC_RECORD, record) == 0)
		return true;
	ck_assert_int_eq(errno, EAGAIN);
	return false;
}

/* Until all members but n have exited. */
static void wait_for_members(int fd, unsigned int n)
{
	while (read_tree(fd).members > n)
		sleep_us(1000);
}

/* ---- sums ---- */

/* The tree is read all the time while it grows and shrinks: what moves is never missed. */
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
	ck_assert_uint_gt(most, 2);
	ck_assert_uint_eq(counts.counter[0], TREE_ROOT + TREE_BELOW_ROOT);
	ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_CONSISTENT, PERFCTR_COUNTS_CONSISTENT);
	ck_assert_uint_eq(read_children(c.fd).counter[0], TREE_BELOW_ROOT);
	counts = counted_finish(&c, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(counts.counter[0], TREE_ROOT);
}

START_TEST(a_tree_of_200_processes_with_threads_and_execs_is_exact)
{
	for (int i = 0; i < 5; i++)
		expect_exact_tree();
}
END_TEST

START_TEST(a_tree_of_200_processes_is_exact_against_4_competitors)
{
	competitors_start(4);
	for (int i = 0; i < 3; i++)
		expect_exact_tree();
}
END_TEST

/* The competitors are no members: they are started before there is a tree. */
static void expect_complete(uint64_t each, pid_t (*make)(int semaphore))
{
	int status, fd, semaphore = eventfd(1000, EFD_SEMAPHORE);
	struct perfctr_counts children;

	competitors_start(2);
	fd = tree_open(0);
	for (unsigned int i = 1; i <= 1000; i++) {
		pid_t pid = make(semaphore);

		ck_assert_int_eq(wait_for(pid, &status), pid);
		children = read_children(fd);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(children.counter[0], i * each);
	}
	ck_assert_uint_eq(read_tree(fd).members, 1);
}

static pid_t spawn_tiny(int unused)
{
	(void)unused;
	return spawn(COMMAND(program("loop-tiny")));
}

START_TEST(sums_of_vforked_and_executing_children_are_complete_when_wait_returns_1000_of_1000)
{
	expect_complete(SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(TINY_LOOP), spawn_tiny);
}
END_TEST

/* The semaphore lets 1000 go. */
START_TEST(sums_of_forked_children_are_complete_when_wait_returns_1000_of_1000)
{
	expect_complete(SLEEPER_INSTRUCTIONS, spawn_sleeper);
}
END_TEST

/* ---- orphans ---- */

START_TEST(p7_orphans_that_a_subreaper_reaps_are_counted_once_when_wait_returns)
{
	struct counted c;
	struct perfctr_counts sum = { 0 };
	struct perfctr_record record;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int round = 0; round < 20; round++) {
		c = tree_start(COMMAND(program("chain")), PERFCTR_CONTROL_RECORD);
		sum.counter[0] = 0;
		for (int i = 0; i < CHAIN_LENGTH; i++) {
			pid_t pid = wait_for(-1, &status);

			ck_assert_int_gt(pid, 0);
			ck_assert_int_eq(status, 0);
			/* Its record is there; the others may come in another order. */
			ck_assert(next_record(c.fd, &record));
			sum.counter[0] += record.counts.counter[0];
		}
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
		ck_assert(!next_record(c.fd, &record));
		ck_assert_uint_eq(sum.counter[0], CHAIN_INSTRUCTIONS);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		/* The first: mov, fork, test, jnz, and 3 to exit. */
		ck_assert_uint_eq(context_read(c.fd).counter[0], 8);
		close(c.fd);
	}
}
END_TEST

START_TEST(p7_orphans_that_init_reaps_are_counted_once)
{
	for (int round = 0; round < 20; round++) {
		struct counted c = tree_start(COMMAND(program("chain")), 0);
		int status;

		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		wait_for_members(c.fd, 0);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		close(c.fd);
	}
}
END_TEST

#define MANY 8

/*
 * A middle with running children is killed.  What it counted itself is not known from outside, but
 * the tree must have it as its record has it, and the children finish as if nothing had happened.
 */
START_TEST(children_of_a_killed_parent_are_counted_once)
{
	const char *const loop[] = { program("loop-long"), NULL };
	int fd = tree_open(PERFCTR_CONTROL_RECORD), ready[2], status;
	unsigned int exact = 0;
	uint64_t sum = 0;
	struct perfctr_record record;
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
	kill(middle, SIGKILL);
	ck_assert_int_eq(wait_for(middle, &status), middle);
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
      children_of_a_killed_parent_are_counted_once)
