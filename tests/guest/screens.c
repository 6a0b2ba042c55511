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
	const char *backend;
};

static const struct state alone = { "nobody", leave_free, leave_free, PERFCTR_HOLDER_NONE, "",
				    "patch" };

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

/* The module looks once a second for others that have the counters. */
static void wait_for_holder(uint32_t holder)
{
	while (pmu_info().holder != holder)
		sleep_us(10000);
}

static void expect_line(const struct state *state, const char *script, const char *err)
{
	size_t length = strlen(state->line);

	ck_assert_msg(strncmp(err, state->line, length) == 0, "%s: %s: %s", state->name, script, err);
	ck_assert_msg(!strstr(err + length, "perfex: "), "%s: %s: %s", state->name, script, err);
}

static void expect_backend(const struct state *state, const char *text)
{
	char line[80];

	snprintf(line, sizeof(line), "\nbackend %*s%s\n", (int)(37 - strlen(state->backend)), "",
		 state->backend);
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
	struct run r;

	expect(&r, "perfex system --csv -e instructions $LOOP", 0);
	expect_line(state, "perfex system", r.err);
	ck_assert_msg(strstr(r.out, ",instructions,"), "%s", r.out);
}

static void expect_screens(const struct state *state)
{
	enter_directory();
	state->begin();
	wait_for_holder(state->holder);
	expect_screen(state);
	expect_exact(state, "perfex -e instructions:u $LOOP");
	expect_exact(state, "perfex -e instructions:u,cycles:u -g IPC $LOOP");
	expect_exact(state, "perfex mark -e instructions:u $LOOP");
	expect_system(state);
	state->end();
	/* perfex has left nothing that keeps the driver out. */
	wait_for_holder(PERFCTR_HOLDER_NONE);
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

SUITE(screens, alone_the_driver_counts, beside_the_watchdog_perf_events_counts,
      beside_perf_stat_of_all_cpus_perf_events_counts)
