// SPDX-License-Identifier: GPL-2.0-or-later
/* Marks, and the sessions that they gate. */
#include "backend.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

START_TEST(marked_programs_are_counted_exactly_with_all_that_they_start)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = session_of(mark, 0);
	pid_t pid[] = {
		stopped_start(ANY_CPU, COMMAND(program("loop"))),
		stopped_start(ANY_CPU, COMMAND(program("tree"), program("loop"))),
	};
	struct perfctr_counts counts;

	for (size_t i = 0; i < ARRAY_SIZE(pid); i++)
		ck_assert_int_eq(perfctr_mark_set(mark, pid[i], PERFCTR_MARK_PROCESS), 1);
	for (size_t i = 0; i < ARRAY_SIZE(pid); i++)
		run_to_end(pid[i]);
	counts = session_counts(session);
	ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP) + TREE_INSTRUCTIONS);
	ck_assert_uint_eq(counts.members, 0);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 0);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_session_counts_who_was_marked_before_it_came)
{
	struct perfctr_mark *mark = make_mark();
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));
	struct perfctr_session *session;

	ck_assert_int_eq(perfctr_mark_set(mark, pid, PERFCTR_MARK_THREAD), 1);
	session = session_of(mark, 0);
	run_to_end(pid);
	ck_assert_uint_eq(session_counts(session).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static int complete[2]; /* a pipe: tells that the tree is complete */

static void tree_that_stays(void)
{
	if (fork() == 0 && fork() == 0 && write(complete[1], "", 1) != 1)
		_exit(1);
	wait_for_ever();
}

struct staying {
	struct child root;
	pid_t tid[4];
};

/*
 * A process, its child and its grandchild. They are made before the mark is opened: they would
 * hold it, too.
 */
static struct staying make_tree(void)
{
	struct staying tree = { 0 };
	char byte;

	ck_assert_int_eq(pipe(complete), 0);
	tree.root = make_child(tree_that_stays);
	release_child(&tree.root);
	ck_assert_int_eq(read(complete[0], &byte, 1), 1);
	close(complete[0]);
	close(complete[1]);
	return tree;
}

static void mark_tree(struct perfctr_mark *mark, struct staying *tree)
{
	ck_assert_int_eq(perfctr_mark_set(mark, tree->root.pid, PERFCTR_MARK_TREE), 3);
	ck_assert_int_eq(perfctr_members(mark, tree->tid, 4), 3);
	ck_assert_int_eq(tree->tid[0], tree->root.pid);
	ck_assert_int_ne(tree->tid[2], 0);
	ck_assert_int_eq(tree->tid[3], 0);
}

static void end_tree(const struct staying *tree)
{
	kill(tree->tid[2], SIGKILL);
	kill(tree->tid[1], SIGKILL);
	kill_and_wait(tree->root.pid);
}

START_TEST(a_mark_reaches_a_tree_that_is_there_and_ends_with_it)
{
	struct staying tree = make_tree();
	struct perfctr_mark *mark = make_mark();
	struct pollfd over = { .fd = perfctr_mark_fd(mark), .events = POLLIN };

	mark_tree(mark, &tree);
	ck_assert_int_eq(perfctr_mark_set(mark, tree.root.pid, PERFCTR_MARK_TREE), 0);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 3);
	end_tree(&tree);
	while (perfctr_members(mark, NULL, 0))
		ck_assert_int_eq(poll(&over, 1, 10000), 1);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_mark_is_found_and_can_be_taken_away)
{
	struct staying tree = make_tree();
	uint64_t id, found;
	struct perfctr_mark *mark = perfctr_mark_open(&id);

	mark_tree(mark, &tree);
	ck_assert_int_eq(perfctr_mark_get(tree.tid[1], &found), 0);
	ck_assert_uint_eq(found, id);
	ck_assert_int_eq(perfctr_mark_clear(mark, tree.tid[1], PERFCTR_MARK_THREAD), 1);
	ck_assert_int_eq(perfctr_mark_get(tree.tid[1], &found), 0);
	ck_assert_uint_eq(found, 0);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 2);
	ck_assert_int_eq(perfctr_mark_clear(NULL, tree.root.pid, PERFCTR_MARK_TREE), 2);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 0);
	end_tree(&tree);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_thread_has_one_mark_which_ends_with_its_handle)
{
	struct staying tree = make_tree();
	struct perfctr_mark *mark = make_mark(), *other = make_mark();

	mark_tree(mark, &tree);
	expect_refusal(perfctr_mark_set(other, tree.root.pid, PERFCTR_MARK_THREAD), EBUSY);
	perfctr_mark_close(mark);
	ck_assert_int_eq(perfctr_mark_set(other, tree.root.pid, PERFCTR_MARK_TREE), 3);
	perfctr_mark_close(other);
	end_tree(&tree);
}
END_TEST

START_TEST(what_a_marked_thread_creates_is_marked)
{
	uint64_t id, found = 0;
	struct perfctr_mark *mark = perfctr_mark_open(&id);
	pid_t pid;

	ck_assert_int_eq(perfctr_mark_set(mark, 0, PERFCTR_MARK_THREAD), 1);
	pid = fork();
	if (pid == 0)
		wait_for_ever();
	ck_assert_int_eq(perfctr_mark_get(pid, &found), 0);
	ck_assert_uint_eq(found, id);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 2);
	kill_and_wait(pid);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 1);
	perfctr_mark_close(mark);
}
END_TEST

/* A child that was killed may still be on its CPU when its parent has waited for it. */
START_TEST(who_has_been_waited_for_is_a_member_no_more)
{
	struct perfctr_mark *mark = make_mark();
	pid_t pid, tid[2];

	ck_assert_int_eq(perfctr_mark_set(mark, 0, PERFCTR_MARK_THREAD), 1);
	for (int i = 0; i < 300; i++) {
		pid = fork();
		if (pid == 0)
			wait_for_ever();
		kill_and_wait(pid);
		ck_assert_int_eq(i % 2 ? perfctr_members(mark, NULL, 0) :
					 perfctr_members(mark, tid, 2),
				 1);
	}
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(who_is_not_there_cannot_be_marked)
{
	struct perfctr_mark *mark = make_mark();

	expect_refusal(perfctr_mark_set(mark, NOBODY_THERE, PERFCTR_MARK_THREAD), ESRCH);
	expect_refusal(perfctr_mark_set(mark, NOBODY_THERE, PERFCTR_MARK_PROCESS), ESRCH);
	expect_refusal(perfctr_mark_set(mark, 0, PERFCTR_MARK_TREE + 1), EINVAL);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 0);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_segment_counts_what_is_between_its_ends)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = session_of(mark, 0);
	struct perfctr_counts counts;

	loop(ITERATIONS);
	ck_assert_int_eq(perfctr_segment_begin(mark), 0);
	loop(3 * ITERATIONS);
	ck_assert_int_eq(perfctr_segment_end(mark), 0);
	loop(ITERATIONS);
	counts = session_counts(session);
	ck_assert_uint_gt(counts.counter[0], 6 * ITERATIONS);
	ck_assert_uint_lt(counts.counter[0], 7 * ITERATIONS);
	ck_assert_uint_eq(counts.members, 0);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_stopped_session_leaves_out_what_comes_meanwhile)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = session_of(mark, PERFCTR_CONTROL_STOPPED);
	uint64_t count;

	ck_assert_int_eq(perfctr_mark_set(mark, 0, PERFCTR_MARK_THREAD), 1);
	loop(5 * ITERATIONS);
	ck_assert_uint_eq(session_counts(session).counter[0], 0);
	ck_assert_int_eq(perfctr_session_start(session), 0);
	loop(ITERATIONS);
	ck_assert_int_eq(perfctr_session_stop(session), 0);
	count = session_counts(session).counter[0];
	ck_assert_uint_gt(count, 2 * ITERATIONS);
	ck_assert_uint_lt(count, 3 * ITERATIONS);
	loop(5 * ITERATIONS);
	ck_assert_uint_eq(session_counts(session).counter[0], count);
	ck_assert_uint_eq(session_counts(session).flags & PERFCTR_COUNTS_STARTED, 0);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_session_may_outlive_the_handle_of_its_mark)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = session_of(mark, 0);
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));

	ck_assert_int_eq(perfctr_mark_set(mark, pid, PERFCTR_MARK_PROCESS), 1);
	run_to_end(pid);
	perfctr_mark_close(mark);
	ck_assert_uint_eq(session_counts(session).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	perfctr_session_close(session);
}
END_TEST

#define M PERFCTR_CAN_MARK
#define MK (M | KEEPS_MARKS)
#define MH (M | PERFCTR_CAN_HARDWARE)

const struct contract mark_contract[] = {
	{ MH, &marked_programs_are_counted_exactly_with_all_that_they_start },
	{ MH, &a_session_counts_who_was_marked_before_it_came },
	{ M, &a_mark_reaches_a_tree_that_is_there_and_ends_with_it },
	{ MK, &a_mark_is_found_and_can_be_taken_away },
	{ MK, &a_thread_has_one_mark_which_ends_with_its_handle },
	{ MK, &what_a_marked_thread_creates_is_marked },
	{ MK, &who_has_been_waited_for_is_a_member_no_more },
	{ M, &who_is_not_there_cannot_be_marked },
	{ MH | KEEPS_MARKS, &a_segment_counts_what_is_between_its_ends },
	{ MH, &a_stopped_session_leaves_out_what_comes_meanwhile },
	{ MH, &a_session_may_outlive_the_handle_of_its_mark },
	{ 0, NULL },
};
