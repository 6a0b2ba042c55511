// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread is counted and marked from its birth, which is where its creation cannot fail any more.
 * Forks are held open before it by a page of user memory that is not there yet, userfaultfd(2), and
 * fail in every way there is, while the tree and the groups that they concern are changed.
 */
#include "groups.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void give(int event)
{
	uint64_t one = 1;

	EXPECT(write(event, &one, sizeof(one)) == sizeof(one));
}

static void take(int event)
{
	uint64_t value;

	EXPECT(read(event, &value, sizeof(value)) == sizeof(value));
}

/*
 * A process that makes a child when told to, and is stuck in it until it is let go: with an address
 * that faults for where the child's descriptor shall be stored.
 */
struct forker {
	pid_t pid;
	int begin, told, go, finish;	/* events; told: it is ready, it is stuck */
	int child[2];			/* its process number, or minus errno */
};

struct held_page {
	void *page;
	int faults;
	const struct forker *forker;
};

static void *fill_when_told(void *argument)
{
	const struct held_page *held = argument;
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)held->page, (size_t)sysconf(_SC_PAGESIZE) },
	};
	struct uffd_msg message;

	EXPECT(read(held->faults, &message, sizeof(message)) == sizeof(message));
	give(held->forker->told);
	take(held->forker->go);
	EXPECT(ioctl(held->faults, UFFDIO_ZEROPAGE, &zero) == 0);
	return NULL;
}

/* The first access waits for fill_when_told(). */
static void *hold_page(const struct forker *f)
{
	static struct held_page held;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	pthread_t thread;

	held.forker = f;
	held.page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(held.page != MAP_FAILED);
	held.faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	EXPECT(held.faults >= 0);
	range.range = (struct uffdio_range){ (uintptr_t)held.page, size };
	EXPECT(ioctl(held.faults, UFFDIO_API, &api) == 0);
	EXPECT(ioctl(held.faults, UFFDIO_REGISTER, &range) == 0);
	EXPECT(pthread_create(&thread, NULL, fill_when_told, &held) == 0);
	return held.page;
}

static void run_forker(const struct forker *f)
{
	struct clone_args args = { .flags = CLONE_PIDFD, .exit_signal = SIGCHLD };
	int status;
	long pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	args.pidfd = (uintptr_t)hold_page(f);
	give(f->told);
	take(f->begin);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take(f->finish);
		_exit(0);
	}
	if (pid < 0)
		pid = -errno;
	EXPECT(write(f->child[1], &pid, sizeof(pid)) == sizeof(pid));
	EXPECT(pid < 0 || wait_for((pid_t)pid, &status) == pid);
	_exit(0);
}

static struct forker forker_start(void)
{
	struct forker f = {
		.begin = eventfd(0, 0),
		.told = eventfd(0, 0),
		.go = eventfd(0, 0),
		.finish = eventfd(0, 0),
	};

	ck_assert_int_eq(pipe(f.child), 0);
	f.pid = fork();
	ck_assert_int_ge(f.pid, 0);
	if (f.pid == 0)
		run_forker(&f);
	take(f.told);
	return f;
}

/* It has all for its child that copying can give. */
static void forker_stick(const struct forker *f)
{
	give(f->begin);
	take(f->told);
}

static pid_t forker_let_go(const struct forker *f)
{
	long pid;

	give(f->go);
	ck_assert_int_eq(read(f->child[0], &pid, sizeof(pid)), sizeof(pid));
	ck_assert_int_gt(pid, 0);
	return (pid_t)pid;
}

static void forker_finish(const struct forker *f)
{
	int status;

	give(f->finish);
	ck_assert_int_eq(wait_for(f->pid, &status), f->pid);
	ck_assert_int_eq(status, 0);
	close(f->begin);
	close(f->told);
	close(f->go);
	close(f->finish);
	close(f->child[0]);
	close(f->child[1]);
}

static int try_control(int fd, uint32_t flags)
{
	struct perfctr_control control = tree_control(flags);

	/* tree_control() is for trees. */
	if (!(flags & PERFCTR_CONTROL_INHERIT))
		control.flags &= ~(uint32_t)PERFCTR_CONTROL_INHERIT;
	return ioctl(fd, PERFCTR_IOC_CONTROL, &control);
}

static int open_tree_of(pid_t pid)
{
	int fd = context_open(pid, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT), 0);
	return fd;
}

static struct perfctr_counts read_tree(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_TREE);
}

static void expect_no_context(pid_t pid)
{
	ck_assert_int_eq(try_context_open(pid, 0), -1);
	ck_assert_int_eq(errno, ENOENT);
}

static void expect_contexts(uint32_t n)
{
	for (int i = 0; i < 400 && pmu_info().n_contexts != n; i++)
		sleep_us(5000);
	ck_assert_uint_eq(pmu_info().n_contexts, n);
}

START_TEST(who_is_not_born_yet_is_no_member)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid);

	forker_stick(&f);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	forker_let_go(&f);
	ck_assert_uint_eq(read_tree(fd).members, 2);
	forker_finish(&f);
	close(fd);
	expect_contexts(0);
}
END_TEST

START_TEST(a_control_beside_a_fork_is_the_child_s_too)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid), member;
	pid_t child;

	forker_stick(&f);
	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT), 0);
	child = forker_let_go(&f);
	ck_assert_uint_eq(read_tree(fd).members, 2);
	member = context_open(child, 0);
	ck_assert_uint_eq(context_read(member).flags & PERFCTR_COUNTS_STARTED, PERFCTR_COUNTS_STARTED);
	forker_finish(&f);
	/* All that the child did is there, once. */
	ck_assert_uint_gt(context_read(member).counter[0], 0);
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0],
			  context_read(member).counter[0]);
	close(member);
	close(fd);
	expect_contexts(0);
}
END_TEST

START_TEST(a_control_with_other_events_beside_a_fork_is_the_child_s_too)
{
	struct perfctr_control control =
		control_of(EVENTS({ 1, USER(BRANCHES) }, { 2, USER(INSTRUCTIONS) }));
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid), member;

	forker_stick(&f);
	control.flags = PERFCTR_CONTROL_INHERIT;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	member = context_open(forker_let_go(&f), 0);
	forker_finish(&f);
	ck_assert_uint_eq(context_read(member).n_counters, 2);
	ck_assert_uint_gt(context_read(member).counter[1], context_read(member).counter[0]);
	ck_assert_uint_gt(context_read(member).counter[0], 0);
	close(member);
	close(fd);
	expect_contexts(0);
}
END_TEST

START_TEST(a_control_without_inherit_beside_a_fork_lets_the_child_alone)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid);
	pid_t child;

	forker_stick(&f);
	ck_assert_int_eq(try_control(fd, 0), 0);
	child = forker_let_go(&f);
	expect_no_context(child);
	expect_contexts(1);
	/* It is free for others. */
	close(context_open(child, PERFCTR_OPEN_CREATE));
	forker_finish(&f);
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0], 0);
	close(fd);
	expect_contexts(0);
}
END_TEST

START_TEST(a_child_is_born_started_or_stopped_as_its_parent_is_then)
{
	for (int start = 0; start < 2; start++) {
		struct forker f = forker_start();
		int fd = open_tree_of(f.pid), member;

		if (start)
			ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		forker_stick(&f);
		ck_assert_int_eq(ioctl(fd, start ? PERFCTR_IOC_START : PERFCTR_IOC_STOP), 0);
		member = context_open(forker_let_go(&f), 0);
		ck_assert_int_eq(!!(context_read(member).flags & PERFCTR_COUNTS_STARTED), start);
		forker_finish(&f);
		ck_assert_int_eq(context_read(member).counter[0] > 0, start);
		close(member);
		close(fd);
	}
	expect_contexts(0);
}
END_TEST

START_TEST(a_close_beside_a_fork_leaves_no_context)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid);
	pid_t child;

	forker_stick(&f);
	close(fd);
	expect_no_context(f.pid);
	child = forker_let_go(&f);
	expect_no_context(child);
	expect_contexts(0);
	forker_finish(&f);
}
END_TEST

/* Another tree than the one that the fork began in. */
START_TEST(a_context_made_anew_beside_a_fork_is_the_child_s_parent)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid);

	forker_stick(&f);
	close(fd);
	fd = open_tree_of(f.pid);
	forker_let_go(&f);
	ck_assert_uint_eq(read_tree(fd).members, 2);
	forker_finish(&f);
	ck_assert_uint_gt(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0], 0);
	close(fd);
	expect_contexts(0);
}
END_TEST

START_TEST(a_forker_that_is_killed_leaves_nothing)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid), group = group_open(), status;

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, group), 1);
	forker_stick(&f);
	kill(f.pid, SIGKILL);
	ck_assert_int_eq(wait_for(f.pid, &status), f.pid);
	expect_contexts(1);
	ck_assert_uint_eq(read_tree(fd).members, 0);
	ck_assert_uint_eq(group_members(group), 0);
	close(group);
	close(fd);
	expect_contexts(0);
}
END_TEST

/* Of threads that nobody sees, a group knows nothing. */
START_TEST(who_is_not_born_yet_bears_no_mark)
{
	struct forker f = forker_start();
	int group = group_open(), session = session_open(group, NOT_PRIVILEGED | MARKED);

	session_control(session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, group), 1);
	forker_stick(&f);
	ck_assert_uint_eq(context_read(session).members, 1);
	forker_let_go(&f);
	ck_assert_uint_eq(context_read(session).members, 2);
	forker_finish(&f);
	ck_assert_uint_eq(context_read(session).members, 0);
	close(session);
	close(group);
}
END_TEST

START_TEST(a_mark_set_beside_a_fork_is_the_child_s_too)
{
	struct forker f = forker_start();
	int group = group_open();
	pid_t child;

	forker_stick(&f);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, group), 1);
	child = forker_let_go(&f);
	ck_assert_uint_ne(mark_of(child), 0);
	forker_finish(&f);
	close(group);
}
END_TEST

START_TEST(a_mark_taken_away_beside_a_fork_is_not_the_child_s)
{
	struct forker f = forker_start();
	int group = group_open();
	pid_t child;

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, group), 1);
	forker_stick(&f);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_THREAD, f.pid, group), 1);
	child = forker_let_go(&f);
	ck_assert_uint_eq(mark_of(child), 0);
	ck_assert_uint_eq(group_members(group), 0);
	forker_finish(&f);
	close(group);
}
END_TEST

/* In a process of its own, which is given up when the call does not end. */
static void expect_close_ends(int group)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		close(group);
		_exit(0);
	}
	close(group);
	for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) != pid; i++)
		sleep_us(10000);
	ck_assert_int_eq(status, 0);
}

/*
 * The descriptor is closed by the test first and then by the process, which thus is the last: the
 * forker gave its copy up.
 */
START_TEST(the_close_of_a_group_waits_for_nobody)
{
	struct forker f = forker_start();
	int group = group_open(), other = group_open();
	pid_t child;

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, group), 1);
	forker_stick(&f);
	expect_close_ends(group);
	ck_assert_uint_eq(mark_of(f.pid), 0);
	child = forker_let_go(&f);
	ck_assert_uint_eq(mark_of(child), 0);
	/* What is left of the old mark is in nobody's way. */
	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_THREAD, f.pid, -1), 0);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, other), 1);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, child, other), 1);
	ck_assert_uint_ne(mark_of(f.pid), 0);
	ck_assert_uint_eq(group_members(other), 2);
	forker_finish(&f);
	ck_assert_uint_eq(group_members(other), 0);
	close(other);
}
END_TEST

/* Ways to fail of a fork that comes far: what the child gets of its parent is there already. */
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

	/* No stack of its own is ever used: it is not born. */
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

/* Where the first process of a namespace has ended no other is born. */
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
 * A process that fails to make children without end, sleeps in between if it shall, and tells how
 * often in memory that it shares.
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

static volatile uint64_t *shared_number(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(page, MAP_FAILED);
	return page;
}

/* Of what the process counts in shared memory. */
static void wait_for_more(volatile uint64_t *number, uint64_t n, pid_t pid)
{
	uint64_t before = *number;
	int status;

	while (*number - before < n) {
		ck_assert_msg(waitpid(pid, &status, WNOHANG) == 0, "wait status %#x", status);
		sleep_us(1000);
	}
}

/* What is done beside a fork.  One tree, one group. */
struct beside {
	pid_t pid;
	int tree, group;
};

/* The process holds none of the descriptors: it was there before. */
static struct beside beside_of(pid_t pid)
{
	return (struct beside){ .pid = pid, .tree = open_tree_of(pid), .group = group_open() };
}

static void replace_control(struct beside *b)
{
	ck_assert_int_eq(try_control(b->tree, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_RECORD), 0);
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

static void mark_and_unmark(struct beside *b)
{
	ck_assert_int_ge(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_TREE, b->pid, b->group), 1);
	ck_assert_int_ge(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE, b->pid, b->group), 1);
}

static void mark_and_close(struct beside *b)
{
	ck_assert_int_ge(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_TREE, b->pid, b->group), 1);
	close(b->group);
	b->group = group_open();
}

static void (*const calls[])(struct beside *) = {
	replace_control, forbid_and_allow, stop_and_start, close_and_open, read_it,
	mark_and_unmark, mark_and_close,
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
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct beside b = beside_of(failing_start(&ways[i], false, failures));

		all_calls_beside(&b);
		wait_for_more(failures, 20, b.pid);
		ck_assert_uint_eq(read_tree(b.tree).members, 1);
		ck_assert_uint_eq(context_read_scope(b.tree, PERFCTR_SCOPE_CHILDREN).counter[0], 0);
		kill(b.pid, SIGKILL);
		ck_assert_int_eq(wait_for(b.pid, &status), b.pid);
		ck_assert_uint_eq(group_members(b.group), 0);
		close(b.group);
		close(b.tree);
		expect_contexts(0);
	}
}
END_TEST

/*
 * Both on one CPU. The forker goes before the other: it interrupts it wherever the kernel can be
 * preempted, and goes on as soon as the other lets go of what it waits for.
 */
START_TEST(forks_that_fail_race_with_controls_on_their_own_cpu)
{
	const struct sched_param first = { 2 }, second = { 1 };
	volatile uint64_t *failures = shared_number();
	pid_t pid;
	int tree;

	pin(0, 1);
	pid = failing_start(&ways[0], true, failures);
	tree = open_tree_of(pid);
	ck_assert_int_eq(sched_setscheduler(0, SCHED_FIFO, &second), 0);
	ck_assert_int_eq(sched_setscheduler(pid, SCHED_FIFO, &first), 0);
	for (int i = 0; i < 50 * BESIDE; i++) {
		ck_assert_int_eq(try_control(tree, PERFCTR_CONTROL_INHERIT), 0);
		/* The kernel's own threads have to run, too. */
		if (i % 10 == 0)
			sleep_us(10000);
	}
	ck_assert_uint_gt(*failures, 0);
	kill(pid, SIGKILL);
	close(tree);
}
END_TEST

/* A process that makes children without end, each of which ends at once. */
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
	/* Since the last control all of them, and at most one that lives. */
	replace_control(&b);
	wait_for_more(births, 50, b.pid);
	kill(b.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(b.pid, &status, WUNTRACED), b.pid);
	while (read_tree(b.tree).members > 1)
		sleep_us(1000);
	children = context_read_scope(b.tree, PERFCTR_SCOPE_CHILDREN).counter[0];
	ck_assert_uint_ge(children, 50 * SLEEPER_INSTRUCTIONS);
	ck_assert_uint_eq(children % SLEEPER_INSTRUCTIONS, 0);
	kill(b.pid, SIGKILL);
	ck_assert_int_eq(wait_for(b.pid, &status), b.pid);
	close(b.group);
	close(b.tree);
	expect_contexts(0);
}
END_TEST

/* Killed in the middle of whatever it did for its children. */
START_TEST(forkers_that_are_killed_leave_nothing_whatever_is_done_beside_them)
{
	volatile uint64_t *births = shared_number();
	int status;

	for (int i = 0; i < 100; i++) {
		struct beside b = beside_of(prolific_start(births));

		for (int n = 0; n < 3; n++)
			calls[i % ARRAY_SIZE(calls)](&b);
		kill(b.pid, SIGKILL);
		if (i & 1)
			close(b.tree);
		ck_assert_int_eq(wait_for(b.pid, &status), b.pid);
		if (!(i & 1))
			close(b.tree);
		close(b.group);
	}
	expect_contexts(0);
}
END_TEST

#define CROWD	1500
#define BIRTHS	100

/* Reads the tree of its parent without end. */
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
 * The tree is read all the time: each birth and each exit that waited for the reader would wait for
 * one read at least.
 */
START_TEST(births_and_exits_do_not_wait_for_who_reads_their_tree)
{
	int asleep = eventfd(0, EFD_SEMAPHORE), at_once = eventfd(BIRTHS, EFD_SEMAPHORE), status;
	volatile uint64_t *reads = shared_number();
	uint64_t before, all = CROWD;
	pid_t reader;
	int fd;

	fd = tree_open(0);
	for (int i = 0; i < CROWD; i++)
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
	       (unsigned long long)before, CROWD);
	ck_assert_uint_lt(before, BIRTHS * 3 / 2);
	kill(reader, SIGKILL);
	ck_assert_int_eq(wait_for(reader, &status), reader);
	ck_assert_int_eq(write(asleep, &all, sizeof(all)), sizeof(all));
	while (wait_for(-1, &status) > 0)
		ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	close(fd);
	expect_contexts(0);
}
END_TEST

#define SLEEPERS	300
#define RELAY_READS	2000

/*
 * When told to: children that sleep, and one that makes a child and ends, as that does, and so on.
 * All are of the process group that the first leads.
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

/* The first, the sleepers, and whose turn it is: those are there at any time. */
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

SUITE(births,
      who_is_not_born_yet_is_no_member,
      a_control_beside_a_fork_is_the_child_s_too,
      a_control_with_other_events_beside_a_fork_is_the_child_s_too,
      a_control_without_inherit_beside_a_fork_lets_the_child_alone,
      a_child_is_born_started_or_stopped_as_its_parent_is_then,
      a_close_beside_a_fork_leaves_no_context,
      a_context_made_anew_beside_a_fork_is_the_child_s_parent,
      a_forker_that_is_killed_leaves_nothing,
      who_is_not_born_yet_bears_no_mark,
      a_mark_set_beside_a_fork_is_the_child_s_too,
      a_mark_taken_away_beside_a_fork_is_not_the_child_s,
      the_close_of_a_group_waits_for_nobody,
      forks_that_fail_leave_nothing_whatever_is_done_beside_them,
      forks_that_fail_race_with_controls_on_their_own_cpu,
      children_are_counted_once_whatever_is_done_beside_their_births,
      forkers_that_are_killed_leave_nothing_whatever_is_done_beside_them,
      births_and_exits_do_not_wait_for_who_reads_their_tree,
      a_member_that_is_born_during_a_read_is_not_missed_when_its_parent_ends)
