// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees: the threads that a thread creates, and records of those that have exited. */
#include "backend.h"

#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_tree_is_counted_exactly)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("tree"), program("loop")));
	struct perfctr *p = counted(pid, 1, PERFCTR_CONTROL_INHERIT);
	struct perfctr_counts tree;

	run_to_end(pid);
	tree = counts_of(p, PERFCTR_SCOPE_TREE);
	ck_assert_uint_eq(tree.counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_eq(instructions_of(p), TREE_ROOT);
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_CHILDREN).counter[0], TREE_BELOW_ROOT);
	ck_assert_uint_eq(tree.members, 0);
	ck_assert_uint_ne(tree.flags & PERFCTR_COUNTS_EXITED, 0);
	ck_assert_uint_ne(tree.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	perfctr_close(p);
}
END_TEST

START_TEST(orphans_are_counted_with_the_root_that_exited_before_them)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("chain")));
	struct perfctr *p = counted(pid, 1, PERFCTR_CONTROL_INHERIT);

	run_to_end(pid);
	while (counts_of(p, PERFCTR_SCOPE_TREE).members)
		;
	/* 8 are the root's own instructions. */
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_CHILDREN).counter[0], CHAIN_INSTRUCTIONS - 8);
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_TREE).counter[0], CHAIN_INSTRUCTIONS);
	perfctr_close(p);
}
END_TEST

START_TEST(what_does_not_inherit_counts_one_thread)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("tree"), program("loop")));
	struct perfctr *p = counted(pid, 1, 0);
	struct perfctr_counts children;

	run_to_end(pid);
	children = counts_of(p, PERFCTR_SCOPE_CHILDREN);
	ck_assert_uint_eq(children.counter[0], 0);
	ck_assert_uint_eq(children.tsc, 0);
	ck_assert_uint_eq(instructions_of(p), TREE_ROOT);
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_TREE).counter[0], TREE_ROOT);
	perfctr_close(p);
}
END_TEST

static void *work(void *argument)
{
	loop(ITERATIONS);
	return argument;
}

static void fork_and_make_a_thread(void)
{
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		loop(ITERATIONS);
		_exit(0);
	}
	ck_assert_int_eq(wait_for(pid, NULL), pid);
	ck_assert_int_eq(pthread_create(&thread, NULL, work, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/*
 * A thread that was joined may be a moment before its end. Then it belongs to the tree, and is no
 * exited child.
 */
START_TEST(forks_and_threads_are_inherited_and_stop_with_the_root)
{
	struct perfctr *self = counted(0, 1, PERFCTR_CONTROL_INHERIT);
	struct perfctr_counts own, children, tree;

	fork_and_make_a_thread();
	while (counts_of(self, PERFCTR_SCOPE_TREE).members > 1)
		nap(1);
	ck_assert_int_eq(perfctr_stop(self), 0);
	fork_and_make_a_thread();
	own = own_counts(self);
	children = counts_of(self, PERFCTR_SCOPE_CHILDREN);
	tree = counts_of(self, PERFCTR_SCOPE_TREE);
	ck_assert_uint_lt(own.counter[0], 2 * ITERATIONS);
	ck_assert_uint_ge(tree.counter[0], own.counter[0] + 4 * ITERATIONS);
	ck_assert_uint_lt(tree.counter[0], own.counter[0] + 5 * ITERATIONS);
	ck_assert_uint_ge(children.counter[0], 4 * ITERATIONS);
	perfctr_close(self);
}
END_TEST

static void two_that_stay(void)
{
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			for (;;)
				pause();
	for (;;)
		pause();
}

START_TEST(members_are_those_that_have_not_exited)
{
	struct child child = make_child(two_that_stay);
	struct perfctr *p = counted(child.pid, 0, PERFCTR_CONTROL_INHERIT);
	struct perfctr_counts tree;

	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_TREE).members, 1);
	release_child(&child);
	while (counts_of(p, PERFCTR_SCOPE_TREE).members < 3)
		nap(1);
	/* Waits until all of them sleep, however long that takes on a loaded machine. */
	do {
		nap(10);
		tree = counts_of(p, PERFCTR_SCOPE_TREE);
	} while (!(tree.flags & PERFCTR_COUNTS_CONSISTENT));
	ck_assert_uint_eq(tree.members, 3);
	ck_assert_uint_eq(own_counts(p).members, 1);
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_CHILDREN).tsc, 0);
	kill_and_wait(child.pid);
	ck_assert_uint_eq(counts_of(p, PERFCTR_SCOPE_TREE).members, 2);
	perfctr_close(p);
}
END_TEST

static void work_in_child_and_grandchild(void)
{
	pid_t pid = fork();

	loop(ITERATIONS);
	if (pid)
		waitpid(pid, NULL, 0);
	_exit(0);
}

static void expect_no_record(const struct perfctr *root)
{
	struct pollfd readable = { .fd = perfctr_fd(root), .events = POLLIN };
	struct perfctr_exit_record record;

	ck_assert_int_eq(poll(&readable, 1, 0), 0);
	expect_refusal(perfctr_next_exit_record(root, &record), EAGAIN);
}

START_TEST(each_member_that_exits_leaves_a_record)
{
	struct perfctr *root =
		counted(0, 1, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS);
	struct pollfd readable = { .fd = perfctr_fd(root), .events = POLLIN };
	struct perfctr_counts children, tree;
	struct perfctr_exit_record first, second;
	pid_t pid;

	expect_no_record(root);
	pid = fork();
	if (pid == 0)
		work_in_child_and_grandchild();
	ck_assert_int_eq(wait_for(pid, NULL), pid);
	ck_assert_int_eq(perfctr_stop(root), 0);
	/* The grandchild exits first. */
	ck_assert_int_eq(poll(&readable, 1, 0), 1);
	ck_assert_int_eq(perfctr_next_exit_record(root, &first), 0);
	ck_assert_int_eq(perfctr_next_exit_record(root, &second), 0);
	ck_assert_int_ne(first.tgid, pid);
	ck_assert_int_eq(second.tgid, pid);
	ck_assert_uint_eq(first.lost + second.lost, 0);
	ck_assert_uint_ge(first.counts.counter[0], 2 * ITERATIONS);
	children = counts_of(root, PERFCTR_SCOPE_CHILDREN);
	ck_assert_uint_eq(children.members, 0);
	ck_assert_uint_eq(first.counts.counter[0] + second.counts.counter[0], children.counter[0]);
	tree = counts_of(root, PERFCTR_SCOPE_TREE);
	ck_assert_uint_eq(tree.members, 1);
	ck_assert_uint_ne(tree.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	ck_assert_uint_eq(tree.counter[0], children.counter[0] + instructions_of(root));
	expect_no_record(root);
	perfctr_close(root);
}
END_TEST

#define TREE (PERFCTR_CAN_HARDWARE | PERFCTR_CAN_INHERIT)

const struct contract tree_contract[] = {
	{ TREE | PERFCTR_CAN_REMOTE, &a_tree_is_counted_exactly },
	{ TREE | PERFCTR_CAN_REMOTE, &orphans_are_counted_with_the_root_that_exited_before_them },
	{ TREE | PERFCTR_CAN_REMOTE, &what_does_not_inherit_counts_one_thread },
	{ TREE, &forks_and_threads_are_inherited_and_stop_with_the_root },
	{ PERFCTR_CAN_INHERIT | PERFCTR_CAN_REMOTE | KEEPS_CONTEXTS,
	  &members_are_those_that_have_not_exited },
	{ TREE | PERFCTR_CAN_EXIT_RECORDS, &each_member_that_exits_leaves_a_record },
	{ 0, NULL },
};
