// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions on CPUs, with all threads that run there; their traces; and what all sessions refuse. */
#include "backend.h"

#include <sys/resource.h>
#include <unistd.h>

START_TEST(a_session_without_a_control_does_not_start)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = open_session(mark);

	expect_refusal(perfctr_session_start(session), EINVAL);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

START_TEST(a_refused_control_of_a_session_changes_nothing)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = session_of(mark, 0);
	struct perfctr_control control = user_control(1, 0);
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));

	perfctr_control_add(&control, 77, USER(BRANCHES), 0);
	expect_refusal(perfctr_session_control(session, &control), EINVAL);
	ck_assert_uint_eq(control.bad_event, 1);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_COUNTER);
	ck_assert_int_eq(perfctr_mark_set(mark, pid, PERFCTR_MARK_PROCESS), 1);
	run_to_end(pid);
	ck_assert_uint_eq(session_counts(session).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

/* Marks the process with room for n more descriptors than there are. */
static int mark_with_room(struct perfctr_mark *mark, pid_t pid, unsigned int n)
{
	struct rlimit all, few;
	int next = dup(0), marked, error;

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)next + n, .rlim_max = all.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	marked = perfctr_mark_set(mark, pid, PERFCTR_MARK_PROCESS);
	error = errno;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
	errno = error;
	return marked;
}

/* Backends that need descriptors lack them at first for the mark, then for a session or for both. */
START_TEST(a_thread_that_was_not_marked_for_want_of_descriptors_is_not_counted)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *first = session_of(mark, 0), *second = session_of(mark, 0);
	bool marked = false;

	for (unsigned int room = 0; !marked; room++) {
		pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));

		marked = mark_with_room(mark, pid, room) == 1;
		if (!marked)
			ck_assert_int_eq(errno, EMFILE);
		ck_assert_int_eq(perfctr_members(mark, NULL, 0), marked);
		if (marked)
			run_to_end(pid);
		else
			kill_and_wait(pid);
	}
	ck_assert_uint_eq(session_counts(first).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(session_counts(second).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	perfctr_session_close(first);
	perfctr_session_close(second);
	perfctr_mark_close(mark);
}
END_TEST

/* cpus: 0: all. Returns NULL with errno. */
static struct perfctr_session *try_cpus(unsigned long cpus)
{
	const struct perfctr_session_options options = {
		.size = sizeof(struct perfctr_session_options),
		.cpus = cpus ? &cpus : NULL,
		.cpus_size = cpus ? sizeof(cpus) : 0,
	};

	return perfctr_session_open(&options);
}

static struct perfctr_session *counted_cpus(unsigned long cpus)
{
	struct perfctr_control control = user_control(1, 0);
	struct perfctr_session *session = try_cpus(cpus);

	ck_assert_msg(session, "perfctr_session_open: %s", strerror(errno));
	control_session(session, &control);
	return session;
}

START_TEST(a_session_on_cpus_counts_whoever_runs_there)
{
	struct perfctr_session *session = counted_cpus(0);
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop-long")));
	struct perfctr_counts counts, sum;
	uint64_t before = session_counts(session).counter[0];

	run_to_end(pid);
	ck_assert_int_eq(perfctr_session_stop(session), 0);
	counts = session_counts(session);
	ck_assert_uint_ge(counts.counter[0] - before, LOOP_INSTRUCTIONS(LONG_LOOP));
	perfctr_session_sum(session, &sum);
	ck_assert_uint_eq(sum.counter[0], counts.counter[0]);
	perfctr_session_close(session);
}
END_TEST

/* The loop runs on the other CPU. */
START_TEST(a_session_counts_on_its_own_cpus_alone)
{
	struct perfctr_session *session = counted_cpus(1ul << 1);
	pid_t pid = stopped_start(0, COMMAND(program("loop-long")));
	uint64_t before = session_counts(session).counter[0];

	run_to_end(pid);
	ck_assert_uint_lt(session_counts(session).counter[0] - before,
			  LOOP_INSTRUCTIONS(LONG_LOOP));
	perfctr_session_close(session);
}
END_TEST

START_TEST(a_cpu_that_does_not_exist_is_refused)
{
	expect_null(try_cpus(1ul << 63), EINVAL);
}
END_TEST

static int count_record(const struct perfctr_trace_record *record, void *argument)
{
	unsigned int *n = argument;

	*n += record->type == PERFCTR_TRACE_SWITCH;
	return 0;
}

START_TEST(a_trace_has_the_switches_of_the_marked)
{
	struct perfctr_mark *mark = make_mark();
	const struct perfctr_session_options options = {
		.size = sizeof(struct perfctr_session_options),
		.mark = mark,
		.policy = PERFCTR_EXCLUDE_UNMARKED,
		.trace_bytes = 1 << 16,
	};
	struct perfctr_session *session = perfctr_session_open(&options);
	struct perfctr_control control = user_control(1, 0);
	unsigned int n = 0;

	ck_assert_ptr_nonnull(session);
	control_session(session, &control);
	ck_assert_int_eq(perfctr_mark_set(mark, 0, PERFCTR_MARK_THREAD), 1);
	nap(20);
	ck_assert_int_eq(perfctr_session_stop(session), 0);
	for (unsigned int cpu = 0; cpu < perfctr_session_cpus(session); cpu++)
		ck_assert_int_ge(perfctr_session_trace(session, cpu, count_record, &n), 0);
	ck_assert_uint_ge(n + perfctr_session_lost(session), 20);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}
END_TEST

#define MH (PERFCTR_CAN_MARK | PERFCTR_CAN_HARDWARE)
#define S (PERFCTR_CAN_SESSION | PERFCTR_CAN_HARDWARE)

const struct contract session_contract[] = {
	{ MH, &a_session_without_a_control_does_not_start },
	{ MH, &a_refused_control_of_a_session_changes_nothing },
	{ MH, &a_thread_that_was_not_marked_for_want_of_descriptors_is_not_counted },
	{ BY_ROOT | S, &a_session_on_cpus_counts_whoever_runs_there },
	{ BY_ROOT | S, &a_session_counts_on_its_own_cpus_alone },
	{ BY_ROOT | PERFCTR_CAN_SESSION, &a_cpu_that_does_not_exist_is_refused },
	{ BY_ROOT | MH | PERFCTR_CAN_TRACE, &a_trace_has_the_switches_of_the_marked },
	{ 0, NULL },
};
