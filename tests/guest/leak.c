// SPDX-License-Identifier: GPL-2.0-or-later
/* Everything that is made a thousand times is freed a thousand times. */
#include "marks.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 1000
#define SLABS "/sys/kernel/slab/"

/* Frees the objects that the slab caches keep in store: they would count as used. */
static void shrink_slabs(void)
{
	glob_t slabs;

	ck_assert_int_eq(glob(SLABS "*/shrink", 0, NULL, &slabs), 0);
	for (size_t i = 0; i < slabs.gl_pathc; i++)
		write_file(slabs.gl_pathv[i], "1");
	globfree(&slabs);
}

static uint64_t slab_objects(void)
{
	write_file(SLABS "perfctr_context/shrink", "1");
	return read_number(SLABS "perfctr_context/objects");
}

/* The free pages of the zones, and those that each CPU keeps at hand, which can be hundreds. */
static uint64_t free_pages(void)
{
	unsigned long long pages = 0, n;
	char line[128];
	FILE *file;

	write_file("/proc/sys/vm/drop_caches", "3");
	shrink_slabs();
	file = fopen("/proc/zoneinfo", "r");
	ck_assert(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " pages free %llu", &n) == 1 || sscanf(line, " count: %llu", &n) == 1)
			pages += n;
	fclose(file);
	ck_assert_uint_gt(pages, 0);
	return pages;
}

static void open_control_map_close(void)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) }));
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	close(fd);
}

/* The child exits with its context open, mapped and counting. */
static void monitored_fork_exit(void)
{
	pid_t pid = fork();

	ck_assert(pid >= 0);
	if (pid == 0) {
		int fd = try_context_open(0, PERFCTR_OPEN_CREATE);

		EXPECT(fd >= 0);
		EXPECT(mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
		EXPECT(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Another process opens the context, and closes it after the thread has ended. */
static void remote_open_exit_close(void)
{
	int hold[2], fd;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(hold), 0);
	pid = fork();
	ck_assert(pid >= 0);
	if (pid == 0) {
		close(hold[1]);
		_exit(read(hold[0], &byte, 1));
	}
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	close(hold[0]);
	close(hold[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(fd);
}

/*
 * The thread ends, executes a file or goes on at any moment while its context is opened,
 * controlled, read and closed. Every call succeeds or reports that the thread is gone.
 */
static void open_races_with_end(void)
{
	static unsigned int delay;
	struct perfctr_counts counts = { .size = sizeof(counts) };
	pid_t pid = fork();
	int fd;

	ck_assert(pid >= 0);
	if (pid == 0) {
		spin(delay);
		if (delay & 1)
			execl(program("loop"), "loop", NULL);
		_exit(0);
	}
	/* Goes through the first moments of the child in small steps, again and again. */
	delay = (delay + 997) % 100000;
	fd = try_context_open(pid, PERFCTR_OPEN_CREATE);
	if (fd >= 0) {
		ck_assert(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0 ||
			  errno == ESRCH);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, &counts), 0);
		ck_assert(ioctl(fd, PERFCTR_IOC_STOP) == 0 || errno == ESRCH);
		ck_assert(ioctl(fd, PERFCTR_IOC_START) == 0 || errno == ESRCH || errno == EINVAL);
		if (delay & 2)
			close(fd);
	} else {
		ck_assert_int_eq(errno, ESRCH);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	if (fd >= 0 && !(delay & 2))
		close(fd);
}

/*
 * A single mark is too small to show among the pages. No assertion of libcheck: libcheck notes
 * each in a file, in memory.
 */
#define MARKS 48

static void marks_and_session(void)
{
	int device = device_open(), mark_fd, session;

	for (int i = 0; i < MARKS; i++) {
		struct perfctr_open_mark_args open = { .size = sizeof(open) };

		mark_fd = ioctl(device, PERFCTR_IOC_OPEN_MARK, &open);
		EXPECT(ioctl(mark_fd, PERFCTR_IOC_ENTER) == 0);
		EXPECT(ioctl(mark_fd, PERFCTR_IOC_LEAVE) == 0);
		close(mark_fd);
	}
	mark_fd = mark_open();
	session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	EXPECT(ioctl(mark_fd, PERFCTR_IOC_ENTER) == 0);
	/* The mark ends with the second of these. */
	close(mark_fd);
	close(session);
	close(device);
}

/*
 * A context has at least an object and a page. A leak of either would be TIMES of them; half of
 * that tells it from the kernel's other allocations.
 */
static void expect_no_leak(void (*what)(void))
{
	uint64_t contexts, objects, pages;
	int keep = context_open(getppid(), PERFCTR_OPEN_CREATE);

	/* The first context takes the counters, which is work on every CPU: once is enough. */
	context_control(keep, EVENTS({ 3, USER(INSTRUCTIONS) }));
	/* Fills the caches of the kernel. */
	for (int i = 0; i < TIMES / 4; i++)
		what();
	contexts = pmu_info().n_contexts;
	objects = slab_objects();
	pages = free_pages();
	for (int i = 0; i < TIMES; i++)
		what();
	/* Memory that waits for a grace period of RCU comes back. Leaked memory does not. */
	for (int i = 0; i < 3000; i++) {
		if (slab_objects() == objects && free_pages() + TIMES / 2 > pages)
			break;
		sleep_us(20000);
	}
	ck_assert_uint_eq(pmu_info().n_contexts, contexts);
	ck_assert_uint_eq(slab_objects(), objects);
	ck_assert_uint_gt(free_pages() + TIMES / 2, pages);
	close(keep);
	ck_assert_uint_eq(pmu_info().n_contexts, contexts - 1);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
}

START_TEST(a_thousand_times_open_control_close_leaks_nothing)
{
	expect_no_leak(open_control_map_close);
}
END_TEST

START_TEST(a_thousand_monitored_processes_leak_nothing)
{
	expect_no_leak(monitored_fork_exit);
}
END_TEST

START_TEST(a_thousand_processes_monitored_from_outside_leak_nothing)
{
	expect_no_leak(remote_open_exit_close);
}
END_TEST

START_TEST(p5_a_thousand_races_with_the_end_of_a_thread_leak_nothing)
{
	expect_no_leak(open_races_with_end);
}
END_TEST

START_TEST(a_thousand_marks_and_sessions_leak_nothing)
{
	expect_no_leak(marks_and_session);
}
END_TEST

START_TEST(a_thousand_refused_opens_and_controls_leak_nothing)
{
	uint64_t objects = slab_objects();
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	for (int i = 0; i < TIMES; i++) {
		ck_assert_int_eq(try_context_open(0, PERFCTR_OPEN_CREATE), -1);
		ck_assert_int_eq(errno, EEXIST);
		ck_assert_int_eq(try_context_control(fd, EVENTS({ 9, USER(INSTRUCTIONS) })), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	close(fd);
	ck_assert_uint_eq(pmu_info().n_contexts, 0);
	ck_assert_uint_eq(slab_objects(), objects);
}
END_TEST

SUITE(leak,
      a_thousand_times_open_control_close_leaks_nothing,
      a_thousand_monitored_processes_leak_nothing,
      a_thousand_processes_monitored_from_outside_leak_nothing,
      p5_a_thousand_races_with_the_end_of_a_thread_leak_nothing,
      a_thousand_marks_and_sessions_leak_nothing,
      a_thousand_refused_opens_and_controls_leak_nothing)
