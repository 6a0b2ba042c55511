// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of what switches, forks, execs and exits cost, with the project's bars beside what they
 * apply to: build/bench/switch-cost.txt.  It fails when a bar is missed.
 */
#include "cost.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TABLE_DIRECTORY	"../../bench"
#define TABLE_FILE	TABLE_DIRECTORY "/switch-cost.txt"
#define ONE_EVENT	EVENTS({ 0, USER(INSTRUCTIONS) })
#define TINY		"/tmp/loop-tiny"

static FILE *table;
static unsigned int missed;

static void print_header(const char *what)
{
	fprintf(table, "\n%-34s %12s %8s %8s %8s %8s %8s\n", what, "instructions", "RDMSR", "WRMSR",
		"RDPMC", "PMU", "PMU");
	fprintf(table, "%-34s %12s %8s %8s %8s %8s %8s\n", "", "(median)", "", "", "", "RDMSR",
		"WRMSR");
}

static double per_round(const struct cost *cost, int statistic)
{
	return (double)cost->statistics[statistic] / cost->rounds;
}

static void print_cost(const char *what, const struct cost *cost)
{
	fprintf(table, "%-34s %12" PRIu64 " %8.2f %8.2f %8.2f %8.2f %8.2f\n", what,
		cost->instructions, per_round(cost, RDMSR), per_round(cost, WRMSR),
		per_round(cost, RDPMC), per_round(cost, PMU_RDMSR), per_round(cost, PMU_WRMSR));
}

static void print_bar(bool met, const char *bar, double got)
{
	fprintf(table, "    %-60s %10.2f  %s\n", bar, got, met ? "ok" : "FAIL");
	missed += !met;
}

static void bench_unmonitored(const struct cost *unpatched)
{
	struct cost cost = measure_round_trips(NULL, 0, NULL, 0);
	double added = (double)cost.instructions - unpatched->instructions;
	double accesses = per_round(&cost, PMU_RDMSR) + per_round(&cost, PMU_WRMSR);

	print_cost("neither counted", &cost);
	print_bar(added == 0, "instructions added to the unpatched kernel's: 0", added);
	print_bar(accesses == 0, "MSR accesses: 0", accesses);
}

/*
 * Per time that the counted process left and came back, which others than the partner cause too.
 * Every tick of the timer, and both reads of its switches, read the counters once more.
 */
static void bench_one_side(const char *what, const struct event *events, size_t n)
{
	struct cost cost = measure_round_trips(events, n, NULL, 0);
	double writes = (double)cost.statistics[PMU_WRMSR] / cost.switches;
	double reads = (double)cost.statistics[RDPMC] - n * (cost.ticks + 2.0);

	reads /= n * cost.switches;
	print_cost(what, &cost);
	print_bar(writes <= 2, "WRMSR to leave and come back: <= 2", writes);
	print_bar(reads <= 2, "RDPMC of each counter to leave and come back: <= 2", reads);
}

/* The partner is a child of the tree's root. */
static struct cost measure_tree_round_trips(void)
{
	int fd = tree_open(0);
	struct partner partner = partner_start();
	struct cost cost = measure_partner(&partner, fd);

	partner_stop(&partner);
	close(fd);
	return cost;
}

/* User instructions of both processes, by perf_events. */
static struct cost measure_perf_round_trips(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
	};
	struct partner partner = partner_start();
	int own = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	int other = syscall(SYS_perf_event_open, &attr, partner.pid, -1, -1, 0);
	struct cost cost;

	ck_assert_msg(own >= 0 && other >= 0, "perf_event_open: %s", strerror(errno));
	cost = measure_partner(&partner, -1);
	close(own);
	close(other);
	partner_stop(&partner);
	return cost;
}

/* Both sides are measured against the unpatched kernel without either. */
static void bench_against_perf(const struct cost *unpatched)
{
	struct cost perfctr = measure_round_trips(ONE_EVENT, ONE_EVENT);
	struct cost perf = measure_perf_round_trips();
	double added = (double)perfctr.instructions - unpatched->instructions;
	double perf_added = (double)perf.instructions - unpatched->instructions;
	double writes = per_round(&perfctr, PMU_WRMSR), perf_writes = per_round(&perf, PMU_WRMSR);

	print_cost("both counted, same event", &perfctr);
	print_cost("both counted by perf_events", &perf);
	print_bar(perf_writes >= 5 * writes, "MSR writes of perf_events to ours: >= 5",
		  perf_writes / writes);
	print_bar(perf_added >= 3 * added, "instructions added by perf_events to ours: >= 3",
		  perf_added / added);
}

static void bench_switches(void)
{
	struct cost unpatched = read_baseline(), cost;
	struct event all[N_COUNTERS];

	print_header("round trip, which is two switches");
	print_cost("unpatched kernel", &unpatched);
	bench_unmonitored(&unpatched);
	bench_one_side("one counted, 1 event", ONE_EVENT);
	bench_one_side("one counted, 7 events", all, all_counters(all));
	bench_against_perf(&unpatched);
	cost = measure_tree_round_trips();
	print_cost("both in one tree", &cost);
	cost = measure_round_trips(ONE_EVENT, EVENTS({ 0, USER(BRANCHES) }));
	print_cost("both counted, counter shared", &cost);
	cost = measure_round_trips(ONE_EVENT, EVENTS({ 1, USER(BRANCHES) }));
	print_cost("both counted, counters apart", &cost);
}

static void fork_and_exit(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* The program's own loop is in it, always the same: asm/loop.S. */
static void vfork_exec_and_exit(void)
{
	waitpid(spawn(COMMAND(TINY)), NULL, 0);
}

static void *return_at_once(void *unused)
{
	return unused;
}

static void create_and_join(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, return_at_once, NULL), 0);
	pthread_join(thread, NULL);
}

static const struct {
	const char *what;
	void (*round)(void);
} lives[] = {
	{ "fork and exit", fork_and_exit },
	{ "vfork, exec and exit", vfork_exec_and_exit },
	{ "pthread_create and pthread_join", create_and_join },
};

static void bench_life(const char *what, void (*round)(void))
{
	struct cost cost;
	int fd;

	print_header(what);
	cost = measure(round, 301, -1);
	print_cost("not counted", &cost);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, ONE_EVENT);
	cost = measure(round, 301, fd);
	print_cost("parent counted, 1 event", &cost);
	close(fd);
	fd = tree_open(0);
	cost = measure(round, 301, fd);
	print_cost("child inherits, 1 event", &cost);
	close(fd);
}

START_TEST(every_bar_is_met)
{
	mkdir(program(TABLE_DIRECTORY), 0777);
	table = open_beside(TABLE_FILE, "w");
	fputs("Instructions and MSR accesses per round, on one CPU of the emulated machine\n", table);
	bench_switches();
	copy_file(program("loop-tiny"), TINY, 0755);
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		bench_life(lives[i].what, lives[i].round);
	ck_assert_int_eq(fclose(table), 0);
	ck_assert_uint_eq(missed, 0);
}
END_TEST

SUITE(bench, every_bar_is_met)
