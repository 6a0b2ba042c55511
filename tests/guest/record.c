// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records: each has what a thread of a tree had counted when it left. guest.h has the expected
 * numbers.
 */
#include "guest.h"
#include "tree.h"
#include "trees.h"

#include <errno.h>
#include <perfctr.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

START_TEST(every_thread_that_exited_has_one_record_with_its_own_counts)
{
	struct counted c =
		tree_start(COMMAND(program("tree"), program("loop")), PERFCTR_CONTROL_EXIT_RECORDS);
	struct pollfd poll_record = { .fd = c.fd, .events = POLLIN };
	unsigned int root = 0, middle = 0, looping = 0, executing = 0, threaded = 0, thread = 0;
	static pid_t seen[TREE_THREADS];
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TREE_THREADS; i++) {
		struct perfctr_exit_record r;
		uint64_t n;

		ck_assert_int_eq(poll(&poll_record, 1, 60000), 1);
		ck_assert_int_eq(poll_record.revents, POLLIN);
		ck_assert(next_record(c.fd, &r));
		ck_assert_uint_eq(r.lost, 0);
		ck_assert_uint_eq(r.size, sizeof(r));
		ck_assert_uint_eq(r.counts.flags,
				  PERFCTR_COUNTS_EXITED | PERFCTR_COUNTS_CONSISTENT);
		n = r.counts.counter[0];
		sum += n;
		for (unsigned int k = 0; k < i; k++)
			ck_assert_int_ne(seen[k], r.tid);
		seen[i] = r.tid;
		ck_assert_str_eq(r.comm, n == TREE_EXECUTING ? "loop" : "tree");
		if (n == TREE_THREAD)
			ck_assert_int_ne(r.tid, r.tgid);
		else
			ck_assert_int_eq(r.tid, r.tgid);
		if (n == TREE_ROOT)
			ck_assert_int_eq(r.tid, c.pid);
		root += n == TREE_ROOT;
		middle += n == TREE_MIDDLE;
		looping += n == TREE_LOOPING;
		executing += n == TREE_EXECUTING;
		threaded += n == TREE_THREADED;
		thread += n == TREE_THREAD;
	}
	ck_assert_uint_eq(root, 1);
	ck_assert_uint_eq(middle, TREE_MIDDLES);
	ck_assert_uint_eq(looping, TREE_SIXES * 3);
	ck_assert_uint_eq(executing, TREE_SIXES * 2);
	ck_assert_uint_eq(threaded, TREE_SIXES);
	ck_assert_uint_eq(thread, TREE_SIXES);
	ck_assert_uint_eq(sum, TREE_INSTRUCTIONS);
	ck_assert_int_eq(poll(&poll_record, 1, 0), 0);
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
}
END_TEST

static void *exit_at_once(void *unused)
{
	(void)unused;
	return NULL;
}

/* Creates n threads that exit, and waits until each has left its record. */
static void add_records(int fd, int n)
{
	pthread_t thread;

	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, exit_at_once, NULL), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
	/* A thread that was joined may still be exiting. */
	while (context_read_scope(fd, PERFCTR_SCOPE_TREE).members > 1)
		sleep_us(1000);
}

/*
 * The test's own process makes more members than there is room for, and reads no record before. It
 * makes threads on one processor: processes on two take more than twenty times as long.
 */
START_TEST(records_that_find_no_room_are_told_behind_the_last)
{
	enum { TOO_MANY = 10 };
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS);
	unsigned int n = 0, lost = 0, last_tid = 1;
	struct perfctr_exit_record r;

	pin(0, 0);
	add_records(fd, PERFCTR_MAX_EXIT_RECORDS + TOO_MANY);
	while (next_record(fd, &r)) {
		n++;
		lost += r.lost;
		last_tid = (unsigned int)r.tid;
	}
	ck_assert_uint_eq(n, PERFCTR_MAX_EXIT_RECORDS + 1);
	ck_assert_uint_eq(lost, TOO_MANY);
	ck_assert_uint_eq(last_tid, 0);
	close(fd);
}
END_TEST

START_TEST(records_are_taken_by_who_rules_the_tree_only)
{
	struct perfctr_exit_record record = { .size = sizeof(record) };
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), other = context_open(0, 0);

	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_EXIT_RECORD, &record), -1);
	ck_assert_int_eq(errno, EPERM);
	record.size = 4;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_EXIT_RECORD, &record), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

static struct perfctr_exit_record *read_only_record(void)
{
	const struct perfctr_exit_record record = { .size = sizeof(record) };

	return read_only_copy(&record, sizeof(record));
}

static void lose_next_record(int fd, struct perfctr_exit_record *fixed)
{
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_EXIT_RECORD, fixed), -1);
	ck_assert_int_eq(errno, EFAULT);
}

/* The next record reports the lost ones. If none is left, a record of no thread reports them. */
START_TEST(a_record_that_cannot_be_written_counts_as_lost)
{
	struct perfctr_exit_record r, *fixed = read_only_record();
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS);

	add_records(fd, 5);
	lose_next_record(fd, fixed);
	lose_next_record(fd, fixed);
	ck_assert(next_record(fd, &r));
	ck_assert_int_ne(r.tid, 0);
	ck_assert_uint_eq(r.lost, 2);
	ck_assert(next_record(fd, &r));
	ck_assert_int_ne(r.tid, 0);
	ck_assert_uint_eq(r.lost, 0);
	lose_next_record(fd, fixed);
	lose_next_record(fd, fixed);
	ck_assert(next_record(fd, &r));
	ck_assert_int_eq(r.tid, 0);
	ck_assert_uint_eq(r.lost, 1);
	ck_assert(!next_record(fd, &r));
	munmap(fixed, sizeof(*fixed));
	close(fd);
}
END_TEST

/* A thread on CPU 1 takes the records of a tree, but into memory that cannot be written. */
struct loser {
	int fd;
	volatile bool runs, ends;
	pthread_t thread;
};

static void *lose_records(void *arg)
{
	struct perfctr_exit_record *fixed = read_only_record();
	struct loser *loser = arg;

	pin(0, 1);
	loser->runs = true;
	while (!loser->ends)
		ioctl(loser->fd, PERFCTR_IOC_EXIT_RECORD, fixed);
	munmap(fixed, sizeof(*fixed));
	return NULL;
}

/* The tree has one record. */
static void loser_start(struct loser *loser)
{
	*loser = (struct loser){ .fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS) };
	add_records(loser->fd, 1);
	ck_assert_int_eq(pthread_create(&loser->thread, NULL, lose_records, loser), 0);
	while (!loser->runs)
		sleep_us(100);
	pin(0, 0);
}

static void loser_end(struct loser *loser)
{
	loser->ends = true;
	pthread_join(loser->thread, NULL);
}

#define POLLS 1000

/* The tree has the record, except for the microseconds in which a call of the other thread has it. */
START_TEST(a_poll_is_told_of_a_record_that_could_not_be_written)
{
	struct pollfd record = { .events = POLLIN };
	struct perfctr_exit_record r;
	struct loser loser;

	loser_start(&loser);
	record.fd = loser.fd;
	for (int i = 0; i < POLLS; i++)
		ck_assert_int_eq(poll(&record, 1, 1000), 1);
	loser_end(&loser);
	ck_assert(next_record(loser.fd, &r));
	ck_assert_uint_eq(r.lost, 1);
	close(loser.fd);
}
END_TEST

#define CONTROLS 100

/* In some rounds, a call of the other thread has the record when the control comes. */
START_TEST(a_new_control_forgets_records_that_could_not_be_written)
{
	for (int i = 0; i < CONTROLS; i++) {
		struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
		struct loser loser;
		struct pollfd record = { .events = POLLIN };

		loser_start(&loser);
		record.fd = loser.fd;
		sleep_us(i % 7 * 100);
		ck_assert_int_eq(ioctl(loser.fd, PERFCTR_IOC_CONTROL, &control), 0);
		loser_end(&loser);
		ck_assert_int_eq(poll(&record, 1, 0), 0);
		close(loser.fd);
	}
}
END_TEST

/* Such a descriptor could never take the record, and would poll without a pause. */
START_TEST(a_descriptor_that_takes_no_records_is_not_readable)
{
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), other = context_open(0, 0);
	struct pollfd both[] = { { .fd = fd, .events = POLLIN },
				 { .fd = other, .events = POLLIN } };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, exit_at_once, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(poll(both, 1, 60000), 1);
	ck_assert_int_eq(poll(both, ARRAY_SIZE(both), 0), 1);
	ck_assert_int_eq(both[0].revents, POLLIN);
	ck_assert_int_eq(both[1].revents, 0);
	close(other);
	close(fd);
}
END_TEST

/* As in life.c, but the root of the tree belongs to another user. */
START_TEST(a_set_user_id_exec_drops_a_member_and_keeps_what_it_had_counted)
{
	struct set_user_id programs = set_user_id_programs();
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), status;
	struct perfctr_exit_record record;
	pid_t pid = fork();

	if (pid == 0) {
		become_nobody();
		execl(programs.exec, "exec", programs.loop, NULL);
		_exit(127);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(status == 0, "wait status %#x", status);
	set_user_id_remove(&programs);
	ck_assert(next_record(fd, &record));
	ck_assert_int_eq(record.tid, pid);
	ck_assert_uint_gt(record.counts.counter[0], 5);
	ck_assert_uint_lt(record.counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0], record.counts.counter[0]);
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_TREE).members, 1);
	ck_assert(!next_record(fd, &record));
}
END_TEST

/* As in paranoid.c, but with a member of another process' tree. */
START_TEST(who_is_taken_out_of_a_tree_leaves_a_record)
{
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), other;
	struct perfctr_exit_record record;
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	sleep_us(20000);
	ck_assert(!next_record(fd, &record));
	other = context_open(pid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	ck_assert(next_record(fd, &record));
	ck_assert_int_eq(record.tid, pid);
	ck_assert_uint_eq(record.lost, 0);
	ck_assert_uint_gt(record.counts.counter[0], 0);
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0], record.counts.counter[0]);
	kill(pid, SIGKILL);
	ck_assert_int_eq(wait_for(pid, NULL), pid);
	ck_assert(!next_record(fd, &record));
	close(other);
}
END_TEST

struct taken {
	volatile pid_t tid;
	volatile bool counts;
	int woken;
};

/* A thread that waits until its own context has been taken, then wakes the rival and ends its process. */
static void *exit_when_taken(void *arg)
{
	struct taken *taken = arg;
	int fd;

	pin(0, 1);
	taken->tid = gettid();
	while (!taken->counts)
		sched_yield();
	while ((fd = try_context_open(0, 0)) >= 0) {
		close(fd);
		spin(3000);
	}
	give(taken->woken);
	_exit(0);
}

static void run_taken(struct taken *taken)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exit_when_taken, taken);
	for (;;)
		pause();
}

/* Keeps the taker from CPU 0 until the taken thread has been reaped. */
static void run_rival(struct taken *taken)
{
	const struct sched_param high = { .sched_priority = 10 };

	pin(0, 0);
	EXPECT(sched_setscheduler(0, SCHED_FIFO, &high) == 0);
	take(taken->woken);
	spin(LOOP_INSTRUCTIONS(LONG_LOOP));
	_exit(0);
}

static void run_taker(struct taken *taken)
{
	pin(0, 0);
	try_context_open(taken->tid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	_exit(0);
}

static pid_t fork_to(void (*run)(struct taken *taken), struct taken *taken)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		run(taken);
	return pid;
}

/* With periods, the taker sleeps between the end of the membership and the record. */
START_TEST(a_thread_that_is_taken_out_and_reaped_is_named_in_its_record)
{
	struct taken *taken = shared_memory(sizeof(*taken));

	for (int i = 0; i < 3; i++) {
		struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
		struct perfctr_exit_record r;
		pid_t pid, tid, rival, taker;
		int fd;

		*taken = (struct taken){ .woken = eventfd(0, 0) };
		rival = fork_to(run_rival, taken);
		pid = fork_to(run_taken, taken);
		while (!(tid = taken->tid))
			sleep_us(1000);
		fd = context_open(tid, PERFCTR_OPEN_CREATE);
		control.flags = PERFCTR_CONTROL_EXIT_RECORDS;
		control.event[0].period = 100;
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
		taken->counts = true;
		sleep_us(5000);
		taker = fork_to(run_taker, taken);
		pin(0, 1);
		ck_assert_int_eq(wait_for(pid, NULL), pid);
		ck_assert_int_eq(wait_for(taker, NULL), taker);
		ck_assert_int_eq(wait_for(rival, NULL), rival);
		ck_assert(next_record(fd, &r));
		ck_assert_int_eq(r.tid, tid);
		ck_assert_int_eq(r.tgid, pid);
		ck_assert_uint_ne(r.start, 0);
		close(taken->woken);
		close(fd);
	}
}
END_TEST

SUITE(record, every_thread_that_exited_has_one_record_with_its_own_counts,
      records_that_find_no_room_are_told_behind_the_last,
      records_are_taken_by_who_rules_the_tree_only,
      a_record_that_cannot_be_written_counts_as_lost,
      a_poll_is_told_of_a_record_that_could_not_be_written,
      a_new_control_forgets_records_that_could_not_be_written,
      a_descriptor_that_takes_no_records_is_not_readable,
      a_set_user_id_exec_drops_a_member_and_keeps_what_it_had_counted,
      who_is_taken_out_of_a_tree_leaves_a_record,
      a_thread_that_is_taken_out_and_reaped_is_named_in_its_record)
