// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals: a tree whose members share one context. Its sums are what its members execute, to the
 * instruction, whatever else runs on the same CPUs. Nobody else sees them. asm/ and guest.h explain
 * the expected numbers.
 */
#include "groups.h"
#include "tree.h"
#include "trees.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Starts the command as a tree that is counted by totals, with these events. */
static struct counted totals_of(const char *const command[], const struct event *events, size_t n)
{
	struct perfctr_control control = control_of(events, n);
	struct counted c = { .pid = stopped_start(ANY_CPU, command) };

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	control.flags = PERFCTR_CONTROL_INHERIT | TOTALS;
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_CONTROL, &control), 0);
	stopped_go(c.pid);
	return c;
}

/* The tree is read all the time while it grows and shrinks. */
static void expect_exact_tree(void)
{
	struct counted c = tree_start(COMMAND(program("tree"), program("loop")), TOTALS);
	struct perfctr_counts counts, before = { 0 };
	uint32_t most = 0;

	do {
		counts = read_tree(c.fd);
		ck_assert_uint_ge(counts.counter[0], before.counter[0]);
		ck_assert_uint_ge(counts.tsc, before.tsc);
		ck_assert_uint_ge(counts.switches, before.switches);
		before = counts;
		if (counts.members > most)
			most = counts.members;
	} while (counts.members);
	counts = read_tree(c.fd);
	ck_assert_uint_gt(most, 2);
	ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_eq(counts.flags & (PERFCTR_COUNTS_CONSISTENT | PERFCTR_COUNTS_EXITED),
			  PERFCTR_COUNTS_CONSISTENT | PERFCTR_COUNTS_EXITED);
	expect_success(c.pid);
	close(c.fd);
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

/* Each process of the chain but the last exits before its child. */
START_TEST(sums_are_complete_when_wait_returns_and_when_no_member_is_left)
{
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	competitors_start(2);
	for (unsigned int round = 0; round < 2 * test_rounds(50); round++) {
		struct counted c = tree_start(COMMAND(program("chain")), TOTALS);

		while (round & 1 && read_tree(c.fd).members)
			;
		if (round & 1)
			ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		for (int i = 0; i < CHAIN_LENGTH; i++)
			ck_assert_int_gt(wait_for(-1, &status), 0);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		ck_assert_uint_eq(read_tree(c.fd).members, 0);
		close(c.fd);
	}
}
END_TEST

#define TINY "/tmp/loop-tiny"

/* The program is a copy, because files of the host take long to execute. */
START_TEST(a_program_is_complete_when_wait_returns_1000_of_1000)
{
	copy_file(program("loop-tiny"), TINY, 0755);
	for (unsigned int i = 0; i < test_rounds(1000); i++) {
		struct counted c = tree_start(COMMAND(TINY), TOTALS);

		expect_success(c.pid);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], LOOP_INSTRUCTIONS(TINY_LOOP));
		close(c.fd);
	}
}
END_TEST

/*
 * All with the same control: three trees and a thread with a context of its own. Another process is
 * not counted.
 */
START_TEST(trees_side_by_side_and_what_runs_between_them_are_exact)
{
	struct counted c[4];

	spinner_start(0);
	for (int i = 0; i < 4; i++) {
		const char *const *command = COMMAND(program("loop-long"));

		c[i] = i < 3 ? tree_start(command, TOTALS)
			     : counted_start(ANY_CPU, command, EVENTS({ 0, USER(INSTRUCTIONS) }));
		if (i)
			pin(c[i].pid, 0);
	}
	for (int i = 0; i < 4; i++) {
		expect_success(c[i].pid);
		ck_assert_uint_eq(read_tree(c[i].fd).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	}
}
END_TEST

START_TEST(several_counters_of_one_tree_agree)
{
	struct perfctr_counts counts;
	struct counted c = totals_of(COMMAND(program("tree"), program("loop")),
				     EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) },
					    { 2, USER(INSTRUCTIONS) }));

	do {
		counts = read_tree(c.fd);
		/* Otherwise two CPUs were read one after the other, and both counts had grown. */
		if (counts.flags & PERFCTR_COUNTS_CONSISTENT)
			ck_assert_uint_eq(counts.counter[0], counts.counter[2]);
	} while (counts.members);
	counts = read_tree(c.fd);
	ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_eq(counts.counter[2], TREE_INSTRUCTIONS);
	ck_assert_uint_lt(counts.counter[1], TREE_INSTRUCTIONS);
	expect_success(c.pid);
	close(c.fd);
}
END_TEST

/* All counters begin and end with the same instructions, in kernel mode, too. */
START_TEST(what_a_tree_executes_in_both_modes_is_what_it_executes_in_each)
{
	struct perfctr_counts counts;

	competitors_start(2);
	for (unsigned int i = 0; i < test_rounds(3); i++) {
		struct counted c =
			totals_of(COMMAND(program("tree"), program("loop")),
				  EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, BOTH(INSTRUCTIONS) },
					 { 2, KERNEL(INSTRUCTIONS) }));

		while (read_tree(c.fd).members)
			;
		counts = read_tree(c.fd);
		ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
		ck_assert_uint_gt(counts.counter[2], TREE_THREADS * 10000ull);
		ck_assert_uint_eq(counts.counter[1], counts.counter[0] + counts.counter[2]);
		expect_success(c.pid);
		close(c.fd);
	}
}
END_TEST

#define READS 10000

/* Now and then the CPU's tick folds the counters just after a reader has had them folded. */
START_TEST(counters_of_kernel_mode_agree_in_each_read)
{
	struct perfctr_control control = control_of(
		EVENTS({ 0, KERNEL(INSTRUCTIONS) }, { 1, USER(BRANCHES) }, { 2, KERNEL(INSTRUCTIONS) }));
	pid_t yielder = yielder_start(1);
	int fd = context_open(yielder, PERFCTR_OPEN_CREATE);

	control.flags = PERFCTR_CONTROL_INHERIT | TOTALS;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	pin(0, 0);
	for (int i = 0; i < READS; i++) {
		struct perfctr_counts counts = read_tree(fd);

		ck_assert_uint_eq(counts.counter[0], counts.counter[2]);
	}
	kill_and_wait(yielder);
	close(fd);
}
END_TEST

static int open_marked_session(int group)
{
	int session = session_open(group, NOT_PRIVILEGED | MARKED);

	session_control(session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	return session;
}

/* One CPU runs a tree, a marked tree, and a marked thread that is in no tree. */
START_TEST(sessions_and_totals_do_not_mind_each_other)
{
	int group = group_open(), session = open_marked_session(group);
	const char *const *command = COMMAND(program("loop-long"));
	struct counted tree[2];
	pid_t marked;

	for (int i = 0; i < 2; i++) {
		tree[i].pid = stopped_start(0, command);
		if (i)
			mark(tree[i].pid, group);
		tree[i].fd = context_open(tree[i].pid, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(tree[i].fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		stopped_go(tree[i].pid);
	}
	marked = marked_start(group, 0, command);
	for (int i = 0; i < 2; i++) {
		expect_success(tree[i].pid);
		ck_assert_uint_eq(read_tree(tree[i].fd).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
		close(tree[i].fd);
	}
	expect_success(marked);
	ck_assert_uint_eq(context_read(session).counter[0], 2 * LOOP_INSTRUCTIONS(LONG_LOOP));
	close(session);
	close(group);
}
END_TEST

START_TEST(a_marked_tree_is_exact_by_its_session_and_by_totals)
{
	const char *const *command = COMMAND(program("tree"), program("loop"));

	competitors_start(2);
	for (unsigned int i = 0; i < test_rounds(3); i++) {
		int group = group_open(), session = open_marked_session(group), fd;
		pid_t pid = stopped_start(ANY_CPU, command);

		mark(pid, group);
		fd = context_open(pid, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		stopped_go(pid);
		while (read_tree(fd).members)
			ck_assert_uint_le(context_read(session).counter[0], TREE_INSTRUCTIONS);
		ck_assert_uint_eq(read_tree(fd).counter[0], TREE_INSTRUCTIONS);
		ck_assert_uint_eq(context_read(session).counter[0], TREE_INSTRUCTIONS);
		expect_success(pid);
		close(fd);
		close(session);
		close(group);
	}
}
END_TEST

/* Some members bear a mark and others do not, and that changes. */
START_TEST(a_tree_is_exact_while_marks_come_and_go)
{
	int group = group_open(), session = open_marked_session(group);
	struct counted c = tree_start(COMMAND(program("tree"), program("loop")), TOTALS);
	uint32_t action = PERFCTR_MARK_SET;
	int changed, most = 0;

	while (read_tree(c.fd).members) {
		changed = try_mark(action, PERFCTR_MARK_TREE, c.pid, group);
		most = changed > most ? changed : most;
		action = PERFCTR_MARK_SET + PERFCTR_MARK_CLEAR - action;
	}
	ck_assert_int_gt(most, 2);
	ck_assert_uint_eq(read_tree(c.fd).counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_gt(context_read(session).counter[0], 0);
	ck_assert_uint_le(context_read(session).counter[0], TREE_INSTRUCTIONS);
	expect_success(c.pid);
	close(c.fd);
	close(session);
	close(group);
}
END_TEST

SUITE(totals, a_tree_of_200_processes_with_threads_and_execs_is_exact,
      a_tree_of_200_processes_is_exact_against_4_competitors,
      sums_are_complete_when_wait_returns_and_when_no_member_is_left,
      a_program_is_complete_when_wait_returns_1000_of_1000,
      trees_side_by_side_and_what_runs_between_them_are_exact, several_counters_of_one_tree_agree,
      what_a_tree_executes_in_both_modes_is_what_it_executes_in_each,
      counters_of_kernel_mode_agree_in_each_read,
      sessions_and_totals_do_not_mind_each_other,
      a_marked_tree_is_exact_by_its_session_and_by_totals, a_tree_is_exact_while_marks_come_and_go)
