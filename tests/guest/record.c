// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records: each has what a thread of a tree had counted when it left. guest.h has the expected
 * numbers.
 */
#include "guest.h"
#include "tree.h"

#include <errno.h>
#include <perfctr.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
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
	for (unsigned int i = 0; i < PERFCTR_MAX_EXIT_RECORDS + TOO_MANY; i++) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, exit_at_once, NULL), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
	/* A thread that was joined may still be exiting. */
	while (context_read_scope(fd, PERFCTR_SCOPE_TREE).members > 1)
		sleep_us(1000);
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

/* The structure is in memory that cannot be written. */
START_TEST(a_record_that_cannot_be_written_counts_as_lost)
{
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS);
	struct perfctr_exit_record r, *fixed;
	pthread_t thread;

	fixed = mmap(NULL, sizeof(*fixed), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	ck_assert_ptr_ne(fixed, MAP_FAILED);
	fixed->size = sizeof(*fixed);
	ck_assert_int_eq(mprotect(fixed, sizeof(*fixed), PROT_READ), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, exit_at_once, NULL), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
	while (context_read_scope(fd, PERFCTR_SCOPE_TREE).members > 1)
		sleep_us(1000);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_EXIT_RECORD, fixed), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert(next_record(fd, &r));
	ck_assert_int_ne(r.tid, 0);
	ck_assert_uint_eq(r.lost, 0);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_EXIT_RECORD, fixed), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert(next_record(fd, &r));
	ck_assert_int_eq(r.tid, 0);
	ck_assert_uint_eq(r.lost, 1);
	ck_assert(!next_record(fd, &r));
	munmap(fixed, sizeof(*fixed));
	close(fd);
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

SUITE(record, every_thread_that_exited_has_one_record_with_its_own_counts,
      records_that_find_no_room_are_told_behind_the_last,
      records_are_taken_by_who_rules_the_tree_only,
      a_record_that_cannot_be_written_counts_as_lost,
      a_descriptor_that_takes_no_records_is_not_readable,
      a_set_user_id_exec_drops_a_member_and_keeps_what_it_had_counted,
      who_is_taken_out_of_a_tree_leaves_a_record)
