// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first allocation of a call fails, then the second, and so on until it gets through with all
 * it asks for: every failure is told, leaves nothing behind, and disturbs nothing that counts.
 * Only on a kernel with fault injection (vm+fail).
 */
#include "groups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

static void allow_failures(void)
{
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
			ck_assert_msg(failed && error == ENOMEM, "%s, allocation %u %s: %s",
				      call->name, n, failed ? "failed" : "did not fail",
				      strerror(error));
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
		{ "open", open_self, close_descriptor, 4 },
	};
	static const struct call calls_of_context[] = {
		{ "first control", first_control, open_anew, 2 },
		{ "map the page", map_page, unmap_page, 1 },
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
		{ "other control", other_control, install_tree_control, 2 },
		{ "look", look_at_self, close_descriptor, 1 },
		{ "read", read_tree, nothing_to_undo, 1 },
	};

	begin();
	own = tree_open(PERFCTR_CONTROL_RECORD);
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	others_finish();
}
END_TEST

static void wait_for_child(pid_t pid)
{
	int status;

	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
}

/* A monitored and marked child, whose n-th allocation from now on fails. */
static pid_t child_that_fails(unsigned int n)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);

		fail_allocation(fd, n);
		_exit(0);
	}
	return pid;
}

static void monitored_and_marked(void)
{
	begin();
	own = tree_open(PERFCTR_CONTROL_RECORD);
	group = group_open();
	mark(0, group);
}

/* More than any exit needs. */
#define EXIT_ALLOCATIONS 60

START_TEST(a_record_that_finds_no_memory_is_told_as_lost)
{
	struct perfctr_record record;
	unsigned int lost = 0, told = 0;

	monitored_and_marked();
	for (unsigned int n = 1; n <= EXIT_ALLOCATIONS; n++) {
		uint64_t children = context_read_scope(own, PERFCTR_SCOPE_CHILDREN).counter[0];
		pid_t pid = child_that_fails(n);

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
		{ "open a session", open_session, close_descriptor, 40 },
	};
	static const struct call calls_of_new[] = {
		{ "first control of a session", control_first, open_session_anew, 2 },
		{ "map the totals", map_totals, unmap_totals, 1 },
		{ "map a ring", map_ring, unmap_ring, 1 },
	};
	static const struct call calls_of_started[] = {
		{ "other control of a session", control_otherwise, control_as_before, 2 },
		{ "read a session", read_session, nothing_to_undo, 1 },
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
      a_record_that_finds_no_memory_is_told_as_lost, a_session_is_there_as_a_whole_or_not_at_all)
