// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads counted from outside, by their thread ids, while they run on another CPU. */
#include "guest.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A thread that counts its own rounds of 2 instructions, without end. `rounds` shows how far the
 * thread has come, to the instruction, except for the round under way.
 */
#define ROUND_INSTRUCTIONS 2

struct target {
	pid_t tid;		/* set by the thread itself */
	int fd;
	volatile uint64_t rounds;
};

static void *count_rounds(void *argument)
{
	struct target *t = argument;

	t->tid = gettid();
	__asm__ volatile("1:	incq	(%0)\n\t"
			 "jmp	1b" : : "r"(&t->rounds) : "memory");
	return NULL;
}

/* n threads of one process. They do not know that they are counted. */
static struct target *targets_start(pid_t *pid, unsigned int n)
{
	struct target *t = mmap(NULL, n * sizeof(*t), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert(t != MAP_FAILED);
	*pid = fork();
	ck_assert_int_ge(*pid, 0);
	if (*pid == 0) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned int i = 1; i < n; i++)
			EXPECT(pthread_create(&thread, NULL, count_rounds, &t[i]) == 0);
		count_rounds(&t[0]);
	}
	for (unsigned int i = 0; i < n; i++) {
		while (!t[i].rounds)
			sleep_us(1000);
		t[i].fd = context_open(t[i].tid, PERFCTR_OPEN_CREATE);
		context_control(t[i].fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	}
	return t;
}

/*
 * The counter and the rounds differ by a constant: the position of the thread when it was started.
 * Every read limits that constant, by the rounds before and after the read. A read that is not of
 * its moment makes the bounds contradict each other.
 */
struct bounds {
	int64_t low, high;
};
#define UNKNOWN { INT64_MIN, INT64_MAX }

static void expect_exact(const struct target *t, struct bounds *b, int reads)
{
	while (reads--) {
		uint64_t before = t->rounds;
		uint64_t count = context_read(t->fd).counter[0];
		uint64_t after = t->rounds;
		/* Half of a round may be counted, or its sum may not be visible yet. */
		int64_t low = count - ROUND_INSTRUCTIONS * (after + 1);
		int64_t high = count - ROUND_INSTRUCTIONS * before;

		if (low > b->low)
			b->low = low;
		if (high < b->high)
			b->high = high;
		ck_assert_int_le(b->low, b->high);
	}
}

static void wait_for_rounds(const struct target *t, uint64_t n)
{
	uint64_t start = t->rounds;

	while (t->rounds < start + n)
		sleep_us(500);
}

START_TEST(a_read_is_exact_at_its_moment_while_the_thread_runs_on_the_other_cpu)
{
	struct bounds b = UNKNOWN;
	struct target *t;
	pid_t pid;

	pin(0, 0);
	t = targets_start(&pid, 1);
	pin(pid, 1);
	expect_exact(t, &b, 2000);
	kill_and_wait(pid);
}
END_TEST

START_TEST(every_thread_of_a_process_is_counted_apart_and_released_without_a_trace)
{
	struct bounds b[4] = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
	uint32_t contexts = pmu_info().n_contexts;
	struct target *t;
	pid_t pid;

	t = targets_start(&pid, ARRAY_SIZE(b));
	for (int i = 0; i < 20; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(b); k++)
			expect_exact(&t[k], &b[k], 20);
		sleep_us(5000);
	}
	for (size_t k = 0; k < ARRAY_SIZE(b); k++)
		close(t[k].fd);
	ck_assert_uint_eq(pmu_info().n_contexts, contexts);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	for (size_t k = 0; k < ARRAY_SIZE(b); k++)
		wait_for_rounds(&t[k], 100000);
	/* It is as if the context had never been there. */
	ck_assert_int_eq(try_context_open(t[0].tid, 0), -1);
	ck_assert_int_eq(errno, ENOENT);
	close(context_open(t[0].tid, PERFCTR_OPEN_CREATE));
	kill_and_wait(pid);
}
END_TEST

START_TEST(a_stopped_thread_runs_on_and_counts_nothing)
{
	struct target *t;
	pid_t pid;

	pin(0, 0);
	t = targets_start(&pid, 1);
	pin(pid, 1);
	for (int i = 0; i < 20; i++) {
		struct bounds b = UNKNOWN;
		uint64_t count;

		ck_assert_int_eq(ioctl(t->fd, PERFCTR_IOC_STOP), 0);
		count = context_read(t->fd).counter[0];
		wait_for_rounds(t, 100000);
		ck_assert_uint_eq(context_read(t->fd).counter[0], count);
		ck_assert_int_eq(ioctl(t->fd, PERFCTR_IOC_START), 0);
		wait_for_rounds(t, 100000);
		ck_assert_uint_gt(context_read(t->fd).counter[0], count);
		expect_exact(t, &b, 20);
	}
	kill_and_wait(pid);
}
END_TEST

/* The rounds on either side limit the count between START and STOP. */
START_TEST(start_and_stop_count_what_is_between_them)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct target *t;
	pid_t pid;

	control.flags = PERFCTR_CONTROL_STOPPED;
	pin(0, 0);
	t = targets_start(&pid, 1);
	pin(pid, 1);
	for (int i = 0; i < 100; i++) {
		uint64_t outer_start, inner_start, inner_end, outer_end, count;

		ck_assert_int_eq(ioctl(t->fd, PERFCTR_IOC_CONTROL, &control), 0);
		outer_start = t->rounds;
		ck_assert_int_eq(ioctl(t->fd, PERFCTR_IOC_START), 0);
		inner_start = t->rounds;
		spin(10000);
		inner_end = t->rounds;
		ck_assert_int_eq(ioctl(t->fd, PERFCTR_IOC_STOP), 0);
		outer_end = t->rounds;
		count = context_read(t->fd).counter[0];
		ck_assert_uint_ge(count + ROUND_INSTRUCTIONS,
				  ROUND_INSTRUCTIONS * (inner_end - inner_start));
		ck_assert_uint_le(count,
				  ROUND_INSTRUCTIONS * (outer_end - outer_start + 1));
	}
	kill_and_wait(pid);
}
END_TEST

START_TEST(a_page_that_others_read_under_seq_is_of_one_fold)
{
	pid_t pid = yielder_start(1), rival = yielder_start(1);
	int fd = context_open(pid, PERFCTR_OPEN_CREATE);
	const volatile struct perfctr_page *page = context_map(fd);
	struct event events[N_COUNTERS];

	pin(0, 0);
	context_control(fd, events, all_counters(events));
	expect_equal_sums(page, N_COUNTERS - 1);
	kill_and_wait(rival);
	kill_and_wait(pid);
}
END_TEST

#define TRIES 100

/* The tick updates the sums of such a thread: without that, a counter could wrap unseen. */
START_TEST(the_sums_of_a_thread_that_is_not_switched_do_not_stand_still)
{
	struct counted c = counted_start(1, COMMAND(program("loop-huge")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	const volatile struct perfctr_page *page = context_map(c.fd);
	bool followed = false;

	pin(0, 0);
	for (int i = 0; i < TRIES && !followed; i++) {
		uint64_t sum = page->counter[0].sum, switches = page->switches;

		sleep_us(20000);
		followed = page->counter[0].sum > sum && page->switches == switches;
	}
	ck_assert(followed);
	kill_and_wait(c.pid);
}
END_TEST

/* Moves the target as fast as it can. */
static atomic_bool stop_moving;

static void *move(void *argument)
{
	const pid_t *pid = argument;
	void *moves = NULL;

	for (int cpu = 0; !stop_moving; cpu = !cpu) {
		pin(*pid, cpu);
		moves = (char *)moves + 1;
	}
	return moves;
}

START_TEST(p8_reads_are_exact_while_the_affinity_changes_all_the_time)
{
	struct bounds b = UNKNOWN;
	unsigned int rounds = test_rounds(100);
	struct target *t;
	pthread_t mover;
	void *moves;
	pid_t pid;

	t = targets_start(&pid, 1);
	ck_assert_int_eq(pthread_create(&mover, NULL, move, &pid), 0);
	while (context_read(t->fd).migrations < rounds)
		expect_exact(t, &b, 20);
	stop_moving = true;
	pthread_join(mover, &moves);
	ck_assert_uint_ge((uintptr_t)moves, rounds);
	kill_and_wait(pid);
}
END_TEST

/*
 * The target moves from CPU to CPU. On each of them a rival has another event, and so other
 * registers.
 */
START_TEST(p4_a_cpu_forgets_nothing_when_a_thread_comes_back)
{
	unsigned int rounds = test_rounds(50);
	struct bounds b = UNKNOWN;
	struct counted rival[2];
	struct target *t;
	pid_t pid;

	t = targets_start(&pid, 1);
	for (int cpu = 0; cpu < 2; cpu++) {
		rival[cpu].pid = spinner_start(cpu);
		rival[cpu].fd = context_open(rival[cpu].pid, PERFCTR_OPEN_CREATE);
	}
	/*
	 * One rival counts another event with the same counter, the other one the same event with
	 * another counter.
	 */
	context_control(rival[0].fd, EVENTS({ 0, USER(BRANCHES) }));
	context_control(rival[1].fd, EVENTS({ 1, USER(INSTRUCTIONS) }));
	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t count = context_read(rival[i & 1].fd).counter[0];

		pin(pid, (int)(i & 1));
		wait_for_rounds(t, 1000);
		/* The rival has also run on the CPU, and leaves its control there. */
		while (context_read(rival[i & 1].fd).counter[0] == count)
			sleep_us(500);
		expect_exact(t, &b, 10);
	}
	ck_assert_uint_ge(context_read(t->fd).migrations, rounds - 1);
	for (int cpu = 0; cpu < 2; cpu++)
		kill_and_wait(rival[cpu].pid);
	kill_and_wait(pid);
}
END_TEST

static void open_as_nobody(void *argument)
{
	pid_t tid = *(const pid_t *)argument;

	become_nobody();
	EXPECT(try_context_open(tid, 0) == -1 && errno == EACCES);
	EXPECT(try_context_open(tid, PERFCTR_OPEN_CREATE) == -1 && errno == EACCES);
}

START_TEST(another_user_is_refused_whether_there_is_a_context_or_not)
{
	struct target *t;
	pid_t pid;

	t = targets_start(&pid, 1);
	in_child(open_as_nobody, &pid);
	close(t->fd);
	in_child(open_as_nobody, &pid);
	kill_and_wait(pid);
}
END_TEST

START_TEST(who_did_not_make_the_context_may_read_and_nothing_else)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(BRANCHES) }));
	struct bounds b = UNKNOWN;
	struct target *t, seen;
	pid_t pid;

	t = targets_start(&pid, 1);
	seen = *t;
	seen.fd = context_open(pid, 0);
	ck_assert_int_eq(ioctl(seen.fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ioctl(seen.fd, PERFCTR_IOC_STOP), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ioctl(seen.fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EPERM);
	wait_for_rounds(t, 1000);
	expect_exact(t, &b, 10);
	ck_assert_uint_gt(context_read(seen.fd).counter[0], 0);
	/* When the maker of the context closes it, the other descriptors keep the sums. */
	close(t->fd);
	ck_assert_uint_eq(context_read(seen.fd).flags,
			  PERFCTR_COUNTS_EXITED | PERFCTR_COUNTS_CONSISTENT);
	kill_and_wait(pid);
}
END_TEST

static pid_t fork_into_new_pid_namespace(void)
{
	return syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
}

static struct perfctr_exit_record take_record(int fd)
{
	struct perfctr_exit_record record = { .size = sizeof(record) };

	EXPECT(ioctl(fd, PERFCTR_IOC_EXIT_RECORD, &record) == 0);
	return record;
}

START_TEST(a_tid_means_what_it_means_in_the_caller_s_pid_namespace)
{
	pid_t outside = getpid(), pid = fork_into_new_pid_namespace();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct perfctr_control control = tree_control(PERFCTR_CONTROL_EXIT_RECORDS);
		pid_t child;
		int fd;

		EXPECT(getpid() == 1);
		EXPECT(try_context_open(outside, 0) == -1 && errno == ESRCH);
		/* Thread 1 is the caller: at first it has no context, then it has one. */
		EXPECT(try_context_open(1, 0) == -1 && errno == ENOENT);
		fd = try_context_open(1, PERFCTR_OPEN_CREATE);
		EXPECT(fd >= 0);
		EXPECT(try_context_open(0, PERFCTR_OPEN_CREATE) == -1 && errno == EEXIST);
		EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
		child = spawn(COMMAND(program("loop-tiny")));
		EXPECT(wait_for(child, &status) == 2);
		EXPECT(take_record(fd).tid == 2);
		_exit(0);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_record_tells_the_tid_of_the_namespace_that_the_tree_was_opened_in)
{
	int fd = tree_open(PERFCTR_CONTROL_EXIT_RECORDS), status;
	pid_t pid = fork_into_new_pid_namespace();
	struct perfctr_exit_record record;

	if (pid == 0)
		_exit(getpid() == 1 ? 0 : 1);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	record = take_record(fd);
	ck_assert_int_eq(record.tid, pid);
	ck_assert_int_eq(record.tgid, pid);
}
END_TEST

/*
 * A thread that takes the lock of the kernel's list of processes again and again, with interrupts
 * off.
 */
static void *change_groups(void *tid)
{
	atomic_store((_Atomic(pid_t) *)tid, (pid_t)syscall(SYS_gettid));
	for (;;)
		setpgid(0, 0);
	return NULL;
}

/* Another thread opens and closes contexts of that thread. */
static void *open_and_close(void *tid)
{
	pid_t other;

	while (!(other = atomic_load((_Atomic(pid_t) *)tid)))
		;
	for (;;)
		close(try_context_open(other, PERFCTR_OPEN_CREATE));
	return NULL;
}

/*
 * The kernel gives the address space another owner. It reads the list of processes, and locks the
 * new owner.
 */
_Noreturn static void leave_address_space(void)
{
	static _Atomic(pid_t) tid;
	pthread_t thread[2];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread[0], NULL, change_groups, &tid);
	pthread_create(&thread[1], NULL, open_and_close, &tid);
	sleep_us(2000);
	pthread_exit(NULL);
}

/* So many that the kernel needs some time to reach the end of its list. */
#define SLEEPERS 2000

START_TEST(who_lets_a_thread_go_keeps_nobody_from_the_list_of_processes)
{
	/* The race needs three CPUs. */
	int rounds = sysconf(_SC_NPROCESSORS_ONLN) > 2 ? 1000 : 10;
	pid_t sleeper[SLEEPERS];

	for (int i = 0; i < SLEEPERS; i++) {
		sleeper[i] = fork();
		if (sleeper[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
		}
	}
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();

		if (pid == 0)
			leave_address_space();
		sleep_us(6000);
		kill_and_wait(pid);
	}
	for (int i = 0; i < SLEEPERS; i++)
		kill_and_wait(sleeper[i]);
}
END_TEST

SUITE(remote, who_lets_a_thread_go_keeps_nobody_from_the_list_of_processes,
      a_read_is_exact_at_its_moment_while_the_thread_runs_on_the_other_cpu,
      every_thread_of_a_process_is_counted_apart_and_released_without_a_trace,
      a_stopped_thread_runs_on_and_counts_nothing,
      start_and_stop_count_what_is_between_them,
      a_page_that_others_read_under_seq_is_of_one_fold,
      the_sums_of_a_thread_that_is_not_switched_do_not_stand_still,
      p8_reads_are_exact_while_the_affinity_changes_all_the_time,
      p4_a_cpu_forgets_nothing_when_a_thread_comes_back,
      another_user_is_refused_whether_there_is_a_context_or_not,
      who_did_not_make_the_context_may_read_and_nothing_else,
      a_tid_means_what_it_means_in_the_caller_s_pid_namespace,
      a_record_tells_the_tid_of_the_namespace_that_the_tree_was_opened_in)
