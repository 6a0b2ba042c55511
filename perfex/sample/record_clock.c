// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples by task-clock, the clock of a thread's CPU time.  Timers of perf_events end its periods,
 * so it needs no counter.  Each CPU has an event for each timer, which new processes inherit.  Its
 * records go to the ring of this CPU in record_maps.c.
 *
 * Many programs repeat the same work in rounds.  If a round is as long as the period of a timer,
 * all samples of this timer are at the same place of the round.  So a thread has several timers on
 * each CPU, and each run of perfex record gives them other periods.
 */
#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { N_TIMERS = 4 };

struct clock {
	int *fd;
	size_t n;
	uint64_t period_ns;	     /* that a sample stands for */
	uint64_t timer_ns[N_TIMERS]; /* periods of the timers */
	unsigned int depth;	     /* most callers of a sample; 0: it has none */
	bool has_user, has_kernel;   /* modes that have samples */
	uint64_t *chain;	     /* of the last sample */
};

/* Returns a number from 0 to 1. */
static double next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 0x1p53;
}

/*
 * Sets the periods of the timers, so that together they end as often as one with period_ns would.
 * The longest is at most twice as long as the shortest.
 */
static void choose_periods(struct clock *clock, uint64_t seed)
{
	double length[N_TIMERS], rate = 0;

	if (!seed && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = now_ns();
	for (int i = 0; i < 3; i++)
		next_random(&seed);
	for (int i = 0; i < N_TIMERS; i++) {
		length[i] = 1 + next_random(&seed);
		rate += 1 / length[i];
	}
	for (int i = 0; i < N_TIMERS; i++)
		clock->timer_ns[i] = (uint64_t)((double)clock->period_ns * length[i] * rate);
}

/*
 * The most addresses of a stack: one more than callers, because the address of the sample is one.
 * 0: as many as the kernel gives.
 */
static uint16_t stack_limit(const struct clock *clock)
{
	return clock->depth < PERFCTR_MAX_DEPTH ? (uint16_t)(clock->depth + 1) : 0;
}

static int open_event(const struct clock *clock, int timer, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = clock->timer_ns[timer],
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       (clock->depth ? PERF_SAMPLE_CALLCHAIN : 0),
		.sample_max_stack = clock->depth ? stack_limit(clock) : 0,
		.exclude_callchain_kernel = clock->depth > 0,
		.disabled = 1,
		.exclude_user = !clock->has_user,
		.exclude_kernel = !clock->has_kernel,
		.exclude_hv = 1,
		.inherit = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens the event of a timer on the CPU of ring i.  Returns false with errno. */
static bool open_timer(struct clock *clock, const struct record_options *options,
		       const struct maps *maps, pid_t pid, size_t i, int timer)
{
	int cpu, ring = maps_ring(maps, i, &cpu), error;
	int fd = open_event(clock, timer, pid, cpu);

	/* If the user has asked for no mode, the kernel may refuse its own. */
	if (fd < 0 && errno == EACCES && !clock->n && !options->run.modes_name) {
		clock->has_kernel = false;
		fd = open_event(clock, timer, pid, cpu);
	}
	if (fd < 0)
		return false;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring) == 0) {
		clock->fd[clock->n++] = fd;
		return true;
	}
	error = errno;
	close(fd);
	errno = error;
	return false;
}

struct clock *clock_open(const struct maps *maps, pid_t pid, const struct record_options *options)
{
	size_t n = maps_descriptors(maps, NULL);
	struct clock *clock = allocate(1, sizeof(*clock));
	bool good = true;

	clock->fd = allocate(n * N_TIMERS, sizeof(*clock->fd));
	clock->chain = allocate(PERFCTR_MAX_DEPTH, sizeof(*clock->chain));
	clock->period_ns = options->period[0];
	choose_periods(clock, options->seed);
	clock->depth = options->callers ? options->depth : 0;
	clock->has_user = !options->run.modes_name || options->run.modes & PERFCTR_MODE_USER;
	clock->has_kernel = !options->run.modes_name || options->run.modes & PERFCTR_MODE_KERNEL;
	for (size_t i = 0; good && i < n; i++)
		for (int timer = 0; good && timer < N_TIMERS; timer++)
			good = open_timer(clock, options, maps, pid, i, timer);
	if (good)
		return clock;
	if (errno == EACCES && clock->has_kernel)
		complain("cannot sample the kernel's time: " RECORD_WHO_SEES_KERNEL
			 "; --user samples the program's");
	else
		complain("cannot sample by task-clock, for which perf_events has timers: %m%s",
			 advice_for(errno));
	clock_close(clock);
	return NULL;
}

void clock_start(const struct clock *clock)
{
	for (size_t i = 0; i < clock->n; i++)
		if (ioctl(clock->fd[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			fail("cannot start the clock of the samples: %m");
}

void clock_close(struct clock *clock)
{
	if (!clock)
		return;
	for (size_t i = 0; i < clock->n; i++)
		close(clock->fd[i]);
	free(clock->fd);
	free(clock->chain);
	free(clock);
}

unsigned int clock_modes(const struct clock *clock)
{
	return (clock->has_user ? PERFCTR_MODE_USER : 0) |
	       (clock->has_kernel ? PERFCTR_MODE_KERNEL : 0);
}

struct clock_record { /* PERF_RECORD_SAMPLE, by the sample_type of open_event() */
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	/* With callers: */
	uint64_t n_addresses, address[];
};

/*
 * Copies the callers.  The kernel's list has marks, which say what the addresses behind them are
 * of, and begins with the address of the sample itself.
 */
static unsigned int copy_chain(const struct clock *clock, const struct clock_record *record)
{
	unsigned int depth = 0;

	for (uint64_t i = 0; i < record->n_addresses && depth < clock->depth; i++) {
		uint64_t address = record->address[i];

		if (address < PERF_CONTEXT_MAX && (depth || address != record->ip))
			clock->chain[depth++] = address;
	}
	return depth;
}

void clock_take(const struct clock *clock, const struct maps *maps,
		const struct perf_event_header *header, unsigned int cpu,
		perfctr_sample_visit *visit, void *argument)
{
	const struct clock_record *record = (const void *)header;
	bool in_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	const struct perfctr_sample sample = {
		.time = maps_time(maps, record->time),
		.type = PERFCTR_SAMPLE_PERIOD,
		.tgid = (int)record->pid,
		.tid = (int)record->tid,
		.flags = in_kernel ? PERFCTR_SAMPLE_KERNEL : 0,
		.periods = 1,
		.weight = clock->period_ns,
		.ip = record->ip,
	};
	const struct perfctr_sample_view view = {
		.sample = &sample,
		.chain = clock->depth ? clock->chain : NULL,
		.depth = clock->depth ? copy_chain(clock, record) : 0,
		.cpu = cpu,
	};

	visit(&view, argument);
}
