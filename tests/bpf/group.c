// SPDX-License-Identifier: GPL-2.0-or-later
/* Marked groups and the sessions that count them. */
#include "bpf.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void ten_processes(void)
{
	for (unsigned int i = 0; i < 10; i++)
		if (bear() == 0) {
			touch(100);
			nap(5);
			burn(3000000);
			_exit(0);
		}
	reap();
}

static struct perfctr_session *session_of(struct perfctr_group *group)
{
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.group = group,
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};
	struct perfctr_session *session = perfctr_session_open(&options);
	struct perfctr_control control;

	ck_assert_ptr_nonnull(session);
	control_all(&control, 0);
	ck_assert_int_eq(perfctr_session_control(session, &control), 0);
	return session;
}

static struct perfctr_group *make_group(void)
{
	struct perfctr_group *group = perfctr_group_open(NULL);

	ck_assert_msg(group, "perfctr_group_open: errno %d", errno);
	return group;
}

START_TEST(a_marked_process_is_counted_with_all_that_it_starts)
{
	struct perfctr_group *group = make_group();
	struct perfctr_session *session = session_of(group);
	struct child child = make_child(ten_processes);
	struct perfctr_counts counts;
	struct usage before, after, counted;
	struct rusage rusage;

	ck_assert_int_eq(perfctr_mark(group, child.pid, PERFCTR_MARK_PROCESS), 1);
	before = usage_of(child.pid);
	let_go(&child);
	rusage = end_child(&child);
	after = usage_waited(&rusage);
	ck_assert_int_eq(perfctr_session_read(session, &counts), 0);
	counted = usage_of_counts(&counts);
	ck_assert_uint_eq(counted.minor, after.minor - before.minor);
	/* As in trees: rusage may lack last switches. */
	ck_assert_uint_ge(counted.switches, after.switches - before.switches);
	ck_assert_uint_le(counted.switches, after.switches - before.switches + 2);
	ck_assert_uint_le((uint64_t)llabs((long long)(counted.ns - (after.ns - before.ns))),
			  counted.ns / 1000 + 30000);
	ck_assert_uint_eq(counts.members, 0);
	ck_assert_int_eq(perfctr_members(group, NULL, 0), 0);
	perfctr_session_close(session);
	perfctr_group_close(group);
}
END_TEST

static void tree_that_stays(void)
{
	if (fork() == 0 && fork() >= 0)
		pause();
	pause();
}

START_TEST(a_mark_reaches_a_tree_that_is_there)
{
	struct perfctr_group *group = make_group(), *other = make_group();
	struct child child = make_child(tree_that_stays);
	pid_t tids[4] = { 0 };
	uint64_t id;

	let_go(&child);
	nap(300);
	ck_assert_int_eq(perfctr_mark(group, child.pid, PERFCTR_MARK_TREE), 3);
	ck_assert_int_eq(perfctr_mark(group, child.pid, PERFCTR_MARK_TREE), 0);
	ck_assert_int_eq(perfctr_members(group, tids, 4), 3);
	ck_assert_int_eq(tids[0], child.pid);
	ck_assert_int_ne(tids[2], 0);
	ck_assert_int_eq(tids[3], 0);
	ck_assert_int_eq(perfctr_mark(other, child.pid, PERFCTR_MARK_THREAD), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(perfctr_marked(tids[1], &id), 0);
	ck_assert_uint_ne(id, 0);
	ck_assert_int_eq(perfctr_unmark(group, tids[1], PERFCTR_MARK_THREAD), 1);
	ck_assert_int_eq(perfctr_marked(tids[1], &id), 0);
	ck_assert_uint_eq(id, 0);
	ck_assert_int_eq(perfctr_members(group, NULL, 0), 2);
	perfctr_group_close(group);
	/* With the group its marks are gone. */
	ck_assert_int_eq(perfctr_mark(other, child.pid, PERFCTR_MARK_TREE), 3);
	perfctr_group_close(other);
	kill(tids[2], SIGKILL);
	kill(tids[1], SIGKILL);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
}
END_TEST

START_TEST(a_segment_counts_what_is_between_its_ends)
{
	struct perfctr_group *group = make_group();
	struct perfctr_session *session = session_of(group);
	struct perfctr_counts counts;
	uint64_t ns;

	touch(30);
	burn(5000000);
	ns = thread_ns();
	ck_assert_int_eq(perfctr_segment_begin(group), 0);
	touch(500);
	ck_assert_int_eq(perfctr_segment_end(group), 0);
	ns = thread_ns() - ns;
	touch(300);
	burn(30000000);
	ck_assert_int_eq(perfctr_session_read(session, &counts), 0);
	ck_assert_uint_ge(counts.counter[PERFCTR_MINOR_FAULTS], 500);
	ck_assert_uint_le(counts.counter[PERFCTR_MINOR_FAULTS], 505);
	ck_assert_double_le((double)counts.counter[PERFCTR_TASK_CLOCK], (double)ns + CLOCKS_OFF_NS);
	ck_assert_uint_ge(counts.counter[PERFCTR_TASK_CLOCK], ns / 2);
	ck_assert_uint_eq(counts.members, 0);
	perfctr_session_close(session);
	perfctr_group_close(group);
}
END_TEST

START_TEST(a_stopped_session_leaves_out_what_comes_meanwhile)
{
	struct perfctr_group *group = make_group();
	struct perfctr_session *session = session_of(group);
	struct perfctr_counts counts;

	ck_assert_int_eq(perfctr_segment_begin(group), 0);
	touch(100);
	ck_assert_int_eq(perfctr_session_stop(session), 0);
	touch(1000);
	ck_assert_int_eq(perfctr_session_start(session), 0);
	touch(200);
	ck_assert_int_eq(perfctr_session_read(session, &counts), 0);
	ck_assert_uint_ge(counts.counter[PERFCTR_MINOR_FAULTS], 300);
	ck_assert_uint_le(counts.counter[PERFCTR_MINOR_FAULTS], 320);
	ck_assert_uint_eq(counts.members, 1);
	perfctr_session_close(session);
	perfctr_group_close(group);
}
END_TEST

START_TEST(what_programs_cannot_do_is_refused)
{
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.policy = PERFCTR_EXCLUDE_UNMARKED,
	};

	ck_assert_ptr_null(perfctr_session_open(&options));
	ck_assert_int_eq(errno, ENOTSUP);
}
END_TEST

TCase *group_tests(void)
{
	TCase *tests = tcase_create("group");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_marked_process_is_counted_with_all_that_it_starts);
	tcase_add_test(tests, a_mark_reaches_a_tree_that_is_there);
	tcase_add_test(tests, a_segment_counts_what_is_between_its_ends);
	tcase_add_test(tests, a_stopped_session_leaves_out_what_comes_meanwhile);
	tcase_add_test(tests, what_programs_cannot_do_is_refused);
	return tests;
}
