// SPDX-License-Identifier: GPL-2.0-or-later
/* bench [--processes N] TABLE...: measures inside the machine, and prints CSV. */
#include "bench.h"

#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <termios.h>
#include <unistd.h>

static const char *const by_names[N_BY] = { "nothing", "perfctr", "perf_events" };
static bool patched;

static const struct {
	const char *name;
	void (*bench)(const struct options *options);
} tables[] = {
	{ "read", bench_reads },	   { "switch", bench_switches }, { "life", bench_lives },
	{ "launch", bench_launches },	   { "tree", bench_trees },	 { "memory", bench_memory },
	{ "interrupt", bench_interrupts },
};

static const char *const quantities[N_QUANTITIES] = {
	[USER_INSTRUCTIONS] = "user_instructions",
	[KERNEL_INSTRUCTIONS] = "kernel_instructions",
	[RDPMC] = "rdpmc",
	[RDMSR] = "rdmsr",
	[WRMSR] = "wrmsr",
	[PMU_RDMSR] = "pmu_rdmsr",
	[PMU_WRMSR] = "pmu_wrmsr",
	[WRMSR_COUNTER] = "wrmsr_counter",
	[WRMSR_GLOBAL] = "wrmsr_global",
	[SWITCHES] = "switches",
	[MEMORY] = "memory",
};

bool wanted(enum by by)
{
	return patched || by == BY_NOTHING;
}

void print_header(void)
{
	printf("table,work,processes,counted,counters,by");
	for (int i = 0; i < N_QUANTITIES; i++)
		printf(",%s", quantities[i]);
	putchar('\n');
}

void print_row(const char *table, const char *work, unsigned int processes, const char *counted,
	       unsigned int counters, enum by by, const struct cost *cost)
{
	printf("%s,\"%s\",%u,%s,%u,%s", table, work, processes, counted, counters, by_names[by]);
	for (int i = 0; i < N_QUANTITIES; i++)
		printf(",%.2f", cost->quantity[i]);
	putchar('\n');
	fflush(stdout);
	tcdrain(STDOUT_FILENO); /* otherwise the rest goes out during the next measurement */
}

/* Addresses in memory must not differ between two runs. */
static void fix_addresses(char **argv)
{
	int persona = personality(0xffffffff);

	if (persona & ADDR_NO_RANDOMIZE)
		return;
	if (personality(persona | ADDR_NO_RANDOMIZE) < 0)
		err(1, "personality");
	execv("/proc/self/exe", argv);
	err(1, "/proc/self/exe");
}

/*
 * A thread that is woken waits until the other one blocks. So the number of switches is always the
 * same, and the scheduler does the same in each.
 */
static void fix_order(void)
{
	const struct sched_param priority = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &priority) < 0)
		err(1, "SCHED_FIFO");
}

static void usage(void)
{
	fputs("usage: bench [--processes N] TABLE...; tables:", stderr);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		fprintf(stderr, " %s", tables[i].name);
	fputc('\n', stderr);
	exit(1);
}

static void run_table(const char *name, const struct options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (strcmp(name, tables[i].name) == 0) {
			tables[i].bench(options);
			return;
		}
	}
	usage();
}

int main(int argc, char **argv)
{
	struct options options = { .max_processes = 10000 };
	int i;

	if (getpid() == 1)
		boot_machine();
	fix_addresses(argv);
	fix_order();
	patched = access("/dev/perfctr", F_OK) == 0;
	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (strcmp(argv[i], "--processes") == 0)
			options.max_processes = strtoul(argv[i + 1], NULL, 10);
		else
			usage();
	}
	if (i == argc)
		usage();
	print_header();
	for (; i < argc; i++)
		run_table(argv[i], &options);
	return 0;
}
