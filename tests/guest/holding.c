// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The holder of the hardware: since when it holds the counters, and what it finds in them. Others
 * use the counters before, meanwhile and after, and the administrator revokes them.
 */
#include "marks.h"
#include "msr.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

static bool perf_may_count(void)
{
	int fd = try_perf_instructions();

	if (fd >= 0)
		close(fd);
	else
		ck_assert_int_eq(errno, EBUSY);
	return fd >= 0;
}

/* More events than counters, so that perf_events uses each counter in turn. */
#define PERF_EVENTS 12

static void open_perf_events(int fd[PERF_EVENTS], pid_t pid, int cpu)
{
	for (int i = 0; i < PERF_EVENTS; i++) {
		fd[i] = i < 3 ? try_perf(PERF_TYPE_HARDWARE, (int[]){
					PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
					PERF_COUNT_HW_REF_CPU_CYCLES }[i], pid, cpu) :
				try_perf(PERF_TYPE_RAW, BRANCHES, pid, cpu);
		EXPECT(fd[i] >= 0);
	}
}

static void perf_events_counts_with_every_counter(void)
{
	int fd[2][PERF_EVENTS];

	for (int cpu = 0; cpu < 2; cpu++)
		open_perf_events(fd[cpu], -1, cpu);
	sleep_us(100000);
	for (int cpu = 0; cpu < 2; cpu++)
		for (int i = 0; i < PERF_EVENTS; i++)
			close(fd[cpu][i]);
}

/*
 * A reader of perf_events on both CPUs. It may execute RDPMC, and does so, whichever counter its
 * events have.
 */
static void read_perf_events_by_rdpmc(void *unused)
{
	const struct perf_event_mmap_page *volatile page[PERF_EVENTS];
	uint64_t read_on[2] = { 0 };
	int fd[PERF_EVENTS];

	(void)unused;
	open_perf_events(fd, 0, -1);
	for (int i = 0; i < PERF_EVENTS; i++) {
		page[i] = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd[i], 0);
		EXPECT(page[i] != MAP_FAILED && page[i]->cap_user_rdpmc);
	}
	for (int round = 0; round < 40; round++) {
		pin(0, round & 1);
		sleep_us(5000);
		for (int i = 0; i < PERF_EVENTS; i++) {
			uint32_t index = *(volatile const uint32_t *)&page[i]->index;

			if (index)
				read_on[round & 1] |= rdpmc(index - 1);
		}
	}
	EXPECT(read_on[0] && read_on[1]);
}

static void perf_events_is_read_by_rdpmc(void)
{
	in_child(read_perf_events_by_rdpmc, NULL);
}

static void expect_exact_perf(void)
{
	for (int cpu = 0; cpu < 2; cpu++) {
		pid_t pid = stopped_start(cpu, COMMAND(program("loop")));
		struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
			.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
		};
		int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
		uint64_t count;

		ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
		stopped_go(pid);
		expect_success(pid);
		ck_assert_int_eq(read(fd, &count, sizeof(count)), sizeof(count));
		ck_assert_uint_eq(count, LOOP_INSTRUCTIONS(SHORT_LOOP));
		close(fd);
	}
}

static void the_watchdog_counts(void)
{
	write_file(NMI_WATCHDOG, "1");
	sleep_us(300000);
	write_file(NMI_WATCHDOG, "0");
}

/* A process that may execute RDPMC and moves from CPU 1 to CPU 0 again and again. */
static pid_t visitor_start(uint32_t counter)
{
	pid_t pid = fork();
	int fd;

	ck_assert(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_map(fd);
	context_control(fd, EVENTS({ counter, USER(INSTRUCTIONS) }));
	for (int cpu = 1;; cpu ^= 1) {
		pin(0, cpu);
		sleep_us(1000);
	}
}

static void stop_process(pid_t pid)
{
	kill_and_wait(pid);
}

static void expect_exact_context(void)
{
	struct event events[N_COUNTERS];
	struct counted c = counted_start(0, COMMAND(program("loop-long")), events,
					 all_counters(events));
	pid_t visitor = visitor_start(0);
	struct perfctr_counts now, last = { 0 };
	int status;

	do {
		now = context_read(c.fd);
		for (unsigned int i = 0; i < N_COUNTERS; i++)
			ck_assert_msg(now.counter[i] >= last.counter[i],
				      "counter %#x runs from %llu to %llu", counter_index[i],
				      (unsigned long long)last.counter[i],
				      (unsigned long long)now.counter[i]);
		last = now;
	} while (!(now.flags & PERFCTR_COUNTS_EXITED));
	now = counted_finish(&c, &status);
	stop_process(visitor);
	/* Fixed counters 1 and 2 count cycles: each instruction takes one. */
	for (unsigned int i = 0; i < N_COUNTERS; i++)
		ck_assert_uint_eq(now.counter[i], LOOP_INSTRUCTIONS(LONG_LOOP));
}

/* A session on all counters but the one that a visitor needs to be allowed RDPMC. */
static void expect_exact_session_beside(uint32_t visited)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	struct session_event events[N_COUNTERS];
	struct event all[N_COUNTERS];
	struct perfctr_counts counts;
	size_t n = 0;
	pid_t visitor;

	all_counters(all);
	for (unsigned int i = 0; i < N_COUNTERS; i++)
		if (all[i].counter != visited)
			events[n++] = (struct session_event){ all[i], 0 };
	session_control(session, events, n);
	visitor = visitor_start(visited);
	expect_success(marked_start(mark_fd, 0, COMMAND(program("loop-long"))));
	counts = context_read(session);
	stop_process(visitor);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(counts.counter[i], LOOP_INSTRUCTIONS(LONG_LOOP));
	close(session);
	close(mark_fd);
}

static void expect_exact_session(void)
{
	expect_exact_session_beside(0);
	expect_exact_session_beside(1);
}

START_TEST(a_context_loses_nothing_to_what_perf_events_did_before)
{
	perf_events_counts_with_every_counter();
	expect_exact_context();
}
END_TEST

START_TEST(a_session_loses_nothing_to_what_perf_events_did_before)
{
	perf_events_counts_with_every_counter();
	expect_exact_session();
}
END_TEST

START_TEST(nothing_is_lost_to_what_the_nmi_watchdog_did_before)
{
	the_watchdog_counts();
	expect_exact_context();
	the_watchdog_counts();
	expect_exact_session();
}
END_TEST

START_TEST(by_turns_perf_events_and_its_readers_and_ours_lose_nothing)
{
	for (int turn = 0; turn < 3; turn++) {
		perf_events_counts_with_every_counter();
		perf_events_is_read_by_rdpmc();
		expect_exact_perf();
		expect_exact_context();
		perf_events_is_read_by_rdpmc();
		expect_exact_perf();
		expect_exact_session();
	}
	expect_exact_perf();
}
END_TEST

START_TEST(a_page_that_is_mapped_while_counting_takes_nothing_away)
{
	uint64_t before;
	int fd;

	pin(0, 0);
	perf_events_counts_with_every_counter();
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	spin(1000000);
	before = context_read(fd).counter[0];
	context_map(fd);
	ck_assert_uint_gt(context_read(fd).counter[0], before);
}
END_TEST

START_TEST(only_what_is_started_holds_the_counters)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t counted;

	control.flags = PERFCTR_CONTROL_STOPPED;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	ck_assert(perf_may_count());
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
		spin(1000);
		ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_PERFCTR);
		ck_assert(!perf_may_count());
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		counted = context_read(fd).counter[0];
		ck_assert_uint_ge(counted, (i + 1) * 1000);
		ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
		ck_assert(perf_may_count());
		ck_assert_uint_eq(context_read(fd).counter[0], counted);
	}
	ck_assert_uint_eq(pmu_info().context_counters, 0);
}
END_TEST

static void *make_context(void *fd)
{
	*(int *)fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(*(int *)fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	return NULL;
}

START_TEST(the_context_of_a_thread_that_has_exited_holds_nothing)
{
	pthread_t thread;
	int fd;

	ck_assert_int_eq(pthread_create(&thread, NULL, make_context, &fd), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	while (!(context_read(fd).flags & PERFCTR_COUNTS_EXITED))
		sleep_us(1000);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	ck_assert(perf_may_count());
	ck_assert_uint_gt(context_read(fd).counter[0], 0);
}
END_TEST

/* The tree holds them until its last started member has exited. */
START_TEST(a_tree_holds_the_counters_until_its_last_member_has_gone)
{
	struct counted c = tree_start(COMMAND(program("fork")), 0);
	int status;

	ck_assert(!perf_may_count());
	counted_finish(&c, &status);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	ck_assert(perf_may_count());
}
END_TEST

START_TEST(a_stopped_session_holds_nothing)
{
	int session = session_open(-1, 0);

	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	ck_assert(!perf_may_count());
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 1);
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_STOP), 0);
	ck_assert(perf_may_count());
	ck_assert_uint_eq(pmu_info().session_counters, 0);
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_START), 0);
	ck_assert(!perf_may_count());
	close(session);
	ck_assert(perf_may_count());
}
END_TEST

START_TEST(start_is_refused_while_perf_events_has_the_counters)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE), session = session_open(-1, 0), perf;

	control.flags = PERFCTR_CONTROL_STOPPED;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_STOP), 0);
	perf = try_perf_instructions();
	ck_assert_int_ge(perf, 0);
	errno = 0;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	errno = 0;
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert(!(context_read(fd).flags & PERFCTR_COUNTS_STARTED));
	close(perf);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_START), 0);
}
END_TEST

static void ask_without_end(void)
{
	pin(0, 1);
	become_nobody();
	for (;;)
		pmu_info();
}

START_TEST(who_asks_for_the_holder_disturbs_nobody)
{
	pid_t pid = fork();
	int refused = 0;

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ask_without_end();
	}
	pin(0, 0);
	sleep_us(20000);
	for (int i = 0; i < 500; i++)
		refused += !perf_may_count();
	stop_process(pid);
	ck_assert_int_eq(refused, 0);
}
END_TEST

#define TURNS 200

static void start_and_stop(void *unused)
{
	int fd;

	(void)unused;
	pin(0, 0);
	become_nobody();
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	for (int i = 0; i < TURNS; i++) {
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
		EXPECT(ioctl(fd, PERFCTR_IOC_START) == 0);
		context_control(fd, NULL, 0);
	}
}

START_TEST(a_user_interrupts_no_cpu_where_nothing_of_his_ran)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t before;

	/*
	 * For the machine's first context, the module has the kernel's code rewritten, on all CPUs.
	 */
	pin(0, 0);
	before = interrupts("CAL", 1);
	in_child(start_and_stop, NULL);
	/* The kernel itself causes far fewer interrupts than one in each turn. */
	ck_assert_uint_lt(interrupts("CAL", 1) - before, TURNS / 4);
	close(fd);
}
END_TEST

/* IA32_FIXED_CTR_CTRL, and IA32_FIXED_CTR1, which counts cycles for the watchdog (SDM volume 4). */
#define FIXED_CTR_CTRL	0x38d
#define FIXED_CTR1	0x30a

START_TEST(the_nmi_watchdog_runs_on_a_cpu_that_went_while_it_was_in_use)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t before;

	pin(0, 1);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	spin(1000);
	pin(0, 0);
	write_file(CPU1_ONLINE, "0");
	close(fd);
	write_file(NMI_WATCHDOG, "1");
	write_file(CPU1_ONLINE, "1");
	sleep_us(100000);
	before = msr_read(1, FIXED_CTR1);
	ck_assert_uint_ne(msr_read(1, FIXED_CTR_CTRL) & 0xf0, 0);
	sleep_us(100000);
	ck_assert_uint_ne(msr_read(1, FIXED_CTR1), before);
	write_file(NMI_WATCHDOG, "0");
}
END_TEST

static struct perfctr_holders holders_of(struct perfctr_holder *holder, uint32_t room)
{
	struct perfctr_holders holders = {
		.size = sizeof(holders), .room = room, .holders = (uintptr_t)holder,
	};
	int device = device_open();

	EXPECT(ioctl(device, PERFCTR_IOC_HOLDERS, &holders) == 0);
	close(device);
	return holders;
}

static void expect_own_holder(void *unused)
{
	struct perfctr_holder holder[4];

	(void)unused;
	become_nobody();
	EXPECT(holders_of(holder, 4).n == 0);
	context_control(context_open(0, PERFCTR_OPEN_CREATE), EVENTS({ 0, USER(INSTRUCTIONS) }));
	EXPECT(holders_of(holder, 4).n == 1);
	EXPECT(holder[0].pid == getpid() && holder[0].uid == NOBODY);
}

START_TEST(holders_are_told_by_process_and_user)
{
	struct perfctr_holder holder[4];
	struct perfctr_holders holders = holders_of(holder, 4);
	int fd = context_open(0, PERFCTR_OPEN_CREATE), session = session_open(-1, 0);
	char text[1024] = "", line[64];
	int debug;

	ck_assert_uint_eq(holders.n, 0);
	context_control(fd, EVENTS({ 2, USER(INSTRUCTIONS) }));
	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	ck_assert_uint_eq(holders_of(NULL, 0).n, 2);
	holders = holders_of(holder, 4);
	ck_assert_uint_eq(holders.n, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(holder[i].pid, getpid());
		ck_assert_uint_eq(holder[i].uid, 0);
		ck_assert_uint_eq(holder[i].started, 1);
		ck_assert_msg(!strncmp(holder[i].comm, "guest-tests", 11), "%s", holder[i].comm);
	}
	ck_assert_uint_eq(holder[0].type, PERFCTR_HOLDS_CONTEXT);
	ck_assert_uint_eq(holder[0].counters, 1 << 2);
	ck_assert_int_eq(holder[0].tid, getpid());
	ck_assert_uint_eq(holder[1].type, PERFCTR_HOLDS_SESSION);
	ck_assert_uint_eq(holder[1].counters, 1 << 1);
	debug = open("/sys/kernel/debug/perfctr", O_RDONLY | O_CLOEXEC);
	ck_assert_int_gt(read(debug, text, sizeof(text) - 1), 0);
	close(debug);
	snprintf(line, sizeof(line), "session %d 0 guest-tests 1 0x2\n", getpid());
	ck_assert_msg(strstr(text, line), "%s", text);
	in_child(expect_own_holder, NULL);
}
END_TEST

static void expect_revoke_refused(void *unused)
{
	int device = device_open();

	(void)unused;
	become_nobody();
	errno = 0;
	EXPECT(ioctl(device, PERFCTR_IOC_REVOKE) == -1 && errno == EACCES);
}

START_TEST(the_administrator_takes_the_counters_back_and_sums_stay_right)
{
	struct counted c = counted_start(1, COMMAND(program("loop-huge")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	int session = session_open(-1, 0), device = device_open(), perf;
	struct perfctr_counts counts;
	const struct perfctr_page *page;
	uint64_t counted;

	in_child(expect_revoke_refused, NULL);
	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	page = context_map(c.fd);
	foreign_wait(&c, 1000000);
	ck_assert(!(context_read(c.fd).flags & PERFCTR_COUNTS_REVOKED));
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_REVOKE), 0);
	counts = context_read(c.fd);
	counted = counts.counter[0];
	ck_assert_uint_gt(counted, 1000000);
	ck_assert(counts.flags & PERFCTR_COUNTS_REVOKED);
	ck_assert(!(counts.flags & PERFCTR_COUNTS_STARTED));
	ck_assert(!(page->flags & PERFCTR_PAGE_STARTED));
	counts = context_read(session);
	ck_assert(counts.flags & PERFCTR_COUNTS_REVOKED);
	ck_assert(!(counts.flags & PERFCTR_COUNTS_STARTED));
	perf = try_perf_instructions();
	ck_assert_int_ge(perf, 0);
	sleep_us(10000);
	ck_assert_uint_eq(context_read(c.fd).counter[0], counted);
	close(perf);
	/*
	 * Nobody starts before the administrator, who has revoked the counters, closes the device.
	 */
	errno = 0;
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	close(device);
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), 0);
	foreign_wait(&c, 1000);
	ck_assert(context_read(c.fd).flags & PERFCTR_COUNTS_REVOKED);
	context_control(c.fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert(!(context_read(c.fd).flags & PERFCTR_COUNTS_REVOKED));
	stop_process(c.pid);
}
END_TEST

#define STARTERS 24

static pid_t starter_start(void)
{
	pid_t pid = fork();
	int fd;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = context_open(0, PERFCTR_OPEN_CREATE);
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		for (;;)
			ioctl(fd, PERFCTR_IOC_START);
	}
	return pid;
}

/*
 * All processes have the same control. A context that has been stopped must not start again while
 * the revoke still stops others.
 */
START_TEST(nobody_starts_between_the_stops_of_those_who_are_revoked)
{
	struct perfctr_pmu_info info;
	pid_t pid[STARTERS];

	for (int i = 0; i < STARTERS; i++)
		pid[i] = starter_start();
	sleep_us(500000);
	for (unsigned int round = 0; round < test_rounds(10); round++) {
		int device = device_open();

		ck_assert_int_eq(ioctl(device, PERFCTR_IOC_REVOKE), 0);
		sleep_us(50000);
		info = pmu_info();
		ck_assert_uint_eq(info.context_counters, 0);
		close(device);
		sleep_us(20000);
	}
	for (int i = 0; i < STARTERS; i++)
		stop_process(pid[i]);
}
END_TEST

SUITE(holding,
      a_context_loses_nothing_to_what_perf_events_did_before,
      a_session_loses_nothing_to_what_perf_events_did_before,
      nothing_is_lost_to_what_the_nmi_watchdog_did_before,
      by_turns_perf_events_and_its_readers_and_ours_lose_nothing,
      a_page_that_is_mapped_while_counting_takes_nothing_away,
      only_what_is_started_holds_the_counters,
      the_context_of_a_thread_that_has_exited_holds_nothing,
      a_tree_holds_the_counters_until_its_last_member_has_gone,
      a_stopped_session_holds_nothing,
      start_is_refused_while_perf_events_has_the_counters,
      who_asks_for_the_holder_disturbs_nobody,
      a_user_interrupts_no_cpu_where_nothing_of_his_ran,
      the_nmi_watchdog_runs_on_a_cpu_that_went_while_it_was_in_use,
      holders_are_told_by_process_and_user,
      nobody_starts_between_the_stops_of_those_who_are_revoked,
      the_administrator_takes_the_counters_back_and_sums_stay_right)
