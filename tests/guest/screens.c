// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first screen of perfex, depending on the part of the kernel that has the counters: the table
 * in docs/install.md. The kernel is one with the driver; tests/stock and tests/kernels have the
 * machines without it, and without counters.
 */
#include "perfex_shell.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int perf_of_cpu[2] = { -1, -1 };

static void leave_free(void)
{
}

static void watchdog_on(void)
{
	write_file(NMI_WATCHDOG, "1");
}

static void watchdog_off(void)
{
	write_file(NMI_WATCHDOG, "0");
}

/* As "perf stat -a -e cycles" does. */
static void perf_on(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};

	for (int cpu = 0; cpu < 2; cpu++) {
		perf_of_cpu[cpu] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
						PERF_FLAG_FD_CLOEXEC);
		ck_assert_int_ge(perf_of_cpu[cpu], 0);
	}
}

static void perf_off(void)
{
	for (int cpu = 0; cpu < 2; cpu++)
		close(perf_of_cpu[cpu]);
}

#define BUSY "perfex: the counters are busy: "
#define UNTIL "; until then perf_events counts\n"

struct state {
	const char *name;
	void (*begin)(void), (*end)(void);
	uint32_t holder;
	const char *line; /* above the counts */
	const char *backend; /* NULL: the driver */
};

static const struct state alone = { "nobody", leave_free, leave_free, PERFCTR_HOLDER_NONE, "",
				    NULL };

static const struct state watchdog = {
	"the NMI watchdog", watchdog_on, watchdog_off, PERFCTR_HOLDER_OTHER,
	BUSY "the NMI watchdog holds them; switch it off with: sysctl kernel.nmi_watchdog=0" UNTIL,
	"perf_events",
};

static const struct state perf_stat = {
	"perf stat -a", perf_on, perf_off, PERFCTR_HOLDER_OTHER,
	BUSY "perf_events holds them, or Processor Trace or KVM uses them; end the running perf "
	     "session, or see perfctr(4)" UNTIL,
	"perf_events",
};

static void expect_line(const struct state *state, const char *script, const char *err)
{
	size_t length = strlen(state->line);

	ck_assert_msg(strncmp(err, state->line, length) == 0, "%s: %s: %s", state->name, script, err);
	ck_assert_msg(!strstr(err + length, "perfex: "), "%s: %s: %s", state->name, script, err);
}

static void expect_backend(const struct state *state, const char *text)
{
	const char *backend = state->backend ? state->backend : DRIVER_BACKEND;
	char line[80];

	snprintf(line, sizeof(line), "\nbackend %*s%s\n", (int)(37 - strlen(backend)), "", backend);
	ck_assert_msg(strstr(text, line), "%s: no \"%s\" in %s", state->name, line, text);
}

static void expect_screen(const struct state *state)
{
	static const char *const rows[] = {
		"task-clock", "page-faults", "instructions", "cycles", "branches",
	};
	struct run r;

	expect(&r, "perfex $LOOP", 0);
	expect_line(state, "perfex", r.err);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert_uint_gt(printed_count(r.err, rows[i]), 0);
	printed_count(r.err, "context-switches");
	printed_count(r.err, "cpu-migrations");
	printed_count(r.err, "branch-misses");
	ck_assert_uint_ge(printed_count(r.err, "instructions"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	expect_backend(state, r.err);
}

static void expect_exact(const struct state *state, const char *script)
{
	struct run r;

	expect(&r, script, 0);
	expect_line(state, script, r.err);
	ck_assert_uint_eq(printed_count(r.err, "instructions:u"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	expect_backend(state, r.err);
}

static void expect_system(const struct state *state)
{
	static const char *const scripts[] = {
		"perfex system --csv -e instructions,cycles $LOOP",
		"perfex system --csv $LOOP",
		"perfex system --csv --cpus=1 $LOOP",
	};
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		expect(&r, scripts[i], 0);
		expect_line(state, scripts[i], r.err);
		ck_assert_msg(strstr(r.out, ",instructions,") && strstr(r.out, ",cycles,"), "%s",
			      r.out);
	}
}

static void expect_screens(const struct state *state)
{
	enter_directory();
	state->begin();
	expect_holder(state->holder);
	expect_screen(state);
	expect_exact(state, "perfex -e instructions:u $LOOP");
	expect_exact(state, "perfex -e instructions:u,cycles:u -g IPC $LOOP");
	expect_exact(state, "perfex mark -e instructions:u $LOOP");
	expect_system(state);
	state->end();
	/* perfex has left nothing that keeps the driver out. */
	expect_holder(PERFCTR_HOLDER_NONE);
	expect_screen(&alone);
}

START_TEST(alone_the_driver_counts)
{
	expect_screens(&alone);
}
END_TEST

START_TEST(beside_the_watchdog_perf_events_counts)
{
	expect_screens(&watchdog);
}
END_TEST

START_TEST(beside_perf_stat_of_all_cpus_perf_events_counts)
{
	expect_screens(&perf_stat);
}
END_TEST

/* The driver counts what no other backend can, as far as it needs no counters. */
START_TEST(a_view_that_perf_events_lacks_stays_with_the_driver)
{
	struct run r;

	enter_directory();
	watchdog_on();
	expect_holder(PERFCTR_HOLDER_OTHER);
	expect(&r, "perfex --per-process $LOOP", 0);
	ck_assert_uint_gt(printed_count(r.err, "task-clock"), 0);
	expect_backend(&alone, r.err);
	expect(&r, "perfex system --csv --policy no-idle $LOOP", 0);
	ck_assert_msg(strstr(r.out, ",tsc,"), "%s", r.out);
	watchdog_off();
}
END_TEST

START_TEST(a_refusal_is_one_line)
{
	static const char *const refused[] = {
		"perfex --per-process -e instructions:u $LOOP",
		"perfex --per-thread -e instructions:u $LOOP",
		"perfex --regions=file -e instructions:u $LOOP",
		"perfex system --policy no-idle -e instructions $LOOP",
		"perfex --passes=1 -e instructions:u,cycles:u,branches:u,branch-misses:u,"
		"cache-misses:u,cache-references:u,instructions:k,cycles:k $LOOP",
	};
	static const char line[] = BUSY "the NMI watchdog holds them; switch it off with: sysctl "
					"kernel.nmi_watchdog=0\n";
	struct run r;

	enter_directory();
	watchdog_on();
	expect_holder(PERFCTR_HOLDER_OTHER);
	for (size_t i = 0; i < ARRAY_SIZE(refused) - 1; i++) {
		expect(&r, refused[i], EXITED(125));
		ck_assert_msg(strcmp(r.err, line) == 0, "%s: %s", refused[i], r.err);
	}
	expect(&r, refused[ARRAY_SIZE(refused) - 1], EXITED(125));
	ck_assert_msg(lines(r.err, "perfex: ") == 1, "%s", r.err);
	/* Both names of the driver, whichever it is. */
	expect(&r, "perfex compare --backend=patch -r 2 $LOOP -- $LOOP", 0);
	ck_assert_msg(lines(r.err, "perfex: ") == 1, "%s", r.err);
	expect(&r, "perfex compare --backend=module -r 2 $LOOP -- $LOOP", 0);
	ck_assert_msg(lines(r.err, "perfex: ") == 1, "%s", r.err);
	/* Without events, the time stamp alone. */
	expect(&r, "perfex --format=2.6 $LOOP", 0);
	ck_assert_uint_eq(lines(r.err, "perfex: "), 0);
	watchdog_off();
}
END_TEST

/* CPU events of perf_events that need all counters: those of a thread find none. */
START_TEST(counts_that_perf_events_does_not_have_are_never_0)
{
	struct run r;

	enter_directory();
	watchdog_on();
	expect_holder(PERFCTR_HOLDER_OTHER);
	for (unsigned int round = 0; round < 3; round++) {
		RUN(&r, "sh", "-c",
		    "perfex system -o system -e instructions,cycles,branches sleep 1 & sleep 0.1; "
		    "perfex -e instructions:u,cycles:u $LOOP; status=$?; wait; exit $status");
		if (r.status == 0) {
			ck_assert_uint_eq(printed_count(r.err, "instructions:u"),
					  LOOP_INSTRUCTIONS(SHORT_LOOP));
			ck_assert_uint_eq(printed_count(r.err, "cycles:u"),
					  LOOP_INSTRUCTIONS(SHORT_LOOP));
		} else {
			ck_assert_int_eq(r.status, EXITED(125));
			ck_assert_msg(strstr(r.err, BUSY), "%s", r.err);
		}
	}
	watchdog_off();
}
END_TEST

START_TEST(two_that_begin_at_once_count_both)
{
	struct run r;

	enter_directory();
	expect_holder(PERFCTR_HOLDER_NONE);
	for (unsigned int round = 0; round < 5; round++) {
		expect(&r, "perfex mark -o a $LONG & perfex mark -o b $LONG && wait $!", 0);
		ck_assert_str_eq(r.err, "");
		ck_assert_uint_eq(printed_count(contents("a"), "instructions"),
				  LOOP_INSTRUCTIONS(LONG_LOOP));
		ck_assert_uint_eq(printed_count(contents("b"), "instructions"),
				  LOOP_INSTRUCTIONS(LONG_LOOP));
	}
	for (unsigned int round = 0; round < 3; round++)
		expect(&r, "perfex system -o a $LONG & perfex system -o b $LONG && wait $!", 0);
}
END_TEST

static void ask_as_nobody(void *unused)
{
	struct run r;

	(void)unused;
	become_nobody();
	RUN(&r, "perfex", "mark", "--both", program("loop"));
	EXPECT(r.status == 0 && printed_count(r.err, "tsc") > 0);
	RUN(&r, "perfex", "mark", program("loop"));
	EXPECT(printed_count(r.err, "instructions") == LOOP_INSTRUCTIONS(SHORT_LOOP));
	RUN(&r, "perfex", "system", program("loop"));
	EXPECT(r.status == EXITED(125));
	EXPECT(strcmp(r.err, "perfex: counting on CPUs needs CAP_PERFMON; without it perfex mark "
			     "counts your own processes\n") == 0);
}

START_TEST(a_user_who_named_no_event_is_refused_none)
{
	in_child(ask_as_nobody, NULL);
}
END_TEST

/* Of four counters the watchdog has one: the thread and its tree have no counters apart. */
START_TEST(beside_the_watchdog_two_events_fit)
{
	enter_directory();
	watchdog_on();
	expect_holder(PERFCTR_HOLDER_OTHER);
	expect_exact(&watchdog, "perfex -e instructions:u,cycles:u $LOOP");
	expect_exact(&watchdog, "perfex mark -e instructions:u,cycles:u $LOOP");
	expect_system(&watchdog);
	watchdog_off();
}
END_TEST

SUITE(screens, alone_the_driver_counts, beside_the_watchdog_perf_events_counts,
      beside_perf_stat_of_all_cpus_perf_events_counts,
      a_view_that_perf_events_lacks_stays_with_the_driver, a_refusal_is_one_line,
      counts_that_perf_events_does_not_have_are_never_0, two_that_begin_at_once_count_both,
      a_user_who_named_no_event_is_refused_none)

SUITE(screens_few, beside_the_watchdog_two_events_fit,
      counts_that_perf_events_does_not_have_are_never_0)
