// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts of other threads, and the callers that may have them. */
#include "bpf.h"
#include "../guest/guest.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void work_and_pause(void)
{
	burn(20000000);
	touch(100);
	pause();
}

static void sleep_until(pid_t pid, uint64_t minor)
{
	while (usage_of(pid).minor < minor)
		nap(1);
	wait_until_asleep(pid);
}

START_TEST(another_process_is_counted_exactly)
{
	struct child child = make_child(work_and_pause);
	struct perfctr *p = counted_software(child.pid, 0), *again;
	struct usage before = usage_of(child.pid), after;
	struct perfctr_counts counts;

	release_child(&child);
	sleep_until(child.pid, before.minor + 100);
	counts = own_counts(p);
	after = usage_of(child.pid);
	ck_assert_uint_eq(counts.counter[PERFCTR_TASK_CLOCK], after.ns - before.ns);
	ck_assert_uint_eq(counts.counter[PERFCTR_MINOR_FAULTS], after.minor - before.minor);
	ck_assert_uint_eq(counts.counter[PERFCTR_CONTEXT_SWITCHES],
			  after.switches - before.switches);
	/* The child sleeps at both ends. */
	ck_assert_uint_eq(counts.switches, after.switches - before.switches);
	again = perfctr_open_tid(child.pid, 0);
	ck_assert_ptr_nonnull(again);
	ck_assert_uint_eq(own_counts(again).tsc, counts.tsc);
	ck_assert_int_eq(perfctr_stop(again), -1);
	ck_assert_int_eq(errno, EPERM);
	perfctr_close(again);
	perfctr_close(p);
	ck_assert_ptr_null(perfctr_open_tid(child.pid, 0));
	ck_assert_int_eq(errno, ENOENT);
	kill_and_wait(child.pid);
}
END_TEST

static void spin_for_ever(void)
{
	for (;;)
		;
}

/* While the thread runs, its own sums are some milliseconds old. */
START_TEST(a_running_thread_is_counted_until_now)
{
	struct child child = make_child(spin_for_ever);
	struct perfctr *p = counted_software(child.pid, 0);
	struct perfctr_counts first, second;
	uint64_t begun = usage_of(child.pid).ns;

	release_child(&child);
	while (own_counts(p).counter[PERFCTR_TASK_CLOCK] < 10000000)
		;
	first = own_counts(p);
	while (usage_of(child.pid).ns < begun + first.counter[PERFCTR_TASK_CLOCK] + 50000000)
		nap(1);
	second = own_counts(p);
	ck_assert_uint_ge(second.counter[PERFCTR_TASK_CLOCK],
			  first.counter[PERFCTR_TASK_CLOCK] + 40000000);
	ck_assert_uint_gt(second.tsc, first.tsc);
	ck_assert_int_eq(perfctr_stop(p), 0);
	first = own_counts(p);
	nap(100);
	second = own_counts(p);
	ck_assert_uint_eq(first.tsc, second.tsc);
	perfctr_close(p);
	kill_and_wait(child.pid);
}
END_TEST

START_TEST(root_is_not_for_everybody_to_count)
{
	pid_t pid = atoi(getenv("ROOT_PROCESS"));

	if (getuid() == 0) {
		perfctr_close(counted_software(pid, 0));
		return;
	}
	ck_assert_ptr_null(perfctr_open_tid(pid, PERFCTR_OPEN_CREATE));
	ck_assert_int_eq(errno, EACCES);
	ck_assert_ptr_null(perfctr_open_tid(pid, 0));
	ck_assert_int_eq(errno, EACCES);
}
END_TEST

static int hidden[2]; /* a pipe: tells that the child is hidden */

static void hide(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	if (write(hidden[1], "", 1) == 1)
		pause();
}

START_TEST(who_may_not_be_dumped_is_not_counted)
{
	struct child child;
	struct perfctr *p;
	char byte;

	ck_assert_int_eq(pipe(hidden), 0);
	child = make_child(hide);
	release_child(&child);
	ck_assert_int_eq(read(hidden[0], &byte, 1), 1);
	p = perfctr_open_tid(child.pid, PERFCTR_OPEN_CREATE);
	if (getuid() == 0) {
		ck_assert_ptr_nonnull(p);
	} else {
		ck_assert_ptr_null(p);
		ck_assert_int_eq(errno, EACCES);
	}
	perfctr_close(p);
	kill_and_wait(child.pid);
}
END_TEST

static void execute_set_id(void)
{
	const char *program = getenv("SET_ID_PROGRAM");

	execl(program, program, "60", NULL);
	_exit(1);
}

static void wait_for_program(pid_t pid, const char *name)
{
	char path[32], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	while (strcmp(comm, name) != 0) {
		nap(10);
		file = fopen(path, "re");
		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(comm, sizeof(comm), file));
		fclose(file);
	}
	wait_until_asleep(pid);
}

/*
 * A process that makes a user namespace has all capabilities in it, and none outside. So has root.
 */
static void open_in_user_namespace(void)
{
	pid_t pid = atoi(getenv("ROOT_PROCESS"));
	bool opened;

	if (unshare(CLONE_NEWUSER) < 0)
		_exit(2);
	opened = perfctr_open_tid(pid, PERFCTR_OPEN_CREATE);
	_exit(opened || errno != EACCES);
}

START_TEST(capabilities_of_a_user_namespace_are_of_no_use)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		open_in_user_namespace();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* A copy of sleep(1) that belongs to another user, and runs as that user. */
START_TEST(what_changes_ids_is_dropped)
{
	struct child child = make_child(execute_set_id);
	struct perfctr *p = counted_software(child.pid, PERFCTR_CONTROL_INHERIT);
	struct perfctr_control control;
	struct perfctr_counts counts, later;
	struct usage before;

	release_child(&child);
	wait_for_program(child.pid, "sleep\n");
	counts = own_counts(p);
	before = usage_of(child.pid);
	if (getuid() == 0) {
		ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_EXITED, 0);
	} else {
		ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_EXITED, 0);
		ck_assert_uint_lt(counts.counter[PERFCTR_TASK_CLOCK], before.ns);
		control_all(&control, 0);
		ck_assert_int_eq(perfctr_set_control(p, &control), -1);
		ck_assert_int_eq(errno, ESRCH);
		ck_assert_int_eq(perfctr_start(p), -1);
	}
	kill_and_wait(child.pid);
	later = own_counts(p);
	if (getuid())
		ck_assert_uint_eq(counts.counter[PERFCTR_TASK_CLOCK],
				  later.counter[PERFCTR_TASK_CLOCK]);
	perfctr_close(p);
}
END_TEST

TCase *remote_tests(void)
{
	TCase *tests = tcase_create("remote");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, another_process_is_counted_exactly);
	tcase_add_test(tests, a_running_thread_is_counted_until_now);
	tcase_add_test(tests, root_is_not_for_everybody_to_count);
	tcase_add_test(tests, capabilities_of_a_user_namespace_are_of_no_use);
	tcase_add_test(tests, who_may_not_be_dumped_is_not_counted);
	tcase_add_test(tests, what_changes_ids_is_dropped);
	return tests;
}
