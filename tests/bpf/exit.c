// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that have begun to exit, and do not come to the end of it. */
#include "bpf.h"
#include "attacker.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * When the first process of a pid namespace is killed, it kills the others. It stays in exit until
 * their parent has waited for them.
 */
struct stuck {
	pid_t first, other;
};

static void make_stuck(struct stuck *stuck, struct perfctr_mark *mark)
{
	siginfo_t info;

	ck_assert_int_eq(unshare(CLONE_NEWPID), 0);
	stuck->first = victim();
	stuck->other = victim();
	wait_until_asleep(stuck->first);
	ck_assert_int_eq(perfctr_mark_set(mark, stuck->first, PERFCTR_MARK_PROCESS), 1);
	kill(stuck->first, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)stuck->other, &info, WEXITED | WNOWAIT), 0);
}

static void let_exit(const struct stuck *stuck)
{
	ck_assert_int_eq(waitpid(stuck->other, NULL, 0), stuck->other);
	ck_assert_int_eq(waitpid(stuck->first, NULL, 0), stuck->first);
}

static void end_without_members(struct perfctr_session *session, struct perfctr_mark *mark)
{
	struct perfctr_counts counts = session_counts(session);

	ck_assert_uint_eq(counts.members, 0);
	ck_assert_uint_ne(counts.flags & PERFCTR_COUNTS_CONSISTENT, 0);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
}

static long own_naps(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

#define READS 20

START_TEST(who_stays_in_exit_is_waited_for_once)
{
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = counted_mark_software(mark);
	struct perfctr_counts counts;
	struct stuck stuck;
	pid_t member;
	long naps;

	make_stuck(&stuck, mark);
	session_counts(session);
	naps = own_naps();
	for (int i = 0; i < READS; i++) {
		counts = session_counts(session);
		ck_assert_uint_eq(counts.members, 1);
		ck_assert_int_eq(perfctr_members(mark, NULL, 0), 1);
		ck_assert_int_eq(perfctr_members(mark, &member, 1), 1);
		ck_assert_int_eq(member, stuck.first);
	}
	ck_assert_int_lt(own_naps() - naps, READS);
	let_exit(&stuck);
	end_without_members(session, mark);
}
END_TEST

/*
 * After it is reaped, the thread has yet to leave its CPU. The reader takes that CPU from it where
 * the kernel allows.
 */
START_TEST(who_stayed_in_exit_is_waited_for_when_it_is_reaped)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct perfctr_mark *mark = make_mark();
	struct perfctr_session *session = counted_mark_software(mark);
	struct perfctr_counts counts;
	struct stuck stuck;

	stay_on(0);
	make_stuck(&stuck, mark);
	ck_assert_int_eq(sched_setscheduler(0, SCHED_FIFO, &first), 0);
	counts = session_counts(session);
	ck_assert_uint_eq(counts.members, 1);
	let_exit(&stuck);
	end_without_members(session, mark);
}
END_TEST

TCase *exit_tests(void)
{
	TCase *tests = tcase_create("exit");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, who_stays_in_exit_is_waited_for_once);
	tcase_add_test(tests, who_stayed_in_exit_is_waited_for_when_it_is_reaped);
	return tests;
}
