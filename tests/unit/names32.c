// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events by name in a 32-bit program with its own libpfm4, for processors that run only such programs.  There is no
 * libcheck, so the program itself reports failures.
 */
#include "machines.h"

#include <stdio.h>
#include <string.h>

/* The first two counters, and register values that are put together by hand as in names.c. */
static const struct {
	enum machine machine;
	const char *specs[2];
	struct {
		uint32_t counter;
		uint64_t evntsel;
	} expected[2];
} sets[] = {
	{ NEHALEM, { "instructions", "cycles:uk" }, { { 0, 0x4100c0 }, { 1, 0x43003c } } },
	/* libpfm4 looks for its processor only once; these two are as in names.c. */
	{ NEHALEM,
	  { "MEM_INST_RETIRED:LOADS", "mem_inst_retired.stores:k" },
	  { { 0, 0x41010b }, { 1, 0x42020b } } },
	{ P5, { "instructions", "branches:k" }, { { 0, 0x96 }, { 1, 0x52 } } },
	{ P5_MMX,
	  { "MMX_INSTRUCTIONS_EXECUTED_V_PIPE", "cycles" },
	  { { 1, 0xab }, { 0, 0x180 } } },
	{ P6, { "DIV", "instructions" }, { { 1, 0x010013 }, { 0, 0x4100c0 } } },
	{ K7, { "DATA_CACHE_REFILLS_FROM_L2", "cycles" }, { { 0, 0x411f42 }, { 1, 0x410076 } } },
	{ K8, { "instructions", "branch-misses" }, { { 0, 0x4100c0 }, { 1, 0x4100c3 } } },
	{ MII, { "INSTRUCTIONS_DECODED", "RSB_OVERFLOWS" }, { { 0, 0x488 }, { 1, 0xb9 } } },
};

static int check(size_t set)
{
	const struct perfctr_pmu_info *info = be_machine(sets[set].machine);
	struct perfctr_request requests[2];
	struct perfctr_control control;
	char error[512];

	for (int i = 0; i < 2; i++) {
		const char *spec = sets[set].specs[i];

		if (perfctr_events_parse_once(info, spec, PERFCTR_MODE_USER, &requests[i], error,
					      sizeof(error)) < 0) {
			printf("%s: %s\n", spec, error);
			return 1;
		}
	}
	if (perfctr_requests_assign(info, requests, 2, &control, error, sizeof(error)) < 0) {
		printf("%s\n", error);
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		if (control.event[i].counter == sets[set].expected[i].counter &&
		    control.event[i].evntsel == sets[set].expected[i].evntsel)
			continue;
		printf("%s: counter %u, evntsel 0x%llx\n", sets[set].specs[i],
		       control.event[i].counter, (unsigned long long)control.event[i].evntsel);
		return 1;
	}
	return 0;
}

int main(void)
{
	int n = sizeof(sets) / sizeof(sets[0]), failed = 0;

	for (int set = 0; set < n; set++)
		failed += check((size_t)set);
	printf("names32: %d passed, %d failed\n", n - failed, failed);
	return failed != 0;
}
