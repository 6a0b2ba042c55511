// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The members of a tree that share one context (totals.c): how they come to it and leave it, and
 * what ends them all.
 */
#include "marks.h"
#include "tree.h"
#include "trees.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SPINNERS 3

static void spinners_start(pid_t pid[SPINNERS])
{
	for (int i = 0; i < SPINNERS; i++)
		pid[i] = spinner_start(i & 1);
}

static void spinners_end(const pid_t pid[SPINNERS])
{
	for (int i = 0; i < SPINNERS; i++)
		kill_and_wait(pid[i]);
}

static uint64_t grows_by(int fd)
{
	uint64_t before = read_tree(fd).counter[0];

	sleep_us(20000);
	return read_tree(fd).counter[0] - before;
}

/*
 * Another context holds the counters: STOP does not give them back, and has to stop the CPUs
 * itself.
 */
START_TEST(stop_and_start_stop_and_start_all_members_at_once)
{
	pid_t beside = spinner_start(1), spinner[SPINNERS];
	int other = context_open(beside, PERFCTR_OPEN_CREATE), fd;
	uint64_t before;

	context_control(other, EVENTS({ 0, USER(INSTRUCTIONS) }));
	fd = tree_open(TOTALS);
	spinners_start(spinner);
	for (unsigned int i = 0; i < test_rounds(20); i++) {
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		ck_assert(!(read_tree(fd).flags & PERFCTR_COUNTS_STARTED));
		before = read_tree(fd).counter[0];
		sleep_us(5000);
		ck_assert_uint_eq(read_tree(fd).counter[0], before);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
		ck_assert(read_tree(fd).flags & PERFCTR_COUNTS_STARTED);
		while (read_tree(fd).counter[0] < before + 1000000)
			sleep_us(1000);
	}
	ck_assert_uint_eq(read_tree(fd).members, 1 + SPINNERS);
	spinners_end(spinner);
	ck_assert_uint_lt(grows_by(fd), FEW);
	kill_and_wait(beside);
}
END_TEST

/* Threads born while the tree is stopped are members, too. */
START_TEST(members_born_before_start_are_counted_after_it)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	pid_t spinner[SPINNERS];

	ck_assert_int_eq(try_control(fd,
				     PERFCTR_CONTROL_INHERIT | TOTALS | PERFCTR_CONTROL_STOPPED),
			 0);
	spinners_start(spinner);
	sleep_us(20000);
	ck_assert_uint_eq(read_tree(fd).counter[0], 0);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	while (read_tree(fd).counter[0] < 10 * FEW)
		sleep_us(1000);
	spinners_end(spinner);
}
END_TEST

START_TEST(a_killed_member_leaves_all_that_it_counted)
{
	int fd = tree_open(TOTALS);
	pid_t spinner[SPINNERS];
	uint64_t before;

	for (unsigned int i = 0; i < test_rounds(50); i++) {
		spinners_start(spinner);
		before = read_tree(fd).counter[0];
		while (read_tree(fd).counter[0] < before + 10 * FEW)
			;
		before = read_tree(fd).counter[0];
		spinners_end(spinner);
		ck_assert_uint_ge(read_tree(fd).counter[0], before);
		ck_assert_uint_eq(read_tree(fd).members, 1);
	}
	ck_assert_uint_lt(grows_by(fd), FEW);
}
END_TEST

/* A caller that takes a member of a tree ends the membership of that one only. */
START_TEST(a_member_that_is_taken_counts_for_itself_from_then_on)
{
	int fd = tree_open(TOTALS), own;
	pid_t spinner = spinner_start(1);

	while (read_tree(fd).counter[0] < 10 * FEW)
		;
	expect_no_context(spinner);
	ck_assert_int_eq(try_context_open(spinner, PERFCTR_OPEN_CREATE), -1);
	ck_assert_int_eq(errno, EEXIST);
	own = context_open(spinner, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	ck_assert_uint_lt(grows_by(fd), FEW);
	ck_assert_int_eq(try_control(own, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
	while (read_tree(own).counter[0] < 10 * FEW)
		;
	ck_assert_uint_lt(grows_by(fd), FEW);
	kill_and_wait(spinner);
}
END_TEST

START_TEST(a_root_that_is_taken_leaves_the_others_counted)
{
	struct counted c = tree_start(COMMAND(program("loop-long")), TOTALS);
	int own = context_open(c.pid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);

	ck_assert_uint_eq(read_tree(c.fd).members, 0);
	ck_assert_int_eq(try_control(own, PERFCTR_CONTROL_INHERIT), 0);
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert_int_eq(try_control(c.fd, PERFCTR_CONTROL_INHERIT | TOTALS), -1);
	ck_assert_int_eq(errno, ESRCH);
	expect_success(c.pid);
	ck_assert_uint_le(read_tree(c.fd).counter[0] + read_tree(own).counter[0],
			  LOOP_INSTRUCTIONS(LONG_LOOP));
}
END_TEST

/* The process leads a process group. When told to, it makes a child that stays, and exits. */
static pid_t root_with_an_heir(int go)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		EXPECT(setpgid(0, 0) == 0);
		take(go);
		if (fork())
			_exit(0);
		for (;;)
			pause();
	}
	return pid;
}

START_TEST(a_tree_whose_root_makes_a_child_and_exits_is_neither_empty_nor_stopped)
{
	struct perfctr_counts counts;
	int fd, go;
	pid_t root;

	for (unsigned int i = 0; i < test_rounds(100); i++) {
		go = eventfd(0, 0);
		root = root_with_an_heir(go);
		fd = context_open(root, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		give(go);
		do {
			ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
			counts = read_tree(fd);
			ck_assert_uint_ge(counts.members, 1);
			ck_assert(counts.flags & PERFCTR_COUNTS_STARTED);
		} while (!(counts.flags & PERFCTR_COUNTS_EXITED));
		ck_assert_uint_eq(read_tree(fd).members, 1);
		kill(-root, SIGKILL);
		ck_assert_int_eq(wait_for(root, NULL), root);
		close(fd);
		close(go);
	}
	expect_contexts(0);
}
END_TEST

/*
 * Starts a process that tries without end to open the context of thread *tid. The context belongs
 * to another thread.
 */
static pid_t looker_start(volatile uint64_t *tid)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, 0);
		for (;;)
			EXPECT(!*tid || (try_context_open((pid_t)*tid, 0) < 0 &&
					 (errno == ENOENT || errno == ESRCH)));
	}
	return pid;
}

static void *tell_and_exit(void *tid)
{
	*(volatile uint64_t *)tid = (uint64_t)syscall(SYS_gettid);
	sleep_us(500);
	return NULL;
}

/* When told to, the process makes a thread that exits soon. */
static pid_t root_of_a_thread(int go, volatile uint64_t *tid)
{
	pid_t pid = fork();
	pthread_t thread;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, 1);
		take(go);
		EXPECT(pthread_create(&thread, NULL, tell_and_exit, (void *)tid) == 0);
		for (;;)
			pause();
	}
	return pid;
}

/*
 * The memory of a freed context soon holds the context of another thread, which must not be found.
 */
START_TEST(who_looks_for_a_member_that_exits_finds_nobody_s_context)
{
	volatile uint64_t *tid = shared_number();
	pid_t looker = looker_start(tid), root;
	int fd, go;

	for (unsigned int i = 0; i < test_rounds(200); i++) {
		*tid = 0;
		go = eventfd(0, 0);
		root = root_of_a_thread(go, tid);
		fd = context_open(root, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		give(go);
		while (!*tid || read_tree(fd).members > 1)
			;
		close(fd);
		fd = tree_open(0);
		sleep_us(1000);
		close(fd);
		close(go);
		kill_and_wait(root);
		ck_assert_int_eq(waitpid(looker, NULL, WNOHANG), 0);
	}
	kill_and_wait(looker);
}
END_TEST

/* A user must not count a program that the user may not trace. */
START_TEST(a_member_that_executes_a_set_user_id_program_is_none_any_more)
{
	struct set_user_id programs = set_user_id_programs();
	int fd = tree_open(TOTALS);
	pid_t pid = fork();

	if (pid == 0) {
		become_nobody();
		execl(programs.exec, "exec", programs.loop, NULL);
		_exit(127);
	}
	expect_success(pid);
	ck_assert_uint_lt(read_tree(fd).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(read_tree(fd).members, 1);
	set_user_id_remove(&programs);
}
END_TEST

START_TEST(another_control_detaches_the_members_of_the_one_before)
{
	static const uint32_t next[] = { 0, PERFCTR_CONTROL_INHERIT,
					 PERFCTR_CONTROL_INHERIT | TOTALS };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	pid_t spinner[SPINNERS];

	for (size_t i = 0; i < ARRAY_SIZE(next); i++) {
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		spinners_start(spinner);
		while (read_tree(fd).counter[0] < 10 * FEW)
			;
		ck_assert_int_eq(try_control(fd, next[i]), 0);
		ck_assert_uint_eq(read_tree(fd).members, 1);
		ck_assert_uint_lt(grows_by(fd), FEW);
		for (int j = 0; j < SPINNERS; j++)
			close(context_open(spinner[j], PERFCTR_OPEN_CREATE));
		spinners_end(spinner);
	}
}
END_TEST

/* When told to, a child of the process exits on CPU 0. */
static pid_t root_with_a_leaver(int go, int ready)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take(go);
		if (fork() == 0) {
			pin(0, 0);
			give(ready);
			take(go);
			_exit(0);
		}
		for (;;)
			pause();
	}
	return pid;
}

static uint64_t cpu_time_ns(void)
{
	struct timespec time;

	ck_assert_int_eq(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * While the caller is awake, nobody else runs on CPU 0, except for 50 ms of each second that the
 * kernel keeps.
 */
static void come_first(bool first)
{
	const struct sched_param priority = { .sched_priority = first };

	pin(0, 0);
	ck_assert_int_eq(sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &priority), 0);
}

/* With preempt=full, a thread that leaves can be preempted at any point. */
START_TEST(who_ends_a_tree_lets_members_that_leave_it_come_to_their_end)
{
	int fd, go = eventfd(0, EFD_SEMAPHORE), ready = eventfd(0, 0);
	uint64_t used;
	pid_t root;

	for (int i = 0; i < 20; i++) {
		root = root_with_a_leaver(go, ready);
		fd = context_open(root, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		give(go);
		take(ready);
		come_first(true);
		give(go);
		sleep_us(200u << i % 6);
		used = cpu_time_ns();
		close(fd);
		used = cpu_time_ns() - used;
		come_first(false);
		ck_assert_uint_lt(used, 400000000);
		kill_and_wait(root);
	}
	close(go);
	close(ready);
}
END_TEST

static uint64_t counters_in_use(void)
{
	return pmu_info().context_counters;
}

START_TEST(the_end_of_the_descriptor_detaches_all_and_lets_the_counters_go)
{
	int fd = tree_open(TOTALS), reader = context_open(0, 0), ends[2];
	pid_t spinner[SPINNERS];
	uint64_t count;
	char byte;

	/*
	 * The spinners do not have the descriptor: they close it when they execute the program, and
	 * the pipe after it. vfork() may have returned before.
	 */
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	for (int i = 0; i < SPINNERS; i++)
		spinner[i] = spawn(COMMAND(program("loop-huge")));
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0);
	while (read_tree(fd).counter[0] < 10 * FEW)
		;
	ck_assert_uint_ne(counters_in_use(), 0);
	close(fd);
	ck_assert_uint_eq(counters_in_use(), 0);
	count = read_tree(reader).counter[0];
	ck_assert_uint_ge(count, 10 * FEW);
	sleep_us(5000);
	ck_assert_uint_eq(read_tree(reader).counter[0], count);
	for (int j = 0; j < SPINNERS; j++)
		close(context_open(spinner[j], PERFCTR_OPEN_CREATE));
	spinners_end(spinner);
	close(reader);
	expect_contexts(0);
}
END_TEST

START_TEST(the_end_of_the_last_member_lets_the_counters_go)
{
	struct counted c;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	c = tree_start(COMMAND(program("chain")), TOTALS);
	ck_assert_uint_ne(counters_in_use(), 0);
	for (int i = 0; i < CHAIN_LENGTH; i++)
		ck_assert_int_gt(wait_for(-1, &status), 0);
	ck_assert_uint_eq(counters_in_use(), 0);
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_STOP), -1);
	ck_assert_int_eq(errno, ESRCH);
}
END_TEST

static struct perfctr_holder holder(void)
{
	struct perfctr_holder holder = { 0 };
	struct perfctr_holders holders = {
		.size = sizeof(holders),
		.room = 1,
		.holders = (uintptr_t)&holder,
	};
	int device = device_open();

	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_HOLDERS, &holders), 0);
	ck_assert_uint_le(holders.n, 1);
	close(device);
	return holder;
}

START_TEST(a_holder_has_as_many_members_as_threads_and_the_administrator_stops_them)
{
	int fd = tree_open(TOTALS), device;
	struct perfctr_counts counts;
	pid_t spinner[SPINNERS];

	spinners_start(spinner);
	device = device_open();
	ck_assert_uint_eq(holder().started, 1 + SPINNERS);
	ck_assert_int_eq(holder().tid, getpid());
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_REVOKE), 0);
	counts = read_tree(fd);
	ck_assert(counts.flags & PERFCTR_COUNTS_REVOKED);
	ck_assert(!(counts.flags & PERFCTR_COUNTS_STARTED));
	ck_assert_uint_eq(grows_by(fd), 0);
	ck_assert_uint_eq(counters_in_use(), 0);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	close(device);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	ck_assert_uint_gt(grows_by(fd), 0);
	spinners_end(spinner);
}
END_TEST

#define CPU1_ONLINE "/sys/devices/system/cpu/cpu1/online"

START_TEST(a_tree_is_exact_while_a_cpu_comes_and_goes)
{
	struct counted c[3];

	for (int i = 0; i < 3; i++)
		c[i] = tree_start(COMMAND(program("loop-long")), TOTALS);
	for (int i = 0; i < 5; i++) {
		write_file(CPU1_ONLINE, "0");
		sleep_us(20000);
		write_file(CPU1_ONLINE, "1");
		sleep_us(20000);
	}
	for (int i = 0; i < 3; i++) {
		expect_success(c[i].pid);
		ck_assert_uint_eq(read_tree(c[i].fd).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	}
}
END_TEST

static void fork_without_end(void *unused)
{
	(void)unused;
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

/* Whatever is being born meanwhile, nothing is left of former controls. */
START_TEST(members_are_born_while_controls_come_and_go)
{
	pid_t forker[SPINNERS];
	int fd;

	for (int i = 0; i < SPINNERS; i++) {
		forker[i] = fork();
		if (forker[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			fork_without_end(NULL);
		}
	}
	for (unsigned int i = 0; i < test_rounds(300); i++) {
		fd = open_tree_of(forker[i % SPINNERS]);
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		sleep_us(i % 7 * 500);
		ck_assert_int_eq(ioctl(fd, i & 1 ? PERFCTR_IOC_STOP : PERFCTR_IOC_START), 0);
		if (i % 3)
			ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT |
								 (i & 2 ? TOTALS : 0)),
					 0);
		read_tree(fd);
		close(fd);
		ck_assert_uint_eq(counters_in_use(), 0);
	}
	spinners_end(forker);
	expect_contexts(0);
}
END_TEST

/* The root leaves the context that it has at that moment, with totals or without. */
START_TEST(a_root_that_exits_while_controls_come_and_go_has_counted_its_own_alone)
{
	struct perfctr_counts counts;
	uint64_t start;
	pid_t root;
	int fd, go;

	for (int i = 0; i < 300; i++) {
		go = eventfd(0, 0);
		root = fork();
		if (root == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pin(0, 1);
			take(go);
			_exit(0);
		}
		fd = context_open(root, PERFCTR_OPEN_CREATE);
		start = rdtsc();
		give(go);
		for (int j = 0;
		     try_control(fd, PERFCTR_CONTROL_INHERIT | (j & 1 ? TOTALS : 0)) == 0; j++)
			;
		ck_assert_int_eq(errno, ESRCH);
		counts = read_tree(fd);
		ck_assert_uint_le(counts.tsc, rdtsc() - start);
		ck_assert_uint_lt(counts.counter[0], FEW);
		expect_success(root);
		ck_assert_uint_eq(read_tree(fd).members, 0);
		ck_assert_uint_eq(counters_in_use(), 0);
		close(fd);
		close(go);
	}
	expect_contexts(0);
}
END_TEST

SUITE(totals_life, stop_and_start_stop_and_start_all_members_at_once,
      members_born_before_start_are_counted_after_it, a_killed_member_leaves_all_that_it_counted,
      a_member_that_is_taken_counts_for_itself_from_then_on,
      a_root_that_is_taken_leaves_the_others_counted,
      a_tree_whose_root_makes_a_child_and_exits_is_neither_empty_nor_stopped,
      who_looks_for_a_member_that_exits_finds_nobody_s_context,
      a_member_that_executes_a_set_user_id_program_is_none_any_more,
      another_control_detaches_the_members_of_the_one_before,
      the_end_of_the_descriptor_detaches_all_and_lets_the_counters_go,
      the_end_of_the_last_member_lets_the_counters_go,
      a_holder_has_as_many_members_as_threads_and_the_administrator_stops_them,
      a_tree_is_exact_while_a_cpu_comes_and_goes, members_are_born_while_controls_come_and_go,
      a_root_that_exits_while_controls_come_and_go_has_counted_its_own_alone, BY_THE_CLOCK,
      who_ends_a_tree_lets_members_that_leave_it_come_to_their_end)
