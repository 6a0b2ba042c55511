// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes are marked and unmarked while they run, while other processes mark them, and without a first thread. */
#include "marks.h"
#include "trees.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_running_process_is_marked_and_unmarked)
{
	int mark_fd = mark_open(), other = mark_open();
	int session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	pid_t pid;
	uint64_t before;

	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	pin(0, 0);
	pid = marked_start(-1, 1, COMMAND(program("loop-huge")));
	sleep_us(20000);
	ck_assert_uint_eq(context_read(session).counter[0], 0);
	mark(pid, mark_fd);
	ck_assert_uint_eq(mark_members(mark_fd), 1);
	ck_assert_uint_ne(mark_of(pid), 0);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, other), -1);
	ck_assert_int_eq(errno, EBUSY);
	while (context_read(session).counter[0] < 1000000)
		;
	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE, pid, -1), 1);
	before = context_read(session).counter[0];
	sleep_us(20000);
	ck_assert_uint_eq(context_read(session).counter[0], before);
	ck_assert_uint_eq(mark_members(mark_fd), 0);
	/* The mark ends. */
	close(session);
	mark(pid, mark_fd);
	close(mark_fd);
	ck_assert_uint_eq(mark_of(pid), 0);
	mark(pid, other);
	kill_and_wait(pid);
	close(other);
}
END_TEST

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

/* A process of n threads, which sleep. first_exits: its first thread exits. */
static pid_t sleepers_start(unsigned int n, bool first_exits)
{
	int ready = eventfd(0, 0);
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned int i = 1; i < n; i++)
			EXPECT(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
		give(ready);
		if (first_exits)
			pthread_exit(NULL);
		pause();
	}
	take(ready);
	close(ready);
	return pid;
}

/* The other threads live on, and bear the mark from then on. */
START_TEST(a_process_without_its_first_thread_is_marked)
{
	int mark_fd = mark_open();
	pid_t pid = sleepers_start(2, true);

	while (try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, pid, mark_fd) >= 0 ||
	       mark_members(mark_fd) > 0)
		sleep_us(1000);
	for (uint32_t scope = PERFCTR_MARK_PROCESS; scope <= PERFCTR_MARK_TREE; scope++) {
		ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, scope, pid, mark_fd), 1);
		ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, scope, pid, mark_fd), 0);
		ck_assert_uint_eq(mark_members(mark_fd), 1);
		ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, scope, pid, mark_fd), 1);
	}
	errno = 0;
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, pid, mark_fd), -1);
	ck_assert_int_eq(errno, ESRCH);
	kill_and_wait(pid);
	close(mark_fd);
}
END_TEST

/* A caller that waits for the last member to leave also waits for the first one to come. */
START_TEST(a_mark_that_nobody_has_borne_is_not_told_to_have_ended)
{
	int mark_fd = mark_open(), other = mark_open();
	struct pollfd ended = { .fd = other, .events = POLLIN };

	ck_assert_int_eq(ioctl(mark_fd, PERFCTR_IOC_ENTER), 0);
	errno = 0;
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_ENTER), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(poll(&ended, 1, 0), 0);
	ck_assert_int_eq(ioctl(mark_fd, PERFCTR_IOC_LEAVE), 0);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_ENTER), 0);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_LEAVE), 0);
	ck_assert_int_eq(poll(&ended, 1, 0), 1);
	close(mark_fd);
	close(other);
}
END_TEST

#define MARKS 1000
/* The more threads there are, the later the last of them is looked at. */
#define MANY_THREADS 50

/* At any moment it is left to chance whether the threads bear the mark. */
static pid_t mark_and_unmark_without_end(pid_t pid, int mark_fd)
{
	pid_t self = fork();

	if (self)
		return self;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		EXPECT(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, mark_fd) >= 0);
		/* On a slow kernel each search can find threads that were marked again. */
		EXPECT(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_PROCESS, pid, mark_fd) >= 0 ||
		       errno == EAGAIN);
	}
}

/* Another mark is an error. The same mark, which another process has set meanwhile, is none. */
START_TEST(the_same_mark_set_by_two_at_once_is_in_nobody_s_way)
{
	int mark_fd = mark_open();
	pid_t pid = sleepers_start(MANY_THREADS, false);
	pid_t beside = mark_and_unmark_without_end(pid, mark_fd);

	for (int i = 0; i < MARKS; i++)
		ck_assert_msg(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, mark_fd) >= 0,
			      "mark %d: %s", i, strerror(errno));
	/* The other process has not failed, either. */
	ck_assert_int_eq(waitpid(beside, NULL, WNOHANG), 0);
	kill_and_wait(beside);
	kill_and_wait(pid);
	close(mark_fd);
}
END_TEST

#define THREADS 3

/* Executes without end, and counts its rounds. */
static void *run_on(void *progress)
{
	for (volatile uint64_t *n = progress;; ++*n)
		;
	return NULL;
}

START_TEST(all_threads_of_a_running_process_are_marked_at_once)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	volatile uint64_t *progress = shared_memory(THREADS * sizeof(*progress));
	uint64_t before[THREADS], executed, counted;
	pid_t pid;

	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread, NULL, run_on, (void *)&progress[i]);
		pause();
	}
	for (int i = 0; i < THREADS; i++)
		while (!progress[i])
			sleep_us(1000);
	ck_assert_uint_eq(context_read(session).counter[0], 0);

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, mark_fd),
			 THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		before[i] = progress[i];
	do {
		sleep_us(50000);
		executed = 0;
		for (int i = 0; i < THREADS; i++)
			executed += progress[i] - before[i];
	} while (!executed);
	counted = context_read(session).counter[0];
	/* A round of the loop is more than one instruction. */
	ck_assert_uint_gt(counted, executed);
	ck_assert_uint_eq(mark_members(mark_fd), THREADS + 1);

	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_PROCESS, pid, mark_fd),
			 THREADS + 1);
	counted = context_read(session).counter[0];
	sleep_us(50000);
	ck_assert_uint_eq(context_read(session).counter[0], counted);
	kill_and_wait(pid);
	close(session);
	close(mark_fd);
}
END_TEST

static void *unmark_self(void *unused)
{
	pin(0, 1);
	for (;;)
		try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_THREAD, 0, -1);
	return unused;
}

/* A search comes to the thread that was created last after a thousand others. Meanwhile it takes its mark away. */
static pid_t unmarker_start(void)
{
	int ready = eventfd(0, 0);
	pthread_t thread;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 1000; i++)
			EXPECT(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
		EXPECT(pthread_create(&thread, NULL, unmark_self, NULL) == 0);
		give(ready);
		pause();
	}
	take(ready);
	close(ready);
	return pid;
}

/* The caller has to return before the process ends, 10 seconds later. Kernels that check their memory need some. */
START_TEST(a_thread_that_takes_its_mark_away_keeps_no_caller_waiting)
{
	volatile uint64_t *ending = shared_number();
	int mark_fd = mark_open(), result;
	pid_t pid, killer;

	pin(0, 0);
	pid = unmarker_start();
	killer = fork();
	if (killer == 0) {
		sleep_us(10000000);
		*ending = 1;
		kill(pid, SIGKILL);
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		result = try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, mark_fd);
		ck_assert(result >= 0 || errno == EAGAIN);
		ck_assert_msg(!*ending, "call %d waited for the end of the process", i);
	}
	kill_and_wait(killer);
	kill_and_wait(pid);
	munmap((void *)ending, 4096);
	close(mark_fd);
	unpin(0);
}
END_TEST

SUITE(session_marks, a_running_process_is_marked_and_unmarked, a_process_without_its_first_thread_is_marked,
      a_mark_that_nobody_has_borne_is_not_told_to_have_ended,
      the_same_mark_set_by_two_at_once_is_in_nobody_s_way,
      all_threads_of_a_running_process_are_marked_at_once,
      a_thread_that_takes_its_mark_away_keeps_no_caller_waiting)
