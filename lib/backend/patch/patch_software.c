// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel patch: software events beside those of the processor.  The patch's context has the
 * time, switches and migrations.  perf_events counts page faults: for the thread and, if the
 * control inherits, for its tree.
 */
#include "patch.h"
#include "../perf/perf.h"

#include <errno.h>
#include <stdlib.h>

struct perfctr_patch_software {
	uint32_t n_events;
	uint32_t number[PERFCTR_MAX_COUNTERS]; /* of software; PERFCTR_N_SOFTWARE: the patch's */
	struct perf_set self, tree;	       /* faults; tree is empty unless they inherit */
	struct perfctr_control hardware;       /* the other events, for the patch */
};

static bool is_fault(uint32_t number)
{
	return number >= PERFCTR_PAGE_FAULTS && number <= PERFCTR_MAJOR_FAULTS;
}

/* Does the kernel count it for each thread, but not for a tree as a whole? */
static bool is_of_threads(uint32_t number)
{
	return number == PERFCTR_CONTEXT_SWITCHES || number == PERFCTR_MIGRATIONS;
}

void perfctr_patch_software_free(struct perfctr_patch_software *s)
{
	perfctr_perf_set_close(&s->self);
	perfctr_perf_set_close(&s->tree);
	free(s);
}

/* Translates the refusal of a part of the control into the event's place in the whole control. */
static int refuse_part(const struct perfctr_patch_software *s, const struct perfctr_control *part,
		       bool faults, struct perfctr_control *c)
{
	uint32_t place = 0;

	c->bad_reason = part->bad_reason;
	for (uint32_t i = 0; i < c->n_events; i++) {
		bool member = faults ? is_fault(s->number[i]) : s->number[i] == PERFCTR_N_SOFTWARE;

		if (member && place++ == part->bad_event)
			c->bad_event = i;
	}
	return -1;
}

static int refuse_faults(const struct perfctr_patch_software *s, struct perfctr_control *faults,
			 struct perfctr_control *c)
{
	if (perfctr_perf_is_forbidden(errno)) {
		faults->bad_reason = PERFCTR_BAD_FORBIDDEN;
		errno = ENOTSUP;
	}
	return refuse_part(s, faults, true, c);
}

static int open_faults(struct perfctr_patch_software *s, const struct perfctr *p, pid_t tid,
		       struct perfctr_control *c, struct perfctr_control *faults)
{
	struct perf_target target = { .tid = tid, .cpu = -1 };

	if (!faults->n_events)
		return 0;
	if (c->flags & PERFCTR_CONTROL_EXIT_RECORDS) {
		faults->bad_reason = PERFCTR_BAD_MEMBER;
		errno = ENOTSUP;
		return refuse_part(s, faults, true, c);
	}
	if (perfctr_perf_set_open(&s->self, &target, &p->info, p->capabilities, faults) < 0)
		return refuse_faults(s, faults, c);
	target.inherit = true;
	if (c->flags & PERFCTR_CONTROL_INHERIT &&
	    perfctr_perf_set_open(&s->tree, &target, &p->info, p->capabilities, faults) < 0)
		return refuse_faults(s, faults, c);
	return 0;
}

struct perfctr_patch_software *perfctr_patch_software_open(const struct perfctr *p, pid_t tid,
							   struct perfctr_control *c)
{
	struct perfctr_patch_software *s = calloc(1, sizeof(*s));
	struct perfctr_control faults = { .size = sizeof(faults) };
	int error;

	if (!s)
		return NULL;
	s->hardware = *c;
	s->hardware.n_events = 0;
	s->n_events = c->n_events;
	for (uint32_t i = 0; i < c->n_events; i++) {
		const struct perfctr_event_control *event = &c->event[i];
		uint32_t reason = 0;

		s->number[i] = PERFCTR_N_SOFTWARE;
		if (!perfctr_is_software(event->counter)) {
			s->hardware.event[s->hardware.n_events++] = *event;
			continue;
		}
		reason = perfctr_perf_check_event(c, i, &p->info);
		if (reason) {
			c->bad_event = i;
			c->bad_reason = reason;
			errno = EINVAL;
			goto refused;
		}
		s->number[i] = event->counter - PERFCTR_SOFTWARE;
		if (c->flags & PERFCTR_CONTROL_TOTALS && is_of_threads(s->number[i])) {
			c->bad_event = i;
			c->bad_reason = PERFCTR_BAD_WHOLE;
			errno = ENOTSUP;
			goto refused;
		}
		if (is_fault(s->number[i]))
			faults.event[faults.n_events++] = *event;
	}
	if (open_faults(s, p, tid, c, &faults) == 0)
		return s;
refused:
	error = errno;
	perfctr_patch_software_free(s);
	errno = error;
	return NULL;
}

struct perfctr_control *perfctr_patch_software_rest(struct perfctr_patch_software *s)
{
	return &s->hardware;
}

void perfctr_patch_software_refuse(const struct perfctr_patch_software *s,
				   struct perfctr_control *c)
{
	refuse_part(s, &s->hardware, false, c);
}

/* The patch's page has only the processor's events, from 0 on. */
bool perfctr_patch_software_reorders(const struct perfctr_patch_software *s)
{
	for (uint32_t i = 0; i < s->hardware.n_events; i++)
		if (s->number[i] != PERFCTR_N_SOFTWARE)
			return true;
	return false;
}

int perfctr_patch_software_enable(const struct perfctr_patch_software *s, bool on)
{
	if (s->self.n && perfctr_perf_set_enable(&s->self, on) < 0)
		return -1;
	return s->tree.n ? perfctr_perf_set_enable(&s->tree, on) : 0;
}

/* In ns.  No product needs more than 64 bits: 32-bit programs have no longer integers. */
static uint64_t clock_of(const struct perfctr_counts *counts, uint32_t khz)
{
	if (!khz)
		return 0;
	return counts->tsc / khz * 1000000 + counts->tsc % khz * 1000000 / khz;
}

void perfctr_patch_software_place(const struct perfctr_patch_software *s, uint32_t khz,
				  const struct perfctr_counts *faults,
				  struct perfctr_counts *counts)
{
	const struct perfctr_counts read = *counts;
	uint32_t hardware = 0, fault = 0;

	counts->n_counters = s->n_events;
	for (uint32_t i = 0; i < s->n_events; i++) {
		__u64 *counter = &counts->counter[i];

		if (s->number[i] == PERFCTR_N_SOFTWARE)
			*counter = read.counter[hardware++];
		else if (s->number[i] == PERFCTR_TASK_CLOCK)
			*counter = clock_of(&read, khz);
		else if (s->number[i] == PERFCTR_CONTEXT_SWITCHES)
			*counter = read.switches;
		else if (s->number[i] == PERFCTR_MIGRATIONS)
			*counter = read.migrations;
		else
			*counter = faults->counter[fault++];
	}
}

int perfctr_patch_software_read(const struct perfctr_patch_software *s, const struct perfctr *p,
				struct perfctr_counts *counts)
{
	struct perfctr_counts self = { 0 }, tree = { 0 };

	if (s->self.n && perfctr_perf_set_add(&s->self, &p->info, &self) < 0)
		return -1;
	if (s->tree.n && perfctr_perf_set_add(&s->tree, &p->info, &tree) < 0)
		return -1;
	if (!s->tree.n)
		tree = self;
	if (counts->scope == PERFCTR_SCOPE_CHILDREN)
		for (uint32_t i = 0; i < PERFCTR_MAX_COUNTERS; i++)
			tree.counter[i] -= self.counter[i];
	perfctr_patch_software_place(s, p->info.tsc_khz,
				     counts->scope == PERFCTR_SCOPE_SELF ? &self : &tree, counts);
	return 0;
}
