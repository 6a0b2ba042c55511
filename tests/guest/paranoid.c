// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules of perf_events, level by level of perf_event_paranoid, also for descriptors that are
 * handed on.
 */
#include "marks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes a call on the device. argument: a struct that asks for nothing unusual. */
static int try_call(unsigned long request, void *argument)
{
	int device = open("/dev/perfctr", O_RDWR | O_CLOEXEC), result, error;

	EXPECT(device >= 0);
	result = ioctl(device, request, argument);
	error = errno;
	close(device);
	errno = error;
	return result;
}

#define EXPECT_REFUSED(call, error)                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		EXPECT((call) == -1 && errno == (error));                                          \
	} while (0)

static void user_meets_level_3(void *unused)
{
	struct perfctr_open_mark_args open = { .size = sizeof(open) };
	struct perfctr_pmu_info info = { .size = sizeof(info) };
	int fd;

	(void)unused;
	become_nobody();
	fd = try_context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(fd >= 0 && try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
	raise(SIGSTOP);
	/* A count that has begun goes on, as with perf_events. */
	EXPECT(context_read(fd).counter[0] > 0);
	EXPECT_REFUSED(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), EACCES);
	EXPECT_REFUSED(ioctl(fd, PERFCTR_IOC_START), EACCES);
	EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
	close(fd);
	EXPECT_REFUSED(try_context_open(0, PERFCTR_OPEN_CREATE), EACCES);
	EXPECT_REFUSED(try_call(PERFCTR_IOC_OPEN_MARK, &open), EACCES);
	EXPECT(try_call(PERFCTR_IOC_INFO, &info) == 0);
}

START_TEST(at_level_3_users_count_nothing)
{
	int before = set_paranoid(2), status;
	pid_t pid = fork();

	if (pid == 0) {
		user_meets_level_3(NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	set_paranoid(3);
	kill(pid, SIGCONT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	set_paranoid(before);
	ck_assert_int_eq(status, 0);
}
END_TEST

static int try_read_scope(int fd, uint32_t scope)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = scope };

	return ioctl(fd, PERFCTR_IOC_READ, &counts);
}

static int try_read(int fd)
{
	return try_read_scope(fd, PERFCTR_SCOPE_SELF);
}

static int try_periods(int fd)
{
	struct perfctr_periods periods = { .size = sizeof(periods) };

	return ioctl(fd, PERFCTR_IOC_PERIODS, &periods);
}

static int try_map(int fd)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -1;
	munmap(page, PERFCTR_PAGE_SIZE);
	return 0;
}

/* argument: may the counted process see the counts? */
static void counted_looks(void *argument)
{
	bool allowed = *(bool *)argument;
	int fd;

	become_nobody();
	raise(SIGSTOP);
	fd = try_context_open(0, 0);
	EXPECT(fd >= 0);
	if (allowed) {
		EXPECT(try_read(fd) == 0 && try_map(fd) == 0);
		return;
	}
	for (uint32_t scope = PERFCTR_SCOPE_SELF; scope <= PERFCTR_SCOPE_TREE; scope++)
		EXPECT_REFUSED(try_read_scope(fd, scope), EACCES);
	EXPECT_REFUSED(try_map(fd), EACCES);
}

/* Starts a child that waits until it is counted. */
static pid_t waiting_start(void (*fn)(void *), void *argument)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fn(argument);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	return pid;
}

static void waiting_finish(pid_t pid)
{
	int status;

	kill(pid, SIGCONT);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(status == 0, "wait status %#x", status);
}

START_TEST(who_is_counted_does_not_see_its_own_kernel_counts)
{
	int before = set_paranoid(2), fd;
	bool allowed;
	pid_t pid;

	for (int level = 2; level >= 1; level--) {
		set_paranoid(level);
		allowed = level == 1;
		pid = waiting_start(counted_looks, &allowed);
		fd = context_open(pid, PERFCTR_OPEN_CREATE);
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, BOTH(INSTRUCTIONS) }));
		waiting_finish(pid);
		close(fd);
	}
	set_paranoid(before);
}
END_TEST

static void user_has_descriptor(void *argument)
{
	int fd = *(int *)argument;

	become_nobody();
	EXPECT_REFUSED(try_read(fd), EACCES);
	EXPECT_REFUSED(try_periods(fd), EACCES);
	EXPECT_REFUSED(try_map(fd), EACCES);
	EXPECT_REFUSED(ioctl(fd, PERFCTR_IOC_START), EACCES);
	EXPECT_REFUSED(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), EACCES);
	EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
}

static void user_has_descriptor_of_user_mode(void *argument)
{
	int fd = *(int *)argument;

	become_nobody();
	EXPECT(try_read(fd) == 0 && try_periods(fd) == 0 && try_map(fd) == 0 &&
	       ioctl(fd, PERFCTR_IOC_START) == 0);
	EXPECT_REFUSED(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), EACCES);
}

START_TEST(a_descriptor_hands_on_no_right_to_kernel_mode_and_none_to_choose)
{
	int before = set_paranoid(2), fd = context_open(0, PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 0, KERNEL(INSTRUCTIONS) }));
	in_child(user_has_descriptor, &fd);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	in_child(user_has_descriptor_of_user_mode, &fd);
	set_paranoid(before);
}
END_TEST

/* The process maps the page before the page shows anything that the process must not see. */
static void counted_keeps_page(void *unused)
{
	const struct perfctr_page *page;
	uint64_t seen;
	int fd;

	(void)unused;
	become_nobody();
	raise(SIGSTOP);
	fd = try_context_open(0, 0);
	EXPECT(fd >= 0);
	page = context_map(fd);
	EXPECT(page->flags & PERFCTR_PAGE_STARTED);
	raise(SIGSTOP);
	EXPECT_REFUSED(try_read(fd), EACCES);
	seen = page->counter[0].sum;
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	sleep_us(1000);
	EXPECT(page->counter[0].sum == seen && !(page->flags & PERFCTR_PAGE_STARTED));
}

START_TEST(a_page_that_is_mapped_shows_nothing_of_a_later_control_of_kernel_mode)
{
	int before = set_paranoid(2), fd, status;
	pid_t pid = waiting_start(counted_keeps_page, NULL);

	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	kill(pid, SIGCONT);
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	context_control(fd, EVENTS({ 0, KERNEL(INSTRUCTIONS) }));
	waiting_finish(pid);
	ck_assert_uint_gt(context_read(fd).counter[0], 100000);
	close(fd);
	set_paranoid(before);
}
END_TEST

static void user_has_session(void *argument)
{
	const int *session = argument;

	become_nobody();
	EXPECT_REFUSED(try_read(session[0]), EACCES);
	EXPECT_REFUSED(ioctl(session[0], PERFCTR_IOC_START), EACCES);
	EXPECT_REFUSED(try_map(session[0]), EACCES);
	EXPECT_REFUSED(try_context_control(session[0], EVENTS({ 0, USER(INSTRUCTIONS) })), EACCES);
	/* This session counts marked threads in user mode only. */
	EXPECT(try_read(session[1]) == 0);
	EXPECT_REFUSED(try_map(session[1]), EACCES);
}

START_TEST(the_descriptor_of_a_session_hands_on_no_counts_of_others)
{
	int before = set_paranoid(2), mark_fd = mark_open();
	int session[] = { session_open(mark_fd, 0),
			  session_open(mark_fd, NOT_PRIVILEGED | MARKED) };

	session_control(session[0], SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	session_control(session[1], SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	in_child(user_has_session, session);
	set_paranoid(before);
}
END_TEST

static void user_counts_itself_first(void *unused)
{
	struct perfctr_counts counts;
	int fd;

	(void)unused;
	become_nobody();
	prctl(PR_SET_DUMPABLE, 1);
	fd = try_context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(fd >= 0 && try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
	EXPECT_REFUSED(try_context_open(0, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE), EPERM);
	raise(SIGSTOP);
	counts = context_read(fd);
	EXPECT(counts.flags & PERFCTR_COUNTS_EXITED && counts.counter[0] > 0);
	EXPECT_REFUSED(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), ESRCH);
	EXPECT_REFUSED(try_context_open(0, PERFCTR_OPEN_CREATE), EEXIST);
	spin(1000000);
}

START_TEST(who_counts_itself_is_counted_by_root_all_the_same)
{
	int before = set_paranoid(2), fd;
	pid_t pid = waiting_start(user_counts_itself_first, NULL);

	errno = 0;
	ck_assert(try_context_open(pid, PERFCTR_OPEN_CREATE) == -1 && errno == EEXIST);
	errno = 0;
	ck_assert(try_context_open(pid, PERFCTR_OPEN_TAKE) == -1 && errno == EINVAL);
	fd = context_open(pid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	waiting_finish(pid);
	ck_assert_uint_gt(context_read(fd).counter[0], 1000000);
	set_paranoid(before);
}
END_TEST

SUITE(paranoid, at_level_3_users_count_nothing, who_is_counted_does_not_see_its_own_kernel_counts,
      a_descriptor_hands_on_no_right_to_kernel_mode_and_none_to_choose,
      a_page_that_is_mapped_shows_nothing_of_a_later_control_of_kernel_mode,
      the_descriptor_of_a_session_hands_on_no_counts_of_others,
      who_counts_itself_is_counted_by_root_all_the_same)
