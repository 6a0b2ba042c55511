// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What RDPMC shows, by who holds the counters and who asks: nothing but his own, and no fault for who
 * has mapped a page. The table is that of docs/security.md.
 */
#include "groups.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <perfctr.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NMI_WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
#define RDPMC_SWITCH	"/sys/bus/event_source/devices/cpu/rdpmc"
#define PEEK		"/dev/shm/peek"

/* Something of another user's that counts on CPU 0, and how to end it. */
struct holder {
	const char *name;
	int (*begin)(void);
	void (*end)(int);
	bool ours;	/* contexts may count beside it */
};

static int nothing(void)
{
	return -1;
}

static void end_nothing(int fd)
{
	(void)fd;
}

static pid_t busy;

static int begin_contexts(void)
{
	struct counted foreign = foreign_start(0);

	busy = foreign.pid;
	return foreign.fd;
}

static void end_contexts(int fd)
{
	kill_and_wait(busy);
	close(fd);
}

/* It executes what sessions and perf_events count, and no context does. */
static void start_busy(void)
{
	busy = spinner_start(0);
}

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

static int begin_user_session(void)
{
	start_busy();
	return open_counting_session(USER(INSTRUCTIONS), NOT_PRIVILEGED);
}

static int begin_kernel_session(void)
{
	start_busy();
	return open_kernel_session();
}

static void end_session(int fd)
{
	end_contexts(fd);
}

/* Whoever runs on CPU 0, in both modes. */
static int begin_perf(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof(attr), .config = BRANCHES,
	};
	int fd;

	start_busy();
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
	return fd;
}

static int begin_watchdog(void)
{
	write_file(NMI_WATCHDOG, "1");
	return -1;
}

static void end_watchdog(int fd)
{
	(void)fd;
	write_file(NMI_WATCHDOG, "0");
}

static const struct holder holders[] = {
	{ "nobody", nothing, end_nothing, true },
	{ "contexts", begin_contexts, end_contexts, true },
	{ "a session of user mode", begin_user_session, end_session, true },
	{ "a session of both modes", begin_kernel_session, end_session, true },
	{ "perf_events", begin_perf, end_session, false },
	{ "the NMI watchdog", begin_watchdog, end_watchdog, false },
};

static uint64_t look(uint32_t counter, const struct holder *holder, const char *who)
{
	uint64_t value;

	if (!try_rdpmc(counter, &value))
		expectation_failed(holder->name, counter, who);
	return value;
}

/* Others' counters; not what the looker itself did in user mode since it was switched in. */
static void expect_own_only(const struct holder *holder, const char *who, int own)
{
	for (int round = 0; round < 20; round++) {
		sleep_us(1000);
		for (unsigned int i = 0; i < N_COUNTERS; i++) {
			uint64_t value = look(counter_index[i], holder, who), most = 0;

			if (own >= 0 && counter_index[i] == 0)
				most = context_read(own).counter[0];
			/* A session counts who runs: the looker, for one round since it was switched in. */
			else if (holder->ours && (counter_index[i] == 3 ||
						  counter_index[i] == PERFCTR_FIXED + 1))
				most = 10000;
			if (value > most)
				expectation_failed(holder->name, counter_index[i], who);
		}
	}
}

/* Threads of one process are not isolated from each other. */
static int context_of_process;

static void *look_from_thread(void *holder)
{
	pin(0, 0);
	expect_own_only(holder, "other thread", context_of_process);
	return NULL;
}

static void owner_with_page(void *argument)
{
	const struct holder *holder = argument;
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page;
	uint64_t last = 0, now;
	pthread_t thread;

	pin(0, 0);
	page = context_map(fd);
	if (!holder->ours) {
		struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));

		control.flags = PERFCTR_CONTROL_STOPPED;
		EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
		expect_own_only(holder, "stopped owner", fd);
		return;
	}
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	expect_own_only(holder, "owner", fd);
	/* Reads stay exact, also where RDPMC is executed by the kernel. */
	for (int i = 0; i < 100; i++) {
		uint64_t before = context_read(fd).counter[0];

		now = perfctr_read_pmc(page, 0);
		EXPECT(now > last && now >= before && now <= context_read(fd).counter[0]);
		last = now;
	}
	context_of_process = fd;
	EXPECT(pthread_create(&thread, NULL, look_from_thread, argument) == 0);
	pthread_join(thread, NULL);
}

static void stranger_with_page(void *argument)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	become_nobody();
	context_control(fd, NULL, 0);
	context_map(fd);
	expect_own_only(argument, "stranger with a page", -1);
}

static void stranger_without_page(void *unused)
{
	uint64_t value;

	(void)unused;
	pin(0, 0);
	become_nobody();
	for (unsigned int i = 0; i < N_COUNTERS; i++)
		EXPECT(!try_rdpmc(counter_index[i], &value));
}

START_TEST(rdpmc_shows_what_the_table_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++) {
		int fd = holders[i].begin();

		in_child(owner_with_page, (void *)&holders[i]);
		in_child(stranger_with_page, (void *)&holders[i]);
		in_child(stranger_without_page, NULL);
		holders[i].end(fd);
	}
}
END_TEST

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

/* All that takes the permission away, from another process' side. */
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

/* Only counters that there are: any other index faults, and so does what is no RDPMC. */
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

/* On the CPU of the thread that root counts, by turns with it. */
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

/* Root counts a thread of a user's process in kernel mode; no page of that is mapped there. */
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

/* The page of the user's own context, which root's has replaced, stays mapped. */
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

/* Two programs by turns on one CPU, each in an address space of its own. */
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

/* Of two controls one after the other, beside a session that counts all the time. */
START_TEST(a_session_of_kernel_mode_starts_from_nothing_where_everybody_may_rdpmc)
{
	int group = group_open(), session = session_open(group, MARKED);
	int other = open_counting_session(USER(INSTRUCTIONS), 0);

	write_file(RDPMC_SWITCH, "2");
	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	for (int cpu = 0; cpu < 2; cpu++)
		expect_success(marked_start(group, cpu, COMMAND(program("loop"))));
	ck_assert_uint_ge(context_read(session).counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	session_control(session, SESSION_EVENTS({ { 0, BOTH(INSTRUCTIONS) }, 0 }));
	ck_assert_uint_eq(context_read(session).counter[0], 0);
	write_file(RDPMC_SWITCH, "1");
	close(session);
	close(other);
	close(group);
}
END_TEST

/* Of the page that it has inherited a descriptor of, and may map, and of none of its own thread's. */
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
      rdpmc_shows_what_the_table_says,
      an_administrator_who_forbids_rdpmc_meanwhile_unbalances_nothing,
      a_reader_survives_the_loss_of_its_permission_and_reads_right,
      an_index_of_no_counter_faults_with_a_page_too,
      no_child_is_given_its_parent_s_page,
      kernel_mode_that_root_counts_is_hidden_from_a_thread_with_a_page,
      kernel_mode_that_root_counts_is_hidden_from_the_threads_beside_it,
      kernel_mode_that_root_mapped_is_hidden_from_what_the_thread_executes,
      kernel_mode_is_counted_exactly_where_everybody_may_rdpmc,
      a_session_of_kernel_mode_starts_from_nothing_where_everybody_may_rdpmc)
