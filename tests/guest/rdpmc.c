// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Permission to execute RDPMC, and what RDPMC shows, while the permission changes. rdpmc_table.c
 * tests what RDPMC shows for each holder of the counters.
 */
#include "marks.h"

#include <errno.h>
#include <perfctr.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RDPMC_SWITCH	"/sys/bus/event_source/devices/cpu/rdpmc"
#define PEEK		"/dev/shm/peek"

static int open_counting_session(uint64_t evntsel, uint32_t policy)
{
	int session = session_open(-1, policy);

	session_control(session, SESSION_EVENTS({ { 3, evntsel }, 0 },
						{ { PERFCTR_FIXED + 1, evntsel & ~0xffffull }, 0 }));
	return session;
}

static int open_kernel_session(void)
{
	return open_counting_session(BOTH(INSTRUCTIONS), 0);
}

static bool rdpmc_works(void)
{
	uint64_t value;

	sleep_us(20000);
	return try_rdpmc(0, &value);
}

START_TEST(an_administrator_who_forbids_rdpmc_meanwhile_unbalances_nothing)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert(rdpmc_works());
	write_file(RDPMC_SWITCH, "0");
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	write_file(RDPMC_SWITCH, "1");
	ck_assert(!rdpmc_works());
	write_file(RDPMC_SWITCH, "0");
	page = context_map(fd);
	write_file(RDPMC_SWITCH, "1");
	ck_assert(rdpmc_works());
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	ck_assert(!rdpmc_works());
	page = context_map(fd);
	ck_assert(rdpmc_works());
	munmap((void *)page, PERFCTR_PAGE_SIZE);
}
END_TEST

static atomic_bool end_of_changes;

/* Takes the permission away in every way, again and again. */
static void *change_without_end(void *own)
{
	pin(0, 1);
	while (!end_of_changes) {
		int session = open_kernel_session();

		sleep_us(500);
		close(session);
		ioctl(*(int *)own, PERFCTR_IOC_STOP);
		write_file(RDPMC_SWITCH, "0");
		ioctl(*(int *)own, PERFCTR_IOC_START);
		write_file(RDPMC_SWITCH, "1");
	}
	return NULL;
}

START_TEST(a_reader_survives_the_loss_of_its_permission_and_reads_right)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);
	uint64_t last = 0;
	pthread_t thread;

	pin(0, 0);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert_int_eq(pthread_create(&thread, NULL, change_without_end, &fd), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t now = perfctr_read_pmc(page, 0);

		ck_assert_msg(now >= last, "%llu after %llu", (unsigned long long)now,
			      (unsigned long long)last);
		last = now;
	}
	end_of_changes = true;
	pthread_join(thread, NULL);
	ck_assert_uint_le(last, context_read(fd).counter[0]);
}
END_TEST

/* RDPMC reads existing counters only. Any other index faults, and so does another instruction. */
START_TEST(an_index_of_no_counter_faults_with_a_page_too)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t value;

	context_map(fd);
	ck_assert(!try_rdpmc(4, &value));
	ck_assert(!try_rdpmc(PERFCTR_FIXED + 3, &value));
	ck_assert(try_rdpmc(0, &value));
	ck_assert_uint_eq(value, 0);
}
END_TEST

START_TEST(no_child_is_given_its_parent_s_page)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	void *page;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	page = (void *)context_map(fd);

	errno = 0;
	ck_assert_int_eq(madvise(page, PERFCTR_PAGE_SIZE, MADV_DOFORK), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

struct counted_by_root {
	int ready[2], go[2];
};

static void user_with_page(const struct counted_by_root *c)
{
	int fd;
	char byte;

	become_nobody();
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_map(fd);
	EXPECT(write(c->ready[1], "", 1) == 1 && read(c->go[0], &byte, 1) == 1);
	for (int i = 0; i < 1000; i++)
		EXPECT(getppid() > 0 && rdpmc(0) == 0);
}

static bool counted_sibling;

/* Runs on the CPU of the thread that root counts, in turn with it. */
static void *look_beside(void *over)
{
	int fd = counted_sibling ? context_open(0, PERFCTR_OPEN_CREATE) : -1;

	if (counted_sibling) {
		context_control(fd, EVENTS({ 1, USER(INSTRUCTIONS) }));
		context_map(fd);
	}
	while (!atomic_load((atomic_bool *)over)) {
		EXPECT(rdpmc(0) == 0);
		sched_yield();
	}
	close(fd);
	return NULL;
}

static void user_with_sibling(const struct counted_by_root *c)
{
	atomic_bool over = false;
	pthread_t sibling;
	char byte;
	int fd;

	pin(0, 0);
	become_nobody();
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_map(fd);
	EXPECT(write(c->ready[1], "", 1) == 1 && read(c->go[0], &byte, 1) == 1);
	EXPECT(pthread_create(&sibling, NULL, look_beside, &over) == 0);
	for (int i = 0; i < 1000; i++)
		EXPECT(getppid() > 0 && sched_yield() == 0);
	atomic_store(&over, true);
	EXPECT(pthread_join(sibling, NULL) == 0);
}

/*
 * Root counts a thread of a user's process in kernel mode. The process has not mapped the page of
 * that context.
 */
static void count_kernel_of(void (*user)(const struct counted_by_root *))
{
	struct counted_by_root c;
	int status, fd;
	char byte;
	pid_t pid;

	ck_assert(pipe(c.ready) == 0 && pipe(c.go) == 0);
	pid = fork();
	if (pid == 0) {
		user(&c);
		_exit(0);
	}
	ck_assert_int_eq(read(c.ready[0], &byte, 1), 1);
	fd = context_open(pid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	context_control(fd, EVENTS({ 0, KERNEL(INSTRUCTIONS) }));
	ck_assert_int_eq(write(c.go[1], "", 1), 1);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_gt(context_read(fd).counter[0], 1000);
	close(fd);
}

/* Root's context has replaced the user's own. The page of that one stays mapped. */
START_TEST(kernel_mode_that_root_counts_is_hidden_from_a_thread_with_a_page)
{
	count_kernel_of(user_with_page);
}
END_TEST

START_TEST(kernel_mode_that_root_counts_is_hidden_from_the_threads_beside_it)
{
	for (int i = 0; i < 2; i++) {
		counted_sibling = i;
		count_kernel_of(user_with_sibling);
	}
}
END_TEST

/* Two programs take turns on one CPU. Each has an address space of its own. */
START_TEST(kernel_mode_is_counted_exactly_where_everybody_may_rdpmc)
{
	const char *const *command = COMMAND(program("loop-long"));
	struct counted counted[2];

	write_file(RDPMC_SWITCH, "2");
	for (int i = 0; i < 2; i++)
		counted[i] = counted_start(
			0, command, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, BOTH(INSTRUCTIONS) }));
	for (int i = 0; i < 2; i++) {
		int status;
		struct perfctr_counts counts = counted_finish(&counted[i], &status);

		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
		ck_assert_uint_gt(counts.counter[1], counts.counter[0]);
		ck_assert_uint_gt(counts.switches, 2);
		ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_DISTURBED, 0);
	}
	write_file(RDPMC_SWITCH, "1");
}
END_TEST

/* The session has two controls, one after the other. Another session counts all the time. */
START_TEST(a_session_of_kernel_mode_starts_from_nothing_where_everybody_may_rdpmc)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, MARKED);
	int other = open_counting_session(USER(INSTRUCTIONS), 0);

	write_file(RDPMC_SWITCH, "2");
	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	for (int cpu = 0; cpu < 2; cpu++)
		expect_success(marked_start(mark_fd, cpu, COMMAND(program("loop"))));
	ck_assert_uint_ge(context_read(session).counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	session_control(session, SESSION_EVENTS({ { 0, BOTH(INSTRUCTIONS) }, 0 }));
	ck_assert_uint_eq(context_read(session).counter[0], 0);
	write_file(RDPMC_SWITCH, "1");
	close(session);
	close(other);
	close(mark_fd);
}
END_TEST

/*
 * The program inherits the descriptor of another thread's context, and may map its page. It has no
 * page of its own thread.
 */
static void execute_with_page_of_other(void *unused)
{
	int own = context_open(0, PERFCTR_OPEN_CREATE), other;
	pid_t pid = fork();

	(void)unused;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	pin(0, 0);
	other = context_open(pid, PERFCTR_OPEN_CREATE);
	context_control(other, EVENTS({ 0, USER(INSTRUCTIONS) }));
	EXPECT(dup2(other, PEEK_DESCRIPTOR) == PEEK_DESCRIPTOR);
	context_control(own, EVENTS({ 1, KERNEL(INSTRUCTIONS) }));
	context_map(own);
	become_nobody();
	execl(PEEK, PEEK, NULL);
	_exit(2);
}

START_TEST(kernel_mode_that_root_mapped_is_hidden_from_what_the_thread_executes)
{
	copy_file(program("peek"), PEEK, 0755);
	for (int i = 0; i < 5; i++)
		in_child(execute_with_page_of_other, NULL);
	ck_assert_int_eq(unlink(PEEK), 0);
}
END_TEST

SUITE(rdpmc,
      an_administrator_who_forbids_rdpmc_meanwhile_unbalances_nothing,
      a_reader_survives_the_loss_of_its_permission_and_reads_right,
      an_index_of_no_counter_faults_with_a_page_too,
      no_child_is_given_its_parent_s_page,
      kernel_mode_that_root_counts_is_hidden_from_a_thread_with_a_page,
      kernel_mode_that_root_counts_is_hidden_from_the_threads_beside_it,
      kernel_mode_that_root_mapped_is_hidden_from_what_the_thread_executes,
      kernel_mode_is_counted_exactly_where_everybody_may_rdpmc,
      a_session_of_kernel_mode_starts_from_nothing_where_everybody_may_rdpmc)
