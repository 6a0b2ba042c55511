// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../emulator/pmu/pmu-stats.h"

#define WARM_UP 20

/* The last one is read next to the work, so that the reads of the others are not in it. */
static const struct {
	enum quantity quantity;
	uint32_t msr;
} statistics[] = {
	{ RDPMC, PMU_STATS_RDPMC },
	{ RDMSR, PMU_STATS_RDMSR },
	{ WRMSR, PMU_STATS_WRMSR },
	{ PMU_RDMSR, PMU_STATS_PMU_RDMSR },
	{ PMU_WRMSR, PMU_STATS_PMU_WRMSR },
	{ WRMSR_COUNTER, PMU_STATS_WRMSR_OF + PMU_STATS_COUNTER },
	{ WRMSR_COUNTER, PMU_STATS_WRMSR_OF + PMU_STATS_FIXED_CTR },
	{ WRMSR_GLOBAL, PMU_STATS_WRMSR_OF + PMU_STATS_GLOBAL_CTRL },
	{ KERNEL_INSTRUCTIONS, PMU_STATS_INSN_KERNEL },
	{ USER_INSTRUCTIONS, PMU_STATS_INSN_USER },
};

static uint64_t read_statistic(uint32_t msr)
{
	static int device = -1;
	uint64_t value;

	if (device < 0)
		device = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	if (device < 0)
		err(1, "/dev/cpu/0/msr");
	if (pread(device, &value, sizeof(value), PMU_STATS_MSR + msr) != sizeof(value))
		err(1, "no statistics: scripts/vm --stats FILE");
	return value;
}

/* Context switches since boot, of all threads. */
static uint64_t read_switches(void)
{
	unsigned long long switches;
	char line[1024];
	FILE *file = fopen("/proc/stat", "re");

	if (!file)
		err(1, "/proc/stat");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "ctxt %llu", &switches) == 1) {
			fclose(file);
			return switches;
		}
	}
	errx(1, "/proc/stat has no line \"ctxt\"");
}

static void sample(void (*round)(void *argument), void *argument, uint64_t *result)
{
	uint64_t before[ARRAY_SIZE(statistics)];

	for (size_t i = 0; i < ARRAY_SIZE(statistics); i++)
		before[i] = read_statistic(statistics[i].msr);
	round(argument);
	memset(result, 0, N_QUANTITIES * sizeof(*result));
	for (size_t i = ARRAY_SIZE(statistics); i-- > 0;)
		result[statistics[i].quantity] += read_statistic(statistics[i].msr) - before[i];
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t median(uint64_t (*samples)[N_QUANTITIES], enum quantity quantity, unsigned int n)
{
	uint64_t *column = calloc(n, sizeof(*column)), value;

	if (!column)
		err(1, NULL);
	for (unsigned int i = 0; i < n; i++)
		column[i] = samples[i][quantity];
	qsort(column, n, sizeof(*column), ascending);
	value = column[n / 2];
	free(column);
	return value;
}

static struct cost medians(void (*round)(void *argument), void *argument, unsigned int rounds)
{
	uint64_t(*samples)[N_QUANTITIES] = calloc(rounds, sizeof(*samples));
	struct cost cost;

	if (!samples)
		err(1, NULL);
	for (unsigned int i = 0; i < rounds; i++)
		sample(round, argument, samples[i]);
	for (int i = 0; i < N_QUANTITIES; i++)
		cost.quantity[i] = median(samples, i, rounds);
	free(samples);
	return cost;
}

static void do_nothing(void *argument)
{
	(void)argument;
}

/*
 * Earlier work has its aftermath: memory is freed, and perf_events' hooks of the context switch
 * stay for a second.
 */
void settle(void)
{
	sleep(2);
}

struct cost measure(void (*round)(void *argument), void *argument, unsigned int rounds)
{
	struct cost empty, cost;
	uint64_t switches;

	settle();
	for (unsigned int i = 0; i < (rounds < WARM_UP ? rounds : WARM_UP); i++)
		round(argument);
	empty = medians(do_nothing, NULL, rounds);
	switches = read_switches();
	cost = medians(round, argument, rounds);
	switches = read_switches() - switches;
	for (int i = 0; i < N_QUANTITIES; i++)
		cost.quantity[i] -= empty.quantity[i];
	/* The timer causes a few more switches. */
	cost.quantity[SWITCHES] = (switches + rounds / 2) / rounds;
	return cost;
}

struct cost divide(const struct cost *cost, double parts)
{
	struct cost part = *cost;

	for (int i = 0; i < N_QUANTITIES; i++)
		part.quantity[i] /= parts;
	return part;
}
