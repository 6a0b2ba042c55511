// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions of different CPUs: each has counters of its own there, whatever events others count elsewhere. */
#include "groups.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CPU(n) (1ull << (n))
#define BOTH_CPUS (CPU(0) | CPU(1))

/* What marked threads execute in user mode on these CPUs. */
static int session_on(uint64_t cpus, int group)
{
	struct perfctr_session_args open = session_of(group, NOT_PRIVILEGED | MARKED);
	int session;

	open.cpus = (uintptr_t)&cpus;
	open.cpus_bytes = sizeof(cpus);
	session = try_session(&open);
	ck_assert_int_ge(session, 0);
	return session;
}

/* The loop, on each CPU once, with the mark. */
static void run_loops(int group)
{
	for (int cpu = 0; cpu < 2; cpu++)
		expect_success(marked_start(group, cpu, COMMAND(program("loop"))));
}

static void expect_taken(const struct perfctr_control *control, uint32_t event, int result)
{
	ck_assert_int_eq(result, -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_uint_eq(control->bad_reason, PERFCTR_BAD_TAKEN);
	ck_assert_uint_eq(control->bad_event, event);
}

START_TEST(sessions_of_different_cpus_have_the_same_counter)
{
	int group = group_open(), first = session_on(CPU(0), group),
	    second = session_on(CPU(1), group);

	session_control(first, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	session_control(second, SESSION_EVENTS({ { 0, USER(BRANCHES) }, 0 }));
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 0);
	run_loops(group);
	ck_assert_uint_eq(context_read(first).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(context_read(second).counter[0], LOOP_BRANCHES(SHORT_LOOP));
	/* The one that ends takes nothing from the other. */
	close(first);
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 0);
	run_loops(group);
	ck_assert_uint_eq(context_read(second).counter[0], 2 * LOOP_BRANCHES(SHORT_LOOP));
	close(second);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	close(group);
}
END_TEST

START_TEST(where_they_meet_a_counter_is_one_session_s_alone)
{
	int group = group_open(), first = session_on(CPU(0), group),
	    second = session_on(CPU(1), group);
	int both = session_on(BOTH_CPUS, group), context = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_control control;

	session_control(first, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	session_control(second, SESSION_EVENTS({ { 1, USER(BRANCHES) }, 0 }));
	expect_taken(&control, 1,
		     try_session_control(both,
					 SESSION_EVENTS({ { 2, USER(BRANCHES) }, 0 },
							{ { 1, USER(BRANCHES) }, 0 }),
					 &control));
	control = control_of(EVENTS({ 2, USER(BRANCHES) }, { 0, USER(BRANCHES) }));
	expect_taken(&control, 1, ioctl(context, PERFCTR_IOC_CONTROL, &control));
	session_control(both, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	/* A new control asks for what the other one has elsewhere, and for what both have here. */
	session_control(first, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	expect_taken(&control, 0,
		     try_session_control(second, SESSION_EVENTS({ { 2, USER(BRANCHES) }, 0 }),
					 &control));
	run_loops(group);
	ck_assert_uint_eq(context_read(first).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(context_read(second).counter[0], LOOP_BRANCHES(SHORT_LOOP));
	ck_assert_uint_eq(context_read(both).counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	/* Stopped it has nothing: another may have it, and then it does not start. */
	ck_assert_int_eq(ioctl(both, PERFCTR_IOC_STOP), 0);
	session_control(second, SESSION_EVENTS({ { 2, USER(BRANCHES) }, 0 }));
	ck_assert_int_eq(ioctl(both, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EBUSY);
	close(second);
	ck_assert_int_eq(ioctl(both, PERFCTR_IOC_START), 0);
	close(both);
	close(first);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
	close(context);
	close(group);
}
END_TEST

SUITE(session_cpus, sessions_of_different_cpus_have_the_same_counter,
      where_they_meet_a_counter_is_one_session_s_alone)
