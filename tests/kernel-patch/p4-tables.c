// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters that perf_events names can count each of its NetBurst events, with the detector that
 * it names, and no other counters can. All routes are those of the library, which has a table of
 * its own. Prints the differences.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#include <asm/msr-index.h>
#include <asm/perf_event_p4.h>
#include "p4-tables.h"
#include "pmu/family.h"
#include <perf_events.h>

#define N_EVENTS (sizeof(p4_event_bind_map) / sizeof(p4_event_bind_map[0]))
#define N_METRICS (sizeof(p4_pebs_bind_map) / sizeof(p4_pebs_bind_map[0]))
#define N_SELECTS 8

static unsigned int differences;
static unsigned int compared;

static void differ(const char *what, unsigned int i, unsigned int counter, unsigned int ours,
		   unsigned int theirs)
{
	printf("%s %u, counter %u: 0x%x here, 0x%x there\n", what, i, counter, ours, theirs);
	differences++;
}

static bool names(const struct p4_event_bind *event, unsigned int i, unsigned int counter)
{
	for (unsigned int n = 0; n < P4_CNTR_LIMIT; n++)
		if (event->cntr[i][n] == (int)counter)
			return true;
	return false;
}

/*
 * perf_events does not use counters 1 and 3, because of an erratum. So a counter that it does not
 * name must at least be in a pair of which it names the other one.
 */
static bool names_pair(const struct p4_event_bind *event, unsigned int i, unsigned int counter)
{
	return names(event, i, counter) || names(event, i, counter ^ 1) ||
	       (counter >= 16 && names(event, i, counter - 4));
}

/*
 * Known differences of perf_events. It names TBPU_ESCR0 for both halves of one event. The manual's
 * list of events has number 3 for four events of FSB_ESCR. But in its list of registers FSB_ESCR
 * has number 6, and number 3 is ITLB_ESCR.
 */
static bool differs_knowingly(unsigned int number)
{
	switch (number) {
	case P4_EVENT_RETIRED_MISPRED_BRANCH_TYPE:
	case P4_EVENT_B2B_CYCLES:
	case P4_EVENT_BNR:
	case P4_EVENT_SNOOP:
	case P4_EVENT_RESPONSE:
		return true;
	default:
		return false;
	}
}

static void compare_event(unsigned int number)
{
	const struct p4_event_bind *event = &p4_event_bind_map[number];
	unsigned int select = P4_OPCODE_ESEL(event->opcode);

	for (unsigned int counter = 0; counter < P4_N_COUNTERS; counter++) {
		unsigned int ours = p4_escrs[p4_row[counter]][select];

		for (unsigned int i = 0; i < 2; i++) {
			unsigned int theirs = event->escr_msr[i];

			if (names(event, i, counter)) {
				compared++;
				if (ours != theirs)
					differ("event", number, counter, ours, theirs);
			} else if (ours == theirs && !names_pair(event, i, counter)) {
				differ("event", number, counter, ours, 0);
			}
		}
	}
}

static void compare_with_library(void)
{
	const struct routes *routes = perfctr_pmu_p4.routes;

	for (unsigned int counter = 0; counter < P4_N_COUNTERS; counter++) {
		for (unsigned int select = 0; select < N_SELECTS; select++) {
			int route = perfctr_route_to(routes, P4_CCCR_ESEL(select), counter);
			unsigned int ours = p4_escrs[p4_row[counter]][select];
			unsigned int theirs = route < 0 ? 0 : routes->route[route].msr;

			if (ours != theirs)
				differ("ESCR select of the library", select, counter, ours, theirs);
		}
	}
}

static void compare_masks(void)
{
	const u64 escr = (P4_CONFIG_MASK_ESCR) | P4_ESCR_T0_OS | P4_ESCR_T0_USR;
	const u64 cccr = ((P4_CONFIG_MASK_CCCR) & ~P4_CCCR_RESERVED) | P4_CCCR_ENABLE |
			 P4_CCCR_ESCR_SELECT_MASK;
	u64 enable = 0, vert = 0;

	for (unsigned int i = 0; i < N_METRICS; i++) {
		if (i == P4_PEBS_METRIC__tagged_mispred_branch)
			continue;
		enable |= p4_pebs_bind_map[i].metric_pebs;
		vert |= p4_pebs_bind_map[i].metric_vert;
	}
	if (escr != P4_ESCR_ALLOWED)
		differ("ESCR mask", 0, 0, P4_ESCR_ALLOWED, escr);
	if (cccr != P4_CCCR_ALLOWED)
		differ("CCCR mask", 0, 0, P4_CCCR_ALLOWED, cccr);
	if (enable != P4_PEBS_ENABLE_ALLOWED)
		differ("PEBS_ENABLE mask", 0, 0, P4_PEBS_ENABLE_ALLOWED, enable);
	if (vert != P4_PEBS_MATRIX_VERT_ALLOWED)
		differ("PEBS_MATRIX_VERT mask", 0, 0, P4_PEBS_MATRIX_VERT_ALLOWED, vert);
}

int main(void)
{
	for (unsigned int i = 0; i < N_EVENTS; i++)
		if (!differs_knowingly(i))
			compare_event(i);
	compare_masks();
	compare_with_library();
	printf("%u pairs of a counter and a detector compared, %u differences\n", compared,
	       differences);
	return differences || !compared;
}
