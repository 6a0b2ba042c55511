// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first allocation of a call fails, then the second, and so on until it gets through with all
 * it asks for: every failure is told, leaves nothing behind, and disturbs nothing that counts.
 * Only on a kernel with fault injection (vm+fail).
 */
#include "groups.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than a call can need. */
#define MAX_ALLOCATIONS 3000

/* Allocations that may sleep and those of single pages fail too, and without a word in the log. */
static const struct {
	const char *path, *text;
} settings[] = {
	{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/failslab/verbose", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/min-order", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose", "0" },
};

static int device, fail_nth;

/*
 * There the kernel writes the number of the CPU, when a thread is preempted at the end of a fork:
 * if the page, which the child shares by then, cannot be copied, that is a SIGSEGV.
 */
static void unregister_rseq(void)
{
	struct rseq *rseq = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	if (__rseq_size)
		ck_assert_int_eq(syscall(SYS_rseq, rseq, sizeof(*rseq), RSEQ_FLAG_UNREGISTER,
					 RSEQ_SIG),
				 0);
}

static void allow_failures(void)
{
	unregister_rseq();
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		write_file(settings[i].path, settings[i].text);
	device = device_open();
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fail_nth, 0);
}

/* The n-th allocation of the calling thread from now on fails; 0: none. */
static void fail_allocation(int fd, unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	EXPECT(pwrite(fd, text, (size_t)length, 0) == length);
}

/* Has it? */
static bool has_failed(int fd)
{
	char text[16] = "";

	EXPECT(pread(fd, text, sizeof(text) - 1, 0) > 0);
	fail_allocation(fd, 0);
	return atoi(text) == 0;
}

/* What a call must not change unless it succeeds. */
struct footprint {
	uint64_t contexts, context_counters, session_counters, rdpmc;
	uint64_t members, own_members, own_counters, own_started, own_mark;
	uint64_t session_events, session_started, descriptors;
};

static const char *const footprint_names[] = {
	"contexts",
	"counters of contexts",
	"counters of sessions",
	"RDPMC",
	"members of the group",
	"members of the tree",
	"counters of the tree",
	"state of the tree",
	"mark",
	"counters of the session",
	"state of the session",
	"descriptors",
};

static int own = -1, group = -1, session = -1; /* what the footprint tells of */

static uint64_t count_descriptors(void)
{
	uint64_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static struct footprint footprint(void)
{
	struct perfctr_pmu_info info = pmu_info();
	struct perfctr_counts tree = { 0 }, marked = { 0 };
	uint64_t value;

	if (own >= 0)
		tree = context_read_scope(own, PERFCTR_SCOPE_TREE);
	if (session >= 0)
		marked = context_read(session);
	return (struct footprint){
		.contexts = info.n_contexts,
		.context_counters = info.context_counters,
		.session_counters = info.session_counters,
		.rdpmc = try_rdpmc(0, &value),
		.members = group >= 0 ? group_members(group) : 0,
		.own_members = tree.members,
		.own_counters = tree.n_counters,
		.own_started = tree.flags & PERFCTR_COUNTS_STARTED,
		.own_mark = mark_of(0),
		.session_events = marked.n_counters,
		.session_started = marked.flags & PERFCTR_COUNTS_STARTED,
		.descriptors = count_descriptors(),
	};
}

/* A thread that was waited for may be on its last steps: what is left behind stays. */
static void expect_footprint(const struct footprint *expected, const char *call, unsigned int n)
{
	const uint64_t *want = (const uint64_t *)expected, *is;
	struct footprint now;

	for (int i = 0; i < 200; i++) {
		now = footprint();
		if (memcmp(&now, expected, sizeof(now)) == 0)
			return;
		sleep_us(5000);
	}
	is = (const uint64_t *)&now;
	for (size_t i = 0; i < ARRAY_SIZE(footprint_names); i++)
		ck_assert_msg(is[i] == want[i], "%s, allocation %u failed: %s was %#llx, is %#llx",
			      call, n, footprint_names[i], (unsigned long long)want[i],
			      (unsigned long long)is[i]);
}

struct call {
	const char *name;
	long (*attempt)(void); /* -1 with errno, or what undo() gets */
	void (*undo)(long result);
	int error;	    /* that may be there instead of ENOMEM */
	unsigned int least; /* failures that the call must have told */
};

/* All failures of a call, then the call itself. */
static void expect_clean_failures(const struct call *call)
{
	struct footprint before = footprint();
	unsigned int n, told = 0;
	bool failed = true;

	for (n = 1; failed; n++) {
		long result;
		int error;

		ck_assert_uint_lt(n, MAX_ALLOCATIONS);
		fail_allocation(fail_nth, n);
		result = call->attempt();
		error = errno;
		failed = has_failed(fail_nth);
		if (result >= 0) {
			call->undo(result);
		} else {
			ck_assert_msg(failed && (error == ENOMEM || error == call->error),
				      "%s, allocation %u %s: %s", call->name, n,
				      failed ? "failed" : "did not fail", strerror(error));
			told++;
		}
		expect_footprint(&before, call->name, n);
	}
	ck_assert_msg(told >= call->least, "%s told of %u failures only", call->name, told);
	printf("%s: %u allocations, %u failures told\n", call->name, n - 2, told);
}

/* A counted and a marked program, which run meanwhile and must not miss an instruction. */
static struct {
	struct counted counted;
	int group, session;
	pid_t marked;
} others;

/* Before the test gets a context or a mark that they would inherit. */
static void others_start(void)
{
	others.group = group_open();
	others.session = session_open(others.group, NOT_PRIVILEGED | MARKED);
	session_control(others.session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	others.counted = counted_start(ANY_CPU, COMMAND(program("loop-long")),
				       EVENTS({ 3, USER(INSTRUCTIONS) }));
	others.marked = marked_start(others.group, ANY_CPU, COMMAND(program("loop-long")));
}

static void others_finish(void)
{
	int status;

	expect_success(others.marked);
	ck_assert_uint_eq(context_read(others.session).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(counted_finish(&others.counted, &status).counter[0],
			  LOOP_INSTRUCTIONS(LONG_LOOP));
	close(others.session);
	close(others.group);
	ck_assert_uint_eq(pmu_info().n_contexts, own >= 0 ? 1 : 0);
}

static void expect_clean_calls(const struct call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_clean_failures(&calls[i]);
}

static void begin(void)
{
	allow_failures();
	others_start();
}

static void close_descriptor(long fd)
{
	close((int)fd);
}

static void nothing_to_undo(long result)
{
	(void)result;
}

/* Contexts. */

static long open_self(void)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREATE };

	return ioctl(device, PERFCTR_IOC_OPEN, &open);
}

static long look_at_self(void)
{
	struct perfctr_open open = { .size = sizeof(open) };

	return ioctl(device, PERFCTR_IOC_OPEN, &open);
}

static long first_control(void)
{
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_RECORD);

	return ioctl(own, PERFCTR_IOC_CONTROL, &control);
}

/* A context without a control again. */
static void open_anew(long result)
{
	(void)result;
	close(own);
	own = context_open(0, PERFCTR_OPEN_CREATE);
}

static long other_control(void)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(BRANCHES) }, { 1, USER(LOADS) }));

	control.flags = PERFCTR_CONTROL_STOPPED;
	return ioctl(own, PERFCTR_IOC_CONTROL, &control);
}

static void install_tree_control(long result)
{
	(void)result;
	ck_assert_int_eq(first_control(), 0);
}

static long read_tree(void)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = PERFCTR_SCOPE_TREE };

	return ioctl(own, PERFCTR_IOC_READ, &counts);
}

static long map_page(void)
{
	return (long)mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, own, 0);
}

static void unmap_page(long address)
{
	munmap((void *)address, PERFCTR_PAGE_SIZE);
}

START_TEST(a_context_is_there_as_a_whole_or_not_at_all)
{
	static const struct call calls[] = {
		{ "open", open_self, close_descriptor, 0, 4 },
	};
	static const struct call calls_of_context[] = {
		{ "first control", first_control, open_anew, 0, 2 },
		{ "map the page", map_page, unmap_page, 0, 1 },
	};

	begin();
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	own = context_open(0, PERFCTR_OPEN_CREATE);
	expect_clean_calls(calls_of_context, ARRAY_SIZE(calls_of_context));
	others_finish();
}
END_TEST

START_TEST(a_control_that_fails_leaves_the_one_before_at_work)
{
	static const struct call calls[] = {
		{ "other control", other_control, install_tree_control, 0, 2 },
		{ "look", look_at_self, close_descriptor, 0, 1 },
		{ "read", read_tree, nothing_to_undo, 0, 1 },
	};

	begin();
	own = tree_open(PERFCTR_CONTROL_RECORD);
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	others_finish();
}
END_TEST

/* Threads that are born with a context and a mark. */

static long fork_child(void)
{
	long pid = syscall(SYS_fork);

	if (pid == 0)
		_exit(0);
	return pid;
}

static long vfork_child(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	return pid;
}

/*
 * The descriptor of the process comes late.  It is stored in a page that the child shares by then:
 * EFAULT where there is no memory for a copy.
 */
static long clone_child(void)
{
	int pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		close(pidfd);
	return pid;
}

static void wait_for_child(long pid)
{
	int status;

	ck_assert_int_eq(wait_for((pid_t)pid, &status), (pid_t)pid);
	ck_assert_int_eq(status, 0);
}

static pthread_t thread;

static void *thread_that_returns(void *argument)
{
	return argument;
}

/* On a stack of the test's: one of the C library's is kept, and not asked for the next time. */
static long create_thread(void)
{
	static _Alignas(16) char stack[1 << 17];
	pthread_attr_t attributes;
	int error;

	pthread_attr_init(&attributes);
	EXPECT(pthread_attr_setstack(&attributes, stack, sizeof(stack)) == 0);
	error = pthread_create(&thread, &attributes, thread_that_returns, NULL);
	pthread_attr_destroy(&attributes);
	errno = error;
	return error ? -1 : 0;
}

static void join_thread(long result)
{
	(void)result;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static const struct call births[] = {
	{ "fork", fork_child, wait_for_child, EAGAIN, 20 },
	{ "vfork", vfork_child, wait_for_child, EAGAIN, 5 },
	{ "clone with a descriptor", clone_child, wait_for_child, EFAULT, 20 },
	{ "pthread_create", create_thread, join_thread, EAGAIN, 2 },
};

START_TEST(a_child_of_a_monitored_thread_that_is_not_born_leaves_no_context)
{
	begin();
	own = tree_open(0);
	expect_clean_calls(births, ARRAY_SIZE(births));
	others_finish();
}
END_TEST

START_TEST(a_child_of_a_marked_thread_that_is_not_born_leaves_no_mark)
{
	begin();
	group = group_open();
	mark(0, group);
	expect_clean_calls(births, ARRAY_SIZE(births));
	others_finish();
}
END_TEST

START_TEST(a_child_of_a_monitored_and_marked_thread_that_is_not_born_leaves_neither)
{
	begin();
	own = tree_open(PERFCTR_CONTROL_RECORD);
	group = group_open();
	mark(0, group);
	expect_clean_calls(births, ARRAY_SIZE(births));
	others_finish();
}
END_TEST

/* A monitored and marked child, whose n-th allocation from now on fails. */
static pid_t child_that_fails(unsigned int n, const char *const command[])
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);

		fail_allocation(fd, n);
		if (command)
			execv(command[0], (char *const *)command);
		_exit(0);
	}
	return pid;
}

/* Did an allocation of a child that has ended fail?  It is waited for. */
static bool child_has_failed(pid_t pid)
{
	char path[64];
	siginfo_t ended;
	int status;
	uint64_t left;

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	snprintf(path, sizeof(path), "/proc/%d/fail-nth", pid);
	left = read_number(path);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	return left == 0;
}

static void monitored_and_marked(void)
{
	begin();
	own = tree_open(PERFCTR_CONTROL_RECORD);
	group = group_open();
	mark(0, group);
}

/*
 * In memory: when the close of a file of the host's finds none, the 9p client gives the file's
 * number away again, which the server still holds, and nothing can be opened any more.
 */
#define PROGRAM_IN_MEMORY "/dev/shm/loop-tiny"

START_TEST(an_exec_that_fails_or_kills_leaves_nothing)
{
	struct footprint before;
	unsigned int n = 0;
	bool failed;

	copy_file(program("loop-tiny"), PROGRAM_IN_MEMORY, 0755);
	monitored_and_marked();
	before = footprint();
	do {
		ck_assert_uint_lt(++n, MAX_ALLOCATIONS);
		failed = child_has_failed(child_that_fails(n, COMMAND(PROGRAM_IN_MEMORY)));
		expect_footprint(&before, "exec", n);
	} while (failed);
	printf("exec: %u allocations\n", n - 1);
	ck_assert_uint_gt(n, 20);
	others_finish();
}
END_TEST

/* More than any exit needs. */
#define EXIT_ALLOCATIONS 60

START_TEST(a_record_that_finds_no_memory_is_told_as_lost)
{
	struct perfctr_record record;
	unsigned int lost = 0, told = 0;

	monitored_and_marked();
	for (unsigned int n = 1; n <= EXIT_ALLOCATIONS; n++) {
		uint64_t children = context_read_scope(own, PERFCTR_SCOPE_CHILDREN).counter[0];
		pid_t pid = child_that_fails(n, NULL);

		wait_for_child(pid);
		record = (struct perfctr_record){ .size = sizeof(record) };
		ck_assert_int_eq(ioctl(own, PERFCTR_IOC_RECORD, &record), 0);
		ck_assert_int_eq(record.tid, record.lost ? 0 : pid);
		lost += record.lost;
		told += record.tid == pid;
		/* What it has counted is not lost. */
		ck_assert_uint_gt(context_read_scope(own, PERFCTR_SCOPE_CHILDREN).counter[0],
				  children);
	}
	ck_assert_uint_eq(lost + told, EXIT_ALLOCATIONS);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_gt(told, 0);
	others_finish();
}
END_TEST

/* Groups: a process of more threads than the kernel expects at first, and another one below it. */
#define HERD_THREADS 70
#define HERD (HERD_THREADS + 1)

static pid_t herd;

static void *thread_that_waits(void *argument)
{
	pause();
	return argument;
}

static void herd_start(void)
{
	int ready = eventfd(0, 0);
	uint64_t one = 1;

	herd = fork();
	ck_assert_int_ge(herd, 0);
	if (herd == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i < HERD_THREADS; i++)
			EXPECT(pthread_create(&thread, NULL, thread_that_waits, NULL) == 0);
		if (fork() == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		else
			EXPECT(write(ready, &one, sizeof(one)) == sizeof(one));
		pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready, &one, sizeof(one)), sizeof(one));
	close(ready);
}

static long change_herd(uint32_t action, uint32_t scope)
{
	struct perfctr_mark mark = {
		.size = sizeof(mark),
		.action = action,
		.scope = scope,
		.tid = herd,
		.group = group,
	};

	return ioctl(device, PERFCTR_IOC_MARK, &mark) ? -1 : (long)mark.changed;
}

static long mark_thread(void)
{
	return change_herd(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD);
}

static long mark_process(void)
{
	return change_herd(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS);
}

static long mark_tree(void)
{
	return change_herd(PERFCTR_MARK_SET, PERFCTR_MARK_TREE);
}

static long clear_tree(void)
{
	return change_herd(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE);
}

static void clear_again(long changed)
{
	ck_assert_int_eq(clear_tree(), changed);
}

static void mark_again(long changed)
{
	ck_assert_int_eq(changed, HERD);
	ck_assert_int_eq(mark_tree(), HERD);
}

static long open_group(void)
{
	struct perfctr_group_open open = { .size = sizeof(open) };

	return ioctl(device, PERFCTR_IOC_GROUP, &open);
}

static long list_members(void)
{
	int32_t tids[HERD] = { 0 };
	struct perfctr_members members = {
		.size = sizeof(members),
		.room = HERD,
		.tids = (uintptr_t)tids,
	};

	return ioctl(group, PERFCTR_IOC_MEMBERS, &members) ? -1 : (long)members.n;
}

static void expect_herd(long members)
{
	ck_assert_int_eq(members, HERD);
}

START_TEST(all_threads_are_marked_or_none)
{
	static const struct call calls[] = {
		{ "open a group", open_group, close_descriptor, 0, 2 },
		{ "mark a thread", mark_thread, clear_again, 0, 1 },
		{ "mark a process", mark_process, clear_again, 0, 2 },
		{ "mark a tree", mark_tree, clear_again, 0, 2 },
	};
	static const struct call calls_of_marked[] = {
		{ "clear the marks of a tree", clear_tree, mark_again, 0, 2 },
		{ "list members", list_members, expect_herd, 0, 2 },
	};

	herd_start();
	begin();
	group = group_open();
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	ck_assert_int_eq(mark_tree(), HERD);
	expect_clean_calls(calls_of_marked, ARRAY_SIZE(calls_of_marked));
	others_finish();
}
END_TEST

START_TEST(the_last_close_of_a_group_takes_all_marks_whatever_fails)
{
	bool failed = true;

	herd_start();
	begin();
	for (unsigned int n = 1; failed; n++) {
		group = group_open();
		ck_assert_int_eq(mark_tree(), HERD);
		fail_allocation(fail_nth, n);
		close(group);
		failed = has_failed(fail_nth);
		ck_assert(failed || n > 1);
		ck_assert_uint_eq(mark_of(herd), 0);
		group = group_open();
		ck_assert_int_eq(mark_tree(), HERD);
		ck_assert_int_eq(clear_tree(), HERD);
		close(group);
	}
	group = -1;
	others_finish();
}
END_TEST

/* Sessions. */

static struct perfctr_session_open traced_session;

static long open_session(void)
{
	traced_session = session_of(group, NOT_PRIVILEGED | MARKED);
	traced_session.trace_bytes = 65536;
	return ioctl(device, PERFCTR_IOC_SESSION, &traced_session);
}

static long control_first(void)
{
	struct perfctr_control control;

	return try_session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }),
				   &control);
}

static void open_session_anew(long result)
{
	(void)result;
	close(session);
	session = (int)open_session();
	ck_assert_int_ge(session, 0);
}

static long control_otherwise(void)
{
	struct perfctr_control control;

	return try_session_control(session,
				   SESSION_EVENTS({ { 0, USER(BRANCHES) }, 0 },
						  { { 1, USER(LOADS) }, 0 }),
				   &control);
}

static void control_as_before(long result)
{
	(void)result;
	ck_assert_int_eq(control_first(), 0);
}

static long read_session(void)
{
	struct perfctr_counts counts = { .size = sizeof(counts) };

	return ioctl(session, PERFCTR_IOC_READ, &counts);
}

static long map_totals(void)
{
	return (long)mmap(NULL, traced_session.totals_bytes, PROT_READ, MAP_SHARED, session, 0);
}

static void unmap_totals(long address)
{
	munmap((void *)address, traced_session.totals_bytes);
}

static long map_ring(void)
{
	return (long)mmap(NULL, traced_session.ring_bytes, PROT_READ, MAP_SHARED, session,
			  PERFCTR_RING_OFFSET + traced_session.ring_bytes);
}

static void unmap_ring(long address)
{
	munmap((void *)address, traced_session.ring_bytes);
}

START_TEST(a_session_is_there_as_a_whole_or_not_at_all)
{
	static const struct call calls[] = {
		{ "open a session", open_session, close_descriptor, 0, 40 },
	};
	static const struct call calls_of_new[] = {
		{ "first control of a session", control_first, open_session_anew, 0, 2 },
		{ "map the totals", map_totals, unmap_totals, 0, 1 },
		{ "map a ring", map_ring, unmap_ring, 0, 1 },
	};
	static const struct call calls_of_started[] = {
		{ "other control of a session", control_otherwise, control_as_before, 0, 2 },
		{ "read a session", read_session, nothing_to_undo, 0, 1 },
	};

	begin();
	group = group_open();
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	session = (int)open_session();
	ck_assert_int_ge(session, 0);
	expect_clean_calls(calls_of_new, ARRAY_SIZE(calls_of_new));
	ck_assert_int_eq(control_first(), 0);
	expect_clean_calls(calls_of_started, ARRAY_SIZE(calls_of_started));
	others_finish();
}
END_TEST

SUITE(fail, a_context_is_there_as_a_whole_or_not_at_all,
      a_control_that_fails_leaves_the_one_before_at_work,
      a_child_of_a_monitored_and_marked_thread_that_is_not_born_leaves_neither,
      a_child_of_a_monitored_thread_that_is_not_born_leaves_no_context,
      a_child_of_a_marked_thread_that_is_not_born_leaves_no_mark,
      an_exec_that_fails_or_kills_leaves_nothing, a_record_that_finds_no_memory_is_told_as_lost,
      all_threads_are_marked_or_none, the_last_close_of_a_group_takes_all_marks_whatever_fails,
      a_session_is_there_as_a_whole_or_not_at_all)
