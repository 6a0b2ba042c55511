// SPDX-License-Identifier: GPL-2.0-or-later
/* The library against the real driver: a program of its own, to be run inside the machine. */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <perfctr.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER_INSTRUCTIONS	0x4100c0
#define FIXED_USER		0x410000

/* Two instructions each time round, and a few before and after. */
#define SPIN			1000000ul

static void spin(void)
{
	unsigned long n = SPIN;

	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}

/* The calling thread counts its user instructions on counter 0 and fixed counter 0. */
static struct perfctr *counted(void)
{
	struct perfctr *self = perfctr_open();
	struct perfctr_control control;

	ck_assert_ptr_nonnull(self);
	perfctr_control_init(&control);
	perfctr_control_add(&control, PERFCTR_ANY, USER_INSTRUCTIONS, 0);
	perfctr_control_add(&control, PERFCTR_FIXED, FIXED_USER, 0);
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	ck_assert_uint_eq(control.event[0].counter, 0);
	return self;
}

static struct perfctr_counts read_counts(const struct perfctr *p)
{
	struct perfctr_counts counts;

	ck_assert_int_eq(perfctr_read(p, &counts), 0);
	return counts;
}

START_TEST(a_thread_has_one_context_at_a_time)
{
	struct perfctr *self = perfctr_open();

	ck_assert_ptr_nonnull(self);
	ck_assert_ptr_null(perfctr_open());
	ck_assert_int_eq(errno, EEXIST);
	errno = EINTR;
	perfctr_close(self);
	ck_assert_int_eq(errno, EINTR);
	ck_assert_ptr_null(perfctr_open_tid(0, 0));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_nonnull(perfctr_open());
}
END_TEST

/* Each of them lies between those before and after it: all read the same counter. */
START_TEST(every_way_to_read_agrees)
{
	struct perfctr *self = counted();
	const struct perfctr_page *page = perfctr_get_page(self);
	struct perfctr_counts first = read_counts(self), last;
	uint64_t fast, chosen, fixed;

	ck_assert_ptr_nonnull(page);
	spin();
	fast = perfctr_read_pmc(page, 0);
	chosen = perfctr_read_counter(self, 0);
	fixed = perfctr_read_pmc(page, 1);
	last = read_counts(self);
	ck_assert_uint_gt(fast, first.counter[0] + 2 * SPIN);
	ck_assert_uint_gt(chosen, fast);
	ck_assert_uint_gt(fixed, chosen);
	ck_assert_uint_gt(last.counter[0], fixed);
}
END_TEST

START_TEST(a_stopped_context_keeps_its_sums)
{
	struct perfctr *self = counted();
	const struct perfctr_page *page = perfctr_get_page(self);
	struct perfctr_counts stopped;
	uint64_t pmc, tsc;

	ck_assert_int_eq(perfctr_stop(self), 0);
	pmc = perfctr_read_pmc(page, 0);
	tsc = perfctr_read_tsc(page);
	spin();
	stopped = read_counts(self);
	ck_assert_uint_eq(stopped.counter[0], pmc);
	ck_assert_uint_eq(stopped.tsc, tsc);
	ck_assert_uint_eq(perfctr_read_counter(self, 0), pmc);
	ck_assert_uint_eq(stopped.flags & PERFCTR_COUNTS_STARTED, 0);

	ck_assert_int_eq(perfctr_start(self), 0);
	spin();
	ck_assert_uint_gt(perfctr_read_pmc(page, 0), pmc + 2 * SPIN);
}
END_TEST

START_TEST(a_counter_that_does_not_exist_is_an_error)
{
	struct perfctr *self = counted();

	errno = 0;
	ck_assert_uint_gt(perfctr_read_counter(self, 1), 0);
	ck_assert_int_eq(errno, 0);
	ck_assert_uint_eq(perfctr_read_counter(self, 2), 0);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

struct foreign_read {
	const struct perfctr *p;
	const struct perfctr_page *page;
	uint64_t value;
};

static void *read_foreign(void *argument)
{
	struct foreign_read *read = argument;

	read->page = perfctr_get_page(read->p);
	read->value = perfctr_read_counter(read->p, 0);
	return NULL;
}

START_TEST(another_thread_reads_by_the_kernel)
{
	struct perfctr *self = counted();
	struct foreign_read read = { .p = self };
	uint64_t before = perfctr_read_counter(self, 0);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, read_foreign, &read), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_ptr_null(read.page);
	ck_assert_uint_gt(read.value, before);
	ck_assert_uint_lt(read.value, perfctr_read_counter(self, 0));
}
END_TEST

/* pthread_self() of a new thread is that of one that has just ended. */
struct heir {
	struct perfctr *p;
	pthread_t before;
	const struct perfctr_page *page;
	uint64_t value;
	int met;
};

static void *count_and_end(void *argument)
{
	struct heir *heir = argument;

	heir->before = pthread_self();
	heir->p = counted();
	return NULL;
}

static void *take_its_place(void *argument)
{
	struct heir *heir = argument;

	heir->met = pthread_equal(heir->before, pthread_self());
	heir->page = perfctr_get_page(heir->p);
	heir->value = perfctr_read_counter(heir->p, 0);
	return NULL;
}

START_TEST(a_thread_that_takes_the_place_of_another_reads_it_by_the_kernel)
{
	for (int i = 0; i < 20; i++) {
		struct heir heir = { 0 };
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, count_and_end, &heir), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, take_its_place, &heir), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_int_ne(heir.met, 0);
		ck_assert_ptr_null(heir.page);
		ck_assert_uint_eq(heir.value, read_counts(heir.p).counter[0]);
		perfctr_close(heir.p);
	}
}
END_TEST

/* Its exit status says which step failed; libcheck belongs to the parent. */
static int use_handle_of_parent(struct perfctr *parents, uint64_t least)
{
	struct perfctr *self;

	if (perfctr_get_page(parents))
		return 1;
	if (perfctr_read_counter(parents, 0) < least)
		return 2;
	perfctr_close(parents);
	self = perfctr_open();
	if (!self || !perfctr_get_page(self))
		return 3;
	return 0;
}

START_TEST(a_forked_child_reads_its_parent_by_the_kernel)
{
	struct perfctr *self = counted();
	uint64_t before = perfctr_read_counter(self, 0);
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(use_handle_of_parent(self, before));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(perfctr_read_pmc(perfctr_get_page(self), 0), before);
}
END_TEST

START_TEST(only_the_handle_that_made_the_context_controls_it)
{
	struct perfctr *self = counted();
	struct perfctr *other = perfctr_open_tid(gettid(), 0);

	ck_assert_ptr_nonnull(other);
	ck_assert_uint_gt(perfctr_read_pmc(perfctr_get_page(other), 0), 0);
	ck_assert_int_eq(perfctr_stop(other), -1);
	ck_assert_int_eq(errno, EPERM);
	perfctr_close(other);
	ck_assert_uint_gt(perfctr_read_pmc(perfctr_get_page(self), 0), 0);
}
END_TEST

START_TEST(a_refused_control_names_its_event_and_the_old_one_goes_on)
{
	struct perfctr *self = counted();
	struct perfctr_control control;
	uint64_t before = perfctr_read_counter(self, 0);

	perfctr_control_init(&control);
	perfctr_control_add(&control, 0, USER_INSTRUCTIONS, 0);
	perfctr_control_add(&control, 77, USER_INSTRUCTIONS, 0);
	ck_assert_int_eq(perfctr_set_control(self, &control), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(control.bad_event, 1);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_COUNTER);
	ck_assert_uint_gt(perfctr_read_counter(self, 0), before);

	/* The same struct, corrected, is taken. */
	control.event[1].counter = 1;
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
}
END_TEST

/* With a child of its own, both of which spin and exit. */
static void spin_in_child_and_grandchild(void)
{
	pid_t pid = fork();

	spin();
	if (pid)
		waitpid(pid, NULL, 0);
	_exit(0);
}

START_TEST(a_tree_is_read_as_a_whole_and_by_record)
{
	struct perfctr_counts self, children, tree;
	struct perfctr_record first, second;
	struct perfctr_control control;
	struct perfctr *root = perfctr_open();
	struct pollfd readable;
	int status;
	pid_t pid;

	ck_assert_ptr_nonnull(root);
	readable = (struct pollfd){ .fd = perfctr_fd(root), .events = POLLIN };
	perfctr_control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_RECORD;
	perfctr_control_add(&control, PERFCTR_ANY, USER_INSTRUCTIONS, 0);
	ck_assert_int_eq(perfctr_set_control(root, &control), 0);
	ck_assert_int_eq(perfctr_next_record(root, &first), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(poll(&readable, 1, 0), 0);

	pid = fork();
	if (pid == 0)
		spin_in_child_and_grandchild();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(perfctr_stop(root), 0);

	ck_assert_int_eq(perfctr_read(root, &self), 0);
	ck_assert_int_eq(perfctr_read_scope(root, PERFCTR_SCOPE_CHILDREN, &children), 0);
	ck_assert_int_eq(perfctr_read_scope(root, PERFCTR_SCOPE_TREE, &tree), 0);
	ck_assert_uint_eq(children.members, 0);
	ck_assert_uint_eq(tree.members, 1);
	ck_assert_uint_ne(tree.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	ck_assert_uint_ge(children.counter[0], 2 * 2 * SPIN);
	ck_assert_uint_eq(self.counter[0] + children.counter[0], tree.counter[0]);

	/* The grandchild exits first. */
	ck_assert_int_eq(poll(&readable, 1, 0), 1);
	ck_assert_int_eq(perfctr_next_record(root, &first), 0);
	ck_assert_int_eq(perfctr_next_record(root, &second), 0);
	ck_assert_int_ne(first.tgid, pid);
	ck_assert_int_eq(second.tgid, pid);
	ck_assert_uint_eq(first.lost + second.lost, 0);
	ck_assert_uint_eq(first.counts.counter[0] + second.counts.counter[0], children.counter[0]);
	ck_assert_int_eq(perfctr_next_record(root, &first), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(perfctr_read_scope(root, PERFCTR_SCOPE_TREE + 1, &tree), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(a_thread_that_does_not_exist_cannot_be_opened)
{
	ck_assert_ptr_null(perfctr_open_tid(0x7ffffff0, PERFCTR_OPEN_CREATE));
	ck_assert_int_eq(errno, ESRCH);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("library");
	TCase *tests = tcase_create("live");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, a_thread_has_one_context_at_a_time);
	tcase_add_test(tests, every_way_to_read_agrees);
	tcase_add_test(tests, a_stopped_context_keeps_its_sums);
	tcase_add_test(tests, a_counter_that_does_not_exist_is_an_error);
	tcase_add_test(tests, another_thread_reads_by_the_kernel);
	tcase_add_test(tests, a_thread_that_takes_the_place_of_another_reads_it_by_the_kernel);
	tcase_add_test(tests, a_forked_child_reads_its_parent_by_the_kernel);
	tcase_add_test(tests, only_the_handle_that_made_the_context_controls_it);
	tcase_add_test(tests, a_refused_control_names_its_event_and_the_old_one_goes_on);
	tcase_add_test(tests, a_tree_is_read_as_a_whole_and_by_record);
	tcase_add_test(tests, a_thread_that_does_not_exist_cannot_be_opened);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
