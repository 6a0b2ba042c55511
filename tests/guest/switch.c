// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a context switch costs, in instructions and MSR accesses, on a machine of one CPU whose
 * time stamp counts instructions (scripts/vm --icount --stats).  Two processes play ping-pong.
 *
 * The suite "baseline" measures the unpatched kernel and leaves the result in a file; "switch"
 * measures the patched one against it and writes the table of all cases.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../emulator/pmu-stats.h"

#define ROUNDS 3001
#define BASELINE_FILE "switch-cost-unpatched"
#define TABLE_FILE "switch-cost.txt"

/* The statistics of the emulated PMU, of CPU 0. */
enum { RDMSR, WRMSR, RDPMC, PMU_RDMSR, PMU_WRMSR, EVENT_SELECT, N_STATISTICS };

struct cost {
	uint64_t instructions;			/* per round trip, median */
	uint64_t statistics[N_STATISTICS];	/* of all rounds */
	uint64_t switches;			/* of the process that measures, when it is counted */
	uint64_t ticks;				/* of the timer: each may fold */
};

static int msr_device = -1;

static uint64_t read_window(uint32_t offset)
{
	uint64_t value;

	ck_assert_msg(pread(msr_device, &value, sizeof(value), PMU_STATS_MSR + offset) ==
		      sizeof(value), "statistics window + %#x: %s", offset, strerror(errno));
	return value;
}

static void read_statistics(uint64_t statistics[N_STATISTICS])
{
	if (msr_device < 0)
		msr_device = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	ck_assert_msg(msr_device >= 0, "/dev/cpu/0/msr: %s", strerror(errno));
	statistics[RDMSR] = read_window(PMU_STATS_RDMSR);
	statistics[WRMSR] = read_window(PMU_STATS_WRMSR);
	statistics[RDPMC] = read_window(PMU_STATS_RDPMC);
	statistics[PMU_RDMSR] = read_window(PMU_STATS_PMU_RDMSR);
	statistics[PMU_WRMSR] = read_window(PMU_STATS_PMU_WRMSR);
	statistics[EVENT_SELECT] = read_window(PMU_STATS_WRMSR_OF + PMU_STATS_EVNTSEL) +
				   read_window(PMU_STATS_WRMSR_OF + PMU_STATS_FIXED_CTR_CTRL);
}

/* Timer interrupts of CPU 0. */
static uint64_t timer_ticks(void)
{
	unsigned long long ticks = 0;
	char line[256];
	FILE *file = fopen("/proc/interrupts", "r");

	ck_assert(file);
	while (fgets(line, sizeof(line), file) && sscanf(line, " LOC: %llu", &ticks) != 1)
		;
	fclose(file);
	ck_assert_uint_gt(ticks, 0);
	return ticks;
}

struct partner {
	pid_t pid;
	int to, from;
	int context;	/* -1: not counted */
};

static struct partner partner_start(const struct event *events, size_t n)
{
	struct partner partner = { .context = -1 };
	int to[2], from[2];
	char byte;

	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	partner.pid = fork();
	ck_assert(partner.pid >= 0);
	if (partner.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	partner.to = to[1];
	partner.from = from[0];
	if (n) {
		partner.context = context_open(partner.pid, PERFCTR_OPEN_CREATE);
		context_control(partner.context, events, n);
	}
	return partner;
}

static void partner_stop(struct partner *partner)
{
	kill(partner->pid, SIGKILL);
	waitpid(partner->pid, NULL, 0);
	if (partner->context >= 0)
		close(partner->context);
}

static void round_trip(const struct partner *partner)
{
	char byte = 0;

	if (write(partner->to, &byte, 1) != 1 || read(partner->from, &byte, 1) != 1)
		ck_abort_msg("the partner has gone");
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* own, other: what the measuring process and its partner count; n_own 0: no context. */
static struct cost measure(const struct event *own, size_t n_own, const struct event *other,
			   size_t n_other)
{
	static uint64_t samples[ROUNDS];
	uint64_t before[N_STATISTICS], after[N_STATISTICS];
	struct partner partner = partner_start(other, n_other);
	struct cost cost = { 0 };
	uint64_t switches = 0, ticks;
	int context = -1;

	if (n_own) {
		context = context_open(0, PERFCTR_OPEN_CREATE);
		context_control(context, own, n_own);
	}
	for (int i = 0; i < 100; i++)
		round_trip(&partner);

	ticks = timer_ticks();
	if (n_own)
		switches = context_read(context).switches;
	read_statistics(before);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = rdtsc();

		round_trip(&partner);
		samples[i] = rdtsc() - start;
	}
	read_statistics(after);
	if (n_own) {
		cost.switches = context_read(context).switches - switches;
		close(context);
	}
	cost.ticks = timer_ticks() - ticks;
	partner_stop(&partner);

	qsort(samples, ROUNDS, sizeof(samples[0]), ascending);
	cost.instructions = samples[ROUNDS / 2];
	for (int i = 0; i < N_STATISTICS; i++)
		cost.statistics[i] = after[i] - before[i];
	return cost;
}

static void print_header(FILE *file)
{
	fprintf(file, "%d round trips over two pipes, two switches each; one CPU\n"
		"%-34s %12s %8s %8s %8s %10s %10s %8s\n", ROUNDS, "", "instructions", "RDMSR",
		"WRMSR", "RDPMC", "PMU RDMSR", "PMU WRMSR", "EVNTSEL");
	fprintf(file, "%-34s %12s %8s %8s %8s %10s %10s %8s\n", "", "(median)", "per trip",
		"per trip", "per trip", "per trip", "per trip", "all");
}

static void print_cost(FILE *file, const char *what, const struct cost *cost)
{
	fprintf(file, "%-34s %12" PRIu64 " %8.2f %8.2f %8.2f %10.2f %10.2f %8" PRIu64 "\n", what,
		cost->instructions, (double)cost->statistics[RDMSR] / ROUNDS,
		(double)cost->statistics[WRMSR] / ROUNDS,
		(double)cost->statistics[RDPMC] / ROUNDS,
		(double)cost->statistics[PMU_RDMSR] / ROUNDS,
		(double)cost->statistics[PMU_WRMSR] / ROUNDS, cost->statistics[EVENT_SELECT]);
}

static FILE *open_beside(const char *name, const char *mode)
{
	FILE *file = fopen(program(name), mode);

	ck_assert_msg(file, "%s: %s", program(name), strerror(errno));
	return file;
}

START_TEST(unpatched_kernel_switch_cost_is_recorded)
{
	struct cost cost = measure(NULL, 0, NULL, 0);
	FILE *file = open_beside(BASELINE_FILE, "w");

	ck_assert_msg(access("/dev/perfctr", F_OK) < 0, "this kernel is patched");
	fprintf(file, "%" PRIu64, cost.instructions);
	for (int i = 0; i < N_STATISTICS; i++)
		fprintf(file, " %" PRIu64, cost.statistics[i]);
	fputc('\n', file);
	ck_assert_int_eq(fclose(file), 0);
}
END_TEST

SUITE(baseline, unpatched_kernel_switch_cost_is_recorded)

static struct cost read_baseline(void)
{
	FILE *file = open_beside(BASELINE_FILE, "r");
	struct cost cost = { 0 };

	ck_assert_int_eq(fscanf(file, "%" SCNu64, &cost.instructions), 1);
	for (int i = 0; i < N_STATISTICS; i++)
		ck_assert_int_eq(fscanf(file, "%" SCNu64, &cost.statistics[i]), 1);
	fclose(file);
	return cost;
}

START_TEST(a_switch_of_unmonitored_threads_costs_what_it_cost_unpatched)
{
	struct cost unpatched = read_baseline(), patched = measure(NULL, 0, NULL, 0);

	ck_assert_uint_eq(patched.instructions, unpatched.instructions);
	ck_assert_uint_eq(patched.statistics[PMU_RDMSR], 0);
	ck_assert_uint_eq(patched.statistics[PMU_WRMSR], 0);
	ck_assert_uint_eq(patched.statistics[RDPMC], 0);
	/* Others, such as FS_BASE and the timer's, as often as before: the timer ticks a little. */
	ck_assert_uint_eq(patched.statistics[WRMSR] / ROUNDS, unpatched.statistics[WRMSR] / ROUNDS);
	ck_assert_uint_eq(patched.statistics[RDMSR] / ROUNDS, unpatched.statistics[RDMSR] / ROUNDS);
}
END_TEST

/* Away and back: at most 2 WRMSR, none of an event register, 1 RDPMC per counter each way. */
static void expect_cheap(const struct cost *cost, unsigned int n)
{
	/* The process did leave its CPU in every round. */
	ck_assert_uint_ge(cost->switches, ROUNDS);
	ck_assert_uint_le(cost->statistics[PMU_WRMSR], 2 * cost->switches);
	ck_assert_uint_eq(cost->statistics[EVENT_SELECT], 0);
	ck_assert_uint_eq(cost->statistics[PMU_RDMSR], 0);
	/* The two context_read() and every tick read the counters as well. */
	ck_assert_uint_le(cost->statistics[RDPMC], n * (2 * cost->switches + 2 + cost->ticks));
}

START_TEST(a_monitored_switch_to_the_same_owner_is_at_most_2_wrmsr_and_no_event_register)
{
	struct cost one = measure(EVENTS({ 0, USER(INSTRUCTIONS) }), NULL, 0);
	struct cost two = measure(EVENTS({ 0, USER(INSTRUCTIONS) }, { PERFCTR_FIXED, USER(FIXED) }),
				  NULL, 0);

	expect_cheap(&one, 1);
	expect_cheap(&two, 2);
}
END_TEST

/* Not bars, but what a reader wants to know. */
START_TEST(the_table_of_switch_costs_is_written)
{
	struct event all[N_COUNTERS];
	struct cost cost[] = {
		read_baseline(),
		measure(NULL, 0, NULL, 0),
		measure(EVENTS({ 0, USER(INSTRUCTIONS) }), NULL, 0),
		measure(all, all_counters(all), NULL, 0),
		measure(EVENTS({ 0, USER(INSTRUCTIONS) }), EVENTS({ 0, USER(INSTRUCTIONS) })),
		measure(EVENTS({ 0, USER(INSTRUCTIONS) }), EVENTS({ 0, USER(BRANCHES) })),
		measure(EVENTS({ 0, USER(INSTRUCTIONS) }), EVENTS({ 1, USER(BRANCHES) })),
	};
	static const char *const what[] = {
		"unpatched kernel",
		"neither counted",
		"one counted, 1 event",
		"one counted, 7 events",
		"both counted, same event",
		"both counted, counter shared",
		"both counted, counters apart",
	};
	FILE *file = open_beside(TABLE_FILE, "w");

	print_header(file);
	for (size_t i = 0; i < ARRAY_SIZE(cost); i++)
		print_cost(file, what[i], &cost[i]);
	ck_assert_int_eq(fclose(file), 0);
}
END_TEST

SUITE(switch,
      a_switch_of_unmonitored_threads_costs_what_it_cost_unpatched,
      a_monitored_switch_to_the_same_owner_is_at_most_2_wrmsr_and_no_event_register,
      the_table_of_switch_costs_is_written)
