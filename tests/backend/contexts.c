// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts are opened, controlled, refused, closed. */
#include "backend.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The capabilities of each backend for root, on the machines of tests/backend/run:
 * perfctr_backends(3). Kernel mode is a sentence of its own.
 */
static const struct {
	const char *name;
	uint32_t can;
} expected[] = {
	{ "patch", PERFCTR_CAN_LIVE_READ | PERFCTR_CAN_RDPMC | PERFCTR_CAN_INHERIT |
			   PERFCTR_CAN_EXIT_RECORDS | PERFCTR_CAN_REMOTE | PERFCTR_CAN_HARDWARE |
			   PERFCTR_CAN_MARK | PERFCTR_CAN_SESSION | PERFCTR_CAN_TRACE |
			   PERFCTR_CAN_ISOLATE | PERFCTR_CAN_SWITCHES | PERFCTR_CAN_CONSISTENT |
			   PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_TOTALS | PERFCTR_CAN_SAMPLE |
			   PERFCTR_CAN_SIGNAL | KEEPS_CONTEXTS | KEEPS_MARKS },
	{ "bpf", PERFCTR_CAN_LIVE_READ | PERFCTR_CAN_INHERIT | PERFCTR_CAN_REMOTE |
			 PERFCTR_CAN_HARDWARE | PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_MARK |
			 PERFCTR_CAN_SWITCHES | KEEPS_CONTEXTS | KEEPS_MARKS },
	{ "perf_events", PERFCTR_CAN_RDPMC | PERFCTR_CAN_INHERIT | PERFCTR_CAN_REMOTE |
				 PERFCTR_CAN_HARDWARE | PERFCTR_CAN_SOFTWARE | PERFCTR_CAN_MARK |
				 PERFCTR_CAN_SESSION | PERFCTR_CAN_SWITCHES },
};

START_TEST(a_backend_can_what_its_manual_says)
{
	struct perfctr *self = open_context(0);
	uint32_t can = 0;

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (strcmp(expected[i].name, perfctr_backend_name(self)) == 0)
			can = expected[i].can;
	perfctr_close(self);
	ck_assert_uint_ne(can, 0);
	ck_assert_uint_eq(capabilities() & ~(PERFCTR_CAN_KERNEL | BY_ROOT | WHOLE), can);
}
END_TEST

START_TEST(root_is_told_that_it_may_count_in_kernel_mode)
{
	ck_assert_uint_ne(capabilities() & PERFCTR_CAN_KERNEL, 0);
}
END_TEST

START_TEST(a_thread_has_one_context_at_a_time)
{
	struct perfctr *self;

	expect_null(perfctr_open_tid(0, 0), ENOENT);
	self = open_context(0);
	expect_null(perfctr_open(), EEXIST);
	errno = EINTR;
	perfctr_close(self);
	ck_assert_int_eq(errno, EINTR);
	expect_null(perfctr_open_tid(0, 0), ENOENT);
	perfctr_close(open_context(0));
}
END_TEST

START_TEST(who_is_not_there_cannot_be_opened)
{
	expect_null(perfctr_open_tid(NOBODY_THERE, PERFCTR_OPEN_CREATE), ESRCH);
}
END_TEST

START_TEST(unknown_flags_of_open_are_refused)
{
	expect_null(perfctr_open_tid(0, PERFCTR_OPEN_CREATE | 1u << 7), EINVAL);
}
END_TEST

START_TEST(without_a_control_there_is_nothing_to_start)
{
	struct perfctr *self = open_context(0);

	expect_refusal(perfctr_start(self), EINVAL);
	perfctr_close(self);
}
END_TEST

START_TEST(an_unknown_scope_is_refused)
{
	struct perfctr *self = open_context(0);
	struct perfctr_counts counts;

	expect_refusal(perfctr_read_scope(self, PERFCTR_SCOPE_TREE + 1, &counts), EINVAL);
	perfctr_close(self);
}
END_TEST

START_TEST(a_refused_control_names_its_event_and_changes_nothing)
{
	struct perfctr *self = counted(0, 1, 0);
	struct perfctr_control control = user_control(1, 0);
	uint64_t before = instructions_of(self), now;

	perfctr_control_add(&control, 77, USER(BRANCHES), 0);
	expect_refusal(perfctr_set_control(self, &control), EINVAL);
	ck_assert_uint_eq(control.bad_event, 1);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_COUNTER);
	loop(ITERATIONS);
	now = instructions_of(self);
	ck_assert_uint_gt(now, before + 2 * ITERATIONS);
	ck_assert_uint_eq(own_counts(self).n_counters, 1);
	/* The same struct is accepted after correction. */
	control.event[1].counter = PERFCTR_ANY;
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	perfctr_close(self);
}
END_TEST

START_TEST(a_counter_has_one_event)
{
	struct perfctr *self = open_context(0);
	struct perfctr_control control;

	perfctr_control_init(&control);
	perfctr_control_add(&control, 0, USER(INSTRUCTIONS), 0);
	perfctr_control_add(&control, 0, USER(INSTRUCTIONS), 0);
	expect_refusal(perfctr_set_control(self, &control), EINVAL);
	ck_assert_uint_eq(control.bad_event, 1);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_DUPLICATE);
	perfctr_close(self);
}
END_TEST

START_TEST(one_event_more_than_counters_is_refused)
{
	struct perfctr *self = open_context(0);
	struct perfctr_pmu_info info;
	struct perfctr_control control;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	ck_assert_uint_gt(info.n_general, 0);
	perfctr_control_init(&control);
	for (uint32_t i = 0; i <= info.n_general; i++)
		perfctr_control_add(&control, PERFCTR_ANY, USER(BRANCHES), 0);
	expect_refusal(perfctr_set_control(self, &control), ENOSPC);
	ck_assert_uint_eq(control.bad_event, info.n_general);
	perfctr_close(self);
}
END_TEST

START_TEST(only_the_handle_that_made_a_context_controls_it)
{
	struct perfctr *self = counted(0, 1, 0), *other = perfctr_open_tid(gettid(), 0);
	struct perfctr_control control = user_control(1, 0);
	uint64_t before = instructions_of(self);

	ck_assert_ptr_nonnull(other);
	expect_refusal(perfctr_stop(other), EPERM);
	expect_refusal(perfctr_start(other), EPERM);
	expect_refusal(perfctr_set_control(other, &control), EPERM);
	ck_assert_uint_gt(instructions_of(other), before);
	perfctr_close(other);
	ck_assert_uint_gt(instructions_of(self), before);
	perfctr_close(self);
}
END_TEST

static void expect_bad(uint32_t flags, uint32_t counter, uint32_t reason)
{
	struct perfctr *self = open_context(0);
	struct perfctr_control control;

	perfctr_control_init(&control);
	control.flags = flags;
	if (counter)
		perfctr_control_add(&control, counter, 0, 0);
	expect_refusal(perfctr_set_control(self, &control), ENOTSUP);
	ck_assert_uint_eq(control.bad_reason, reason);
	perfctr_close(self);
}

static void refuse_contexts(uint32_t can)
{
	struct perfctr *self = open_context(0);
	struct perfctr_exit_record record;

	if (!(can & PERFCTR_CAN_EXIT_RECORDS))
		expect_refusal(perfctr_next_exit_record(self, &record), ENOTSUP);
	perfctr_close(self);
	if (!(can & PERFCTR_CAN_EXIT_RECORDS))
		expect_bad(PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS, 0,
			   PERFCTR_BAD_EXIT_RECORDS);
	if (!(can & PERFCTR_CAN_SOFTWARE))
		expect_bad(0, PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, PERFCTR_BAD_SOFTWARE);
	if (!(can & KEEPS_CONTEXTS))
		expect_null(perfctr_open_tid(0, 0), ENOTSUP);
}

static void refuse_marks(uint32_t can)
{
	struct perfctr_mark *mark = make_mark();
	uint64_t id;

	if (!(can & KEEPS_MARKS)) {
		expect_refusal(perfctr_mark_clear(mark, 0, PERFCTR_MARK_THREAD), ENOTSUP);
		expect_refusal(perfctr_mark_get(0, &id), ENOTSUP);
		expect_refusal(perfctr_segment_begin(mark), ENOTSUP);
		expect_refusal(perfctr_segment_end(mark), ENOTSUP);
	}
	perfctr_mark_close(mark);
}

static void refuse_sessions(uint32_t can)
{
	struct perfctr_mark *mark = make_mark();
	const struct perfctr_session_options cpus = { .size = sizeof(cpus) };
	const struct perfctr_session_options unmarked = {
		.size = sizeof(struct perfctr_session_options),
		.policy = PERFCTR_EXCLUDE_UNMARKED,
	};
	const struct perfctr_session_options trace = {
		.size = sizeof(struct perfctr_session_options),
		.mark = mark,
		.policy = PERFCTR_EXCLUDE_UNMARKED,
		.trace_bytes = 4096,
	};

	if (!(can & PERFCTR_CAN_SESSION)) {
		expect_null(perfctr_session_open(&cpus), ENOTSUP);
		expect_null(perfctr_session_open(&unmarked), ENOTSUP);
	}
	if (!(can & PERFCTR_CAN_TRACE))
		expect_null(perfctr_session_open(&trace), ENOTSUP);
	perfctr_mark_close(mark);
}

START_TEST(what_a_backend_cannot_it_refuses)
{
	uint32_t can = capabilities();

	refuse_contexts(can);
	refuse_marks(can);
	refuse_sessions(can);
}
END_TEST

static unsigned int count_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* This is more often than there are slots or counters. */
START_TEST(closing_gives_everything_back)
{
	unsigned int files = count_files();

	for (int i = 0; i < 100; i++) {
		struct perfctr *self = counted(0, 2, PERFCTR_CONTROL_INHERIT);
		struct perfctr_mark *mark = make_mark();
		struct perfctr_session *session;

		perfctr_close(self);
		session = session_of(mark, 0);
		ck_assert_int_eq(perfctr_mark_set(mark, 0, PERFCTR_MARK_THREAD), 1);
		perfctr_session_close(session);
		perfctr_mark_close(mark);
	}
	ck_assert_uint_eq(count_files(), files);
}
END_TEST

struct foreign_read {
	const struct perfctr *p;
	const struct perfctr_page *page;
	uint64_t before;
	uint64_t value;
};

#define FOREIGN_READS 10000

/* Not all backends show the counts from before the first thread waits for this one. */
static void *read_foreign(void *argument)
{
	struct foreign_read *read = argument;

	read->page = perfctr_tsc_page(read->p);
	for (int i = 0; i < FOREIGN_READS && read->value <= read->before; i++)
		read->value = perfctr_read_counter(read->p, 0);
	return NULL;
}

START_TEST(another_thread_reads_by_the_kernel)
{
	struct perfctr *self = counted(0, 1, 0);
	struct foreign_read read = { .p = self, .before = perfctr_read_counter(self, 0) };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, read_foreign, &read), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_ptr_null(read.page);
	ck_assert_uint_gt(read.value, read.before);
	ck_assert_uint_lt(read.value, perfctr_read_counter(self, 0));
	perfctr_close(self);
}
END_TEST

/* pthread_self() of a new thread is that of a thread that has just ended. */
struct heir {
	struct perfctr *p;
	pthread_t before;
	const struct perfctr_page *page;
	uint64_t value;
	bool met;
};

static void *count_and_end(void *argument)
{
	struct heir *heir = argument;

	heir->before = pthread_self();
	heir->p = counted(0, 1, 0);
	return NULL;
}

static void *take_its_place(void *argument)
{
	struct heir *heir = argument;

	heir->met = pthread_equal(heir->before, pthread_self());
	heir->page = perfctr_tsc_page(heir->p);
	heir->value = perfctr_read_counter(heir->p, 0);
	return NULL;
}

START_TEST(a_thread_that_takes_the_place_of_another_reads_it_by_the_kernel)
{
	for (int i = 0; i < 20; i++) {
		struct heir heir = { 0 };
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, count_and_end, &heir), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		/* The thread is joined a moment before its end. */
		while (!(own_counts(heir.p).flags & PERFCTR_COUNTS_EXITED))
			nap(1);
		ck_assert_int_eq(pthread_create(&thread, NULL, take_its_place, &heir), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
		ck_assert(heir.met);
		ck_assert_ptr_null(heir.page);
		ck_assert_uint_eq(heir.value, instructions_of(heir.p));
		perfctr_close(heir.p);
	}
}
END_TEST

/* The exit status is the number of the step that failed: libcheck belongs to the parent. */
static int use_handle_of_parent(struct perfctr *parents, uint64_t least)
{
	struct perfctr *self;

	if (perfctr_tsc_page(parents))
		return 1;
	if (perfctr_read_counter(parents, 0) < least)
		return 2;
	perfctr_close(parents);
	self = perfctr_open();
	if (!self)
		return 3;
	return !perfctr_tsc_page(self) == !(capabilities() & PERFCTR_CAN_LIVE_READ) ? 0 : 4;
}

START_TEST(a_forked_child_has_no_hold_of_its_parents_context)
{
	struct perfctr *self = counted(0, 1, 0);
	uint64_t before = perfctr_read_counter(self, 0);
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(use_handle_of_parent(self, before));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	loop(ITERATIONS);
	ck_assert_uint_gt(perfctr_read_counter(self, 0), before + 2 * ITERATIONS);
	ck_assert_uint_ne(own_counts(self).flags & PERFCTR_COUNTS_STARTED, 0);
	perfctr_close(self);
}
END_TEST

#define H PERFCTR_CAN_HARDWARE
#define M PERFCTR_CAN_MARK

const struct contract context_contract[] = {
	{ WHOLE, &a_backend_can_what_its_manual_says },
	{ BY_ROOT, &root_is_told_that_it_may_count_in_kernel_mode },
	{ KEEPS_CONTEXTS, &a_thread_has_one_context_at_a_time },
	{ PERFCTR_CAN_REMOTE, &who_is_not_there_cannot_be_opened },
	{ 0, &unknown_flags_of_open_are_refused },
	{ 0, &without_a_control_there_is_nothing_to_start },
	{ 0, &an_unknown_scope_is_refused },
	{ H, &a_refused_control_names_its_event_and_changes_nothing },
	{ H, &a_counter_has_one_event },
	{ H, &one_event_more_than_counters_is_refused },
	{ H | KEEPS_CONTEXTS, &only_the_handle_that_made_a_context_controls_it },
	{ BY_ROOT | M, &what_a_backend_cannot_it_refuses },
	{ H | M, &closing_gives_everything_back },
	{ H, &another_thread_reads_by_the_kernel },
	{ H, &a_thread_that_takes_the_place_of_another_reads_it_by_the_kernel },
	{ H, &a_forked_child_has_no_hold_of_its_parents_context },
	{ 0, NULL },
};
