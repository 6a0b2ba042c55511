// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sessions. */
#include "backend/backend.h"
#include "internal.h"
#include "pmu/machine.h"

#include <errno.h>
#include <string.h>

/* The size of the options in the first version that has a size. */
#define OPTIONS_SIZE_0 (offsetof(struct perfctr_session_options, backend) + sizeof(const char *))

struct perfctr_session *perfctr_session_open(const struct perfctr_session_options *given)
{
	const struct perfctr_backend *backend;
	struct perfctr_session_options options;
	struct perfctr_session *s;

	if (perfctr_take_options(&options, sizeof(options), given, given->size, OPTIONS_SIZE_0) < 0)
		return NULL;
	backend = options.mark ? options.mark->backend : perfctr_choose(options.backend);
	if (!backend)
		return NULL;
	if (!backend->session_open) {
		errno = ENOTSUP;
		return NULL;
	}
	s = backend->session_open(&options);
	if (s) {
		s->backend = backend;
		s->some_cpus = options.cpus;
	}
	return s;
}

void perfctr_session_close(struct perfctr_session *s)
{
	int error = errno;

	if (s)
		s->backend->session_close(s);
	errno = error;
}

/*
 * The driver refuses counters that another session has on the same CPUs, but not to a control that
 * is stopped.  Therefore the control is started for a moment even if it shall be stopped.
 */
static int control_wanting(struct perfctr_session *s, struct perfctr_control *c)
{
	const uint32_t flags = c->flags;
	int result, error;

	c->flags &= ~PERFCTR_CONTROL_STOPPED;
	result = s->backend->session_control(s, c);
	c->flags = flags;
	if (result < 0 || !(flags & PERFCTR_CONTROL_STOPPED))
		return result;
	if (s->backend->session_control(s, c) == 0)
		return 0;
	error = errno;
	s->backend->session_stop(s);
	errno = error;
	return -1;
}

/* Does each event count the same on its counter in a and on its counter in b? */
static bool count_alike(const struct perfctr_pmu_info *info, const struct perfctr_control *a,
			const struct perfctr_control *b)
{
	for (uint32_t i = 0; i < a->n_events; i++)
		if (!perfctr_machine_counts_alike(info, a->event[i].evntsel, a->event[i].counter,
						  b->event[i].counter))
			return false;
	return true;
}

/*
 * s->info.session_counters includes counters of sessions on other CPUs, which s may use as well.
 * Therefore this tries to use all counters, and avoids those that the driver refuses.
 */
static int control_avoiding(struct perfctr_session *s, struct perfctr_control *c)
{
	const struct perfctr_control given = *c;
	struct perfctr_control refused = given;
	uint64_t taken = s->info.context_counters;

	for (;;) {
		*c = given;
		if (perfctr_assign_but(c, &s->info, taken) < 0)
			return -1;
		if (refused.bad_reason && !count_alike(&s->info, c, &refused)) {
			*c = refused;
			errno = EBUSY;
			return -1;
		}
		if (control_wanting(s, c) == 0)
			return 0;
		if (errno != EBUSY || c->bad_reason != PERFCTR_BAD_TAKEN ||
		    given.event[c->bad_event % PERFCTR_MAX_COUNTERS].counter != PERFCTR_ANY)
			return -1;
		refused = *c;
		taken |= UINT64_C(1) << c->event[c->bad_event].counter;
	}
}

int perfctr_session_control(struct perfctr_session *s, struct perfctr_control *c)
{
	const uint64_t taken = s->info.session_counters | s->info.context_counters;
	int result;

	c->bad_event = 0;
	c->bad_reason = 0;
	if (perfctr_refuse_unable(c, s->capabilities) < 0)
		return -1;
	if (s->some_cpus && s->info.session_counters)
		result = control_avoiding(s, c);
	else if (perfctr_assign_but(c, &s->info, taken) < 0)
		return -1;
	else
		result = s->backend->session_control(s, c);
	if (result < 0)
		return -1;
	s->n_counters = c->n_events;
	return 0;
}

int perfctr_session_start(struct perfctr_session *s)
{
	return s->backend->session_start(s);
}

int perfctr_session_stop(struct perfctr_session *s)
{
	return s->backend->session_stop(s);
}

int perfctr_session_read(const struct perfctr_session *s, struct perfctr_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return s->backend->session_read(s, out);
}

unsigned int perfctr_session_cpus(const struct perfctr_session *s)
{
	return s->backend->session_cpus(s);
}

void perfctr_session_read_cpu(const struct perfctr_session *s, unsigned int cpu,
			      struct perfctr_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	s->backend->session_read_cpu(s, cpu, out);
}

void perfctr_session_sum(const struct perfctr_session *s, struct perfctr_counts *out)
{
	unsigned int n_cpus = perfctr_session_cpus(s);
	struct perfctr_counts counts;

	if (!n_cpus) {
		perfctr_session_read(s, out);
		return;
	}
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->n_counters = s->n_counters;
	for (unsigned int cpu = 0; cpu < n_cpus; cpu++) {
		perfctr_session_read_cpu(s, cpu, &counts);
		out->flags |= counts.flags;
		out->tsc += counts.tsc;
		out->switches += counts.switches;
		for (unsigned int i = 0; i < out->n_counters; i++)
			out->counter[i] += counts.counter[i];
	}
}

long perfctr_session_trace(struct perfctr_session *s, unsigned int cpu, perfctr_trace_visit *visit,
			   void *argument)
{
	if (!s->backend->session_trace)
		return perfctr_unable();
	return s->backend->session_trace(s, cpu, visit, argument);
}

uint64_t perfctr_session_lost(const struct perfctr_session *s)
{
	return s->backend->session_lost ? s->backend->session_lost(s) : 0;
}
