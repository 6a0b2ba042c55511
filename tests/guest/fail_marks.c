// SPDX-License-Identifier: GPL-2.0-or-later
/* Marks where the kernel finds no memory. */
#include "fail.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A process with more threads than the kernel expects at first, and another process below it. */
#define HERD_THREADS 70
#define HERD (HERD_THREADS + 1)

static pid_t herd;

static void *thread_that_waits(void *argument)
{
	pause();
	return argument;
}

static void herd_start(void)
{
	int ready = eventfd(0, 0);
	uint64_t one = 1;
	pthread_t thread;

	herd = fork();
	ck_assert_int_ge(herd, 0);
	if (herd == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i < HERD_THREADS; i++)
			EXPECT(pthread_create(&thread, NULL, thread_that_waits, NULL) == 0);
		if (fork() == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		else
			EXPECT(write(ready, &one, sizeof(one)) == sizeof(one));
		pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready, &one, sizeof(one)), sizeof(one));
	close(ready);
}

static long change_herd(uint32_t action, uint32_t scope)
{
	struct perfctr_mark_args mark = {
		.size = sizeof(mark),
		.action = action,
		.scope = scope,
		.tid = herd,
		.mark = mark_fd,
	};

	return ioctl(device, PERFCTR_IOC_MARK, &mark) ? -1 : (long)mark.changed;
}

static long mark_thread(void)
{
	return change_herd(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD);
}

static long mark_process(void)
{
	return change_herd(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS);
}

static long mark_tree(void)
{
	return change_herd(PERFCTR_MARK_SET, PERFCTR_MARK_TREE);
}

static long clear_tree(void)
{
	return change_herd(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE);
}

static void clear_again(long changed)
{
	ck_assert_int_eq(clear_tree(), changed);
}

static void mark_again(long changed)
{
	ck_assert_int_eq(changed, HERD);
	ck_assert_int_eq(mark_tree(), HERD);
}

static long open_mark(void)
{
	struct perfctr_open_mark_args open = { .size = sizeof(open) };

	return ioctl(device, PERFCTR_IOC_OPEN_MARK, &open);
}

static long list_members(void)
{
	int32_t tids[HERD] = { 0 };
	struct perfctr_members_args members = {
		.size = sizeof(members),
		.room = HERD,
		.tids = (uintptr_t)tids,
	};

	return ioctl(mark_fd, PERFCTR_IOC_MEMBERS, &members) ? -1 : (long)members.n;
}

static void expect_herd(long members)
{
	ck_assert_int_eq(members, HERD);
}

START_TEST(all_threads_are_marked_or_none)
{
	static const struct call calls[] = {
		{ "open a mark", open_mark, close_descriptor, 0, 2 },
		{ "mark a thread", mark_thread, clear_again, 0, 1 },
		{ "mark a process", mark_process, clear_again, 0, 2 },
		{ "mark a tree", mark_tree, clear_again, 0, 2 },
	};
	static const struct call calls_of_marked[] = {
		{ "clear the marks of a tree", clear_tree, mark_again, 0, 2 },
		{ "list members", list_members, expect_herd, 0, 2 },
	};

	herd_start();
	fail_begin();
	mark_fd = mark_open();
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(mark_tree(), HERD);
	expect_clean_calls(calls_of_marked, ARRAY_SIZE(calls_of_marked));
	fail_finish();
}
END_TEST

START_TEST(the_last_close_of_a_mark_takes_it_from_all_whatever_fails)
{
	bool failed = true;

	herd_start();
	fail_begin();
	for (unsigned int n = 1; failed; n++) {
		mark_fd = mark_open();
		ck_assert_int_eq(mark_tree(), HERD);
		fail_allocation(fail_nth, n);
		close(mark_fd);
		failed = has_failed(fail_nth);
		ck_assert(failed || n > 1);
		ck_assert_uint_eq(mark_of(herd), 0);
		mark_fd = mark_open();
		ck_assert_int_eq(mark_tree(), HERD);
		ck_assert_int_eq(clear_tree(), HERD);
		close(mark_fd);
	}
	mark_fd = -1;
	fail_finish();
}
END_TEST

SUITE(fail_marks, all_threads_are_marked_or_none,
      the_last_close_of_a_mark_takes_it_from_all_whatever_fails)
