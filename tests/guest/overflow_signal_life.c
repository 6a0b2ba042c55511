// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals at the ends of periods: which threads get them, which callers may have them sent, and
 * what ends them.
 */
#include "overflow_signals.h"
#include "trees.h"

#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_refused(int fd, struct perfctr_control control, int error, uint32_t reason)
{
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, error);
	ck_assert_uint_eq(control.bad_reason, reason);
	ck_assert_uint_eq(control.bad_event, 0);
}

START_TEST(signals_that_cannot_be_are_refused)
{
	struct perfctr_session_args args = { .size = sizeof(args), .mark = -1 };
	int device = device_open(), session = ioctl(device, PERFCTR_IOC_SESSION, &args);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_uint_ne(pmu_info().features & PERFCTR_FEATURE_SIGNAL, 0);
	expect_refused(fd, signal_control(1000, 65, 0), EINVAL, PERFCTR_BAD_SIGNAL);
	expect_refused(fd, signal_control(1000, UINT32_MAX, 0), EINVAL, PERFCTR_BAD_SIGNAL);
	expect_refused(fd, signal_control(0, SIGPROF, 0), EINVAL, PERFCTR_BAD_SIGNAL);
	expect_refused(fd, signal_control(0, 0, PERFCTR_EVENT_STOP), EINVAL, PERFCTR_BAD_SIGNAL);
	expect_refused(fd, signal_control(1000, 1, PERFCTR_EVENT_POLICY), EINVAL,
		       PERFCTR_BAD_FIELD);
	expect_refused(fd, signal_control(1000, 1, PERFCTR_EVENT_STOP | 1), EINVAL,
		       PERFCTR_BAD_FIELD);
	expect_refused(session, signal_control(0, SIGPROF, 0), EINVAL, PERFCTR_BAD_SIGNAL);
	expect_refused(session, signal_control(0, 0, PERFCTR_EVENT_STOP), EINVAL,
		       PERFCTR_BAD_FIELD);
	expect_refused(session, signal_control(0, 0, PERFCTR_EVENT_STOP | PERFCTR_EVENT_POLICY),
		       EINVAL, PERFCTR_BAD_FIELD);
	set_control(fd, signal_control(1ull << 40, 64, 0));
}
END_TEST

START_TEST(signals_and_stops_are_told_as_they_were_set)
{
	struct perfctr_control told = { .size = sizeof(told) },
			       control = signal_control(1009, SIGRTMIN, PERFCTR_EVENT_STOP);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_ptr_ne(signal(SIGRTMIN, SIG_IGN), SIG_ERR);
	set_control(fd, control);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &told), 0);
	ck_assert_mem_eq(&told, &control, sizeof(told));
	close(fd);
}
END_TEST

/* An inherited control, which counts user instructions. */
static struct perfctr_control inherited(uint64_t period, uint32_t signal, uint32_t flags)
{
	struct perfctr_control control = signal_control(period, signal, flags);

	control.flags = PERFCTR_CONTROL_INHERIT;
	return control;
}

static void *spin_in_thread(void *argument)
{
	volatile pid_t *tid = argument;

	*tid = syscall(SYS_gettid);
	spin(1000000);
	return NULL;
}

START_TEST(a_thread_of_the_process_has_its_own_signals)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	volatile pid_t tid = 0;
	pthread_t thread;

	catch_signal(SIGRTMIN, 0);
	set_control(fd, inherited(400009, SIGRTMIN, 0));
	ck_assert_int_eq(pthread_create(&thread, NULL, spin_in_thread, (void *)&tid), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_ge(caught.n, 2);
	ck_assert_int_ne(tid, getpid());
	ck_assert_int_eq(caught.tid, tid);
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_TREE).over[0], caught.n);
	/* One thread waits, the others do not. */
	set_control(fd, inherited(400009, SIGRTMIN, PERFCTR_EVENT_STOP));
	ck_assert_int_eq(pthread_create(&thread, NULL, spin_in_thread, (void *)&tid), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(caught.tid, tid);
	ck_assert(!(context_read(fd).flags & PERFCTR_COUNTS_WAITING));
	ck_assert_uint_le(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0],
			  400009 + MOST_SKID);
	close(fd);
}
END_TEST

/* Signals without a handler would kill these processes. */
START_TEST(another_process_is_counted_without_signals_and_does_not_wait)
{
	const uint64_t expected = LOOP_INSTRUCTIONS(SHORT_LOOP);
	int fd = context_open(0, PERFCTR_OPEN_CREATE), status;
	struct perfctr_counts counts;
	pid_t pid;

	catch_signal(SIGRTMIN, 0);
	set_control(fd, inherited(10007, SIGRTMIN, PERFCTR_EVENT_STOP));
	spin(100000);
	ck_assert_int_eq(caught.n, 1);
	ck_assert(context_read(fd).flags & PERFCTR_COUNTS_WAITING);
	pid = spawn(COMMAND(program("loop")));
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	counts = context_read_scope(fd, PERFCTR_SCOPE_CHILDREN);
	ck_assert_uint_eq(counts.counter[0], expected + SPAWN_INSTRUCTIONS);
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_CHILDREN).over[0],
			  counts.counter[0] / 10007);
	ck_assert_int_eq(caught.n, 1);
	/* A child without an exec, which has its parent's handler. */
	pid = fork();
	if (pid == 0) {
		spin(100000);
		_exit(caught.n != 1);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_ge(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0],
			  counts.counter[0] + 100000);
	close(fd);
}
END_TEST

static void tell(int fd)
{
	EXPECT(write(fd, "x", 1) == 1);
}

static void await(int fd)
{
	char byte;

	EXPECT(read(fd, &byte, 1) == 1);
}

/* The test controls the process, which waits, and then executes a program. */
static pid_t start_waiting(int go, int gone)
{
	pid_t pid = fork();

	if (pid == 0) {
		catch_signal(SIGRTMIN, 0);
		await(go);
		spin(100000);
		EXPECT(caught.n == 1);
		tell(gone);
		await(go);
		execl(program("loop"), "loop", NULL);
	}
	return pid;
}

START_TEST(an_executed_file_is_counted_to_the_instruction_without_signals)
{
	int go[2], gone[2], fd, status;
	struct perfctr_counts before;
	uint64_t counted;
	pid_t pid;

	ck_assert(pipe(go) == 0 && pipe(gone) == 0);
	pid = start_waiting(go[0], gone[1]);
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	set_control(fd, signal_control(10007, SIGRTMIN, PERFCTR_EVENT_STOP));
	tell(go[1]);
	await(gone[0]);
	before = context_read(fd);
	ck_assert(before.flags & PERFCTR_COUNTS_WAITING);
	ck_assert_uint_le(before.counter[0], 10007 + MOST_SKID);
	tell(go[1]);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	counted = context_read(fd).counter[0];
	ck_assert_uint_eq(counted, before.counter[0] + LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_SELF).over[0], counted / 10007);
	close(fd);
}
END_TEST

/* The program executes 5 instructions before the loop: it waits from then on, or not yet. */
START_TEST(a_controller_s_signals_end_with_an_exec_and_its_counting_does_not)
{
	static const uint64_t periods[] = { 3, 5, 1009 };

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program("exec"),
									   program("loop"))) };
		uint64_t counted;
		int status;

		c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
		set_control(c.fd, signal_control(periods[i], periods[i] < 5 ? 0 : SIGURG,
						 PERFCTR_EVENT_STOP));
		stopped_go(c.pid);
		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		ck_assert_int_eq(status, 0);
		counted = context_read(c.fd).counter[0];
		ck_assert_uint_ge(counted, LOOP_INSTRUCTIONS(SHORT_LOOP) +
						   (periods[i] < 5 ? periods[i] : 5));
		ck_assert_uint_le(counted, LOOP_INSTRUCTIONS(SHORT_LOOP) + 5);
		ck_assert_uint_eq(periods_of(c.fd, PERFCTR_SCOPE_SELF).over[0],
				  counted / periods[i]);
		close(c.fd);
	}
}
END_TEST

/*
 * The period ends with the last instruction, which is a system call, with the one before, or not at
 * all.
 */
START_TEST(a_period_that_ends_with_the_thread_harms_nobody)
{
	for (uint64_t period = LOOP_INSTRUCTIONS(TINY_LOOP) - 1;
	     period <= LOOP_INSTRUCTIONS(TINY_LOOP) + 1; period++) {
		struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program("loop-tiny"))) };
		int status;

		c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
		set_control(c.fd, signal_control(period, SIGCHLD, PERFCTR_EVENT_STOP));
		stopped_go(c.pid);
		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(periods_of(c.fd, PERFCTR_SCOPE_SELF).over[0],
				  period <= LOOP_INSTRUCTIONS(TINY_LOOP));
		ck_assert_uint_eq(lost_signals(c.fd), 0);
		close(c.fd);
	}
}
END_TEST

START_TEST(a_signal_that_kills_kills)
{
	struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program("loop-long"))) };
	int status;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	set_control(c.fd, signal_control(1000003, SIGKILL, 0));
	stopped_go(c.pid);
	ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
	ck_assert_int_eq(status, SIGKILL);
	ck_assert_uint_ge(context_read(c.fd).counter[0], 1000003);
	ck_assert_uint_le(context_read(c.fd).counter[0], 1000003 + MOST_SKID);
	close(c.fd);
}
END_TEST

struct attempt {
	pid_t pid; /* 0: a child of the caller and of its user */
	uint64_t capabilities;
	int error; /* of a control with a signal */
};

#define USER_ID 4711

static void become_user(const void *uid)
{
	become(*(const uid_t *)uid, 0);
	/* The change of ids has cleared it. */
	EXPECT(prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* With CAP_PERFMON a caller may count any event. For a signal it needs other rights. */
static void control_another(void *argument)
{
	const struct attempt *a = argument;
	struct perfctr_control control = signal_control(1ull << 40, SIGKILL, 0);
	pid_t pid = a->pid ? a->pid : sleeper_as(become_user, &(uid_t){ USER_ID });
	int fd;

	become(USER_ID, a->capabilities);
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	set_control(fd, signal_control(1ull << 40, 0, PERFCTR_EVENT_STOP));
	EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == (a->error ? -1 : 0));
	if (!a->error)
		return;
	EXPECT(errno == a->error);
	EXPECT(control.bad_reason == PERFCTR_BAD_SIGNAL && control.bad_event == 0);
	/* The former control goes on. */
	EXPECT(context_read(fd).flags & PERFCTR_COUNTS_STARTED);
}

START_TEST(who_may_not_kill_or_trace_a_process_cannot_send_it_signals)
{
	struct attempt attempts[] = {
		{ .capabilities = BIT_OF(CAP_PERFMON), .error = EACCES },
		{ .capabilities = BIT_OF(CAP_PERFMON) | BIT_OF(CAP_KILL) },
		{ .capabilities = BIT_OF(CAP_PERFMON) | BIT_OF(CAP_SYS_PTRACE) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		attempts[i].pid = sleeper_as(become_user, &(uid_t){ USER_ID + 1 });
		in_child(control_another, &attempts[i]);
		kill_and_wait(attempts[i].pid);
	}
	in_child(control_another, &(struct attempt){ 0 });
}
END_TEST

/* The thread runs on the other CPU, ends periods, and has signals pending. */
START_TEST(contexts_can_be_closed_and_controlled_while_signals_come)
{
	unsigned int rounds = 6 * test_rounds(5);

	for (unsigned int i = 0; i < rounds; i++) {
		struct counted c = { .pid = stopped_start(1, COMMAND(program("overflow"))) };
		struct perfctr_control control;

		c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
		set_control(c.fd, inherited(101, SIGRTMIN, 0));
		stopped_go(c.pid);
		sleep_us(5000 + 15000 * i / rounds);
		control = inherited(53, SIGRTMIN, PERFCTR_EVENT_STOP);
		/* The program may have ended. */
		if (i % 2 && ioctl(c.fd, PERFCTR_IOC_CONTROL, &control))
			ck_assert_int_eq(errno, ESRCH);
		sleep_us(500 * (i % 3));
		close(c.fd);
		kill_and_wait(c.pid);
	}
}
END_TEST

PROMPT_SUITE(overflow_signal_life, signals_that_cannot_be_are_refused,
	     signals_and_stops_are_told_as_they_were_set,
	     a_thread_of_the_process_has_its_own_signals,
	     another_process_is_counted_without_signals_and_does_not_wait,
	     an_executed_file_is_counted_to_the_instruction_without_signals,
	     a_controller_s_signals_end_with_an_exec_and_its_counting_does_not,
	     a_period_that_ends_with_the_thread_harms_nobody, a_signal_that_kills_kills,
	     who_may_not_kill_or_trace_a_process_cannot_send_it_signals,
	     contexts_can_be_closed_and_controlled_while_signals_come)
