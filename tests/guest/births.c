// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread is counted and marked from its birth: the point after which its creation cannot fail.
 * These tests hold forks open before that point, with a page of user memory that is not there yet
 * (userfaultfd(2)). Meanwhile they change the tree and the mark of the thread that forks.
 */
#include "marks.h"
#include "trees.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A process that makes a child when it is told to. The fork is stuck until it is released: the
 * address at which the kernel stores the child's descriptor faults.
 */
struct forker {
	pid_t pid;
	int begin, told, go, finish;	/* eventfds; told: the process is ready, its fork is stuck */
	int child[2];			/* a pipe: the child's process number, or minus errno */
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

/* Returns when the fork is stuck. The child has got all that it copies from its parent. */
static void forker_stick(const struct forker *f)
{
	give(f->begin);
	take(f->told);
}

static pid_t forker_release(const struct forker *f)
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

START_TEST(who_is_not_born_yet_is_no_member)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid);

	forker_stick(&f);
	ck_assert_uint_eq(read_tree(fd).members, 1);
	forker_release(&f);
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
	child = forker_release(&f);
	ck_assert_uint_eq(read_tree(fd).members, 2);
	member = context_open(child, 0);
	ck_assert_uint_eq(context_read(member).flags & PERFCTR_COUNTS_STARTED, PERFCTR_COUNTS_STARTED);
	forker_finish(&f);
	/* All that the child did is counted once. */
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
	member = context_open(forker_release(&f), 0);
	forker_finish(&f);
	ck_assert_uint_eq(context_read(member).n_counters, 2);
	ck_assert_uint_gt(context_read(member).counter[1], context_read(member).counter[0]);
	ck_assert_uint_gt(context_read(member).counter[0], 0);
	close(member);
	close(fd);
	expect_contexts(0);
}
END_TEST

static void control_periods(int fd, uint32_t n, uint64_t period)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(INSTRUCTIONS) },
				  { 2, USER(INSTRUCTIONS) }));

	control.n_events = n;
	control.event[n - 1].period = period;
	control.flags = PERFCTR_CONTROL_INHERIT;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
}

static void expect_periods(int fd, uint32_t n, uint64_t period)
{
	struct perfctr_periods told = { .size = sizeof(told) };

	ck_assert_uint_eq(context_read(fd).n_counters, n);
	ck_assert_uint_gt(context_read(fd).counter[n - 1], period);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_PERIODS, &told), 0);
	ck_assert_uint_eq(told.n_counters, period ? n : 0);
	ck_assert_uint_eq(told.over[n - 1], period ? context_read(fd).counter[n - 1] / period : 0);
}

/*
 * The child's context is prepared under the first control, and added under the third. 0: no period.
 */
START_TEST(a_control_with_periods_beside_a_fork_is_the_child_s_too)
{
	static const struct {
		uint32_t n;
		uint64_t period;
	} controls[][3] = {
		{ { 1, 0 }, { 1, 0 }, { 3, 7 } }, { { 1, 0 }, { 3, 7 }, { 3, 7 } },
		{ { 1, 3 }, { 3, 7 }, { 3, 7 } }, { { 3, 7 }, { 1, 3 }, { 1, 3 } },
		{ { 3, 7 }, { 2, 0 }, { 3, 7 } }, { { 3, 7 }, { 2, 0 }, { 2, 0 } },
		{ { 3, 7 }, { 3, 7 }, { 3, 7 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
		struct forker f = forker_start();
		int fd = open_tree_of(f.pid), member;

		control_periods(fd, controls[i][0].n, controls[i][0].period);
		forker_stick(&f);
		for (int k = 1; k < 3; k++)
			control_periods(fd, controls[i][k].n, controls[i][k].period);
		member = context_open(forker_release(&f), 0);
		forker_finish(&f);
		expect_periods(member, controls[i][2].n, controls[i][2].period);
		close(member);
		close(fd);
	}
	expect_contexts(0);
}
END_TEST

/* Instead of flags: the parent has no context when its child is copied. */
#define NO_CONTEXT	UINT32_MAX

/* When the parent's control is inherited at last, nothing is prepared for the child. */
START_TEST(a_child_is_counted_whatever_its_parent_had_before)
{
	static const uint32_t before[] = { NO_CONTEXT, 0, PERFCTR_CONTROL_INHERIT | TOTALS };
	static const uint64_t period[] = { 0, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(before) * ARRAY_SIZE(period); i++) {
		uint32_t flags = before[i / ARRAY_SIZE(period)];
		struct forker f = forker_start();
		struct perfctr_counts children;
		int fd = -1, member;

		if (flags != NO_CONTEXT) {
			fd = context_open(f.pid, PERFCTR_OPEN_CREATE);
			ck_assert_int_eq(try_control(fd, flags), 0);
		}
		forker_stick(&f);
		if (fd < 0)
			fd = context_open(f.pid, PERFCTR_OPEN_CREATE);
		control_periods(fd, 1, period[i % ARRAY_SIZE(period)]);
		member = context_open(forker_release(&f), 0);
		ck_assert_uint_eq(read_tree(fd).members, 2);
		forker_finish(&f);
		expect_periods(member, 1, period[i % ARRAY_SIZE(period)]);
		children = context_read_scope(fd, PERFCTR_SCOPE_CHILDREN);
		ck_assert_uint_eq(children.counter[0], context_read(member).counter[0]);
		ck_assert_uint_eq(children.flags & PERFCTR_COUNTS_INCOMPLETE, 0);
		close(member);
		close(fd);
	}
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
	child = forker_release(&f);
	expect_no_context(child);
	expect_contexts(1);
	/* The child has no context, so that another caller can open one. */
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
		member = context_open(forker_release(&f), 0);
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
	child = forker_release(&f);
	expect_no_context(child);
	expect_contexts(0);
	forker_finish(&f);
}
END_TEST

/* The new context belongs to another tree than the one in which the fork began. */
START_TEST(a_context_made_anew_beside_a_fork_is_the_child_s_parent)
{
	struct forker f = forker_start();
	int fd = open_tree_of(f.pid);

	forker_stick(&f);
	close(fd);
	fd = open_tree_of(f.pid);
	forker_release(&f);
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
	int fd = open_tree_of(f.pid), mark_fd = mark_open();

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, mark_fd), 1);
	forker_stick(&f);
	kill_and_wait(f.pid);
	expect_contexts(1);
	ck_assert_uint_eq(read_tree(fd).members, 0);
	ck_assert_uint_eq(mark_members(mark_fd), 0);
	close(mark_fd);
	close(fd);
	expect_contexts(0);
}
END_TEST

/* A mark does not know threads that nobody can see yet. */
START_TEST(who_is_not_born_yet_bears_no_mark)
{
	struct forker f = forker_start();
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);

	session_control(session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, mark_fd), 1);
	forker_stick(&f);
	ck_assert_uint_eq(context_read(session).members, 1);
	forker_release(&f);
	ck_assert_uint_eq(context_read(session).members, 2);
	forker_finish(&f);
	ck_assert_uint_eq(context_read(session).members, 0);
	close(session);
	close(mark_fd);
}
END_TEST

START_TEST(a_mark_set_beside_a_fork_is_the_child_s_too)
{
	struct forker f = forker_start();
	int mark_fd = mark_open();
	pid_t child;

	forker_stick(&f);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, mark_fd), 1);
	child = forker_release(&f);
	ck_assert_uint_ne(mark_of(child), 0);
	forker_finish(&f);
	close(mark_fd);
}
END_TEST

START_TEST(a_mark_taken_away_beside_a_fork_is_not_the_child_s)
{
	struct forker f = forker_start();
	int mark_fd = mark_open();
	pid_t child;

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, mark_fd), 1);
	forker_stick(&f);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_THREAD, f.pid, mark_fd), 1);
	child = forker_release(&f);
	ck_assert_uint_eq(mark_of(child), 0);
	ck_assert_uint_eq(mark_members(mark_fd), 0);
	forker_finish(&f);
	close(mark_fd);
}
END_TEST

/* In a process of its own: the test can give up if the call does not end. */
static void expect_close_ends(int mark_fd)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		close(mark_fd);
		_exit(0);
	}
	close(mark_fd);
	for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) != pid; i++)
		sleep_us(10000);
	ck_assert_int_eq(status, 0);
}

/*
 * The test closes its descriptor first, and the process closes the last one: the forker has given
 * up its copy.
 */
START_TEST(the_close_of_a_mark_waits_for_nobody)
{
	struct forker f = forker_start();
	int mark_fd = mark_open(), other = mark_open();
	pid_t child;

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, mark_fd), 1);
	forker_stick(&f);
	expect_close_ends(mark_fd);
	ck_assert_uint_eq(mark_of(f.pid), 0);
	child = forker_release(&f);
	ck_assert_uint_eq(mark_of(child), 0);
	/* The remains of the old mark do not prevent another one. */
	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_THREAD, f.pid, -1), 0);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, f.pid, other), 1);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, child, other), 1);
	ck_assert_uint_ne(mark_of(f.pid), 0);
	ck_assert_uint_eq(mark_members(other), 2);
	forker_finish(&f);
	ck_assert_uint_eq(mark_members(other), 0);
	close(other);
}
END_TEST

SUITE(births, who_is_not_born_yet_is_no_member, a_control_beside_a_fork_is_the_child_s_too,
      a_control_with_other_events_beside_a_fork_is_the_child_s_too,
      a_control_with_periods_beside_a_fork_is_the_child_s_too,
      a_child_is_counted_whatever_its_parent_had_before,
      a_control_without_inherit_beside_a_fork_lets_the_child_alone,
      a_child_is_born_started_or_stopped_as_its_parent_is_then,
      a_close_beside_a_fork_leaves_no_context,
      a_context_made_anew_beside_a_fork_is_the_child_s_parent,
      a_forker_that_is_killed_leaves_nothing, who_is_not_born_yet_bears_no_mark,
      a_mark_set_beside_a_fork_is_the_child_s_too,
      a_mark_taken_away_beside_a_fork_is_not_the_child_s, the_close_of_a_mark_waits_for_nobody)
