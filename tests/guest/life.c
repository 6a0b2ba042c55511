// SPDX-License-Identifier: GPL-2.0-or-later
/* A context from OPEN to its end: fork, exec, exit, other openers. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_thread_has_one_context)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	int same;

	ck_assert_int_eq(try_context_open(0, PERFCTR_OPEN_CREATE), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(try_context_open(getpid(), PERFCTR_OPEN_CREATE), -1);
	ck_assert_int_eq(errno, EEXIST);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	same = context_open(0, 0);
	ck_assert_uint_gt(context_read(same).counter[0], 0);
	close(same);
}
END_TEST

START_TEST(the_descriptor_is_closed_by_exec)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(after_the_last_close_the_thread_is_free_again)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	close(fd);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	ck_assert_uint_eq(context_read(fd).n_counters, 0);
	ck_assert_uint_eq(context_read(fd).flags, PERFCTR_COUNTS_CONSISTENT);
}
END_TEST

START_TEST(the_sums_of_an_exited_thread_stay_and_do_not_change)
{
	struct counted c = counted_start(ANY_CPU, COMMAND(program("loop")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct perfctr_control control = control_of(EVENTS({ 0, USER(BRANCHES) }));
	struct perfctr_counts counts;
	int status;

	ck_assert_int_eq(waitpid(c.pid, &status, 0), c.pid);
	for (int i = 0; i < 2; i++) {
		counts = context_read(c.fd);
		ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_EXITED, PERFCTR_COUNTS_EXITED);
		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
		ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_CONTROL, &control), -1);
		ck_assert_int_eq(errno, ESRCH);
		ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), -1);
		ck_assert_int_eq(errno, ESRCH);
		ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_STOP), -1);
		ck_assert_int_eq(errno, ESRCH);
	}
}
END_TEST

START_TEST(a_forked_child_has_no_context)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE), ready[2];
	char byte;
	pid_t pid;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		close(ready[1]);
		_exit(read(ready[0], &byte, 1));
	}
	ck_assert_int_eq(try_context_open(pid, 0), -1);
	ck_assert_int_eq(errno, ENOENT);
	close(ready[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

static void *spin_in_thread(void *unused)
{
	(void)unused;
	spin(10000000);
	return NULL;
}

START_TEST(another_thread_of_the_process_is_not_counted)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	pthread_t thread;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert_int_eq(pthread_create(&thread, NULL, spin_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_lt(context_read(fd).counter[0], 1000000);
}
END_TEST

/* exec.S executes 5 instructions, then the loop. */
START_TEST(exec_goes_on_counting)
{
	struct counted c = counted_start(ANY_CPU, COMMAND(program("exec"), program("loop")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct perfctr_counts counts;
	int status;

	counts = counted_finish(&c, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(counts.counter[0], 5 + LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

/*
 * The user "nobody" executes a set-user-id program of root. The opener must not see what runs from
 * then on: the few instructions before are counted, the loop is not.
 */
START_TEST(exec_of_a_set_user_id_program_drops_the_context)
{
	struct set_user_id programs = set_user_id_programs();
	struct perfctr_counts counts;
	int ready[2], go[2], status, fd;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		become_nobody();
		EXPECT(write(ready[1], "", 1) == 1);
		EXPECT(read(go[0], &byte, 1) == 1);
		execl(programs.exec, "exec", programs.loop, NULL);
		_exit(127);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	set_user_id_remove(&programs);
	ck_assert_msg(status == 0, "wait status %#x", status);
	counts = context_read(fd);
	ck_assert_uint_eq(counts.flags, PERFCTR_COUNTS_EXITED | PERFCTR_COUNTS_CONSISTENT);
	ck_assert_uint_gt(counts.counter[0], 5);
	ck_assert_uint_lt(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

/* The thread is neither a child nor traced, and does not notice. */
START_TEST(root_counts_another_process_while_it_runs)
{
	int fd = context_open(getppid(), PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 0, BOTH(INSTRUCTIONS) }));
	ck_assert_uint_eq(context_read(fd).flags,
			  PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_CONSISTENT);
	close(fd);
}
END_TEST

SUITE(life,
      a_thread_has_one_context,
      the_descriptor_is_closed_by_exec,
      after_the_last_close_the_thread_is_free_again,
      the_sums_of_an_exited_thread_stay_and_do_not_change,
      a_forked_child_has_no_context,
      another_thread_of_the_process_is_not_counted,
      root_counts_another_process_while_it_runs,
      exec_goes_on_counting,
      exec_of_a_set_user_id_program_drops_the_context)
