// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver as a module: births without memory, loading and unloading. */
#include "marks.h"
#include "module.h"
#include "overflow_signals.h"
#include "trees.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail_births(const char *nth)
{
	int fd = open("/sys/module/perfctr/parameters/fail_nth", O_WRONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "fail_nth: %s", strerror(errno));
	ck_assert_int_eq(write(fd, nth, strlen(nth)), (ssize_t)strlen(nth));
	close(fd);
}

static void run_loops(unsigned int n)
{
	while (n--) {
		pid_t pid = fork();

		if (pid == 0) {
			execl(program("loop"), "loop", (char *)NULL);
			_exit(127);
		}
		expect_success(pid);
	}
}

/* Only the counts of the children without memory are missing. */
START_TEST(a_child_without_memory_is_born_and_the_tree_says_that_it_is_incomplete)
{
	int tree = tree_open(0);
	struct perfctr_control control = tree_control(0);
	struct perfctr_counts all, some, again;

	run_loops(4);
	all = context_read_scope(tree, PERFCTR_SCOPE_CHILDREN);
	ck_assert(!(all.flags & PERFCTR_COUNTS_INCOMPLETE));
	ck_assert_uint_ge(all.counter[0], 4 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	fail_births("2");
	run_loops(4);
	fail_births("0");
	some = context_read_scope(tree, PERFCTR_SCOPE_CHILDREN);
	ck_assert(some.flags & PERFCTR_COUNTS_INCOMPLETE);
	ck_assert_uint_ge(some.counter[0] - all.counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_lt(some.counter[0] - all.counter[0], 3 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	/* A new control clears the flag. */
	ck_assert_int_eq(ioctl(tree, PERFCTR_IOC_CONTROL, &control), 0);
	run_loops(2);
	again = context_read_scope(tree, PERFCTR_SCOPE_CHILDREN);
	ck_assert(!(again.flags & PERFCTR_COUNTS_INCOMPLETE));
	ck_assert_uint_ge(again.counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	close(tree);
}
END_TEST

START_TEST(a_session_says_that_a_child_could_not_be_marked)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);

	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	mark(0, mark_fd);
	run_loops(2);
	ck_assert(!(context_read(session).flags & PERFCTR_COUNTS_INCOMPLETE));
	fail_births("2");
	run_loops(2);
	fail_births("0");
	ck_assert(context_read(session).flags & PERFCTR_COUNTS_INCOMPLETE);
	close(session);
	close(mark_fd);
}
END_TEST

SUITE(module_births, a_child_without_memory_is_born_and_the_tree_says_that_it_is_incomplete,
      a_session_says_that_a_child_could_not_be_marked)

static int unload(void)
{
	return syscall(SYS_delete_module, "perfctr", O_NONBLOCK) ? errno : 0;
}

int try_module_load(const char *parameters)
{
	const char *file = getenv("PERFCTR_MODULE");
	int fd, error;

	ck_assert_msg(file, "PERFCTR_MODULE does not say where the module is");
	fd = open(file, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", file, strerror(errno));
	error = syscall(SYS_finit_module, fd, parameters, 0) ? errno : 0;
	close(fd);
	return error;
}

static void load(void)
{
	int error = try_module_load("");

	ck_assert_msg(error == 0, "finit_module: %s", strerror(error));
}

static int try_open_thread(pid_t tid)
{
	struct perfctr_open_args open = {
		.size = sizeof(open),
		.tid = tid,
		.flags = PERFCTR_OPEN_CREATE,
	};
	int device = device_open(), fd = ioctl(device, PERFCTR_IOC_OPEN, &open);

	close(device);
	return fd;
}

void module_unload_soon(void)
{
	for (int i = 0; unload() == EAGAIN; i++) {
		ck_assert_int_lt(i, 10000);
		sleep_us(1000);
	}
}

_Noreturn static void fork_for_ever(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* Processes that come, go and switch on all CPUs. */
static pid_t storm_start(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	competitors_start(2);
	fork_for_ever();
}

static unsigned int rounds_wanted(void)
{
	const char *rounds = getenv("PERFCTR_ROUNDS");

	return rounds ? strtoul(rounds, NULL, 0) : test_rounds(20);
}

/* Its counter interrupts until the context is closed. */
START_TEST(it_loads_counts_and_unloads_under_load)
{
	pid_t storm = storm_start();
	unsigned int n = rounds_wanted();

	for (unsigned int i = 0; i < n; i++) {
		int fd = context_open(0, PERFCTR_OPEN_CREATE), mark_fd;
		struct perfctr_periods periods;
		uint64_t before;
		pid_t pid;

		set_control(fd, signal_control(101, 0, 0));
		before = context_read(fd).counter[0];
		spin(10000);
		ck_assert_uint_ge(context_read(fd).counter[0] - before, 20000);
		periods = periods_of(fd, PERFCTR_SCOPE_SELF);
		ck_assert_uint_lt(periods.late, periods.over[0] / 2);
		ck_assert_int_eq(unload(), EAGAIN);
		close(fd);

		/* This process lives on with a mark that is closed. */
		pid = spinner_start(ANY_CPU);
		mark_fd = mark_open();
		mark(pid, mark_fd);
		close(mark_fd);
		module_unload_soon();
		ck_assert_int_eq(access("/dev/perfctr", F_OK), -1);
		load();
		kill_and_wait(pid);
	}
	kill(-storm, SIGKILL);
	kill_and_wait(storm);
}
END_TEST

/* Ignores the signals of its periods. It sleeps, and has not sent the last of them yet. */
static pid_t late_signaller_start(int *fd, int go)
{
	int begin = eventfd(0, 0);
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGUSR1, SIG_IGN);
		take(begin);
		spin(1000);
		take(go);
		_exit(0);
	}
	*fd = context_open(pid, PERFCTR_OPEN_CREATE);
	set_control(*fd, signal_control(2, SIGUSR1, 0));
	wait_until_sleeping(pid);
	give(begin);
	wait_for_count(*fd, 2000);
	wait_until_sleeping(pid);
	close(begin);
	return pid;
}

/*
 * Nothing interrupts: the thread's switch finds the last end of a period, and the thread sends the
 * signal before it returns to user mode. Until then the module's code has to stay.
 */
START_TEST(a_thread_that_has_yet_to_send_a_signal_keeps_the_module)
{
	int fd, go = eventfd(0, 0);
	pid_t pid;

	write_file("/sys/module/perfctr/parameters/interrupts_per_tick", "0");
	pid = late_signaller_start(&fd, go);
	close(fd);
	ck_assert_int_eq(unload(), EAGAIN);
	give(go);
	expect_success(pid);
	module_unload_soon();
	load();
	close(go);
}
END_TEST

/* Makes children without end, which inherit a context and a mark. */
static pid_t forker_start(int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, cpu);
	tree_open(0);
	fork_for_ever();
}

static pid_t newest_process(void)
{
	FILE *file = fopen("/proc/loadavg", "r");
	int pid = 0;

	ck_assert(file);
	ck_assert_int_eq(fscanf(file, "%*s %*s %*s %*s %d", &pid), 1);
	fclose(file);
	return pid;
}

/*
 * The test can find a child before its parent's hook knows of it. The child gets one context and
 * one mark.
 */
START_TEST(a_child_that_is_found_while_it_is_born_leaves_nothing)
{
	unsigned int found = 0;
	pid_t forker;
	int mark_fd;

	pin(0, 0);
	forker = forker_start(1);
	mark_fd = mark_open();
	for (int i = 0; i < 100000 && found < 20; i++) {
		int fd = try_open_thread(newest_process() + 1);

		if (fd < 0)
			continue;
		found++;
		close(fd);
		try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_TREE, forker, mark_fd);
		try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE, forker, mark_fd);
	}
	printf("%u children were opened\n", found);
	kill_and_wait(forker);
	close(mark_fd);
	module_unload_soon();
	load();
}
END_TEST

#define SETS 20000

/* Another process may mark the whole tree before the parent's hook knows of the child. */
START_TEST(a_child_that_is_marked_while_it_is_born_has_the_mark)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, PERFCTR_EXCLUDE_UNMARKED);
	pid_t forker = fork();

	ck_assert_int_ge(forker, 0);
	if (forker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fork_for_ever();
	}
	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	for (unsigned int i = test_rounds(SETS); i; i--)
		ck_assert_int_ge(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_TREE, forker, mark_fd), 0);
	ck_assert(!(context_read(session).flags & PERFCTR_COUNTS_INCOMPLETE));
	kill_and_wait(forker);
	close(session);
	close(mark_fd);
}
END_TEST

static atomic_bool end_of_changes;

static _Atomic(pid_t) enterer;

static void *enter_and_leave(void *mark_fd)
{
	enterer = (pid_t)syscall(SYS_gettid);
	while (!end_of_changes) {
		ioctl(*(int *)mark_fd, PERFCTR_IOC_ENTER);
		ioctl(*(int *)mark_fd, PERFCTR_IOC_LEAVE);
	}
	return NULL;
}

/*
 * The thread and another one take it away at once. The kernel counts the members, and warns if too
 * many leave.
 */
START_TEST(a_mark_is_taken_away_once)
{
	int mark_fd = mark_open();
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, enter_and_leave, &mark_fd), 0);
	while (!enterer)
		;
	for (unsigned int i = test_rounds(50000); i; i--)
		try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_THREAD, enterer, -1);
	end_of_changes = true;
	pthread_join(thread, NULL);
	ck_assert_uint_eq(mark_members(mark_fd), 0);
	close(mark_fd);
}
END_TEST

static void wait_a_moment(void)
{
	sleep_us(SETTLE_US);
}

/*
 * fork copies what the kernel has noted of the parent's page of perf_events, at a time when the
 * module is not called.
 */
START_TEST(a_child_of_a_reader_of_perf_events_sees_no_kernel_mode)
{
	int perf, closed = eventfd(0, 0), go = eventfd(0, 0), mark_fd, session, status;
	uint64_t value;
	void *page;
	pid_t pid;

	wait_a_moment();
	pin(0, 0);
	perf = try_perf_instructions();
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, perf, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		close(perf);
		/* Otherwise there is nothing to take away. */
		EXPECT(try_rdpmc(0, &value));
		give(closed);
		take(go);
		for (int i = 0; i < N_COUNTERS; i++)
			if (try_rdpmc(counter_index[i], &value))
				_exit(1);
		_exit(0);
	}
	munmap(page, 4096);
	close(perf);
	take(closed);
	mark_fd = mark_open();
	session = session_open(mark_fd, PRIVILEGED);
	session_control(session, SESSION_EVENTS({ { 0, KERNEL(INSTRUCTIONS) }, 0 }));
	give(go);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	close(session);
	close(mark_fd);
}
END_TEST

#define FTRACE_ENABLED "/proc/sys/kernel/ftrace_enabled"

static int switch_tracer(const char *state)
{
	int fd = open(FTRACE_ENABLED, O_WRONLY | O_CLOEXEC), error;

	ck_assert_int_ge(fd, 0);
	error = write(fd, state, 1) == 1 ? 0 : errno;
	close(fd);
	return error;
}

/* Without the tracer, an RDPMC would end a thread that reads its own counters. */
START_TEST(who_counts_needs_the_kernel_s_tracer)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(switch_tracer("0"), EBUSY);
	ck_assert_uint_eq(read_number(FTRACE_ENABLED), 1);
	close(fd);
	/*
	 * The module keeps the tracer until it is unloaded: otherwise the next caller that counts
	 * would have to wait for it.
	 */
	wait_a_moment();
	ck_assert_int_eq(switch_tracer("0"), EBUSY);
	module_unload_soon();
	ck_assert_int_eq(switch_tracer("0"), 0);
	load();
	errno = 0;
	ck_assert_int_eq(try_open_thread(0), -1);
	ck_assert_int_eq(errno, ENXIO);
	ck_assert_int_eq(switch_tracer("1"), 0);
	close(context_open(0, PERFCTR_OPEN_CREATE));
}
END_TEST

static void *forget_code(void *code)
{
	while (!end_of_changes)
		madvise(code, 4096, MADV_DONTNEED);
	return NULL;
}

/* RDPMC and RET, in a file that the kernel may take out of memory at any time. */
START_TEST(code_that_is_not_in_memory_can_read_too)
{
	static const unsigned char code[] = { 0x0f, 0x33, 0xc3 };
	int fd = context_open(0, PERFCTR_OPEN_CREATE), file;
	char name[] = "/tmp/code-XXXXXX";
	pthread_t thread;
	void *text;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_map(fd);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	file = mkstemp(name);
	ck_assert_int_eq(write(file, code, sizeof(code)), sizeof(code));
	text = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	ck_assert_ptr_ne(text, MAP_FAILED);
	ck_assert_int_eq(pthread_create(&thread, NULL, forget_code, text), 0);
	for (unsigned int i = test_rounds(50000); i; i--)
		__asm__ volatile("call *%1" : : "c"(0), "r"(text) : "rax", "rdx", "memory");
	end_of_changes = true;
	pthread_join(thread, NULL);
	unlink(name);
	close(file);
	close(fd);
}
END_TEST

/* An instruction other than RDPMC gets its signal, even if its code was not in memory. */
START_TEST(another_fault_of_code_that_is_not_in_memory_ends_in_its_signal)
{
	static const unsigned char code[] = { 0xf4 }; /* HLT */
	int fd = context_open(0, PERFCTR_OPEN_CREATE), status;
	pid_t pid;

	for (int i = 0; i < 100; i++) {
		pid = fork();
		if (pid == 0) {
			char name[] = "/tmp/code-XXXXXX";
			int own = context_open(0, PERFCTR_OPEN_CREATE), file = mkstemp(name);
			pthread_t thread;
			void *text;

			context_control(own, EVENTS({ 0, USER(INSTRUCTIONS) }));
			context_map(own);
			unlink(name);
			if (write(file, code, sizeof(code)) != sizeof(code))
				_exit(1);
			text = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
			pthread_create(&thread, NULL, forget_code, text);
			((void (*)(void))text)();
			_exit(0);
		}
		ck_assert_int_eq(wait_for(pid, &status), pid);
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
	}
	close(fd);
}
END_TEST

SUITE(module_load, it_loads_counts_and_unloads_under_load,
      a_thread_that_has_yet_to_send_a_signal_keeps_the_module,
      a_child_that_is_found_while_it_is_born_leaves_nothing,
      a_child_that_is_marked_while_it_is_born_has_the_mark, a_mark_is_taken_away_once,
      a_child_of_a_reader_of_perf_events_sees_no_kernel_mode, who_counts_needs_the_kernel_s_tracer,
      code_that_is_not_in_memory_can_read_too,
      another_fault_of_code_that_is_not_in_memory_ends_in_its_signal)
