// SPDX-License-Identifier: GPL-2.0-or-later
#include "fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Allocations that may sleep and those of single pages fail, too. The kernel's log does not mention
 * failures.
 */
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

int device, fail_nth, own = -1, mark_fd = -1, session = -1;

/*
 * When a thread is preempted at the end of a fork, the kernel writes the number of the CPU there.
 * The page is shared with the child by then: if it cannot be copied, the thread gets SIGSEGV.
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

void fail_allocation(int fd, unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	EXPECT(pwrite(fd, text, (size_t)length, 0) == length);
}

bool has_failed(int fd)
{
	char text[16] = "";

	EXPECT(pread(fd, text, sizeof(text) - 1, 0) > 0);
	fail_allocation(fd, 0);
	return atoi(text) == 0;
}

static const char *const footprint_names[] = {
	"contexts",
	"counters of contexts",
	"counters of sessions",
	"RDPMC",
	"members of the mark",
	"members of the tree",
	"counters of the tree",
	"state of the tree",
	"mark",
	"counters of the session",
	"state of the session",
	"descriptors",
};

static uint64_t count_descriptors(void)
{
	uint64_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

struct footprint footprint(void)
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
		.members = mark_fd >= 0 ? mark_members(mark_fd) : 0,
		.own_members = tree.members,
		.own_counters = tree.n_counters,
		.own_started = tree.flags & PERFCTR_COUNTS_STARTED,
		.own_mark = mark_of(0),
		.session_events = marked.n_counters,
		.session_started = marked.flags & PERFCTR_COUNTS_STARTED,
		.descriptors = count_descriptors(),
	};
}

void expect_footprint(const struct footprint *expected, const char *call, unsigned int n)
{
	const uint64_t *want = (const uint64_t *)expected, *is;
	struct footprint now;

	for (int i = 0; i < 12000; i++) {
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

/* Each allocation of the call fails in turn. Then the call succeeds. */
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

void expect_clean_calls(const struct call *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_clean_failures(&calls[i]);
}

/* A counted and a marked program run meanwhile, and must not miss an instruction. */
static struct {
	struct counted counted;
	int mark_fd, session;
	pid_t marked;
} others;

static void others_start(void)
{
	others.mark_fd = mark_open();
	others.session = session_open(others.mark_fd, NOT_PRIVILEGED | MARKED);
	session_control(others.session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	others.counted = counted_start(ANY_CPU, COMMAND(program("loop-long")),
				       EVENTS({ 3, USER(INSTRUCTIONS) }));
	others.marked = marked_start(others.mark_fd, ANY_CPU, COMMAND(program("loop-long")));
}

void fail_begin(void)
{
	allow_failures();
	others_start();
}

void fail_finish(void)
{
	int status;

	expect_success(others.marked);
	ck_assert_uint_eq(context_read(others.session).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(counted_finish(&others.counted, &status).counter[0],
			  LOOP_INSTRUCTIONS(LONG_LOOP));
	close(others.session);
	close(others.mark_fd);
	ck_assert_uint_eq(pmu_info().n_contexts, own >= 0 ? 1 : 0);
}

void close_descriptor(long fd)
{
	close((int)fd);
}

void nothing_to_undo(long result)
{
	(void)result;
}
