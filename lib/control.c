// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Controls as data: adds events, assigns counters to events that name none, refuses controls that a
 * backend cannot execute.  Also options, which have the size that the program knows, as controls
 * do.
 */
#include "internal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

void perfctr_control_init(struct perfctr_control *c)
{
	memset(c, 0, sizeof(*c));
	c->size = sizeof(*c);
}

int perfctr_control_add(struct perfctr_control *c, uint32_t counter, uint64_t evntsel,
			uint64_t evntsel2)
{
	struct perfctr_event_control *event;

	if (c->n_events >= PERFCTR_MAX_COUNTERS) {
		errno = ENOSPC;
		return -1;
	}
	event = &c->event[c->n_events];
	memset(event, 0, sizeof(*event));
	event->counter = counter;
	event->evntsel = evntsel;
	event->evntsel2 = evntsel2;
	return (int)c->n_events++;
}

static bool names_counter(const struct perfctr_control *c, uint32_t counter)
{
	for (uint32_t i = 0; i < c->n_events; i++)
		if (c->event[i].counter == counter)
			return true;
	return false;
}

int perfctr_assign_but(struct perfctr_control *c, const struct perfctr_pmu_info *info,
		       uint64_t taken)
{
	struct perfctr_control assigned = *c;

	for (uint32_t i = 0; i < assigned.n_events; i++) {
		uint32_t counter = 0;

		if (assigned.event[i].counter != PERFCTR_ANY)
			continue;
		while (counter < info->n_general &&
		       (taken >> counter & 1 || names_counter(&assigned, counter)))
			counter++;
		if (counter >= info->n_general) {
			c->bad_event = i;
			errno = info->n_general ? ENOSPC : ENODEV;
			return -1;
		}
		assigned.event[i].counter = counter;
	}
	*c = assigned;
	return 0;
}

int perfctr_control_assign(struct perfctr_control *c, const struct perfctr_pmu_info *info)
{
	return perfctr_assign_but(c, info, info->session_counters);
}

bool perfctr_is_software(uint32_t counter)
{
	return counter != PERFCTR_ANY && (counter & ~(PERFCTR_SOFTWARE - 1)) == PERFCTR_SOFTWARE;
}

static int refuse_control(struct perfctr_control *c, uint32_t event, uint32_t reason)
{
	c->bad_event = event;
	c->bad_reason = reason;
	errno = ENOTSUP;
	return -1;
}

int perfctr_refuse_unable(struct perfctr_control *c, uint32_t capabilities)
{
	if (c->flags & PERFCTR_CONTROL_INHERIT && !(capabilities & PERFCTR_CAN_INHERIT))
		return refuse_control(c, 0, PERFCTR_BAD_INHERIT);
	if (c->flags & PERFCTR_CONTROL_EXIT_RECORDS && !(capabilities & PERFCTR_CAN_EXIT_RECORDS))
		return refuse_control(c, 0, PERFCTR_BAD_EXIT_RECORDS);
	if (c->flags & PERFCTR_CONTROL_TOTALS && !(capabilities & PERFCTR_CAN_TOTALS))
		return refuse_control(c, 0, PERFCTR_BAD_TOTALS);
	if (capabilities & PERFCTR_CAN_SOFTWARE)
		return 0;
	for (uint32_t i = 0; i < c->n_events && i < PERFCTR_MAX_COUNTERS; i++)
		if (perfctr_is_software(c->event[i].counter))
			return refuse_control(c, i, PERFCTR_BAD_SOFTWARE);
	return 0;
}

int perfctr_take_options(void *options, size_t size, const void *given, size_t given_size,
			 size_t least)
{
	const size_t known = given_size < size ? given_size : size;

	if (given_size < least) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = known; i < given_size; i++) {
		if (((const unsigned char *)given)[i]) {
			errno = E2BIG;
			return -1;
		}
	}
	memset(options, 0, size);
	memcpy(options, given, known);
	return 0;
}
