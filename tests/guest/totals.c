// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals: a tree whose members share one context. Its sums are what its members execute, to the
 * instruction, whatever else runs on the same CPUs. Nobody else sees them. Periods, records and
 * pages of threads are refused. asm/ and guest.h explain the expected numbers.
 */
#include "marks.h"
#include "tree.h"
#include "trees.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Starts the command as a tree that is counted by totals, with these events. */
static struct counted totals_of(const char *const command[], const struct event *events, size_t n)
{
	struct perfctr_control control = control_of(events, n);
	struct counted c = { .pid = stopped_start(ANY_CPU, command) };

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	control.flags = PERFCTR_CONTROL_INHERIT | TOTALS;
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_CONTROL, &control), 0);
	stopped_go(c.pid);
	return c;
}

/* The tree is read all the time while it grows and shrinks. */
static void expect_exact_tree(void)
{
	struct counted c = tree_start(COMMAND(program("tree"), program("loop")), TOTALS);
	struct perfctr_counts counts, before = { 0 };
	uint32_t most = 0;

	do {
		counts = read_tree(c.fd);
		ck_assert_uint_ge(counts.counter[0], before.counter[0]);
		ck_assert_uint_ge(counts.tsc, before.tsc);
		ck_assert_uint_ge(counts.switches, before.switches);
		before = counts;
		if (counts.members > most)
			most = counts.members;
	} while (counts.members);
	counts = read_tree(c.fd);
	ck_assert_uint_gt(most, 2);
	ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_eq(counts.flags & (PERFCTR_COUNTS_CONSISTENT | PERFCTR_COUNTS_EXITED),
			  PERFCTR_COUNTS_CONSISTENT | PERFCTR_COUNTS_EXITED);
	expect_success(c.pid);
	close(c.fd);
}

START_TEST(a_tree_of_200_processes_with_threads_and_execs_is_exact)
{
	for (unsigned int i = 0; i < test_rounds(5); i++)
		expect_exact_tree();
}
END_TEST

START_TEST(a_tree_of_200_processes_is_exact_against_4_competitors)
{
	competitors_start(4);
	for (unsigned int i = 0; i < test_rounds(3); i++)
		expect_exact_tree();
}
END_TEST

/* Each process of the chain but the last exits before its child. */
START_TEST(sums_are_complete_when_wait_returns_and_when_no_member_is_left)
{
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	competitors_start(2);
	for (unsigned int round = 0; round < 2 * test_rounds(50); round++) {
		struct counted c = tree_start(COMMAND(program("chain")), TOTALS);

		while (round & 1 && read_tree(c.fd).members)
			;
		if (round & 1)
			ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		for (int i = 0; i < CHAIN_LENGTH; i++)
			ck_assert_int_gt(wait_for(-1, &status), 0);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], CHAIN_INSTRUCTIONS);
		ck_assert_uint_eq(read_tree(c.fd).members, 0);
		close(c.fd);
	}
}
END_TEST

#define TINY "/tmp/loop-tiny"

/* The program is a copy, because files of the host take long to execute. */
START_TEST(a_program_is_complete_when_wait_returns_1000_of_1000)
{
	copy_file(program("loop-tiny"), TINY, 0755);
	for (unsigned int i = 0; i < test_rounds(1000); i++) {
		struct counted c = tree_start(COMMAND(TINY), TOTALS);

		expect_success(c.pid);
		ck_assert_uint_eq(read_tree(c.fd).counter[0], LOOP_INSTRUCTIONS(TINY_LOOP));
		close(c.fd);
	}
}
END_TEST

/*
 * All with the same control: three trees and a thread with a context of its own. Another process is
 * not counted.
 */
START_TEST(trees_side_by_side_and_what_runs_between_them_are_exact)
{
	struct counted c[4];

	spinner_start(0);
	for (int i = 0; i < 4; i++) {
		const char *const *command = COMMAND(program("loop-long"));

		c[i] = i < 3 ? tree_start(command, TOTALS)
			     : counted_start(ANY_CPU, command, EVENTS({ 0, USER(INSTRUCTIONS) }));
		if (i)
			pin(c[i].pid, 0);
	}
	for (int i = 0; i < 4; i++) {
		expect_success(c[i].pid);
		ck_assert_uint_eq(read_tree(c[i].fd).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	}
}
END_TEST

START_TEST(several_counters_of_one_tree_agree)
{
	struct perfctr_counts counts;
	struct counted c = totals_of(COMMAND(program("tree"), program("loop")),
				     EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) },
					    { 2, USER(INSTRUCTIONS) }));

	do {
		counts = read_tree(c.fd);
		/* Otherwise two CPUs were read one after the other, and both counts had grown. */
		if (counts.flags & PERFCTR_COUNTS_CONSISTENT)
			ck_assert_uint_eq(counts.counter[0], counts.counter[2]);
	} while (counts.members);
	counts = read_tree(c.fd);
	ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_eq(counts.counter[2], TREE_INSTRUCTIONS);
	ck_assert_uint_lt(counts.counter[1], TREE_INSTRUCTIONS);
	expect_success(c.pid);
	close(c.fd);
}
END_TEST

/* All counters begin and end with the same instructions, in kernel mode, too. */
START_TEST(what_a_tree_executes_in_both_modes_is_what_it_executes_in_each)
{
	struct perfctr_counts counts;

	competitors_start(2);
	for (unsigned int i = 0; i < test_rounds(3); i++) {
		struct counted c =
			totals_of(COMMAND(program("tree"), program("loop")),
				  EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, BOTH(INSTRUCTIONS) },
					 { 2, KERNEL(INSTRUCTIONS) }));

		while (read_tree(c.fd).members)
			;
		counts = read_tree(c.fd);
		ck_assert_uint_eq(counts.counter[0], TREE_INSTRUCTIONS);
		ck_assert_uint_gt(counts.counter[2], TREE_THREADS * 10000ull);
		ck_assert_uint_eq(counts.counter[1], counts.counter[0] + counts.counter[2]);
		expect_success(c.pid);
		close(c.fd);
	}
}
END_TEST

#define READS 10000

/* Now and then the CPU's tick folds the counters just after a reader has had them folded. */
START_TEST(counters_of_kernel_mode_agree_in_each_read)
{
	struct perfctr_control control = control_of(
		EVENTS({ 0, KERNEL(INSTRUCTIONS) }, { 1, USER(BRANCHES) }, { 2, KERNEL(INSTRUCTIONS) }));
	pid_t yielder = yielder_start(1);
	int fd = context_open(yielder, PERFCTR_OPEN_CREATE);

	control.flags = PERFCTR_CONTROL_INHERIT | TOTALS;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	pin(0, 0);
	for (int i = 0; i < READS; i++) {
		struct perfctr_counts counts = read_tree(fd);

		ck_assert_uint_eq(counts.counter[0], counts.counter[2]);
	}
	kill_and_wait(yielder);
	close(fd);
}
END_TEST

static int open_marked_session(int mark_fd)
{
	int session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);

	session_control(session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	return session;
}

/* One CPU runs a tree, a marked tree, and a marked thread that is in no tree. */
START_TEST(sessions_and_totals_do_not_mind_each_other)
{
	int mark_fd = mark_open(), session = open_marked_session(mark_fd);
	const char *const *command = COMMAND(program("loop-long"));
	struct counted tree[2];
	pid_t marked;

	for (int i = 0; i < 2; i++) {
		tree[i].pid = stopped_start(0, command);
		if (i)
			mark(tree[i].pid, mark_fd);
		tree[i].fd = context_open(tree[i].pid, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(tree[i].fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		stopped_go(tree[i].pid);
	}
	marked = marked_start(mark_fd, 0, command);
	for (int i = 0; i < 2; i++) {
		expect_success(tree[i].pid);
		ck_assert_uint_eq(read_tree(tree[i].fd).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
		close(tree[i].fd);
	}
	expect_success(marked);
	ck_assert_uint_eq(context_read(session).counter[0], 2 * LOOP_INSTRUCTIONS(LONG_LOOP));
	close(session);
	close(mark_fd);
}
END_TEST

START_TEST(a_marked_tree_is_exact_by_its_session_and_by_totals)
{
	const char *const *command = COMMAND(program("tree"), program("loop"));

	competitors_start(2);
	for (unsigned int i = 0; i < test_rounds(3); i++) {
		int mark_fd = mark_open(), session = open_marked_session(mark_fd), fd;
		pid_t pid = stopped_start(ANY_CPU, command);

		mark(pid, mark_fd);
		fd = context_open(pid, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
		stopped_go(pid);
		while (read_tree(fd).members)
			ck_assert_uint_le(context_read(session).counter[0], TREE_INSTRUCTIONS);
		ck_assert_uint_eq(read_tree(fd).counter[0], TREE_INSTRUCTIONS);
		ck_assert_uint_eq(context_read(session).counter[0], TREE_INSTRUCTIONS);
		expect_success(pid);
		close(fd);
		close(session);
		close(mark_fd);
	}
}
END_TEST

/* Some members bear a mark and others do not, and that changes. */
START_TEST(a_tree_is_exact_while_marks_come_and_go)
{
	int mark_fd = mark_open(), session = open_marked_session(mark_fd);
	struct counted c = tree_start(COMMAND(program("tree"), program("loop")), TOTALS);
	uint32_t action = PERFCTR_MARK_SET;
	int changed, most = 0;

	while (read_tree(c.fd).members) {
		changed = try_mark(action, PERFCTR_MARK_TREE, c.pid, mark_fd);
		most = changed > most ? changed : most;
		action = PERFCTR_MARK_SET + PERFCTR_MARK_CLEAR - action;
	}
	ck_assert_int_gt(most, 2);
	ck_assert_uint_eq(read_tree(c.fd).counter[0], TREE_INSTRUCTIONS);
	ck_assert_uint_gt(context_read(session).counter[0], 0);
	ck_assert_uint_le(context_read(session).counter[0], TREE_INSTRUCTIONS);
	expect_success(c.pid);
	close(c.fd);
	close(session);
	close(mark_fd);
}
END_TEST

static void expect_control_refused(int fd, uint32_t flags)
{
	ck_assert_int_eq(try_control(fd, flags), -1);
	ck_assert_int_eq(errno, EINVAL);
}

/* Each thread would need its own distance to the end of a period. */
START_TEST(totals_have_no_periods)
{
	struct perfctr_periods periods = { .size = sizeof(periods), .scope = PERFCTR_SCOPE_TREE };
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	pid_t spinner;

	control.flags = PERFCTR_CONTROL_INHERIT | TOTALS;
	control.event[0].period = 1000;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_PERIOD);
	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
	spinner = spinner_start(1);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_PERIODS, &periods), 0);
		ck_assert_uint_eq(periods.n_counters, 0);
	}
	kill_and_wait(spinner);
	close(fd);
}
END_TEST

START_TEST(what_totals_do_not_have_is_refused)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);
	struct perfctr_counts counts = { .size = sizeof(counts) };
	struct perfctr_control control = { .size = sizeof(control) };

	expect_control_refused(fd, TOTALS);
	expect_control_refused(fd, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS | TOTALS);
	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT | TOTALS), 0);
	for (counts.scope = PERFCTR_SCOPE_SELF; counts.scope <= PERFCTR_SCOPE_CHILDREN;
	     counts.scope++) {
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, &counts), -1);
		ck_assert_int_eq(errno, EOPNOTSUPP);
	}
	ck_assert_ptr_eq(mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
	ck_assert_int_eq(errno, EOPNOTSUPP);
	ck_assert(!(page->flags & PERFCTR_PAGE_STARTED));
	ck_assert_uint_eq(page->n_counters, 0);
	ck_assert_uint_eq(page->tsc.sum, 0);
	ck_assert_uint_ne(page->tsc.ticket, page->tsc.recheck);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &control), 0);
	ck_assert_uint_eq(control.flags, PERFCTR_CONTROL_INHERIT | TOTALS);
	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT), 0);
	ck_assert(page->flags & PERFCTR_PAGE_STARTED);
	ck_assert_uint_eq(page->n_counters, 1);
}
END_TEST

/*
 * A process of two threads. One counts itself and has mapped its page, so that both may execute
 * RDPMC. The other one is the root of a tree counted by totals, to which a child on the same CPU
 * contributes.
 */
struct peeker {
	pthread_barrier_t barrier;
	int opened;
};

static void *read_itself(void *arg)
{
	struct peeker *peeker = arg;
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t value;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_map(fd);
	EXPECT(try_rdpmc(0, &value));
	pthread_barrier_wait(&peeker->barrier);
	pthread_barrier_wait(&peeker->barrier);
	return NULL;
}

static void peek(void *unused)
{
	struct peeker peeker = { 0 };
	pthread_t thread;
	uint64_t value;
	pid_t spinner;
	int fd;

	(void)unused;
	pin(0, 0);
	pthread_barrier_init(&peeker.barrier, NULL, 2);
	EXPECT(pthread_create(&thread, NULL, read_itself, &peeker) == 0);
	pthread_barrier_wait(&peeker.barrier);
	fd = tree_open(TOTALS);
	spinner = spinner_start(0);
	for (int i = 0; i < 100; i++) {
		sleep_us(3000);
		/* Its own instructions since another thread ran. */
		EXPECT(try_rdpmc(0, &value) && value < FEW);
	}
	while (read_tree(fd).counter[0] <= 100 * (uint64_t)FEW)
		sleep_us(1000);
	kill(spinner, SIGKILL);
	EXPECT(waitpid(spinner, NULL, 0) == spinner);
	pthread_barrier_wait(&peeker.barrier);
	pthread_join(thread, NULL);
}

START_TEST(a_member_that_may_rdpmc_sees_nothing_of_the_others)
{
	in_child(peek, NULL);
}
END_TEST

/* The number of contexts, each of another process, that a user may have with these flags. */
struct filling {
	uint32_t flags;
	volatile uint64_t *n;
};

static void fill_memory(void *arg)
{
	const struct filling *filling = arg;
	int fd, error = 0;

	raise_descriptors(4096);
	become_nobody();
	EXPECT(prctl(PR_SET_DUMPABLE, 1) == 0); /* so that it may trace its children */
	while (!error) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			EXPECT(close_range(STDERR_FILENO + 1, ~0u, 0) == 0);
			for (;;)
				pause();
		}
		EXPECT(pid > 0);
		fd = try_context_open(pid, PERFCTR_OPEN_CREATE);
		if (fd < 0 || try_control(fd, filling->flags) < 0)
			error = errno;
		else
			++*filling->n;
	}
	EXPECT(error == EMFILE);
}

START_TEST(the_sums_of_the_cpus_are_charged_to_the_user)
{
	struct filling inherited = { PERFCTR_CONTROL_INHERIT, shared_number() };
	struct filling totals = { PERFCTR_CONTROL_INHERIT | TOTALS, shared_number() };

	write_file("/sys/module/perfctr/parameters/user_kb", "512");
	in_child(fill_memory, &inherited);
	expect_contexts(0); /* only their owner had the descriptors */
	in_child(fill_memory, &totals);
	expect_contexts(0);
	write_file("/sys/module/perfctr/parameters/user_kb", "2048");
	ck_assert_uint_gt(*inherited.n, 100);
	ck_assert_uint_gt(*totals.n, 100);
	ck_assert_uint_lt(*totals.n, *inherited.n);
}
END_TEST

SUITE(totals, a_tree_of_200_processes_with_threads_and_execs_is_exact,
      a_tree_of_200_processes_is_exact_against_4_competitors,
      sums_are_complete_when_wait_returns_and_when_no_member_is_left,
      a_program_is_complete_when_wait_returns_1000_of_1000,
      trees_side_by_side_and_what_runs_between_them_are_exact, several_counters_of_one_tree_agree,
      what_a_tree_executes_in_both_modes_is_what_it_executes_in_each,
      counters_of_kernel_mode_agree_in_each_read, sessions_and_totals_do_not_mind_each_other,
      a_marked_tree_is_exact_by_its_session_and_by_totals, a_tree_is_exact_while_marks_come_and_go,
      totals_have_no_periods, what_totals_do_not_have_is_refused,
      a_member_that_may_rdpmc_sees_nothing_of_the_others,
      the_sums_of_the_cpus_are_charged_to_the_user)
