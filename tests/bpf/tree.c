// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees: everything that a process starts, compared with wait4(). */
#include "bpf.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 100
#define MANY_PROCESSES 300

static void leaf(unsigned int i)
{
	touch(10 + i);
	nap(i % 7);
	burn(1000000 + i * 20000);
}

static void hundred_processes(void)
{
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (fork_child() == 0) {
			leaf(i);
			_exit(0);
		}
		if (i % 4 == 3)
			reap();
	}
	reap();
}

static void many_processes(void)
{
	for (unsigned int i = 0; i < MANY_PROCESSES; i++)
		if (fork_child() == 0) {
			touch(3);
			_exit(0);
		}
	reap();
}

/* The sums are the scheduler's own. rusage rounds two of them to microseconds. */
static void compare(const struct perfctr_counts *counts, struct usage before, struct usage after)
{
	struct usage counted = usage_of_counts(counts);
	int64_t ns = (int64_t)(after.ns - before.ns), error = (int64_t)counted.ns - ns;

	ck_assert_uint_eq(counted.minor, after.minor - before.minor);
	ck_assert_uint_eq(counted.major, after.major - before.major);
	ck_assert_uint_eq(counted.switches, after.switches - before.switches);
	ck_assert_msg(error >= 0 && error < 2000, "CPU time: %lld ns of %lld ns off",
		      (long long)error, (long long)ns);
}

static struct perfctr_counts count_tree(void (*run)(void))
{
	struct child child = make_child(run);
	struct perfctr *p = counted_software(child.pid, PERFCTR_CONTROL_INHERIT);
	struct usage before = usage_of(child.pid);
	struct perfctr_counts tree, children, self;
	struct rusage rusage;

	release_child(&child);
	rusage = end_child(&child);
	tree = counts_of(p, PERFCTR_SCOPE_TREE);
	children = counts_of(p, PERFCTR_SCOPE_CHILDREN);
	self = own_counts(p);
	perfctr_close(p);
	compare(&tree, before, usage_waited(&rusage));
	ck_assert_uint_eq(tree.members, 0);
	ck_assert_uint_ne(tree.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	for (uint32_t i = 0; i < tree.n_counters; i++)
		ck_assert_uint_eq(tree.counter[i], self.counter[i] + children.counter[i]);
	return tree;
}

START_TEST(a_tree_of_a_hundred_processes_is_what_rusage_says)
{
	count_tree(hundred_processes);
}
END_TEST

/* One of 8 slots is taken. */
START_TEST(more_processes_than_slots_lose_nothing)
{
	struct perfctr_counts tree = count_tree(many_processes);

	ck_assert_uint_ge(tree.counter[PERFCTR_MINOR_FAULTS], MANY_PROCESSES * 3);
}
END_TEST

#define ORPHAN_PAGES 200
static int orphan_go[2];

static void leave_an_orphan(void)
{
	char byte;

	if (fork() == 0) {
		if (read(orphan_go[0], &byte, 1) == 1)
			touch(ORPHAN_PAGES);
		_exit(0);
	}
}

START_TEST(whose_root_has_exited_is_counted_on)
{
	struct perfctr_counts before, after;
	struct child child;
	struct perfctr *p;

	ck_assert_int_eq(pipe(orphan_go), 0);
	child = make_child(leave_an_orphan);
	p = counted_software(child.pid, PERFCTR_CONTROL_INHERIT);
	release_child(&child);
	end_child(&child);
	before = counts_of(p, PERFCTR_SCOPE_TREE);
	ck_assert_uint_eq(before.members, 1);
	ck_assert_int_eq(write(orphan_go[1], "", 1), 1);
	do
		after = counts_of(p, PERFCTR_SCOPE_TREE);
	while (after.members);
	ck_assert_uint_ge(after.counter[PERFCTR_MINOR_FAULTS],
			  before.counter[PERFCTR_MINOR_FAULTS] + ORPHAN_PAGES);
	ck_assert_uint_gt(after.counter[PERFCTR_TASK_CLOCK], before.counter[PERFCTR_TASK_CLOCK]);
	perfctr_close(p);
}
END_TEST

static void hog(void)
{
	if (fork() == 0)
		for (;;)
			;
	for (;;)
		;
}

/* The scheduler updates the threads' own sums only at ticks. */
START_TEST(who_runs_is_counted_until_now_and_not_of_one_instant)
{
	struct child child = make_child(hog);
	struct perfctr *p = counted_software(child.pid, PERFCTR_CONTROL_INHERIT);
	struct perfctr_counts counts, later;

	release_child(&child);
	do
		counts = counts_of(p, PERFCTR_SCOPE_TREE);
	while (counts.members < 2 || counts.flags & PERFCTR_COUNTS_CONSISTENT);
	later = counts_of(p, PERFCTR_SCOPE_TREE);
	ck_assert_uint_gt(later.tsc, counts.tsc);
	ck_assert_uint_gt(later.counter[PERFCTR_TASK_CLOCK], counts.counter[PERFCTR_TASK_CLOCK]);
	perfctr_close(p);
}
END_TEST

static void *thread(void *argument)
{
	touch(20);
	burn(2000000);
	return argument;
}

static void twenty_threads(void)
{
	pthread_t threads[20];

	for (int i = 0; i < 20; i++)
		if (pthread_create(&threads[i], NULL, thread, NULL))
			_exit(1);
	for (int i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
}

/*
 * rusage leaves out the end of a thread that is not the first: its last switch, and another one if
 * the kernel can be preempted.
 */
START_TEST(threads_are_members_too)
{
	struct child child = make_child(twenty_threads);
	struct perfctr *p = counted_software(child.pid, PERFCTR_CONTROL_INHERIT);
	struct usage before = usage_of(child.pid), after, counted;
	struct perfctr_counts tree;
	struct rusage rusage;

	release_child(&child);
	rusage = end_child(&child);
	after = usage_waited(&rusage);
	tree = counts_of(p, PERFCTR_SCOPE_TREE);
	counted = usage_of_counts(&tree);
	ck_assert_uint_eq(tree.members, 0);
	ck_assert_uint_eq(counted.minor, after.minor - before.minor);
	ck_assert_uint_ge(counted.switches, after.switches - before.switches + 20);
	ck_assert_uint_le(counted.switches, after.switches - before.switches + 20 * 2);
	perfctr_close(p);
}
END_TEST

static void forks_only(void)
{
	reap();
	for (int i = 0; i < 5; i++)
		if (fork_child() == 0)
			_exit(0);
	reap();
}

START_TEST(what_does_not_inherit_counts_one_thread)
{
	struct child child = make_child(forks_only);
	struct perfctr *p = counted_software(child.pid, 0);
	struct perfctr_counts counts;

	release_child(&child);
	end_child(&child);
	counts = counts_of(p, PERFCTR_SCOPE_CHILDREN);
	ck_assert_uint_eq(counts.counter[PERFCTR_TASK_CLOCK], 0);
	ck_assert_uint_eq(counts.switches, 0);
	counts = own_counts(p);
	ck_assert_uint_ne(counts.counter[PERFCTR_TASK_CLOCK], 0);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_EXITED, 0);
	perfctr_close(p);
}
END_TEST

TCase *tree_tests(void)
{
	TCase *tests = tcase_create("tree");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_tree_of_a_hundred_processes_is_what_rusage_says);
	tcase_add_test(tests, more_processes_than_slots_lose_nothing);
	tcase_add_test(tests, whose_root_has_exited_is_counted_on);
	tcase_add_test(tests, who_runs_is_counted_until_now_and_not_of_one_instant);
	tcase_add_test(tests, threads_are_members_too);
	tcase_add_test(tests, what_does_not_inherit_counts_one_thread);
	return tests;
}
