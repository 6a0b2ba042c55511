// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of PAPI's calls, in instructions of user and kernel mode, on a machine whose time is
 * made of them (scripts/vm --icount). Prints "CALL EVENTS INSTRUCTIONS" for 1, 2 and 4 events. The
 * dynamic linker chooses the PAPI that is measured.
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#define REPETITIONS 200

static int event_set;
static long long counts[4];

static void call_nothing(void)
{
	__asm__ volatile("");
}

static void call_read(void)
{
	if (PAPI_read(event_set, counts) != PAPI_OK)
		abort();
}

static void call_start_stop(void)
{
	if (PAPI_start(event_set) != PAPI_OK || PAPI_stop(event_set, counts) != PAPI_OK)
		abort();
}

/*
 * Returns the smallest. The timer's interrupts, and code that is not in the translator's cache,
 * make some larger.
 */
static unsigned long long measure(void (*call)(void))
{
	unsigned long long smallest = ~0ULL;

	for (int i = 0; i < REPETITIONS; i++) {
		unsigned long long start = __rdtsc(), ticks;

		call();
		ticks = __rdtsc() - start;
		if (ticks < smallest)
			smallest = ticks;
	}
	return smallest;
}

static void expect(const char *what, int status)
{
	if (status == PAPI_OK)
		return;
	fprintf(stderr, "cost: %s: %s\n", what, PAPI_strerror(status));
	exit(1);
}

int main(void)
{
	const int events[] = { PAPI_TOT_INS, PAPI_TOT_CYC, PAPI_REF_CYC, PAPI_BR_MSP };
	unsigned long long nothing;
	int n = 0;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		expect("PAPI_library_init", PAPI_EMISC);
	event_set = PAPI_NULL;
	expect("PAPI_create_eventset", PAPI_create_eventset(&event_set));
	nothing = measure(call_nothing);
	for (int wanted = 1; wanted <= 4; wanted *= 2) {
		while (n < wanted)
			expect("PAPI_add_event", PAPI_add_event(event_set, events[n++]));
		expect("PAPI_start", PAPI_start(event_set));
		printf("read %d %llu\n", n, measure(call_read) - nothing);
		expect("PAPI_stop", PAPI_stop(event_set, counts));
		printf("start+stop %d %llu\n", n, measure(call_start_stop) - nothing);
	}
	return 0;
}
