// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the time stamp counter of the machine, and the virtual time of a thread. */
#define _GNU_SOURCE
#include "machine.h"
#include "ticks.h"

#include <time.h>

/* The rate that the kernel knows may be wrong by one part in RATE_PARTS. */
enum { RATE_PARTS = 100 };

/* The clock and the time stamp counter, read at one moment. */
struct moment {
	uint64_t ns, ticks;
};

/* Returns the pair of readings that took least time, of several: it was not preempted. */
static struct moment read_moment(void)
{
	struct moment best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t begin = read_ticks(), ns = now_ns(), end = read_ticks();

		if (end - begin < least) {
			least = end - begin;
			best = (struct moment){ ns, begin };
		}
	}
	return best;
}

/* Returns the rate of the time stamp counter in kHz. */
static uint64_t find_rate(unsigned int ms)
{
	struct moment begin = read_moment(), end;

	sleep_ms(ms);
	end = read_moment();
	return (uint64_t)((double)(end.ticks - begin.ticks) * 1e6 / (double)(end.ns - begin.ns));
}

void check_time_stamp(const struct subject *subject, struct outcome *outcome)
{
	uint64_t khz = find_rate(subject->phase_ms), known = subject->pmu.tsc_khz;
	uint64_t end = now_ns() + (uint64_t)subject->phase_ms * 1000000;
	uint64_t last = read_ticks(), moves = 0, backwards = 0;

	while (now_ns() < end) {
		uint64_t now;

		pin_to(0, subject->cpus.cpu[moves++ % subject->cpus.n], outcome);
		now = read_ticks();
		backwards += now < last;
		last = now;
	}
	add_detail(outcome, "%llu kHz by the clock, %llu kHz as the backend says",
		   (unsigned long long)khz, (unsigned long long)known);
	add_detail(outcome, "read on %u CPUs in turn, %llu times: it went back %llu times",
		   subject->cpus.n, (unsigned long long)moves, (unsigned long long)backwards);
	if (backwards)
		end_check(outcome, VERDICT_FAILED, "the time stamps of the CPUs differ");
	if (known && (khz > known + known / RATE_PARTS || khz < known - known / RATE_PARTS))
		end_check(outcome, VERDICT_FAILED, "the rate of the time stamp is another");
	end_check(outcome, VERDICT_PASSED, "%s", "");
}

static uint64_t read_time(const struct perfctr *meter, struct outcome *outcome)
{
	struct perfctr_counts counts;

	meter_read(meter, PERFCTR_SCOPE_SELF, &counts, outcome);
	return counts.tsc;
}

static uint64_t read_on_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return timespec_ns(now);
}

void check_virtual_time(const struct subject *subject, struct outcome *outcome)
{
	struct perfctr *meter = meter_open_time(subject, outcome);
	uint64_t khz = find_rate(subject->phase_ms / 4), end;
	struct time_shares shares;
	pid_t competitor;

	read_time(meter, outcome);
	competitor = start_competitor(subject, pin_here(outcome), outcome);
	shares.elapsed = read_ticks();
	shares.counted = read_time(meter, outcome);
	shares.on_cpu = read_on_cpu_ns();
	end = now_ns() + (uint64_t)subject->phase_ms * 1000000;
	while (now_ns() < end)
		;
	shares.on_cpu = read_on_cpu_ns() - shares.on_cpu;
	shares.counted = read_time(meter, outcome) - shares.counted;
	shares.elapsed = read_ticks() - shares.elapsed;
	shares.on_cpu = (uint64_t)((double)shares.on_cpu * (double)khz / 1e6);
	end_helper(competitor);

	shares.slept = read_ticks();
	shares.asleep = read_time(meter, outcome);
	sleep_ms(subject->phase_ms);
	shares.asleep = read_time(meter, outcome) - shares.asleep;
	shares.slept = read_ticks() - shares.slept;
	add_detail(outcome,
		   "beside a competitor: %llu ticks of %llu that passed; the scheduler says %llu",
		   (unsigned long long)shares.counted, (unsigned long long)shares.elapsed,
		   (unsigned long long)shares.on_cpu);
	add_detail(outcome, "asleep: %llu of %llu", (unsigned long long)shares.asleep,
		   (unsigned long long)shares.slept);
	if (!judge_time(&shares))
		end_check(outcome, VERDICT_FAILED, "this is not the time on a CPU");
	end_check(outcome, VERDICT_PASSED, "%s", "");
}
