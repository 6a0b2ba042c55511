// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions of different CPUs: each has counters of its own there, whatever others count on other
 * CPUs.
 */
#include "marks.h"

#include <errno.h>
#include <perfctr_sessions.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CPU(n) (1ull << (n))
#define BOTH_CPUS (CPU(0) | CPU(1))

/* Opens a session that counts the user mode of marked threads on these CPUs. */
static int session_on(uint64_t cpus, int mark_fd)
{
	struct perfctr_session_args open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	int session;

	open.cpus = (uintptr_t)&cpus;
	open.cpus_bytes = sizeof(cpus);
	session = try_session(&open);
	ck_assert_int_ge(session, 0);
	return session;
}

/* Runs the loop once on each CPU, with the mark. */
static void run_loops(int mark_fd)
{
	for (int cpu = 0; cpu < 2; cpu++)
		expect_success(marked_start(mark_fd, cpu, COMMAND(program("loop"))));
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
	int mark_fd = mark_open(), first = session_on(CPU(0), mark_fd),
	    second = session_on(CPU(1), mark_fd);

	session_control(first, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	session_control(second, SESSION_EVENTS({ { 0, USER(BRANCHES) }, 0 }));
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 0);
	run_loops(mark_fd);
	ck_assert_uint_eq(context_read(first).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(context_read(second).counter[0], LOOP_BRANCHES(SHORT_LOOP));
	/* The session that ends takes nothing from the other one. */
	close(first);
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 0);
	run_loops(mark_fd);
	ck_assert_uint_eq(context_read(second).counter[0], 2 * LOOP_BRANCHES(SHORT_LOOP));
	close(second);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
	ck_assert_uint_eq(pmu_info().holder, PERFCTR_HOLDER_NONE);
	close(mark_fd);
}
END_TEST

START_TEST(where_they_meet_a_counter_is_one_session_s_alone)
{
	int mark_fd = mark_open(), first = session_on(CPU(0), mark_fd),
	    second = session_on(CPU(1), mark_fd);
	int both = session_on(BOTH_CPUS, mark_fd), context = context_open(0, PERFCTR_OPEN_CREATE);
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
	/*
	 * A new control may ask for a counter that the other session has elsewhere, but not for one
	 * that is taken here.
	 */
	session_control(first, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	expect_taken(&control, 0,
		     try_session_control(second, SESSION_EVENTS({ { 2, USER(BRANCHES) }, 0 }),
					 &control));
	run_loops(mark_fd);
	ck_assert_uint_eq(context_read(first).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(context_read(second).counter[0], LOOP_BRANCHES(SHORT_LOOP));
	ck_assert_uint_eq(context_read(both).counter[0], 2 * LOOP_INSTRUCTIONS(SHORT_LOOP));
	/*
	 * A stopped session has no counter: another session may take it, and then the first one
	 * cannot start.
	 */
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
	close(mark_fd);
}
END_TEST

static struct perfctr_session *library_session(uint64_t cpus)
{
	const struct perfctr_session_options options = {
		.size = sizeof(options),
		.policy = PERFCTR_EXCLUDE_KERNEL,
		.cpus = &cpus,
		.cpus_size = sizeof(cpus),
	};
	struct perfctr_session *s = perfctr_session_open(&options);

	ck_assert_msg(s, "perfctr_session_open: %s", strerror(errno));
	return s;
}

/* The events may get any counters. counter: those that they have got. */
static int control_any(struct perfctr_session *s, uint32_t flags, unsigned int n, uint32_t counter[])
{
	struct perfctr_control control;
	int result;

	perfctr_control_init(&control);
	control.flags = flags;
	for (unsigned int i = 0; i < n; i++)
		perfctr_control_add(&control, PERFCTR_ANY, USER(i & 1 ? BRANCHES : INSTRUCTIONS), 0);
	result = perfctr_session_control(s, &control);
	for (unsigned int i = 0; i < n; i++)
		counter[i] = control.event[i].counter;
	return result;
}

static void expect_any(struct perfctr_session *s, uint32_t flags, uint32_t first, uint32_t second)
{
	uint32_t counter[2];

	ck_assert_msg(control_any(s, flags, 2, counter) == 0, "%s", strerror(errno));
	ck_assert_uint_eq(counter[0], first);
	ck_assert_uint_eq(counter[1], second);
}

START_TEST(the_library_avoids_what_sessions_have_on_the_same_cpus_alone)
{
	int context = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_session *first, *second, *third, *both;
	struct perfctr_counts counts;
	uint32_t counter[2];

	context_control(context, EVENTS({ 1, USER(INSTRUCTIONS) }));
	first = library_session(CPU(0));
	expect_any(first, 0, 0, 2);
	second = library_session(CPU(1));
	expect_any(second, 0, 0, 2);
	ck_assert_uint_eq(pmu_info().session_counters, 1 << 0 | 1 << 2);
	close(context);
	both = library_session(BOTH_CPUS);
	expect_any(both, 0, 1, 3);
	third = library_session(CPU(1));
	errno = 0;
	ck_assert_int_eq(control_any(third, 0, 1, counter), -1);
	ck_assert_int_eq(errno, ENOSPC);
	/* The session keeps its former control. */
	perfctr_session_close(second);
	expect_any(third, PERFCTR_CONTROL_STOPPED, 0, 2);
	ck_assert_uint_eq(pmu_info().session_counters, 0xf);
	ck_assert_int_eq(perfctr_session_read(third, &counts), 0);
	ck_assert(!(counts.flags & PERFCTR_COUNTS_STARTED));
	ck_assert_uint_eq(counts.counter[0] | counts.counter[1] | counts.tsc, 0);
	ck_assert_int_eq(perfctr_session_start(third), 0);
	pin(0, 1);
	spin(1000);
	ck_assert_int_eq(perfctr_session_read(third, &counts), 0);
	ck_assert_uint_gt(counts.counter[0], 1000);
	perfctr_session_close(third);
	perfctr_session_close(both);
	perfctr_session_close(first);
	ck_assert_uint_eq(pmu_info().session_counters, 0);
}
END_TEST

static void expect_told(int session, const char *cpus, const char *counters)
{
	char path[64], text[1024] = "", line[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", session);
	file = fopen(path, "r");
	ck_assert(file && fread(text, 1, sizeof(text) - 1, file) > 0 && fclose(file) == 0);
	snprintf(line, sizeof(line), "\nperfctr-cpus:\t%s\nperfctr-counters:\t%s\n", cpus,
		 counters);
	ck_assert_msg(strstr(text, line), "%s", text);
}

START_TEST(its_descriptor_tells_of_a_session_which_counters_it_has_on_which_cpus)
{
	int mark_fd = mark_open(), one = session_on(CPU(1), mark_fd), all = session_open(-1, 0);
	char all_cpus[32];

	snprintf(all_cpus, sizeof(all_cpus), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	expect_told(one, "1", "0x0");
	session_control(one, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
					    { { PERFCTR_FIXED, USER(FIXED) }, 0 }));
	expect_told(one, "1", "0x100000001");
	expect_told(all, all_cpus, "0x0");
	ck_assert_int_eq(ioctl(one, PERFCTR_IOC_STOP), 0);
	expect_told(one, "1", "0x0");
	close(all);
	close(one);
	close(mark_fd);
}
END_TEST

SUITE(session_cpus, sessions_of_different_cpus_have_the_same_counter,
      where_they_meet_a_counter_is_one_session_s_alone,
      the_library_avoids_what_sessions_have_on_the_same_cpus_alone,
      its_descriptor_tells_of_a_session_which_counters_it_has_on_which_cpus)
