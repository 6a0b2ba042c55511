// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No process sees the counts of another. A foreign process keeps every counter of a CPU busy. The
 * process that runs there next must find its own counts or nothing.
 */
#include "guest.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 100
#define PEEK "/dev/shm/peek-beside"

START_TEST(rdpmc_of_an_unmonitored_process_faults)
{
	uint64_t value;

	for (unsigned int i = 0; i < N_COUNTERS; i++)
		ck_assert(!try_rdpmc(counter_index[i], &value));
}
END_TEST

START_TEST(e1_rdpmc_faults_again_after_munmap_and_close)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);
	void *elsewhere;
	uint64_t value;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert(try_rdpmc(0, &value));
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	ck_assert(!try_rdpmc(0, &value));
	page = context_map(fd);
	ck_assert(try_rdpmc(0, &value));
	close(fd);
	/* The mapping keeps the context and the permission, even when it moves. */
	ck_assert(try_rdpmc(0, &value));
	elsewhere = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(elsewhere != MAP_FAILED);
	page = mremap((void *)page, PERFCTR_PAGE_SIZE, PERFCTR_PAGE_SIZE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
	ck_assert(page != MAP_FAILED);
	ck_assert(try_rdpmc(0, &value));
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	ck_assert(!try_rdpmc(0, &value));
}
END_TEST

static void expect_rdpmc_faults(void *unused)
{
	uint64_t value;

	(void)unused;
	EXPECT(!try_rdpmc(0, &value));
}

START_TEST(e2_rdpmc_of_a_forked_child_of_a_mapped_process_faults)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t value;

	context_map(fd);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert(try_rdpmc(0, &value));
	in_child(expect_rdpmc_faults, NULL);
	ck_assert(try_rdpmc(0, &value));
}
END_TEST

START_TEST(e1_rdpmc_after_exec_faults)
{
	int status;
	pid_t pid;

	/* Otherwise the kernel logs the fault, in words that it also has for its own faults. */
	write_file("/proc/sys/debug/exception-trace", "0");
	pid = fork();
	if (pid == 0) {
		int fd = context_open(0, PERFCTR_OPEN_CREATE);
		uint64_t value;

		context_map(fd);
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		EXPECT(try_rdpmc(0, &value));
		execl(program("rdpmc"), "rdpmc", NULL);
		_exit(127);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "wait status %#x",
		      status);
}
END_TEST

/*
 * Reads all counters right after the foreign process ran. The caller's own counter holds no more
 * than it has counted, all others hold 0. own: RDPMC index of the caller's counter, or NONE.
 */
#define NONE UINT32_MAX

static void expect_no_foreign_count(int fd, uint32_t own)
{
	uint64_t raw[N_COUNTERS];
	struct perfctr_counts counts;

	for (unsigned int i = 0; i < N_COUNTERS; i++)
		raw[i] = rdpmc(counter_index[i]);
	counts = context_read(fd);
	for (unsigned int i = 0; i < N_COUNTERS; i++)
		ck_assert_msg(raw[i] <= (counter_index[i] == own ? counts.counter[0] : 0),
			      "counter %#x reads %llu", counter_index[i],
			      (unsigned long long)raw[i]);
}

static void expect_own_count_only(struct event own)
{
	struct counted foreign = foreign_start(0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	context_map(fd);
	context_control(fd, &own, 1);
	for (int i = 0; i < ROUNDS; i++) {
		foreign_wait(&foreign, 100000);
		expect_no_foreign_count(fd, own.counter);
	}
}

START_TEST(a_reader_after_a_foreign_process_on_its_cpu_sees_its_own_count_only)
{
	expect_own_count_only((struct event){ 2, USER(BRANCHES) });
}
END_TEST

START_TEST(a_reader_of_a_fixed_counter_sees_its_own_count_only)
{
	expect_own_count_only((struct event){ PERFCTR_FIXED, USER(FIXED) });
}
END_TEST

/* Between two threads with the same control a switch need not change the counters. */
START_TEST(a_reader_with_the_control_of_the_foreign_process_sees_its_own_count_only)
{
	struct counted foreign = foreign_start(0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct event events[N_COUNTERS];

	pin(0, 0);
	context_map(fd);
	context_control(fd, events, all_counters(events));
	for (int i = 0; i < ROUNDS; i++) {
		struct perfctr_counts counts;
		uint64_t raw[N_COUNTERS];

		foreign_wait(&foreign, 100000);
		for (unsigned int k = 0; k < N_COUNTERS; k++)
			raw[k] = rdpmc(counter_index[k]);
		counts = context_read(fd);
		for (unsigned int k = 0; k < N_COUNTERS; k++)
			ck_assert_uint_le(raw[k], counts.counter[k]);
	}
}
END_TEST

START_TEST(e1_a_reader_that_migrates_to_the_foreign_cpu_and_back_sees_its_own_count_only)
{
	struct counted foreign = foreign_start(1);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	context_map(fd);
	context_control(fd, EVENTS({ 1, USER(INSTRUCTIONS) }));
	for (int i = 0; i < ROUNDS; i++) {
		pin(0, 0);
		expect_no_foreign_count(fd, 1);
		foreign_wait(&foreign, 100000);
		pin(0, 1);
		expect_no_foreign_count(fd, 1);
	}
	ck_assert_uint_ge(context_read(fd).migrations, ROUNDS);
}
END_TEST

/*
 * The process has a mapping, so that it may execute RDPMC. It counts nothing, or nothing any more.
 */
START_TEST(a_mapped_process_that_counts_nothing_reads_zero)
{
	struct counted foreign = foreign_start(0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	context_map(fd);
	context_control(fd, NULL, 0);
	for (int i = 0; i < ROUNDS; i++) {
		foreign_wait(&foreign, 100000);
		expect_no_foreign_count(fd, NONE);
	}
}
END_TEST

/*
 * The process already counts, with a period, when the page of another context allows it RDPMC. The
 * counter beside the one with the period holds only its own count.
 */
START_TEST(a_counter_beside_one_with_a_period_holds_no_foreign_count)
{
	struct counted foreign = foreign_start(0);
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE), other;
	pid_t child = spinner_start(1);

	other = context_open(child, PERFCTR_OPEN_CREATE);
	context_control(other, EVENTS({ 2, USER(INSTRUCTIONS) }));
	pin(0, 0);
	control.event[0].period = 1000003;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	for (int i = 0; i < ROUNDS; i++) {
		const struct perfctr_page *page;
		uint64_t raw;

		foreign_wait(&foreign, 100000);
		page = context_map(other);
		raw = rdpmc(1);
		ck_assert_uint_le(raw, context_read(fd).counter[1]);
		munmap((void *)page, PERFCTR_PAGE_SIZE);
	}
	kill_and_wait(child);
}
END_TEST

/*
 * A process that may trace the foreign process may map its page. It still finds nothing in the
 * hardware.
 */
START_TEST(a_process_that_mapped_the_foreign_page_reads_zero)
{
	struct counted foreign = foreign_start(0);
	int foreign_fd = context_open(foreign.pid, 0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	context_map(foreign_fd);
	for (int i = 0; i < ROUNDS; i++) {
		foreign_wait(&foreign, 100000);
		expect_no_foreign_count(fd, NONE);
	}
}
END_TEST

START_TEST(a_stopped_reader_sees_no_foreign_count)
{
	struct counted foreign = foreign_start(0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	context_map(fd);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	spin(1000);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	for (int i = 0; i < ROUNDS; i++) {
		foreign_wait(&foreign, 100000);
		expect_no_foreign_count(fd, 0);
	}
}
END_TEST

/* A mapped process that never had a control, after the foreign process has ended. */
START_TEST(the_counts_of_a_dead_process_are_gone)
{
	struct counted foreign = foreign_start(0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	int status;

	pin(0, 0);
	context_map(fd);
	foreign_wait(&foreign, 100000);
	kill(foreign.pid, SIGKILL);
	counted_finish(&foreign, &status);
	expect_no_foreign_count(fd, NONE);
}
END_TEST

/*
 * A sibling thread runs while the first page of its process is mapped. From one moment to the next
 * it may execute RDPMC, on the CPU whose counters the foreign process used just before.
 */
static atomic_ulong sibling_reads, sibling_leaks, sibling_rounds;
static atomic_bool sibling_stop;

static sigjmp_buf sibling_fault;

static void on_sibling_fault(int signal)
{
	(void)signal;
	siglongjmp(sibling_fault, 1);
}

static void *sibling(void *unused)
{
	(void)unused;
	pin(0, 1);
	sigsetjmp(sibling_fault, 1);
	while (!sibling_stop) {
		sibling_rounds++;
		for (unsigned int i = 0; i < N_COUNTERS; i++) {
			if (rdpmc(counter_index[i]))
				sibling_leaks++;
			sibling_reads++;
		}
	}
	return NULL;
}

START_TEST(e1_a_sibling_thread_that_runs_while_the_page_is_mapped_sees_nothing)
{
	struct counted foreign = foreign_start(1);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	unsigned int mappings = test_rounds(ROUNDS);
	pthread_t thread;

	pin(0, 0);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	signal(SIGSEGV, on_sibling_fault);
	ck_assert_int_eq(pthread_create(&thread, NULL, sibling, NULL), 0);
	for (unsigned int i = 0; i < mappings; i++) {
		const struct perfctr_page *page;
		unsigned long rounds, reads;

		foreign_wait(&foreign, 100000);
		rounds = sibling_rounds;
		while (sibling_rounds == rounds)
			;
		/* The sibling is on its CPU now. */
		reads = sibling_reads;
		page = context_map(fd);
		while (sibling_reads == reads)
			;
		munmap((void *)page, PERFCTR_PAGE_SIZE);
	}
	sibling_stop = true;
	pthread_join(thread, NULL);
	ck_assert_uint_ge(sibling_reads, mappings);
	ck_assert_uint_eq(sibling_leaks, 0);
}
END_TEST

/*
 * The administrator can allow every process RDPMC (rdpmc = 2, a setting of perf_events). Then
 * either the device does not claim isolation, or an unmonitored process still finds nothing.
 */
#define RDPMC_SWITCH "/sys/bus/event_source/devices/cpu/rdpmc"

START_TEST(rdpmc_for_everybody_shows_nothing_or_isolation_is_not_claimed)
{
	struct counted foreign = foreign_start(0);
	uint64_t found = 0;
	bool claimed;

	pin(0, 0);
	write_file(RDPMC_SWITCH, "2");
	for (int i = 0; i < ROUNDS; i++) {
		foreign_wait(&foreign, 100000);
		for (unsigned int k = 0; k < N_COUNTERS; k++)
			found |= rdpmc(counter_index[k]);
	}
	claimed = pmu_info().features & PERFCTR_FEATURE_ISOLATED;
	write_file(RDPMC_SWITCH, "1");
	ck_assert(found == 0 || !claimed);
}
END_TEST

/*
 * An administrator who forbids RDPMC must not break the device. Reads by system call go on. A
 * program that has used RDPMC before does not die: the kernel executes the instruction for it.
 */
START_TEST(p11_rdpmc_for_nobody_is_told_by_the_page)
{
	const struct perfctr_page *page;
	uint32_t features;
	uint64_t value;
	bool allowed;
	int fd;

	write_file(RDPMC_SWITCH, "0");
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	page = context_map(fd);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	features = pmu_info().features;
	allowed = try_rdpmc(0, &value);
	write_file(RDPMC_SWITCH, "1");

	ck_assert(allowed);
	ck_assert_uint_le(value, context_read(fd).counter[0]);
	ck_assert(!(features & PERFCTR_FEATURE_RDPMC));
	ck_assert(!(page->flags & PERFCTR_PAGE_RDPMC));
	spin(1000);
	ck_assert_uint_gt(context_read(fd).counter[0], 1000);
}
END_TEST

/* Returns the status of peek.S: the program maps a page, and must find nothing in counter 1. */
static int execute_peek(void)
{
	pid_t pid = vfork();
	int status;

	if (pid == 0) {
		/*
		 * The child shares its parent's address space, and is counted, until it executes
		 * the file.
		 */
		int fd = context_open(0, PERFCTR_OPEN_CREATE);

		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		dup2(fd, PEEK_DESCRIPTOR);
		become_nobody();
		execl(PEEK, PEEK, NULL);
		_exit(127);
	}
	EXPECT(wait_for(pid, &status) == pid);
	return status;
}

static void execute_beside(void *argument)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	context_control(fd, argument, 1);
	context_map(fd);
	for (int i = 0; i < 20; i++) {
		spin(100000);
		EXPECT(execute_peek() == EXITED(0));
	}
}

static void expect_nothing_after_exec(struct event own)
{
	copy_file(program("peek"), PEEK, 0755);
	in_child(execute_beside, &own);
	ck_assert_int_eq(unlink(PEEK), 0);
}

/*
 * A child made by vfork() shares its parent's address space until it executes a file, and not
 * after.
 */
START_TEST(a_program_sees_nothing_of_who_shared_its_address_space_before)
{
	expect_nothing_after_exec((struct event){ 1, USER(BRANCHES) });
}
END_TEST

START_TEST(a_program_sees_no_kernel_mode_of_who_shared_its_address_space_before)
{
	expect_nothing_after_exec((struct event){ 1, KERNEL(INSTRUCTIONS) });
}
END_TEST

static atomic_int dying_state, dying_tid;
static atomic_ulong dying_count;
static pid_t dying_foreign;

static void *die_slowly(void *unused)
{
	int fd, e = eventfd(0, 0);
	long n = 0;

	(void)unused;
	pin(0, 0);
	EXPECT(unshare(CLONE_FILES) == 0);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	while (n < 150000 && dup(e) >= 0)
		n++;
	dying_tid = gettid();
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	for (uint32_t sw = context_read(fd).switches; context_read(fd).switches < sw + 4;)
		spin(1000);
	kill(dying_foreign, SIGSTOP);
	dying_count = context_read(fd).counter[0];
	dying_state = 1;
	syscall(SYS_exit, 0);
	return NULL;
}

static void *look_after_death(void *unused)
{
	uint64_t value;

	(void)unused;
	pin(0, 0);
	while (dying_state != 2)
		syscall(SYS_futex, &dying_state, FUTEX_WAIT, dying_state, NULL, NULL, 0);
	value = rdpmc(0);
	dying_state = value > dying_count + 10000 ? 4 : 3;
	return NULL;
}

static void map_while_one_dies(void *foreign)
{
	pthread_t looker, dying;
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	dying_foreign = *(pid_t *)foreign;
	raise_descriptors(200000);
	pin(0, 1);
	context_control(fd, NULL, 0);
	context_map(fd);
	dying_state = 0;
	pthread_create(&looker, NULL, look_after_death, NULL);
	sleep_us(20000);
	pthread_create(&dying, NULL, die_slowly, NULL);
	while (dying_state == 0)
		;
	for (volatile int i = 0; i < 1500000; i++)
		;
	context_control(fd, EVENTS({ 1, USER(INSTRUCTIONS) }));
	while (tgkill(getpid(), dying_tid, 0) == 0)
		sleep_us(1000);
	dying_state = 2;
	syscall(SYS_futex, &dying_state, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (dying_state == 2)
		sleep_us(1000);
	EXPECT(dying_state == 3);
}

/*
 * A thread has left its address space, but not yet its context, while the first page is mapped.
 * RDPMC becomes allowed while the thread runs, and no switch tells the driver when it has gone.
 */
START_TEST(a_thread_after_one_that_died_while_the_page_was_mapped_sees_no_foreign_count)
{
	pid_t pid = spinner_start(0);
	int fd = context_open(pid, PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	sleep_us(500000);
	for (int i = 0; i < 8; i++) {
		kill(pid, SIGCONT);
		sleep_us(200000);
		in_child(map_while_one_dies, &pid);
	}
}
END_TEST

SUITE(isolation,
      rdpmc_of_an_unmonitored_process_faults,
      e1_rdpmc_faults_again_after_munmap_and_close,
      e2_rdpmc_of_a_forked_child_of_a_mapped_process_faults,
      e1_rdpmc_after_exec_faults,
      a_reader_after_a_foreign_process_on_its_cpu_sees_its_own_count_only,
      a_reader_of_a_fixed_counter_sees_its_own_count_only,
      a_reader_with_the_control_of_the_foreign_process_sees_its_own_count_only,
      e1_a_reader_that_migrates_to_the_foreign_cpu_and_back_sees_its_own_count_only,
      a_mapped_process_that_counts_nothing_reads_zero,
      a_counter_beside_one_with_a_period_holds_no_foreign_count,
      a_process_that_mapped_the_foreign_page_reads_zero,
      a_stopped_reader_sees_no_foreign_count,
      the_counts_of_a_dead_process_are_gone,
      e1_a_sibling_thread_that_runs_while_the_page_is_mapped_sees_nothing,
      rdpmc_for_everybody_shows_nothing_or_isolation_is_not_claimed,
      p11_rdpmc_for_nobody_is_told_by_the_page,
      a_program_sees_nothing_of_who_shared_its_address_space_before,
      a_program_sees_no_kernel_mode_of_who_shared_its_address_space_before,
      a_thread_after_one_that_died_while_the_page_was_mapped_sees_no_foreign_count)
