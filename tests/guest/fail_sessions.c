// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions, their controls and their pages, where the kernel finds no memory. */
#include "fail.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static struct perfctr_session_args traced_session;

static long open_session(void)
{
	traced_session = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
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
	return (long)mmap(NULL, traced_session.pages_bytes, PROT_READ, MAP_SHARED, session, 0);
}

static void unmap_totals(long address)
{
	munmap((void *)address, traced_session.pages_bytes);
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

	fail_begin();
	mark_fd = mark_open();
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	session = (int)open_session();
	ck_assert_int_ge(session, 0);
	expect_clean_calls(calls_of_new, ARRAY_SIZE(calls_of_new));
	ck_assert_int_eq(control_first(), 0);
	expect_clean_calls(calls_of_started, ARRAY_SIZE(calls_of_started));
	fail_finish();
}
END_TEST

SUITE(fail_sessions, a_session_is_there_as_a_whole_or_not_at_all)
