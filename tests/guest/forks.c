// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Endless forks that fail in every possible way, or make children that end at once. Meanwhile the
 * tests change the tree and the mark of the process that forks.
 */
#include "marks.h"
#include "trees.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks that fail late: the child has already got what it inherits from its parent. */
static long clone_process(struct clone_args *args)
{
	long pid;

	args->exit_signal = SIGCHLD;
	pid = syscall(SYS_clone3, args, sizeof(*args));
	if (pid == 0)
		_exit(0);
	return pid;
}

static long no_place_for_the_descriptor(void)
{
	struct clone_args args = { .flags = CLONE_PIDFD | CLONE_VM | CLONE_FILES, .pidfd = 8 };
	static _Alignas(16) char stack[4096];

	/* The child is not born, so it never uses this stack. */
	args.stack = (uintptr_t)stack;
	args.stack_size = sizeof(stack);
	return clone_process(&args);
}

static long a_number_that_is_taken(void)
{
	pid_t number = 1;
	struct clone_args args = { .set_tid = (uintptr_t)&number, .set_tid_size = 1 };

	return clone_process(&args);
}

static long no_such_cgroup(void)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .cgroup = 1000000 };

	return clone_process(&args);
}

static long no_more_processes(void)
{
	struct clone_args args = { 0 };

	return clone_process(&args);
}

static void nothing_to_prepare(void)
{
}

/* When the first process of a namespace has ended, no other is born there. */
static void enter_dead_namespace(void)
{
	pid_t pid;
	int status;

	EXPECT(unshare(CLONE_NEWPID) == 0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	EXPECT(wait_for(pid, &status) == pid);
}

#define CGROUPS "/tmp/births-cgroups"

static void enter_full_cgroup(void)
{
	mkdir(CGROUPS, 0755);
	EXPECT(mount("cgroup", CGROUPS, "cgroup", 0, "pids") == 0 || errno == EBUSY);
	mkdir(CGROUPS "/full", 0755);
	write_file(CGROUPS "/full/pids.max", "0");
	write_file(CGROUPS "/full/cgroup.procs", "0");
}

static const struct way {
	long (*fork)(void);
	void (*prepare)(void);
	int error;
} ways[] = {
	{ no_place_for_the_descriptor, nothing_to_prepare, EFAULT },
	{ a_number_that_is_taken, nothing_to_prepare, EEXIST },
	{ no_such_cgroup, nothing_to_prepare, EBADF },
	{ no_more_processes, enter_dead_namespace, ENOMEM },
	{ no_more_processes, enter_full_cgroup, EAGAIN },
};

/*
 * A process that tries without end to make children, and fails. It counts its failures in memory
 * that it shares. sleeps: it sleeps after each failure.
 */
static pid_t failing_start(const struct way *way, bool sleeps, volatile uint64_t *failures)
{
	int ready = eventfd(0, 0);
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		way->prepare();
		give(ready);
		for (;; (*failures)++) {
			EXPECT(way->fork() < 0 && errno == way->error);
			if (sleeps)
				sleep_us(1 + *failures % 100);
		}
	}
	take(ready);
	close(ready);
	return pid;
}

/* The process that forks, its tree and its mark. */
struct beside {
	pid_t pid;
	int tree, mark_fd;
};

/* The process existed before the descriptors were opened, so it holds none of them. */
static struct beside beside_of(pid_t pid)
{
	return (struct beside){ .pid = pid, .tree = open_tree_of(pid), .mark_fd = mark_open() };
}

static void replace_control(struct beside *b)
{
	ck_assert_int_eq(try_control(b->tree,
				     PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS),
			 0);
}

static void forbid_and_allow(struct beside *b)
{
	ck_assert_int_eq(try_control(b->tree, 0), 0);
	ck_assert_int_eq(try_control(b->tree, PERFCTR_CONTROL_INHERIT), 0);
}

static void stop_and_start(struct beside *b)
{
	ck_assert_int_eq(ioctl(b->tree, PERFCTR_IOC_STOP), 0);
	ck_assert_int_eq(ioctl(b->tree, PERFCTR_IOC_START), 0);
}

static void close_and_open(struct beside *b)
{
	close(b->tree);
	b->tree = open_tree_of(b->pid);
}

static void read_it(struct beside *b)
{
	ck_assert_uint_ge(read_tree(b->tree).members, 1);
}

static void change_marks(const struct beside *b, uint32_t action)
{
	ck_assert_msg(try_mark(action, PERFCTR_MARK_TREE, b->pid, b->mark_fd) >= 1, "action %u: %s",
		      action, strerror(errno));
}

static void mark_and_unmark(struct beside *b)
{
	change_marks(b, PERFCTR_MARK_SET);
	change_marks(b, PERFCTR_MARK_CLEAR);
}

static void mark_and_close(struct beside *b)
{
	change_marks(b, PERFCTR_MARK_SET);
	close(b->mark_fd);
	b->mark_fd = mark_open();
}

/* Another context takes the place of the former one, and of all members of its tree. */
static void take_it_away(struct beside *b)
{
	int former = b->tree;

	b->tree = context_open(b->pid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	ck_assert_int_eq(try_control(b->tree, PERFCTR_CONTROL_INHERIT), 0);
	close(former);
}

static void revoke_and_start(struct beside *b)
{
	int device = device_open();

	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_REVOKE), 0);
	errno = 0;
	ck_assert_int_eq(ioctl(b->tree, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	close(device);
	ck_assert_int_eq(ioctl(b->tree, PERFCTR_IOC_START), 0);
}

static void (*const calls[])(struct beside *) = {
	replace_control, forbid_and_allow, stop_and_start, close_and_open,   read_it,
	mark_and_unmark, mark_and_close,   take_it_away,   revoke_and_start,
};

#define BESIDE 15

static void all_calls_beside(struct beside *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		for (int n = 0; n < BESIDE; n++)
			calls[i](b);
}

START_TEST(forks_that_fail_leave_nothing_whatever_is_done_beside_them)
{
	volatile uint64_t *failures = shared_number();

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct beside b = beside_of(failing_start(&ways[i], false, failures));

		all_calls_beside(&b);
		wait_for_more(failures, 20, b.pid);
		ck_assert_uint_eq(read_tree(b.tree).members, 1);
		ck_assert_uint_eq(context_read_scope(b.tree, PERFCTR_SCOPE_CHILDREN).counter[0], 0);
		kill_and_wait(b.pid);
		ck_assert_uint_eq(mark_members(b.mark_fd), 0);
		close(b.mark_fd);
		close(b.tree);
		expect_contexts(0);
	}
}
END_TEST

#define RACES 30

/* The forker has a higher priority than the caller. */
static void race_with_calls(const struct way *way)
{
	const struct sched_param first = { 2 }, second = { 1 };
	volatile uint64_t *failures = shared_number();
	struct beside b;
	uint64_t before;

	pin(0, 1);
	b = beside_of(failing_start(way, true, failures));
	ck_assert_int_eq(sched_setscheduler(0, SCHED_FIFO, &second), 0);
	ck_assert_int_eq(sched_setscheduler(b.pid, SCHED_FIFO, &first), 0);
	for (size_t call = 0; call < ARRAY_SIZE(calls); call++) {
		before = *failures;
		for (int i = 0; i < RACES; i++) {
			calls[call](&b);
			/* Kernel threads have to run, too. */
			if (i % 10 == 0)
				sleep_us(10000);
		}
		ck_assert_uint_gt(*failures, before);
	}
	ck_assert_int_eq(sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 }), 0);
	kill_and_wait(b.pid);
	close(b.mark_fd);
	close(b.tree);
	expect_contexts(0);
}

/*
 * Both run on one CPU. The forker preempts the caller wherever the kernel can be preempted, and
 * continues as soon as the caller releases what the forker waits for.
 */
START_TEST(forks_that_fail_race_with_all_calls_on_their_own_cpu)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		race_with_calls(&ways[i]);
}
END_TEST

/*
 * This thread fails to make children until the exec of another thread ends it, wherever it is then.
 */
static void *fail_until_exec(void *way)
{
	((const struct way *)way)->prepare();
	for (;;)
		EXPECT(((const struct way *)way)->fork() < 0 &&
		       errno == ((const struct way *)way)->error);
	return NULL;
}

/*
 * executed: a pipe. Its end for writing is closed when the process executes a program, which
 * sleeps.
 */
static pid_t executor_start(const struct way *way, unsigned int us, int go, int executed[2])
{
	pid_t pid = fork();
	pthread_t thread;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take(go);
	EXPECT(pthread_create(&thread, NULL, fail_until_exec, (void *)way) == 0);
	close(executed[0]);
	sleep_us(us);
	execl("/bin/sleep", "sleep", "infinity", NULL);
	_exit(2);
}

static void calls_beside_exec(const struct way *way, unsigned int us)
{
	int go = eventfd(0, EFD_CLOEXEC), executed[2];
	struct pollfd at_end = { .events = POLLIN };
	struct beside b;
	unsigned int n = 0;
	pid_t pid;

	ck_assert_int_eq(pipe2(executed, O_CLOEXEC), 0);
	pid = executor_start(way, us, go, executed);
	close(executed[1]);
	at_end.fd = executed[0];
	b = beside_of(pid);
	give(go);
	do
		calls[(us + n++) % ARRAY_SIZE(calls)](&b);
	while (poll(&at_end, 1, 0) == 0);
	ck_assert_uint_eq(read_tree(b.tree).members, 1);
	kill_and_wait(pid);
	close(executed[0]);
	close(go);
	close(b.mark_fd);
	close(b.tree);
	expect_contexts(0);
}

START_TEST(an_exec_beside_forks_that_fail_leaves_nothing)
{
	unsigned int rounds = test_rounds(20);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		for (unsigned int n = 0; n < rounds; n++)
			calls_beside_exec(&ways[i], 1000 + 2740 * n / rounds);
}
END_TEST

/* A process that makes children without end. Each child ends at once. */
static pid_t prolific_start(volatile uint64_t *births)
{
	int semaphore = eventfd(0x7fffffff, EFD_SEMAPHORE), ready = eventfd(0, 0);
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		give(ready);
		for (;; (*births)++)
			EXPECT(wait_for(spawn_sleeper(semaphore), &status) > 0 && status == 0);
	}
	take(ready);
	close(ready);
	close(semaphore);
	return pid;
}

START_TEST(children_are_counted_once_whatever_is_done_beside_their_births)
{
	volatile uint64_t *births = shared_number();
	struct beside b = beside_of(prolific_start(births));
	uint64_t children;
	int status;

	all_calls_beside(&b);
	/* Counts all children born since the last control. At most one of them is still alive. */
	replace_control(&b);
	wait_for_more(births, 50, b.pid);
	kill(b.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(b.pid, &status, WUNTRACED), b.pid);
	while (read_tree(b.tree).members > 1)
		sleep_us(1000);
	children = context_read_scope(b.tree, PERFCTR_SCOPE_CHILDREN).counter[0];
	ck_assert_uint_ge(children, 50 * SLEEPER_INSTRUCTIONS);
	ck_assert_uint_eq(children % SLEEPER_INSTRUCTIONS, 0);
	kill_and_wait(b.pid);
	close(b.mark_fd);
	close(b.tree);
	expect_contexts(0);
}
END_TEST

/* Forkers are killed in the middle of births. Each call is tried with both ways to end. */
START_TEST(forkers_that_are_killed_leave_nothing_whatever_is_done_beside_them)
{
	volatile uint64_t *births = shared_number();
	int status;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(calls) * test_rounds(6); i++) {
		struct beside b = beside_of(prolific_start(births));

		for (int n = 0; n < 3; n++)
			calls[i % ARRAY_SIZE(calls)](&b);
		kill(b.pid, SIGKILL);
		if (i & 1)
			close(b.tree);
		ck_assert_int_eq(wait_for(b.pid, &status), b.pid);
		if (!(i & 1))
			close(b.tree);
		close(b.mark_fd);
	}
	expect_contexts(0);
}
END_TEST

SUITE(forks, forks_that_fail_leave_nothing_whatever_is_done_beside_them,
      forks_that_fail_race_with_all_calls_on_their_own_cpu,
      an_exec_beside_forks_that_fail_leaves_nothing,
      children_are_counted_once_whatever_is_done_beside_their_births,
      forkers_that_are_killed_leave_nothing_whatever_is_done_beside_them)
