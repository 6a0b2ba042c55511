// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The end of a period: the cost of its interrupt, of one that leaves a sample, and of one that
 * sends a signal.
 */
#include "bench.h"

#include <err.h>
#include <linux/perf_event.h>
#include <perfctr.h>
#include <perfctr_samples.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ITERATIONS 500000 /* of two instructions */
#define PERIOD 10007
#define ROUNDS 31
#define ROOM (1u << 20) /* for all samples of all rounds */

static const unsigned int numbers[] = { 1, 4 }; /* of counters; the first has the period */

static void loop(void *argument)
{
	uint32_t n = ITERATIONS;

	(void)argument;
	__asm__ volatile("1:	dec	%0\n\t"
			 "jnz	1b"
			 : "+r"(n)
			 :
			 : "cc");
}

/* The cost of one interrupt. */
static void measure_interrupts(const char *work, unsigned int counters, enum by by)
{
	struct cost cost = measure(loop, NULL, ROUNDS);

	cost.quantity[USER_INSTRUCTIONS] -= 2 * ITERATIONS;
	cost = divide(&cost, 2 * ITERATIONS / PERIOD);
	print_row("interrupt", work, 1, "self", counters, by, &cost);
}

static void handle(int signal)
{
	(void)signal;
}

static void bench_signals(unsigned int n)
{
	struct perfctr_control control = control_of(n, PLAIN);
	struct perfctr *p = perfctr_open();

	control.event[0].period = PERIOD;
	control.event[0].signal = SIGPROF;
	if (signal(SIGPROF, handle) == SIG_ERR || !p || perfctr_set_control(p, &control) < 0)
		err(1, "signal of %u events", n);
	measure_interrupts("signal", n, BY_PERFCTR);
	perfctr_close(p);
}

static void bench_periods(unsigned int n)
{
	struct perfctr_control control = control_of(n, PLAIN);
	struct perfctr *p = perfctr_open();

	control.event[0].period = PERIOD;
	if (!p || perfctr_set_control(p, &control) < 0)
		err(1, "period of %u events", n);
	measure_interrupts("period", n, BY_PERFCTR);
	perfctr_close(p);
}

/* jitter: in per cent. perfex record has 100. */
static void bench_samples(unsigned int n, const char *work, unsigned int jitter)
{
	const struct perfctr_samples_options options = { .size = sizeof(options),
							 .room_bytes = ROOM,
							 .jitter = jitter };
	struct perfctr_control control = control_of(n, PLAIN);
	struct perfctr *p = perfctr_open();
	struct perfctr_samples *s = p ? perfctr_samples_open(p, &options) : NULL;
	struct perfctr_sampled sampled;

	control.event[0].period = PERIOD;
	if (!s || perfctr_set_control(p, &control) < 0)
		err(1, "samples of %u events", n);
	measure_interrupts(work, n, BY_PERFCTR);
	if (perfctr_samples_read(s, &sampled) < 0 || sampled.lost || !sampled.samples)
		errx(1, "samples were lost");
	perfctr_samples_close(s);
	perfctr_close(p);
}

/* A sample has what a sample of perfctr has beside counts: address, thread, time and period. */
static void bench_perf_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = PERIOD,
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.exclude_kernel = 1,
	};
	const size_t bytes = ROOM + (size_t)sysconf(_SC_PAGESIZE);
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *page =
		fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		err(1, "perf_event_open");
	measure_interrupts("sample", 1, BY_PERF_EVENTS);
	munmap(page, bytes);
	close(fd);
}

void bench_interrupts(const struct options *options)
{
	(void)options;
	measure_interrupts("loop", 0, BY_NOTHING);
	for (size_t i = 0; i < ARRAY_SIZE(numbers) && wanted(BY_PERFCTR); i++) {
		bench_periods(numbers[i]);
		bench_samples(numbers[i], "sample", 0);
		bench_samples(numbers[i], "sample at random", 100);
		bench_signals(numbers[i]);
	}
	if (wanted(BY_PERF_EVENTS))
		bench_perf_events();
}
