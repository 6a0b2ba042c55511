// SPDX-License-Identifier: GPL-2.0-only
/* Claims registers by their numbers, as perf_events and the NMI watchdog do. */
#include <linux/errno.h>
#include <asm/nmi.h>
#include "../kernel/hooks.h"
#include "pmu.h"

/*
 * If set, claims are checked and not made. Protected by reserve_lock, under which all functions
 * here run.
 */
static bool only_asking;

void perfctr_only_ask(bool asking)
{
	only_asking = asking;
}

static bool take_evntsel(u32 msr)
{
	return only_asking ? !perfctr_evntsel_is_reserved(msr) : reserve_evntsel_nmi(msr);
}

static bool take_counter(u32 msr)
{
	return only_asking ? !perfctr_counter_is_reserved(msr) : reserve_perfctr_nmi(msr);
}

int perfctr_reserve_evntsels(u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!take_evntsel(first + i)) {
			perfctr_release_evntsels(first, i);
			return -EBUSY;
		}
	}
	return 0;
}

void perfctr_release_evntsels(u32 first, u32 n)
{
	while (n-- && !only_asking)
		release_evntsel_nmi(first + n);
}

int perfctr_reserve_counters(u32 first, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (!take_counter(first + i)) {
			perfctr_release_counters(first, i);
			return -EBUSY;
		}
	}
	return 0;
}

void perfctr_release_counters(u32 first, u32 n)
{
	while (n-- && !only_asking)
		release_perfctr_nmi(first + n);
}
