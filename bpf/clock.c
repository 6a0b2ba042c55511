// SPDX-License-Identifier: GPL-2.0-or-later
/* The time stamp counter as a function of CLOCK_MONOTONIC, which is what BPF programs can read. */
#include "service.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES 50

struct moment {
	__u64 ns;
	__u64 ticks;
};

__u64 monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Reads both clocks at one moment.  Of several tries, takes the one that was disturbed least. */
static struct moment look_at_clock(void)
{
	struct moment best = { 0 };
	__u64 shortest = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		__u64 before = __rdtsc();
		__u64 ns = monotonic_ns();
		__u64 ticks = __rdtsc() - before;

		if (ticks >= shortest)
			continue;
		shortest = ticks;
		best = (struct moment){ .ns = ns, .ticks = before + ticks / 2 };
	}
	return best;
}

static struct perfctr_bpf_rate rate_between(struct moment from, struct moment to)
{
	__u64 ns = to.ns - from.ns, ticks = to.ticks - from.ticks;

	return (struct perfctr_bpf_rate){
		.whole = ticks / ns,
		.fraction = (__u64)(((unsigned __int128)(ticks % ns) << 32) / ns),
	};
}

/* The kernel takes the counter out of this list when it differs from CPU to CPU. */
static bool is_synchronous(void)
{
	FILE *file =
		fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "re");
	char line[256], *rest = line, *word;
	bool found = false;

	if (!file)
		return false;
	if (fgets(line, sizeof(line), file))
		while ((word = strsep(&rest, " \n")))
			found |= strcmp(word, "tsc") == 0;
	fclose(file);
	return found;
}

void begin_clock(struct perfctr_bpf_info *info)
{
	struct moment first = look_at_clock(), second;
	struct timespec pause = { .tv_nsec = 100000000 };

	nanosleep(&pause, NULL);
	second = look_at_clock();
	info->rate = rate_between(first, second);
	info->tsc_khz = (__u32)perfctr_bpf_ticks(&info->rate, 1000000);
	info->live = is_synchronous();
	info->current = 0;
	info->clock[0] = (struct perfctr_bpf_clock){
		.ns = second.ns,
		.ticks = second.ticks,
		.rate = info->rate,
	};
}

long clock_error(const struct perfctr_bpf_info *info)
{
	struct moment now = look_at_clock();
	const struct perfctr_bpf_clock *clock = &info->clock[info->current & 1];
	__u64 expected = clock->ticks + perfctr_bpf_ticks(&clock->rate, now.ns - clock->ns);

	return (long)((__s64)(expected - now.ticks) * 1000000 / (__s64)info->tsc_khz);
}

struct perfctr_bpf_clock next_clock(const struct perfctr_bpf_info *info)
{
	const struct perfctr_bpf_clock *old = &info->clock[info->current & 1];
	struct moment now = look_at_clock(), then = { .ns = old->ns, .ticks = old->ticks };

	return (struct perfctr_bpf_clock){
		.ns = now.ns,
		.ticks = now.ticks,
		.rate = rate_between(then, now),
	};
}
