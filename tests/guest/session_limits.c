// SPDX-License-Identifier: GPL-2.0-or-later
/* The limits of sessions, and the share of each user: counters, places and traces. */
#include "marks.h"
#include "trees.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER_LIMIT "/sys/module/perfctr/parameters/user_session_counters"

static void user_counts_its_mark(void *unused)
{
	struct perfctr_session_args open;
	struct perfctr_control control;
	struct perfctr_counts counts;
	int mark_fd, session;
	pid_t other;

	(void)unused;
	become_nobody();
	mark_fd = mark_open();

	/* A user's session counts only marked threads, and only in user mode. */
	static const uint32_t refused[] = { 0, MARKED, NOT_PRIVILEGED, NOT_PRIVILEGED | UNMARKED };
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		open = session_of(mark_fd, refused[i]);
		errno = 0;
		EXPECT(try_session(&open) == -1 && errno == EACCES);
	}
	open = session_of(-1, NOT_PRIVILEGED | MARKED);
	errno = 0;
	EXPECT(try_session(&open) == -1 && errno == EACCES);

	open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	session = try_session(&open);
	EXPECT(session >= 0);
	/* An event may not have another policy, either. */
	errno = 0;
	EXPECT(try_session_control(session,
				   SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, POLICY(0) }),
				   &control) == -1 &&
	       errno == EACCES);
	EXPECT(control.bad_reason == PERFCTR_BAD_POLICY && control.bad_event == 0);
	/* A user has two counters for all of its sessions. */
	errno = 0;
	EXPECT(try_session_control(session,
				   SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
						  { { 1, USER(INSTRUCTIONS) }, 0 },
						  { { 2, USER(INSTRUCTIONS) }, 0 }),
				   &control) == -1 &&
	       errno == EMFILE);
	EXPECT(control.bad_reason == PERFCTR_BAD_POLICY);
	EXPECT(try_session_control(session,
				   SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
						  { { 1, BOTH(INSTRUCTIONS) }, 0 }),
				   &control) == 0);
	EXPECT(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, 0, mark_fd) == 1);
	spin(1000);
	counts = context_read(session);
	EXPECT(counts.counter[0] > 1000);
	/* The policy NOT_PRIVILEGED removes kernel mode from the event. */
	EXPECT(counts.counter[1] == counts.counter[0]);
	EXPECT(counts.flags & PERFCTR_COUNTS_CONSISTENT);
	/*
	 * A user cannot hold up the machine: counts of members that run elsewhere are not of one
	 * instant, which the flag shows.
	 */
	pin(0, 0);
	other = fork();
	if (other == 0) {
		pin(0, 1);
		for (;;)
			;
	}
	do
		counts = context_read(session);
	while (counts.flags & PERFCTR_COUNTS_CONSISTENT);
	EXPECT(counts.members == 2);
	kill_and_wait(other);
	EXPECT(context_read(session).flags & PERFCTR_COUNTS_CONSISTENT);
	/* A user can neither mark threads of others nor look at their marks. */
	errno = 0;
	EXPECT(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_THREAD, 1, mark_fd) == -1 &&
	       errno == EACCES);
	/* Of all threads below init only the caller bears a mark. */
	EXPECT(try_mark(PERFCTR_MARK_CLEAR, PERFCTR_MARK_TREE, 1, -1) == 1);
	errno = 0;
	EXPECT(try_mark(PERFCTR_MARK_GET, PERFCTR_MARK_THREAD, 1, -1) == -1 && errno == EACCES);
}

START_TEST(a_user_counts_its_own_marked_processes_in_user_mode_on_two_counters)
{
	in_child(user_counts_its_mark, NULL);
	ck_assert_uint_eq(read_number(USER_LIMIT), 2);
	ck_assert_uint_eq(pmu_info().user_session_counters, 2);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
}
END_TEST

static void user_traces(void *unused)
{
	struct perfctr_session_args open;
	int mark_fd, session;

	(void)unused;
	become_nobody();
	mark_fd = mark_open();
	open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	open.trace_bytes = 65537;
	errno = 0;
	EXPECT(try_session(&open) == -1 && errno == EACCES);
	open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	open.trace_bytes = 65536;
	session = try_session(&open);
	EXPECT(session >= 0);
}

START_TEST(a_user_s_trace_is_of_64_kilobytes_at_most)
{
	in_child(user_traces, NULL);
}
END_TEST

/* Adds up the bytes of rings that one user gets until a session is refused. */
static void user_fills_rings(void *bytes)
{
	struct perfctr_session_args open;
	int mark_fd;

	become_nobody();
	mark_fd = mark_open();
	for (;;) {
		open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
		open.trace_bytes = PERFCTR_PAGE_SIZE;
		if (try_session(&open) < 0)
			break;
		*(volatile uint64_t *)bytes += (uint64_t)open.ring_bytes * open.n_cpus;
	}
	EXPECT(errno == EMFILE);
}

/* A ring is larger than the room that was asked for: it has a head, and fills whole pages. */
START_TEST(a_user_s_rings_take_no_more_memory_than_the_user_may_have)
{
	volatile uint64_t *bytes = shared_number();

	write_file("/sys/module/perfctr/parameters/user_kb", "256");
	in_child(user_fills_rings, (void *)bytes);
	write_file("/sys/module/perfctr/parameters/user_kb", "2048");
	ck_assert_uint_gt(*bytes, 0);
	/* The parameter is for each CPU. */
	ck_assert_uint_le(*bytes, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * (256 << 10));
}
END_TEST

#define MAX_STARTED 16 /* perfctr(4) */

/* Starts a session that only counts time. Returns -1 if there is no place for it. */
static int started_session(int mark_fd)
{
	struct perfctr_session_args open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	struct perfctr_control control;
	int session = try_session(&open);

	EXPECT(session >= 0);
	if (try_session_control(session, NULL, 0, &control) == 0)
		return session;
	EXPECT(errno == ENOSPC || errno == EMFILE);
	close(session);
	return -1;
}

START_TEST(a_control_that_is_refused_as_too_many_sessions_are_started_changes_nothing)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	int others[MAX_STARTED];
	struct perfctr_control control = {
		.size = sizeof(control),
		.flags = PERFCTR_CONTROL_STOPPED,
		.n_events = 1,
		.event[0] = { .evntsel = USER(INSTRUCTIONS) },
	};

	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_CONTROL, &control), 0);
	for (int i = 0; i < MAX_STARTED; i++) {
		others[i] = started_session(mark_fd);
		ck_assert_int_ge(others[i], 0);
	}
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(try_session_control(session, NULL, 0, &control), -1);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(context_read(session).n_counters, 1);
	/* A session keeps its place under a new control, and gives it up when it stops. */
	session_control(others[0], NULL, 0);
	ck_assert_int_eq(ioctl(others[0], PERFCTR_IOC_STOP), 0);
	ck_assert_int_eq(ioctl(session, PERFCTR_IOC_START), 0);
	ck_assert_int_eq(ioctl(others[0], PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, ENOSPC);
	for (int i = 0; i < MAX_STARTED; i++)
		close(others[i]);
	close(session);
	close(mark_fd);
}
END_TEST

/* Starts sessions that only count time, until one is refused. Returns their number. */
static unsigned int start_all_that_find_room(void)
{
	int session[MAX_STARTED + 1];
	struct perfctr_control control;
	unsigned int n = 0;

	do
		session[n] = session_open(-1, 0);
	while (try_session_control(session[n], NULL, 0, &control) == 0 && ++n <= MAX_STARTED);
	for (unsigned int i = 0; i <= n && i <= MAX_STARTED; i++)
		close(session[i]);
	return n;
}

/* A user makes a call and reports the result. It keeps what it has got until it is killed. */
struct deed {
	int (*fn)(const struct deed *deed);
	uid_t uid;
	int answer;	   /* the expected one */
	uint32_t first, n; /* counters */
};

static pid_t user_start(struct deed deed)
{
	int told[2], answer;
	pid_t pid;

	ck_assert_int_eq(pipe(told), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		become(deed.uid, 0);
		answer = deed.fn(&deed);
		EXPECT(write(told[1], &answer, sizeof(answer)) == sizeof(answer));
		for (;;)
			pause();
	}
	close(told[1]);
	ck_assert_int_eq(read(told[0], &answer, sizeof(answer)), sizeof(answer));
	close(told[0]);
	ck_assert_int_eq(answer, deed.answer);
	return pid;
}

static int start_all_that_may_be(const struct deed *deed)
{
	int n = 0, mark_fd = mark_open();

	(void)deed;
	while (started_session(mark_fd) >= 0)
		n++;
	return n;
}

START_TEST(each_user_starts_four_sessions_and_all_together_eight_of_sixteen)
{
	pid_t first = user_start((struct deed){ start_all_that_may_be, NOBODY, 4, 0, 0 });

	user_start((struct deed){ start_all_that_may_be, NOBODY, 0, 0, 0 });
	user_start((struct deed){ start_all_that_may_be, NOBODY - 1, 4, 0, 0 });
	user_start((struct deed){ start_all_that_may_be, NOBODY - 2, 0, 0, 0 });
	kill(first, SIGKILL);
	wait_for(first, NULL);
	user_start((struct deed){ start_all_that_may_be, NOBODY - 2, 4, 0, 0 });
	ck_assert_uint_eq(start_all_that_find_room(), MAX_STARTED / 2);
}
END_TEST

#define RESTARTED 4

/* Starts the session again and again, in a child. */
static pid_t restarter_start(int session)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			ioctl(session, PERFCTR_IOC_START);
	}
	return pid;
}

static unsigned int number_started(const int *session, unsigned int n)
{
	unsigned int started = 0;

	for (unsigned int i = 0; i < n; i++)
		started += !!(context_read(session[i]).flags & PERFCTR_COUNTS_STARTED);
	return started;
}

/* At any time only as many are started as find room, even if a revoke stops some that start. */
START_TEST(sessions_that_start_while_they_are_revoked_take_no_more_places_than_there_are)
{
	int session[RESTARTED];
	pid_t pid[RESTARTED];

	for (uint32_t i = 0; i < RESTARTED; i++) {
		session[i] = session_open(-1, 0);
		session_control(session[i], SESSION_EVENTS({ { i, USER(INSTRUCTIONS) }, 0 }));
	}
	for (unsigned int round = 0; round < test_rounds(40); round++) {
		int device = device_open();

		for (int i = 0; i < RESTARTED; i++)
			pid[i] = restarter_start(session[i]);
		sleep_us(10000);
		ck_assert_int_eq(ioctl(device, PERFCTR_IOC_REVOKE), 0);
		close(device);
		sleep_us(10000);
		for (int i = 0; i < RESTARTED; i++) {
			kill_and_wait(pid[i]);
		}
		ck_assert_uint_eq(number_started(session, RESTARTED) + start_all_that_find_room(),
				  MAX_STARTED);
	}
	for (int i = 0; i < RESTARTED; i++)
		close(session[i]);
	ck_assert_uint_eq(start_all_that_find_room(), MAX_STARTED);
}
END_TEST

static void user_has_controls_refused(void *unused)
{
	struct perfctr_control control;
	int mark_fd, first, second;
	pid_t pid;

	(void)unused;
	become_nobody();
	mark_fd = mark_open();
	first = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	second = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	session_control(first, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
					      { { 1, USER(INSTRUCTIONS) }, 0 }));
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* A bit that no control may have. */
		for (;;)
			try_session_control(first, SESSION_EVENTS({ { 0, ~0ull }, 0 }), &control);
	}
	for (int i = 0; i < 20000; i++)
		EXPECT(try_session_control(second, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }),
					   &control) == -1);
	kill_and_wait(pid);
}

START_TEST(a_control_that_is_refused_gives_nothing_of_the_user_s_limit_back)
{
	in_child(user_has_controls_refused, NULL);
}
END_TEST

static int take_counters(const struct deed *deed)
{
	struct perfctr_control control = { .size = sizeof(control), .n_events = deed->n };
	int session = session_open(mark_open(), NOT_PRIVILEGED | MARKED);

	for (uint32_t i = 0; i < deed->n; i++) {
		control.event[i].counter = deed->first + i;
		control.event[i].evntsel = USER(INSTRUCTIONS);
	}
	return ioctl(session, PERFCTR_IOC_CONTROL, &control) ? errno : 0;
}

/* Of 7 counters, users have 3 in all. */
START_TEST(each_user_has_two_counters_and_all_together_leave_half_of_them)
{
	pid_t first = user_start((struct deed){ take_counters, NOBODY, 0, 0, 2 });

	ck_assert_uint_eq(pmu_info().n_general + pmu_info().n_fixed, 7);
	user_start((struct deed){ take_counters, NOBODY, EMFILE, 2, 1 });
	user_start((struct deed){ take_counters, NOBODY - 1, ENOSPC, 2, 2 });
	user_start((struct deed){ take_counters, NOBODY - 1, 0, 2, 1 });
	user_start((struct deed){ take_counters, NOBODY - 2, ENOSPC, 3, 1 });
	kill(first, SIGKILL);
	wait_for(first, NULL);
	user_start((struct deed){ take_counters, NOBODY - 2, 0, 0, 2 });
}
END_TEST

SUITE(session_limits, a_user_counts_its_own_marked_processes_in_user_mode_on_two_counters,
      a_user_s_trace_is_of_64_kilobytes_at_most,
      a_user_s_rings_take_no_more_memory_than_the_user_may_have,
      a_control_that_is_refused_as_too_many_sessions_are_started_changes_nothing,
      each_user_starts_four_sessions_and_all_together_eight_of_sixteen,
      sessions_that_start_while_they_are_revoked_take_no_more_places_than_there_are,
      a_control_that_is_refused_gives_nothing_of_the_user_s_limit_back,
      each_user_has_two_counters_and_all_together_leave_half_of_them)
