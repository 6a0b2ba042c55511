// SPDX-License-Identifier: GPL-2.0-or-later
#include "cost.h"
#include "msr.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../emulator/pmu/pmu-stats.h"

#define BASELINE_FILE "switch-cost-unpatched"

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
		msr_device = msr_open(0, O_RDONLY);
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
	uint64_t ticks = interrupts("LOC", 0);

	ck_assert_uint_gt(ticks, 0);
	return ticks;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct cost measure(void (*round)(void), unsigned int rounds, int context)
{
	uint64_t *samples = calloc(rounds, sizeof(*samples));
	uint64_t before[N_STATISTICS], after[N_STATISTICS];
	struct cost cost = { .rounds = rounds };
	uint64_t switches = 0, ticks;

	ck_assert(samples);
	for (int i = 0; i < 100; i++)
		round();
	ticks = timer_ticks();
	if (context >= 0)
		switches = context_read(context).switches;
	read_statistics(before);
	for (unsigned int i = 0; i < rounds; i++) {
		uint64_t start = rdtsc();

		round();
		samples[i] = rdtsc() - start;
	}
	read_statistics(after);
	if (context >= 0)
		cost.switches = context_read(context).switches - switches;
	cost.ticks = timer_ticks() - ticks;

	qsort(samples, rounds, sizeof(samples[0]), ascending);
	cost.instructions = samples[rounds / 2];
	free(samples);
	for (int i = 0; i < N_STATISTICS; i++)
		cost.statistics[i] = after[i] - before[i];
	return cost;
}

void partner_answer(int to, int from)
{
	char byte;

	while (read(to, &byte, 1) == 1 && write(from, &byte, 1) == 1)
		;
}

struct partner partner_start(void)
{
	struct partner partner;
	int to[2], from[2];

	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	partner.pid = fork();
	ck_assert(partner.pid >= 0);
	if (partner.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		partner_answer(to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	partner.to = to[1];
	partner.from = from[0];
	return partner;
}

void partner_stop(const struct partner *partner)
{
	kill_and_wait(partner->pid);
	close(partner->to);
	close(partner->from);
}

static const struct partner *current_partner;

static void round_trip(void)
{
	char byte = 0;

	if (write(current_partner->to, &byte, 1) != 1 ||
	    read(current_partner->from, &byte, 1) != 1)
		ck_abort_msg("the partner has gone");
}

struct cost measure_partner(const struct partner *partner, int context)
{
	current_partner = partner;
	return measure(round_trip, ROUND_TRIPS, context);
}

static int monitor(pid_t pid, const struct event *events, size_t n)
{
	int fd;

	if (!n)
		return -1;
	fd = context_open(pid, PERFCTR_OPEN_CREATE);
	context_control(fd, events, n);
	return fd;
}

struct cost measure_round_trips(const struct event *own, size_t n_own, const struct event *other,
				size_t n_other)
{
	struct partner partner = partner_start();
	int partner_context = monitor(partner.pid, other, n_other);
	int context = monitor(0, own, n_own);
	struct cost cost = measure_partner(&partner, context);

	close(context);
	close(partner_context);
	partner_stop(&partner);
	return cost;
}

FILE *open_beside(const char *name, const char *mode)
{
	FILE *file = fopen(program(name), mode);

	ck_assert_msg(file, "%s: %s", program(name), strerror(errno));
	return file;
}

struct cost read_baseline(void)
{
	FILE *file = open_beside(BASELINE_FILE, "r");
	struct cost cost = { .rounds = ROUND_TRIPS };

	ck_assert_int_eq(fscanf(file, "%" SCNu64, &cost.instructions), 1);
	for (int i = 0; i < N_STATISTICS; i++)
		ck_assert_int_eq(fscanf(file, "%" SCNu64, &cost.statistics[i]), 1);
	fclose(file);
	return cost;
}

void write_baseline(const struct cost *cost)
{
	FILE *file = open_beside(BASELINE_FILE, "w");

	fprintf(file, "%" PRIu64, cost->instructions);
	for (int i = 0; i < N_STATISTICS; i++)
		fprintf(file, " %" PRIu64, cost->statistics[i]);
	fputc('\n', file);
	ck_assert_int_eq(fclose(file), 0);
}
