// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Facts about the processor that perf_events does not give: its counters, and the rate of its time
 * stamp.
 */
#include "perf.h"
#include "../../pmu/machine.h"

#include <cpuid.h>
#include <string.h>
#include <time.h>

void perfctr_perf_machine(struct perfctr_pmu_info *info)
{
	unsigned int eax, name[3];
	char vendor[sizeof(name) + 1] = "";

	__cpuid(0, eax, name[0], name[2], name[1]);
	memcpy(vendor, name, sizeof(name));
	perfctr_machine_probe(vendor, info);
}

struct instant {
	uint64_t ticks, ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Reads one clock between two reads of the other, several times.  The shortest try was not
 * interrupted.
 */
static struct instant look_at_cpu(void)
{
	struct instant best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), ns = now_ns();
		uint64_t length = __builtin_ia32_rdtsc() - before;

		if (length >= shortest)
			continue;
		shortest = length;
		best = (struct instant){ before + length / 2, ns };
	}
	return best;
}

enum { MEASURE_NS = 5000000 };

static uint32_t measure_khz(void)
{
	struct instant first = look_at_cpu(), last;

	while (now_ns() - first.ns < MEASURE_NS)
		;
	last = look_at_cpu();
	return (uint32_t)(((last.ticks - first.ticks) * 1000000 + (last.ns - first.ns) / 2) /
			  (last.ns - first.ns));
}

/* The rate is determined once, so that all callers in the process get the same value. */
uint32_t perfctr_perf_tsc_khz(void)
{
	static uint32_t known;
	uint32_t khz = __atomic_load_n(&known, __ATOMIC_RELAXED), none = 0;

	if (khz)
		return khz;
	khz = perfctr_perf_khz_of_kernel();
	if (!khz)
		khz = measure_khz();
	if (!__atomic_compare_exchange_n(&known, &none, khz, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		khz = none;
	return khz;
}
