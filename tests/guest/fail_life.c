// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads with a context and a mark where the kernel finds no memory: birth, exec and end. */
#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long fork_child(void)
{
	long pid = syscall(SYS_fork);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long vfork_child(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

/*
 * The kernel stores the descriptor of the process late, in a page that the child shares by then.
 * EFAULT: it has no memory for a copy of the page.
 */
static long clone_child(void)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		close(pidfd);
	return pid;
}

static void wait_for_child(long pid)
{
	int status;

	ck_assert_int_eq(wait_for((pid_t)pid, &status), (pid_t)pid);
	ck_assert_int_eq(status, 0);
}

static pthread_t thread;

static void *thread_that_returns(void *argument)
{
	return argument;
}

/* The stack is the test's: the C library would keep its own, and not allocate it the next time. */
static long create_thread(void)
{
	static _Alignas(16) char stack[1 << 17];
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	EXPECT(pthread_attr_setstack(&attributes, stack, sizeof(stack)) == 0);
	error = pthread_create(&thread, &attributes, thread_that_returns, NULL);
	pthread_attr_destroy(&attributes);
	errno = error;
	return error ? -1 : 0;
}

static void join_thread(long result)
{
	(void)result;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static const struct call births[] = {
	{ "fork", fork_child, wait_for_child, EAGAIN, 20 },
	{ "vfork", vfork_child, wait_for_child, EAGAIN, 5 },
	{ "clone with a descriptor", clone_child, wait_for_child, EFAULT, 20 },
	{ "pthread_create", create_thread, join_thread, EAGAIN, 2 },
};

START_TEST(a_child_of_a_monitored_thread_that_is_not_born_leaves_no_context)
{
	fail_begin();
	own = tree_open(0);
	expect_clean_calls(births, ARRAY_SIZE(births));
	fail_finish();
}
END_TEST

/* With periods, a context has more than one part. */
START_TEST(a_child_of_a_thread_with_periods_that_is_not_born_leaves_no_context)
{
	struct perfctr_control control = tree_control(0);

	fail_begin();
	own = context_open(0, PERFCTR_OPEN_CREATE);
	control.event[0].period = 1009;
	ck_assert_int_eq(ioctl(own, PERFCTR_IOC_CONTROL, &control), 0);
	expect_clean_calls(births, ARRAY_SIZE(births));
	fail_finish();
}
END_TEST

START_TEST(a_child_of_a_tree_counted_as_one_that_is_not_born_is_no_member)
{
	fail_begin();
	own = tree_open(PERFCTR_CONTROL_TOTALS);
	expect_clean_calls(births, ARRAY_SIZE(births));
	fail_finish();
}
END_TEST

START_TEST(a_child_of_a_marked_thread_that_is_not_born_leaves_no_mark)
{
	fail_begin();
	mark_fd = mark_open();
	mark(0, mark_fd);
	expect_clean_calls(births, ARRAY_SIZE(births));
	fail_finish();
}
END_TEST

static void monitored_and_marked(void)
{
	fail_begin();
	own = tree_open(PERFCTR_CONTROL_EXIT_RECORDS);
	mark_fd = mark_open();
	mark(0, mark_fd);
}

START_TEST(a_child_of_a_monitored_and_marked_thread_that_is_not_born_leaves_neither)
{
	monitored_and_marked();
	expect_clean_calls(births, ARRAY_SIZE(births));
	fail_finish();
}
END_TEST

/* Starts a monitored and marked child whose n-th allocation from now on fails. */
static pid_t child_that_fails(unsigned int n, const char *const command[])
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);

		fail_allocation(fd, n);
		if (command)
			execv(command[0], (char *const *)command);
		_exit(0);
	}
	return pid;
}

/* Did an allocation of the child fail? Waits for the child. */
static bool child_has_failed(pid_t pid)
{
	char path[64];
	siginfo_t ended;
	int status;
	uint64_t left;

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid);
	left = read_number(path);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	return left == 0;
}

/*
 * In memory. If the 9p client finds no memory when a file of the host is closed, it reuses the
 * file's number although the server still holds it. Then no file can be opened any more.
 */
#define PROGRAM_IN_MEMORY "/dev/shm/loop-tiny"

START_TEST(an_exec_that_fails_or_kills_leaves_nothing)
{
	struct footprint before;
	unsigned int n = 0;
	bool failed;

	copy_file(program("loop-tiny"), PROGRAM_IN_MEMORY, 0755);
	monitored_and_marked();
	before = footprint();
	do {
		ck_assert_uint_lt(++n, MAX_ALLOCATIONS);
		failed = child_has_failed(child_that_fails(n, COMMAND(PROGRAM_IN_MEMORY)));
		expect_footprint(&before, "exec", n);
	} while (failed);
	printf("exec: %u allocations\n", n - 1);
	ck_assert_uint_gt(n, 20);
	fail_finish();
}
END_TEST

/* More than any exit needs. */
#define EXIT_ALLOCATIONS 60

START_TEST(a_record_that_finds_no_memory_is_told_as_lost)
{
	struct perfctr_exit_record record;
	unsigned int lost = 0, told = 0;

	monitored_and_marked();
	for (unsigned int n = 1; n <= EXIT_ALLOCATIONS; n++) {
		uint64_t children = context_read_scope(own, PERFCTR_SCOPE_CHILDREN).counter[0];
		pid_t pid = child_that_fails(n, NULL);

		wait_for_child(pid);
		record = (struct perfctr_exit_record){ .size = sizeof(record) };
		ck_assert_int_eq(ioctl(own, PERFCTR_IOC_EXIT_RECORD, &record), 0);
		ck_assert_int_eq(record.tid, record.lost ? 0 : pid);
		lost += record.lost;
		told += record.tid == pid;
		/* The child's counts are not lost. */
		ck_assert_uint_gt(context_read_scope(own, PERFCTR_SCOPE_CHILDREN).counter[0],
				  children);
	}
	ck_assert_uint_eq(lost + told, EXIT_ALLOCATIONS);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_gt(told, 0);
	fail_finish();
}
END_TEST

SUITE(fail_life, a_child_of_a_monitored_and_marked_thread_that_is_not_born_leaves_neither,
      a_child_of_a_monitored_thread_that_is_not_born_leaves_no_context,
      a_child_of_a_thread_with_periods_that_is_not_born_leaves_no_context,
      a_child_of_a_tree_counted_as_one_that_is_not_born_is_no_member,
      a_child_of_a_marked_thread_that_is_not_born_leaves_no_mark,
      an_exec_that_fails_or_kills_leaves_nothing, a_record_that_finds_no_memory_is_told_as_lost)
