// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members of a tree: which threads are members, what each can do, and that they come and go while
 * the tree is read.
 */
#include "trees.h"

#include <errno.h>
#include <perfctr.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 8

/* Children that sleep until the test lets them go. */
struct sleepers {
	unsigned int n;
	int semaphore;
	pid_t first;
};

static struct sleepers sleepers_start(unsigned int n)
{
	struct sleepers s = { .n = n, .semaphore = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC) };

	ck_assert_int_ge(s.semaphore, 0);
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = spawn_sleeper(s.semaphore);

		if (i == 0)
			s.first = pid;
	}
	return s;
}

static void sleepers_end(const struct sleepers *s)
{
	uint64_t n = s->n;
	int status;

	ck_assert_int_eq(write(s->semaphore, &n, sizeof(n)), sizeof(n));
	while (n--) {
		ck_assert_int_gt(wait_for(-1, &status), 0);
		ck_assert_int_eq(status, 0);
	}
	close(s->semaphore);
}

START_TEST(members_are_those_that_live_and_sums_of_sleepers_are_consistent)
{
	int fd = tree_open(0);
	struct sleepers s = sleepers_start(MANY);
	struct perfctr_counts counts;

	/* After a while all of them sleep. */
	do {
		sleep_us(10000);
		counts = read_tree(fd);
	} while (!(counts.flags & PERFCTR_COUNTS_CONSISTENT));
	ck_assert_uint_eq(counts.members, 1 + MANY);
	ck_assert_uint_eq(counts.flags, PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_CONSISTENT);
	ck_assert_uint_eq(context_read(fd).members, 1);
	ck_assert_uint_eq(read_children(fd).members, 0);
	sleepers_end(&s);
	counts = read_tree(fd);
	ck_assert_uint_eq(counts.members, 1);
	ck_assert_uint_eq(read_children(fd).counter[0], MANY * SLEEPER_INSTRUCTIONS);
}
END_TEST

/*
 * The member runs during each read, unless the kernel itself uses its CPU. The host may stop that
 * CPU at such a moment, for one read: the next one waits until the member runs again.
 */
START_TEST(sums_are_not_called_consistent_while_a_member_runs)
{
	unsigned int consistent = 0;
	pid_t spinner;
	int fd, member;

	pin(0, 0);
	fd = tree_open(0);
	spinner = spinner_start(1);
	member = context_open(spinner, 0);
	for (int i = 0; i < 100; i++) {
		wait_for_count(member, context_read(member).counter[0] + 100000);
		consistent += !!(read_tree(fd).flags & PERFCTR_COUNTS_CONSISTENT);
	}
	close(member);
	ck_assert_uint_lt(consistent, 10);
	kill(spinner, SIGSTOP);
	ck_assert_int_eq(waitpid(spinner, NULL, WUNTRACED), spinner);
	/* Linux calls the process stopped a moment before it has left its CPU. */
	while (!(read_tree(fd).flags & PERFCTR_COUNTS_CONSISTENT))
		sleep_us(1000);
	kill_and_wait(spinner);
}
END_TEST

START_TEST(stop_and_start_of_the_root_stop_and_start_every_member)
{
	int fd = tree_open(0), member;
	uint64_t before;
	pid_t spinner[3], grandchild;
	int to_test[2];

	for (size_t i = 0; i < ARRAY_SIZE(spinner) - 1; i++)
		spinner[i] = spinner_start(ANY_CPU);
	/* One of them is a grandchild. */
	ck_assert_int_eq(pipe(to_test), 0);
	spinner[2] = fork();
	if (spinner[2] == 0) {
		pid_t pid = spinner_start(ANY_CPU);

		EXPECT(write(to_test[1], &pid, sizeof(pid)) == sizeof(pid));
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(to_test[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	member = context_open(grandchild, 0);

	for (unsigned int i = 0; i < test_rounds(20); i++) {
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		ck_assert(!(context_read(member).flags & PERFCTR_COUNTS_STARTED));
		before = read_tree(fd).counter[0];
		sleep_us(5000);
		ck_assert_uint_eq(read_tree(fd).counter[0], before);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
		ck_assert(context_read(member).flags & PERFCTR_COUNTS_STARTED);
		before = context_read(member).counter[0];
		while (context_read(member).counter[0] == before)
			sleep_us(1000);
	}
	for (size_t i = 0; i < ARRAY_SIZE(spinner); i++)
		kill_and_wait(spinner[i]);
}
END_TEST

/* A child born while the tree is stopped is a member, too, and starts with the tree. */
START_TEST(a_child_of_a_stopped_tree_starts_with_it)
{
	int fd = tree_open(PERFCTR_CONTROL_STOPPED), status;
	pid_t pid = spawn(COMMAND(program("loop-tiny")));
	struct sleepers s;

	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_uint_eq(read_tree(fd).counter[0], 0);
	s = sleepers_start(1);
	wait_until_sleeping(s.first);
	ck_assert_uint_eq(read_tree(fd).members, 2);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	sleepers_end(&s);
	/* xor, mov and syscall, after its read(). */
	ck_assert_uint_eq(read_children(fd).counter[0], 3);
}
END_TEST

START_TEST(a_new_control_detaches_the_members_of_the_old_one)
{
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_EXIT_RECORDS);
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), status;
	struct sleepers s = sleepers_start(MANY);
	struct perfctr_exit_record record;
	pid_t pid = spawn(COMMAND(program("loop-tiny")));

	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_uint_eq(pmu_info().n_contexts, 1 + MANY);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_uint_eq(pmu_info().n_contexts, 1);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	ck_assert_uint_eq(read_children(fd).counter[0], 0);
	ck_assert(!next_record(fd, &record));
	ck_assert_int_eq(try_context_open(s.first, 0), -1);
	ck_assert_int_eq(errno, ENOENT);

	pid = spawn(COMMAND(program("loop-tiny")));
	ck_assert_int_eq(wait_for(pid, &status), pid);
	sleepers_end(&s);
	ck_assert_uint_eq(read_children(fd).counter[0],
			  SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(TINY_LOOP));
	ck_assert(next_record(fd, &record));
	ck_assert_int_eq(record.tid, pid);
	ck_assert(!next_record(fd, &record));
}
END_TEST

START_TEST(without_inherit_no_child_is_a_member)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct sleepers s;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	s = sleepers_start(1);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	ck_assert_int_eq(try_context_open(s.first, 0), -1);
	ck_assert_int_eq(errno, ENOENT);
	sleepers_end(&s);
	ck_assert_uint_eq(read_children(fd).counter[0], 0);
}
END_TEST

/* The middle process has the sums of its children, before they are added to its parent's. */
START_TEST(each_member_has_the_sums_of_its_own_children)
{
	const uint64_t each = SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(TINY_LOOP);
	int fd = tree_open(0), ready[2], status, member;
	pid_t middle;
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	middle = fork();
	if (middle == 0) {
		for (int i = 0; i < 3; i++)
			EXPECT(wait_for(spawn(COMMAND(program("loop-tiny"))), &status) > 0);
		EXPECT(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	member = context_open(middle, 0);
	ck_assert_uint_eq(read_children(member).counter[0], 3 * each);
	ck_assert_uint_eq(read_children(fd).counter[0], 0);
	kill_and_wait(middle);
	ck_assert_uint_eq(read_children(fd).counter[0], 3 * each + context_read(member).counter[0]);
}
END_TEST

#define READS 100000

/* In a member or a thread of it. Reads its own page, through its own descriptor. */
static void *read_own_page(void *unused)
{
	const struct perfctr_page *page;
	int fd = try_context_open(0, 0);
	uint64_t low, last;

	EXPECT(fd >= 0);
	EXPECT(try_context_open(0, PERFCTR_OPEN_CREATE) == -1 && errno == EEXIST);
	EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == -1 && errno == EPERM);
	page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	EXPECT(page != MAP_FAILED);
	low = context_read(fd).counter[0];
	last = perfctr_read_pmc(page, 0);
	EXPECT(low <= last);
	for (int i = 0; i < READS; i++) {
		uint64_t now = perfctr_read_pmc(page, 0);

		EXPECT(now > last);
		last = now;
	}
	EXPECT(last <= context_read(fd).counter[0]);
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	close(fd);
	return unused;
}

START_TEST(every_member_reads_its_own_page_while_the_tree_is_read)
{
	pid_t reader[6];
	uint64_t last = 0;
	int fd, status;

	fd = tree_open(0);
	for (size_t i = 0; i < ARRAY_SIZE(reader); i++) {
		reader[i] = fork();
		if (reader[i] == 0) {
			pthread_t thread;

			EXPECT(pthread_create(&thread, NULL, read_own_page, NULL) == 0);
			read_own_page(NULL);
			EXPECT(pthread_join(thread, NULL) == 0);
			_exit(0);
		}
	}
	while (read_tree(fd).members > 1) {
		uint64_t now = read_tree(fd).counter[0];

		ck_assert_uint_gt(now, last);
		last = now;
	}
	for (size_t i = 0; i < ARRAY_SIZE(reader); i++) {
		ck_assert_int_eq(wait_for(reader[i], &status), reader[i]);
		ck_assert_int_eq(status, 0);
	}
	/* Each read of each thread takes at least 8 instructions. */
	ck_assert_uint_gt(read_children(fd).counter[0], 2 * 6 * 8ull * READS);
}
END_TEST

#define CROWD 1000

START_TEST(p6_a_thousand_members_come_and_go)
{
	uint32_t contexts = pmu_info().n_contexts;
	int fd = tree_open(0);
	struct sleepers s = sleepers_start(CROWD);

	ck_assert_uint_eq(pmu_info().n_contexts, contexts + 1 + CROWD);
	ck_assert_uint_eq(read_tree(fd).members, 1 + CROWD);
	sleepers_end(&s);
	ck_assert_uint_eq(read_children(fd).counter[0], CROWD * SLEEPER_INSTRUCTIONS);
	ck_assert_uint_eq(pmu_info().n_contexts, contexts + 1);
	close(fd);
	ck_assert_uint_eq(pmu_info().n_contexts, contexts);
}
END_TEST

/* The root is another process, so that no member holds the descriptor that controls the tree. */
START_TEST(the_last_close_frees_a_thousand_members_that_live)
{
	struct perfctr_control control = tree_control(0);
	uint32_t contexts = pmu_info().n_contexts;
	int fd, go = eventfd(0, 0), ready = eventfd(0, 0), status;
	uint64_t value = 1;
	pid_t root;

	root = fork();
	if (root == 0) {
		struct sleepers s;

		EXPECT(read(go, &value, sizeof(value)) > 0);
		s = sleepers_start(CROWD);
		EXPECT(write(ready, &value, sizeof(value)) > 0);
		EXPECT(read(go, &value, sizeof(value)) > 0);
		sleepers_end(&s);
		_exit(0);
	}
	fd = context_open(root, PERFCTR_OPEN_CREATE);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_int_gt(write(go, &value, sizeof(value)), 0);
	ck_assert_int_gt(read(ready, &value, sizeof(value)), 0);
	ck_assert_uint_eq(read_tree(fd).members, 1 + CROWD);
	close(fd);
	ck_assert_uint_eq(pmu_info().n_contexts, contexts);
	ck_assert_int_gt(write(go, &value, sizeof(value)), 0);
	ck_assert_int_eq(wait_for(root, &status), root);
	ck_assert_int_eq(status, 0);
}
END_TEST

/*
 * A process that waits, creates another one and exits. The second one waits until the test closes
 * the pipe.
 */
static pid_t root_with_a_child(const int go[2], const int alive[2])
{
	pid_t pid = fork();
	char byte = 0;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	if (fork())
		_exit(read(alive[0], &byte, 1) != 1);
	close(go[1]);
	_exit(write(alive[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 0);
}

START_TEST(a_control_that_is_refused_as_the_root_has_exited_leaves_the_members)
{
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_INHERIT);
	int go[2], alive[2], fd, status;
	pid_t pid;

	ck_assert_int_eq(pipe(go) | pipe(alive), 0);
	pid = root_with_a_child(go, alive);
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_TREE).members, 1);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_TREE).members, 1);
	close(go[1]);
	close(fd);
}
END_TEST

#define READ_CROWD	1500
#define BIRTHS	100

/* Starts a child that reads its parent's tree without end. */
static pid_t reader_start(volatile uint64_t *reads)
{
	pid_t pid = fork();
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = PERFCTR_SCOPE_TREE };
	int fd;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, 0);
		fd = try_context_open(getppid(), 0);
		EXPECT(fd >= 0);
		for (;; (*reads)++) {
			counts.flags = 0;
			EXPECT(ioctl(fd, PERFCTR_IOC_READ, &counts) == 0);
		}
	}
	return pid;
}

/*
 * The tree is read all the time. A birth or an exit that waited for the reader would wait for at
 * least one read.
 */
START_TEST(births_and_exits_do_not_wait_for_who_reads_their_tree)
{
	int asleep = eventfd(0, EFD_SEMAPHORE), at_once = eventfd(BIRTHS, EFD_SEMAPHORE), status;
	volatile uint64_t *reads = shared_number();
	uint64_t before, all = READ_CROWD;
	pid_t reader;
	int fd;

	fd = tree_open(0);
	for (int i = 0; i < READ_CROWD; i++)
		spawn_sleeper(asleep);
	reader = reader_start(reads);
	pin(0, 1);
	wait_for_more(reads, 3, reader);
	before = *reads;
	for (int i = 0; i < BIRTHS; i++) {
		pid_t pid = spawn_sleeper(at_once);

		ck_assert_int_eq(wait_for(pid, &status), pid);
	}
	before = *reads - before;
	printf("%d births and exits during %llu reads of their tree of %d\n", BIRTHS,
	       (unsigned long long)before, READ_CROWD);
	ck_assert_uint_lt(before, BIRTHS * 3 / 2);
	kill_and_wait(reader);
	ck_assert_int_eq(write(asleep, &all, sizeof(all)), sizeof(all));
	while (wait_for(-1, &status) > 0)
		ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	/* A member that has exited is freed before the close. */
	expect_contexts(1);
	close(fd);
	expect_contexts(0);
}
END_TEST

#define SLEEPERS	300
#define RELAY_READS	2000

/*
 * When told to, the process makes children that sleep, and one child that makes a child and ends.
 * That child does the same, and so on. All are in the process group of the first one.
 */
static pid_t relay_start(int go)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int semaphore = eventfd(0, EFD_SEMAPHORE);

		EXPECT(setpgid(0, 0) == 0);
		take(go);
		for (int i = 0; i < SLEEPERS; i++)
			spawn_sleeper(semaphore);
		if (fork() == 0)
			for (;;)
				if (fork())
					_exit(0);
		for (;;)
			pause();
	}
	return pid;
}

/* At any time there are the first process, the sleepers and the runner of the relay. */
START_TEST(a_member_that_is_born_during_a_read_is_not_missed_when_its_parent_ends)
{
	int go = eventfd(0, 0), fd, status;
	pid_t first = relay_start(go);

	fd = open_tree_of(first);
	give(go);
	while (read_tree(fd).members < 1 + SLEEPERS + 1)
		sleep_us(1000);
	for (int i = 0; i < RELAY_READS; i++)
		ck_assert_uint_ge(read_tree(fd).members, 1 + SLEEPERS + 1);
	kill(-first, SIGKILL);
	ck_assert_int_eq(wait_for(first, &status), first);
	while (read_tree(fd).members)
		sleep_us(1000);
	close(fd);
	expect_contexts(0);
}
END_TEST

#define BYSTANDERS 300

static void make_crowd(void)
{
	for (int i = 0; i < BYSTANDERS; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
}

static void *crowded_thread(void *descriptor)
{
	int *fd = descriptor;

	*fd = tree_open(0);
	make_crowd();
	sleep_us(300000);
	spin(20000000);
	/* By the bare system call, so that the thread counts until just before it is gone. */
	syscall(SYS_exit, 0);
	return NULL;
}

/* The root goes on executing, and exits, while the other members of its large tree are read. */
START_TEST(who_is_said_to_have_exited_has_final_sums)
{
	struct perfctr_counts counts;
	pthread_t thread;
	volatile int fd;

	for (unsigned int round = 0; round < test_rounds(5); round++) {
		fd = -1;
		ck_assert_int_eq(pthread_create(&thread, NULL, crowded_thread, (int *)&fd), 0);
		while (fd < 0)
			;
		do
			counts = read_tree(fd);
		while (!(counts.flags & PERFCTR_COUNTS_EXITED));
		ck_assert_uint_eq(read_tree(fd).counter[0], counts.counter[0]);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		close(fd);
	}
}
END_TEST

/* Starts a child that makes a crowd and sleeps. Returns the child's tree. */
static struct counted crowd_start(uint32_t flags)
{
	struct perfctr_control control = tree_control(flags);
	struct counted c;
	int go[2];
	char byte;

	ck_assert_int_eq(pipe(go), 0);
	c.pid = fork();
	if (c.pid == 0) {
		EXPECT(read(go[0], &byte, 1) == 1);
		make_crowd();
		for (;;)
			pause();
	}
	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_int_eq(write(go[1], "", 1), 1);
	while (context_read_scope(c.fd, PERFCTR_SCOPE_TREE).members <= BYSTANDERS)
		sleep_us(1000);
	return c;
}

static void *close_later(void *descriptor)
{
	int *perf = descriptor;

	sleep_us(perf[1]);
	close(perf[0]);
	return NULL;
}

/* perf_events gives the counters back while START goes through a large tree. */
START_TEST(start_starts_the_whole_tree_or_nothing)
{
	struct counted c = crowd_start(PERFCTR_CONTROL_STOPPED);
	int rounds = (int)test_rounds(50);
	pthread_t thread;

	for (int round = 0; round < rounds; round++) {
		int perf[2] = { try_perf_instructions(), 2500 * round / rounds };

		ck_assert_int_ge(perf[0], 0);
		ck_assert_int_eq(pthread_create(&thread, NULL, close_later, perf), 0);
		while (ioctl(c.fd, PERFCTR_IOC_START))
			ck_assert_int_eq(errno, EBUSY);
		ck_assert(read_tree(c.fd).flags & PERFCTR_COUNTS_STARTED);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_STOP), 0);
	}
	kill(c.pid, SIGKILL);
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	close(c.fd);
}
END_TEST

SUITE(members,
      members_are_those_that_live_and_sums_of_sleepers_are_consistent,
      sums_are_not_called_consistent_while_a_member_runs,
      stop_and_start_of_the_root_stop_and_start_every_member,
      a_child_of_a_stopped_tree_starts_with_it,
      a_new_control_detaches_the_members_of_the_old_one,
      without_inherit_no_child_is_a_member,
      each_member_has_the_sums_of_its_own_children,
      every_member_reads_its_own_page_while_the_tree_is_read,
      p6_a_thousand_members_come_and_go,
      the_last_close_frees_a_thousand_members_that_live,
      a_control_that_is_refused_as_the_root_has_exited_leaves_the_members,
      births_and_exits_do_not_wait_for_who_reads_their_tree,
      a_member_that_is_born_during_a_read_is_not_missed_when_its_parent_ends,
      who_is_said_to_have_exited_has_final_sums,
      start_starts_the_whole_tree_or_nothing)
