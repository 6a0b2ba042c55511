// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees of thousands of threads, which share one context: waits for the lock of the tree, and its close. */
#include "guest.h"
#include "trees.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MANY 2000

_Noreturn static void *sleep_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* A process that makes its threads when it may, and then tells the number of the last one. */
struct crowd {
	int go, made;
	volatile uint64_t *last;
	pid_t pid;
};

static void *tell_number(void *crowd)
{
	*((struct crowd *)crowd)->last = (uint64_t)syscall(SYS_gettid);
	give(((struct crowd *)crowd)->made);
	sleep_for_ever(NULL);
}

_Noreturn static void make_many_threads(struct crowd *crowd)
{
	pthread_attr_t small;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take(crowd->go);
	EXPECT(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 16384) == 0);
	for (int i = 1; i < MANY; i++)
		EXPECT(pthread_create(&thread, &small, sleep_for_ever, NULL) == 0);
	EXPECT(pthread_create(&thread, NULL, tell_number, crowd) == 0);
	sleep_for_ever(NULL);
}

/* Returns the descriptor of a tree of MANY threads and one more. */
static int large_tree_open(struct crowd *crowd)
{
	int fd;

	crowd->go = eventfd(0, 0);
	crowd->made = eventfd(0, 0);
	crowd->last = shared_number();
	crowd->pid = fork();
	if (crowd->pid == 0)
		make_many_threads(crowd);
	fd = open_tree_of(crowd->pid);
	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
	give(crowd->go);
	take(crowd->made);
	ck_assert_uint_eq(read_tree(fd).members, MANY + 1);
	return fd;
}

/* A thread has one context: if it is a member, none can be opened for it. */
static bool last_is_member(const struct crowd *crowd)
{
	int fd = try_context_open((pid_t)*crowd->last, PERFCTR_OPEN_CREATE);

	if (fd >= 0)
		close(fd);
	else
		ck_assert_int_eq(errno, EEXIST);
	return fd < 0;
}

/* After a while nothing of the tree is left, so that a new context can be opened. */
static void expect_no_large_tree(struct crowd *crowd)
{
	expect_contexts(0);
	close(context_open(crowd->pid, PERFCTR_OPEN_CREATE));
	kill_and_wait(crowd->pid);
	munmap((void *)crowd->last, 4096);
	close(crowd->go);
	close(crowd->made);
}

/* first: the caller runs before all other threads of its CPU. Otherwise it runs among them. */
static void set_first(bool first)
{
	const struct sched_param parameter = { .sched_priority = first };

	ck_assert_int_eq(sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &parameter), 0);
}

enum end { EXITS, IS_KILLED, IS_KILLED_IN_CONTROL };

_Noreturn static void end_as(enum end end, int fd, int go, int begun)
{
	pin(0, 1);
	take(go);
	give(begun);
	if (end == EXITS)
		_exit(0);
	if (end == IS_KILLED_IN_CONTROL)
		try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS);
	sleep_for_ever(NULL);
}

/*
 * The only descriptor belongs to a process that ends. Was the last member still a member after
 * that?
 */
static bool outlives_holder(enum end end)
{
	int go = eventfd(0, 0), begun = eventfd(0, 0), status, fd;
	struct crowd crowd;
	pid_t holder;
	bool outlives;

	pin(0, 0);
	fd = large_tree_open(&crowd);
	holder = fork();
	if (holder == 0)
		end_as(end, fd, go, begun);
	close(fd);
	set_first(true);
	give(go);
	take(begun);
	if (end != EXITS) {
		sleep_us(100);
		kill(holder, SIGKILL);
	}
	ck_assert_int_eq(wait_for(holder, &status), holder);
	outlives = last_is_member(&crowd);
	set_first(false);
	expect_no_large_tree(&crowd);
	close(go);
	close(begun);
	unpin(0);
	return outlives;
}

/*
 * The last member is removed last. A busy host may keep the test from looking before that, but not
 * in each of three rounds.
 */
START_TEST(a_process_that_is_killed_does_not_wait_for_the_end_of_a_large_tree)
{
	for (enum end end = EXITS; end <= IS_KILLED_IN_CONTROL; end++) {
		bool outlives = false;

		for (int i = 0; i < 3 && !outlives; i++)
			outlives = outlives_holder(end);
		ck_assert_msg(outlives, "the end of the holder, %d, was that of the tree", end);
	}
}
END_TEST

/* close() waits for the end: nobody else is told of it. */
START_TEST(who_closes_a_large_tree_has_ended_it)
{
	struct crowd crowd;
	int fd = large_tree_open(&crowd);

	ck_assert(last_is_member(&crowd));
	close(fd);
	ck_assert(!last_is_member(&crowd));
	expect_no_large_tree(&crowd);
}
END_TEST

_Noreturn static void control_tree(int fd, int begun, volatile uint64_t *done)
{
	pin(0, 1);
	give(begun);
	*done = 1 + (uint64_t)try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS);
	sleep_for_ever(NULL);
}

/*
 * A user's control has the lock of a large tree, for which the administrator's revocation waits.
 * Did the control still go on when the killed revocation had ended?
 */
static bool is_killed_revocation_over_before_control(void)
{
	int begun = eventfd(0, 0), fd;
	volatile uint64_t *done = shared_number();
	struct crowd crowd;
	pid_t user, root;
	bool over;

	pin(0, 0);
	fd = large_tree_open(&crowd);
	user = fork();
	if (user == 0)
		control_tree(fd, begun, done);
	take(begun);
	sleep_us(100);
	root = fork();
	if (root == 0) {
		ioctl(device_open(), PERFCTR_IOC_REVOKE);
		sleep_for_ever(NULL);
	}
	sleep_us(1000);
	kill_and_wait(root);
	over = *done == 0;
	while (*done == 0)
		sleep_us(1000);
	ck_assert_uint_eq(*done, 1);
	kill_and_wait(user);
	close(fd);
	expect_no_large_tree(&crowd);
	munmap((void *)done, 4096);
	close(begun);
	unpin(0);
	return over;
}

/* A busy host may keep the test from looking before the control ends, but not in each round. */
START_TEST(a_revocation_that_is_killed_does_not_wait_for_the_control_of_a_large_tree)
{
	bool over = false;

	for (int i = 0; i < 3 && !over; i++)
		over = is_killed_revocation_over_before_control();
	ck_assert_msg(over, "the killed revocation waited for the tree's lock");
}
END_TEST

SUITE(totals_large, a_process_that_is_killed_does_not_wait_for_the_end_of_a_large_tree,
      a_revocation_that_is_killed_does_not_wait_for_the_control_of_a_large_tree, who_closes_a_large_tree_has_ended_it)
