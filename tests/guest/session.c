// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions count what POWER2's policy bits say, in hand-counted programs with and without the mark,
 * on both CPUs. Each instruction takes one cycle on the emulated PMU: all seven counters count the
 * same event, each with a policy of its own.
 */
#include "marks.h"
#include "tree.h"
#include "trees.h"

#include <perfctr.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Instructions in both modes on each of the seven counters. */
#define GENERAL(n) { n, BOTH(INSTRUCTIONS) }
#define FIXED_COUNTER(n) { PERFCTR_FIXED + (n), BOTH(FIXED) }

/*
 * Runs marked and unmarked programs side by side. Returns the user instructions of the marked ones.
 */
#define MARKED_PROGRAMS	3
static uint64_t run_programs(int group)
{
	pid_t marked[MARKED_PROGRAMS], unmarked[MARKED_PROGRAMS];

	for (int i = 0; i < MARKED_PROGRAMS; i++) {
		marked[i] = marked_start(group, i % 2, COMMAND(program("loop")));
		unmarked[i] = marked_start(-1, i % 2, COMMAND(program("loop")));
	}
	for (int i = 0; i < MARKED_PROGRAMS; i++) {
		expect_success(marked[i]);
		expect_success(unmarked[i]);
	}
	return MARKED_PROGRAMS * LOOP_INSTRUCTIONS(SHORT_LOOP);
}

START_TEST(marked_and_unmarked_privileged_and_not_add_up_to_everything)
{
	int group = group_open(), session = session_open(group, 0);
	struct perfctr_counts c;
	enum { EVERYTHING, M, U, P, N, PM, PU };
	uint64_t expected;

	session_control(session, SESSION_EVENTS(
		{ GENERAL(0), 0 },
		{ GENERAL(1), POLICY(MARKED) },
		{ GENERAL(2), POLICY(UNMARKED) },
		{ GENERAL(3), POLICY(PRIVILEGED) },
		{ FIXED_COUNTER(0), POLICY(NOT_PRIVILEGED) },
		{ FIXED_COUNTER(1), POLICY(PRIVILEGED | MARKED) },
		{ FIXED_COUNTER(2), POLICY(PRIVILEGED | UNMARKED) }));
	expected = run_programs(group);
	c = (struct perfctr_counts){ .size = sizeof(c), .flags = PERFCTR_COUNTS_CONSISTENT };
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_READ, &c), 0);

	ck_assert_uint_eq(c.counter[M] + c.counter[U], c.counter[EVERYTHING]);
	ck_assert_uint_eq(c.counter[P] + c.counter[N], c.counter[EVERYTHING]);
	ck_assert_uint_eq(c.counter[PM] + c.counter[PU], c.counter[P]);
	ck_assert_uint_eq(c.counter[M] - c.counter[PM], expected);
	/* The unmarked programs, and the test's own instructions. */
	ck_assert_uint_gt(c.counter[U] - c.counter[PU], expected);
	ck_assert_uint_gt(c.counter[PM], 0);
	ck_assert(c.flags & PERFCTR_COUNTS_CONSISTENT);
	close(session);
	close(group);
}
END_TEST

START_TEST(problem_state_by_the_mark_and_the_states_that_count_nothing)
{
	int group = group_open(), session = session_open(group, 0);
	struct perfctr_counts c;
	enum { N, NM, NU, BOTH_MARKS, BOTH_MODES, OFF, M };
	uint64_t expected;

	session_control(session, SESSION_EVENTS(
		{ GENERAL(0), POLICY(NOT_PRIVILEGED) },
		{ GENERAL(1), POLICY(NOT_PRIVILEGED | MARKED) },
		{ GENERAL(2), POLICY(NOT_PRIVILEGED | UNMARKED) },
		{ GENERAL(3), POLICY(MARKED | UNMARKED) },
		{ FIXED_COUNTER(0), POLICY(PRIVILEGED | NOT_PRIVILEGED) },
		{ FIXED_COUNTER(1), POLICY(PERFCTR_EXCLUDE_ALL) },
		{ FIXED_COUNTER(2), POLICY(MARKED) }));
	expected = run_programs(group);
	c = context_read(session);

	ck_assert_uint_eq(c.counter[NM], expected);
	ck_assert_uint_eq(c.counter[NM] + c.counter[NU], c.counter[N]);
	ck_assert_uint_gt(c.counter[M], expected);
	ck_assert_uint_eq(c.counter[BOTH_MARKS], 0);
	ck_assert_uint_eq(c.counter[BOTH_MODES], 0);
	ck_assert_uint_eq(c.counter[OFF], 0);
	close(session);
	close(group);
}
END_TEST

/* Three sessions start one after the other. The test executes the same between them in all runs. */
static int64_t difference_of_three_sessions(int loops)
{
	int group = group_open();
	int everything = session_open(-1, NOT_PRIVILEGED);
	int marked = session_open(group, NOT_PRIVILEGED | MARKED);
	int unmarked = session_open(group, NOT_PRIVILEGED | UNMARKED);
	uint64_t all, in, out;

	session_control(everything, SESSION_EVENTS({ GENERAL(0), 0 }));
	session_control(marked, SESSION_EVENTS({ GENERAL(1), 0 }));
	session_control(unmarked, SESSION_EVENTS({ GENERAL(2), 0 }));
	for (int i = 0; i < loops; i++)
		run_programs(group);
	ck_assert_int_eq(ioctl(unmarked, PERFCTR_IOC_STOP), 0);
	ck_assert_int_eq(ioctl(marked, PERFCTR_IOC_STOP), 0);
	ck_assert_int_eq(ioctl(everything, PERFCTR_IOC_STOP), 0);
	all = context_read(everything).counter[0];
	in = context_read(marked).counter[0];
	out = context_read(unmarked).counter[0];
	ck_assert_uint_eq(in, (uint64_t)loops * MARKED_PROGRAMS * LOOP_INSTRUCTIONS(SHORT_LOOP));
	close(everything);
	close(marked);
	close(unmarked);
	close(group);
	return (int64_t)(all - in - out);
}

/* Other threads that run meanwhile make it larger. */
static int64_t least_difference(int loops)
{
	int64_t least = difference_of_three_sessions(loops);

	ck_assert_int_ge(least, 0);
	for (int i = 0; i < 4; i++) {
		int64_t next = difference_of_three_sessions(loops);

		ck_assert_int_ge(next, 0);
		if (next < least)
			least = next;
	}
	return least;
}

START_TEST(three_sessions_at_once_add_up_too)
{
	int64_t once = least_difference(1);

	ck_assert_int_lt(once, 10000);
	ck_assert_int_eq(least_difference(3), once);
}
END_TEST

/*
 * Each storm has 201 processes and 32 threads in three levels, 64 of which execute a program, and a
 * chain of orphans.
 */
START_TEST(a_storm_of_forks_is_exact_and_competitors_add_nothing)
{
	int group = group_open(), session = session_open(group, NOT_PRIVILEGED | MARKED);
	struct pollfd poller = { .fd = group, .events = POLLIN };
	unsigned int storms = test_rounds(5);
	struct perfctr_counts c;

	competitors_start(4);
	ck_assert_int_eq(poll(&poller, 1, 0), 0);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	for (unsigned int i = 0; i < storms; i++) {
		marked_start(group, ANY_CPU, COMMAND(program("tree"), program("loop")));
		marked_start(group, ANY_CPU, COMMAND(program("chain")));
	}
	ck_assert_uint_ge(group_members(group), storms);
	ck_assert_int_eq(poll(&poller, 1, -1), 1);
	c = context_read(session);
	ck_assert_uint_eq(c.counter[0], storms * (TREE_INSTRUCTIONS + CHAIN_INSTRUCTIONS));
	ck_assert_uint_eq(c.members, 0);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	close(session);
	close(group);
}
END_TEST

START_TEST(contexts_and_a_session_count_side_by_side)
{
	int group = group_open(), session = session_open(group, NOT_PRIVILEGED | MARKED);
	struct perfctr_control control;
	struct counted c;
	int status, other;

	session_control(session, SESSION_EVENTS({ GENERAL(2), 0 }));
	c = counted_start(ANY_CPU, COMMAND(program("loop-long")), EVENTS({ 0, USER(INSTRUCTIONS) }));
	mark(c.pid, group);
	ck_assert_uint_eq(run_programs(group), MARKED_PROGRAMS * LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(counted_finish(&c, &status).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_ge(context_read(session).counter[0],
			  MARKED_PROGRAMS * LOOP_INSTRUCTIONS(SHORT_LOOP));

	/*
	 * A context takes no counter from a session, nor a session from a context or another
	 * session.
	 */
	c.fd = context_open(0, PERFCTR_OPEN_CREATE);
	control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 2, USER(BRANCHES) }));
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_TAKEN);
	ck_assert_uint_eq(control.bad_event, 1);
	context_control(c.fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	other = session_open(group, NOT_PRIVILEGED | MARKED);
	ck_assert_int_eq(try_session_control(other, SESSION_EVENTS({ GENERAL(2), 0 }), &control), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(try_session_control(other, SESSION_EVENTS({ GENERAL(1), 0 },
								  { GENERAL(0), 0 }), &control), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_uint_eq(control.bad_event, 1);
	session_control(other, SESSION_EVENTS({ GENERAL(1), 0 }));
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 2 | 1 << 1);
	ck_assert_uint_eq(pmu_info().context_counters, 1 << 0);
	/* The session's own counter may get another event. */
	session_control(other, SESSION_EVENTS({ { 1, USER(BRANCHES) }, 0 }));
	close(other);
	close(c.fd);
	close(session);
	close(group);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
	ck_assert_uint_eq(pmu_info().context_counters, 0);
}
END_TEST

/* Maps the state pages of a session. */
static const char *map_pages(int session, const struct perfctr_session_args *open)
{
	void *pages = mmap(NULL, open->pages_bytes, PROT_READ, MAP_SHARED, session, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	return pages;
}

/* The sums over the CPUs as their pages show them. */
static uint64_t mapped_sum(const char *pages, const struct perfctr_session_args *open)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < open->n_cpus; i++) {
		const volatile struct perfctr_page *page = (const void *)(pages + i * open->cpu_bytes);
		uint32_t seq;
		uint64_t value;

		do {
			seq = page->seq;
			value = page->counter[0].sum;
		} while (seq & 1 || page->seq != seq);
		sum += value;
	}
	return sum;
}

static void expect_no_fast_reads(const struct perfctr_page *page)
{
	ck_assert_uint_ne(page->tsc.recheck, page->tsc.ticket);
	for (unsigned int i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		ck_assert_uint_ne(page->counter[i].recheck, page->counter[i].ticket);
}

/*
 * Nothing in the page suggests that its reader may execute RDPMC, which would read the counter of
 * the reader's own CPU.
 */
START_TEST(a_session_s_page_is_read_like_that_of_a_stopped_thread)
{
	int group = group_open();
	struct perfctr_session_args open = session_of(group, NOT_PRIVILEGED | MARKED);
	int session = try_session(&open);
	const struct perfctr_page *page;
	struct perfctr_snapshot sums;
	const char *pages;

	ck_assert_int_ge(session, 0);
	pages = map_pages(session, &open);
	page = (const void *)(pages + open.cpu_bytes);
	ck_assert_uint_eq(page->flags, 0);
	expect_no_fast_reads(page);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }, { GENERAL(1), 0 }));
	pin(0, 1);
	expect_success(marked_start(group, 1, COMMAND(program("loop-long"))));
	ck_assert_uint_eq(page->size, sizeof(*page));
	ck_assert_uint_eq(page->abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(page->n_counters, 2);
	ck_assert_uint_eq(page->cpu, 1);
	ck_assert_int_eq(perfctr_read_stopped(page, 2, &sums), 1);
	ck_assert_uint_eq(sums.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(sums.counter[1], LOOP_INSTRUCTIONS(LONG_LOOP));
	expect_no_fast_reads(page);
	ck_assert_uint_eq(sums.tsc, context_read(session).tsc);
	ck_assert_uint_ne(page->switches, 0);
	ck_assert_uint_eq(page->flags, 0);
	close(session);
	close(group);
}
END_TEST

START_TEST(pages_are_read_without_a_system_call_while_members_run)
{
	int group = group_open();
	struct perfctr_session_args open = session_of(group, NOT_PRIVILEGED | MARKED);
	int session = try_session(&open);
	uint64_t last = 0, now, exact = 0;
	const char *pages;
	pid_t pid;

	ck_assert_int_ge(session, 0);
	pages = map_pages(session, &open);
	ck_assert_ptr_eq(mmap(NULL, open.pages_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, session, 0),
			 MAP_FAILED);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	pin(0, 0);
	pid = marked_start(group, 1, COMMAND(program("loop-long")));
	while (exact < LOOP_INSTRUCTIONS(LONG_LOOP)) {
		now = mapped_sum(pages, &open);
		ck_assert_uint_ge(now, last);
		last = now;
		exact = context_read(session).counter[0];
		ck_assert_uint_ge(exact, now);
	}
	ck_assert_uint_gt(last, 0);
	expect_success(pid);
	ck_assert_uint_eq(mapped_sum(pages, &open), LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(context_read(session).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	close(session);
	close(group);
}
END_TEST

#define FOLDS 300

/* Two counters count the same on CPU 1: sums that differ come from two folds. */
static void expect_equal_sums(const volatile struct perfctr_page *page, int counter, int other)
{
	uint64_t last = 0;
	int folds = 0;

	while (folds < FOLDS) {
		uint32_t seq = page->seq;
		uint64_t first = page->counter[counter].sum, final = page->counter[other].sum;

		if (seq & 1 || page->seq != seq)
			continue;
		if (first != final)
			ck_abort_msg("%llu and %llu", (unsigned long long)first,
				     (unsigned long long)final);
		folds += first != last;
		last = first;
	}
}

/* Threads of both classes share CPU 1, and the caller has CPU 0. */
static void expect_folds_at_once(uint32_t policy, const struct session_event *events, size_t n,
				 int other)
{
	int group = group_open();
	struct perfctr_session_args open = session_of(group, policy);
	int session = try_session(&open);
	pid_t marked = yielder_start(1), unmarked = yielder_start(1);
	const char *pages;

	ck_assert_int_ge(session, 0);
	pages = map_pages(session, &open);
	pin(0, 0);
	mark(marked, group);
	session_control(session, events, n);
	expect_equal_sums((const void *)(pages + open.cpu_bytes), 0, other);
	kill_and_wait(marked);
	kill_and_wait(unmarked);
	close(session);
	close(group);
}

START_TEST(mapped_sums_are_of_one_fold)
{
	expect_folds_at_once(NOT_PRIVILEGED | MARKED,
			     SESSION_EVENTS({ GENERAL(0), 0 }, { GENERAL(1), 0 }, { GENERAL(2), 0 },
					    { GENERAL(3), 0 }, { FIXED_COUNTER(0), 0 }),
			     4);
}
END_TEST

/* The counters run on while they are folded: at each tick, since no gate closes. */
START_TEST(mapped_sums_of_kernel_mode_are_of_one_instruction)
{
	expect_folds_at_once(0,
			     SESSION_EVENTS({ { 0, KERNEL(INSTRUCTIONS) }, 0 },
					    { { 2, KERNEL(INSTRUCTIONS) }, 0 }),
			     1);
}
END_TEST

/* A gate closes the third counter while the others run on. */
START_TEST(mapped_sums_of_kernel_mode_are_of_one_instruction_at_a_gate)
{
	expect_folds_at_once(0,
			     SESSION_EVENTS({ { 0, KERNEL(INSTRUCTIONS) }, POLICY(0) },
					    { { 2, KERNEL(INSTRUCTIONS) }, POLICY(0) },
					    { { 1, KERNEL(INSTRUCTIONS) }, POLICY(MARKED) }),
			     1);
}
END_TEST

/* Before the process is killed, it holds everything that must not outlive it. */
static void hold_and_wait(void *unused)
{
	int group = group_open(), session = session_open(group, 0);

	(void)unused;
	mark(0, group);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }, { GENERAL(3), 0 }));
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kill(getppid(), SIGKILL);
		pause();
	}
	pause();
}

START_TEST(a_killed_owner_leaves_nothing)
{
	pid_t pid = fork();
	int group, session;

	if (pid == 0) {
		hold_and_wait(NULL);
		_exit(1);
	}
	ck_assert_int_eq(wait_for(pid, NULL), pid);
	/* The child of the process, which also has the descriptors, ends with it. */
	while (pmu_info().session_counters)
		sleep_us(1000);
	ck_assert_uint_eq(mark_of(0), 0);
	group = group_open();
	session = session_open(group, NOT_PRIVILEGED | MARKED);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	run_programs(group);
	ck_assert_uint_eq(context_read(session).counter[0],
			  MARKED_PROGRAMS * LOOP_INSTRUCTIONS(SHORT_LOOP));
	close(session);
	close(group);
}
END_TEST

START_TEST(a_running_process_is_marked_and_unmarked)
{
	int group = group_open(), other = group_open();
	int session = session_open(group, NOT_PRIVILEGED | MARKED);
	pid_t pid;
	uint64_t before;

	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	pin(0, 0);
	pid = marked_start(-1, 1, COMMAND(program("loop-huge")));
	sleep_us(20000);
	ck_assert_uint_eq(context_read(session).counter[0], 0);
	mark(pid, group);
	ck_assert_uint_eq(group_members(group), 1);
	ck_assert_uint_ne(mark_of(pid), 0);
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, other), -1);
	ck_assert_int_eq(errno, EBUSY);
	while (context_read(session).counter[0] < 1000000)
		;
	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE, pid, -1), 1);
	before = context_read(session).counter[0];
	sleep_us(20000);
	ck_assert_uint_eq(context_read(session).counter[0], before);
	ck_assert_uint_eq(group_members(group), 0);
	/* The group ends, and the mark with it. */
	close(session);
	mark(pid, group);
	close(group);
	ck_assert_uint_eq(mark_of(pid), 0);
	mark(pid, other);
	kill_and_wait(pid);
	close(other);
}
END_TEST

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

/* A process of n threads, which sleep. first_exits: its first thread exits. */
static pid_t sleepers_start(unsigned int n, bool first_exits)
{
	int ready = eventfd(0, 0);
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned int i = 1; i < n; i++)
			EXPECT(pthread_create(&thread, NULL, sleep_on, NULL) == 0);
		give(ready);
		if (first_exits)
			pthread_exit(NULL);
		pause();
	}
	take(ready);
	close(ready);
	return pid;
}

/* The other threads live on, and bear the mark from then on. */
START_TEST(a_process_without_its_first_thread_is_marked)
{
	int group = group_open();
	pid_t pid = sleepers_start(2, true);

	while (try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, pid, group) >= 0 ||
	       group_members(group) > 0)
		sleep_us(1000);
	for (uint32_t scope = PERFCTR_MARK_PROCESS; scope <= PERFCTR_MARK_TREE; scope++) {
		ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, scope, pid, group), 1);
		ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, scope, pid, group), 0);
		ck_assert_uint_eq(group_members(group), 1);
		ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, scope, pid, group), 1);
	}
	errno = 0;
	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, pid, group), -1);
	ck_assert_int_eq(errno, ESRCH);
	kill_and_wait(pid);
	close(group);
}
END_TEST

/* A caller that waits for the last member to leave also waits for the first one to come. */
START_TEST(a_group_that_nobody_has_entered_is_not_told_to_have_ended)
{
	int group = group_open(), other = group_open();
	struct pollfd ended = { .fd = other, .events = POLLIN };

	ck_assert_int_eq(ioctl(group, PERFCTR_IOC_ENTER), 0);
	errno = 0;
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_ENTER), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(poll(&ended, 1, 0), 0);
	ck_assert_int_eq(ioctl(group, PERFCTR_IOC_LEAVE), 0);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_ENTER), 0);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_LEAVE), 0);
	ck_assert_int_eq(poll(&ended, 1, 0), 1);
	close(group);
	close(other);
}
END_TEST

#define MARKS 1000
/* The more threads there are, the later the last of them is looked at. */
#define MANY_THREADS 50

/* At any moment it is left to chance whether the threads bear the mark. */
static pid_t mark_and_unmark_without_end(pid_t pid, int group)
{
	pid_t self = fork();

	if (self)
		return self;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		EXPECT(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, group) >= 0);
		EXPECT(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_PROCESS, pid, group) >= 0);
	}
}

/* Another mark is an error. The same mark, which another process has set meanwhile, is none. */
START_TEST(the_same_mark_set_by_two_at_once_is_in_nobody_s_way)
{
	int group = group_open();
	pid_t pid = sleepers_start(MANY_THREADS, false);
	pid_t beside = mark_and_unmark_without_end(pid, group);

	for (int i = 0; i < MARKS; i++)
		ck_assert_msg(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, group) >= 0,
			      "mark %d: %s", i, strerror(errno));
	/* The other process has not failed, either. */
	ck_assert_int_eq(waitpid(beside, NULL, WNOHANG), 0);
	kill_and_wait(beside);
	kill_and_wait(pid);
	close(group);
}
END_TEST

#define THREADS 3

/* Executes without end, and counts its rounds. */
static void *run_on(void *progress)
{
	for (volatile uint64_t *n = progress;; ++*n)
		;
	return NULL;
}

START_TEST(all_threads_of_a_running_process_are_marked_at_once)
{
	int group = group_open(), session = session_open(group, NOT_PRIVILEGED | MARKED);
	volatile uint64_t *progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t before[THREADS], executed, counted;
	pid_t pid;

	ck_assert_ptr_ne((void *)progress, MAP_FAILED);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread, NULL, run_on, (void *)&progress[i]);
		pause();
	}
	for (int i = 0; i < THREADS; i++)
		while (!progress[i])
			sleep_us(1000);
	ck_assert_uint_eq(context_read(session).counter[0], 0);

	ck_assert_int_eq(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, pid, group), THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		before[i] = progress[i];
	do {
		sleep_us(50000);
		executed = 0;
		for (int i = 0; i < THREADS; i++)
			executed += progress[i] - before[i];
	} while (!executed);
	counted = context_read(session).counter[0];
	/* A round of the loop is more than one instruction. */
	ck_assert_uint_gt(counted, executed);
	ck_assert_uint_eq(group_members(group), THREADS + 1);

	ck_assert_int_eq(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_PROCESS, pid, group),
			 THREADS + 1);
	counted = context_read(session).counter[0];
	sleep_us(50000);
	ck_assert_uint_eq(context_read(session).counter[0], counted);
	kill_and_wait(pid);
	close(session);
	close(group);
}
END_TEST

/* Returns what the session counts of a segment that spins. */
static uint64_t count_segment(int group, int session, uint64_t n)
{
	uint64_t before = context_read(session).counter[0];

	spin(100000);	/* outside of the segment */
	ck_assert_uint_eq(context_read(session).counter[0], before);
	ck_assert_int_eq(ioctl(group, PERFCTR_IOC_ENTER), 0);
	spin(n);
	ck_assert_int_eq(ioctl(group, PERFCTR_IOC_LEAVE), 0);
	return context_read(session).counter[0] - before;
}

START_TEST(a_segment_is_counted_from_enter_to_leave)
{
	int group = group_open(), session = session_open(group, NOT_PRIVILEGED | MARKED);
	uint64_t one, two, three;

	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	count_segment(group, session, 1);
	one = count_segment(group, session, 100000);
	two = count_segment(group, session, 200000);
	three = count_segment(group, session, 300000);
	ck_assert_uint_ge(two - one, 100000);
	ck_assert_uint_eq(three - two, two - one);
	close(session);
	close(group);
}
END_TEST

START_TEST(idle_can_be_left_out)
{
	int session = session_open(-1, 0);
	struct perfctr_counts c;

	session_control(session, SESSION_EVENTS(
		{ GENERAL(0), 0 },
		{ GENERAL(1), POLICY(PERFCTR_EXCLUDE_IDLE) },
		{ GENERAL(2), POLICY(NOT_PRIVILEGED | PERFCTR_EXCLUDE_IDLE) },
		{ GENERAL(3), POLICY(NOT_PRIVILEGED) }));
	sleep_us(50000);
	c = context_read(session);
	ck_assert_uint_gt(c.counter[0], c.counter[1]);
	ck_assert_uint_gt(c.counter[1], 0);
	ck_assert_uint_eq(c.counter[2], c.counter[3]);
	close(session);
}
END_TEST

SUITE(session,
      marked_and_unmarked_privileged_and_not_add_up_to_everything,
      problem_state_by_the_mark_and_the_states_that_count_nothing,
      three_sessions_at_once_add_up_too,
      a_storm_of_forks_is_exact_and_competitors_add_nothing,
      contexts_and_a_session_count_side_by_side,
      pages_are_read_without_a_system_call_while_members_run,
      a_session_s_page_is_read_like_that_of_a_stopped_thread,
      mapped_sums_are_of_one_fold, mapped_sums_of_kernel_mode_are_of_one_instruction,
      mapped_sums_of_kernel_mode_are_of_one_instruction_at_a_gate,
      a_killed_owner_leaves_nothing,
      a_running_process_is_marked_and_unmarked,
      a_process_without_its_first_thread_is_marked,
      a_group_that_nobody_has_entered_is_not_told_to_have_ended,
      the_same_mark_set_by_two_at_once_is_in_nobody_s_way,
      all_threads_of_a_running_process_are_marked_at_once,
      a_segment_is_counted_from_enter_to_leave,
      idle_can_be_left_out)
