// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * BPF: sessions.  A session counts one mark: its counts are the gain of the mark's slot while the
 * session is started.
 */
#include "bpf.h"
#include "bpf_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct session {
	struct perfctr_session handle;
	struct perfctr_bpf_mark *mark;
	unsigned int policy; /* PERFCTR_EXCLUDE_KERNEL and _USER, of events without their own */
	uint32_t n_events;
	uint32_t event[PERFCTR_MAX_COUNTERS];
	bool has_control, started;
	uint64_t since[PERFCTR_BPF_FIELDS]; /* the mark's sums when the session was last started */
	uint64_t sum[PERFCTR_BPF_FIELDS];   /* the gain while it was started before that */
};

static struct session *session_of(const struct perfctr_session *s)
{
	return (struct session *)s;
}

/* Threads are counted while they bear the mark, on all CPUs.  Anything else is refused. */
struct perfctr_session *perfctr_bpf_session_open(const struct perfctr_session_options *options)
{
	struct session *s;

	if (!options->mark || options->cpus || options->trace_bytes ||
	    !(options->policy & PERFCTR_EXCLUDE_UNMARKED) ||
	    options->policy & PERFCTR_EXCLUDE_MARKED) {
		errno = ENOTSUP;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->mark = (struct perfctr_bpf_mark *)options->mark;
	perfctr_bpf_mark_ref(s->mark);
	s->policy = options->policy;
	s->handle.capabilities = perfctr_bpf_capabilities(&s->mark->bpf.info);
	perfctr_bpf_pmu_info(&s->mark->bpf.info, &s->handle.info);
	return &s->handle;
}

void perfctr_bpf_session_close(struct perfctr_session *s)
{
	perfctr_bpf_mark_unref(session_of(s)->mark);
	free(session_of(s));
}

static int read_mark(const struct session *s, struct perfctr_bpf_slot *slot, bool *consistent)
{
	return perfctr_bpf_read_slot(&s->mark->bpf, slot, consistent);
}

int perfctr_bpf_session_start(struct perfctr_session *session)
{
	struct session *s = session_of(session);
	struct perfctr_bpf_slot slot;
	bool consistent;

	if (!s->has_control) {
		errno = EINVAL;
		return -1;
	}
	if (s->started)
		return 0;
	if (read_mark(s, &slot, &consistent) < 0)
		return -1;
	memcpy(s->since, slot.below, sizeof(s->since));
	s->started = true;
	return 0;
}

static void add_gain(const struct session *s, const struct perfctr_bpf_slot *slot, uint64_t *sum)
{
	for (int i = 0; i < PERFCTR_BPF_FIELDS; i++)
		sum[i] = s->sum[i] + (s->started ? slot->below[i] - s->since[i] : 0);
}

int perfctr_bpf_session_stop(struct perfctr_session *session)
{
	struct session *s = session_of(session);
	struct perfctr_bpf_slot slot;
	bool consistent;

	if (!s->started)
		return 0;
	if (read_mark(s, &slot, &consistent) < 0)
		return -1;
	add_gain(s, &slot, s->sum);
	s->started = false;
	return 0;
}

int perfctr_bpf_session_control(struct perfctr_session *session, struct perfctr_control *c)
{
	struct session *s = session_of(session);
	uint64_t events[2];

	if (perfctr_bpf_encode(c, &s->mark->bpf.info, s->policy, events) < 0)
		return -1;
	s->n_events = c->n_events;
	for (uint32_t i = 0; i < c->n_events; i++)
		s->event[i] = events[i / 16] >> i % 16 * 4 & 15;
	memset(s->sum, 0, sizeof(s->sum));
	s->has_control = true;
	s->started = false;
	return c->flags & PERFCTR_CONTROL_STOPPED ? 0 : perfctr_bpf_session_start(session);
}

int perfctr_bpf_session_read(const struct perfctr_session *session, struct perfctr_counts *out)
{
	const struct session *s = session_of(session);
	struct perfctr_bpf_slot slot;
	uint64_t sum[PERFCTR_BPF_FIELDS];
	bool consistent;

	if (read_mark(s, &slot, &consistent) < 0)
		return -1;
	add_gain(s, &slot, sum);
	if (perfctr_bpf_whole(sum, s->n_events, s->event) < 0)
		return -1;
	out->members = slot.members;
	out->flags = (s->started ? PERFCTR_COUNTS_STARTED : 0) |
		     (consistent ? PERFCTR_COUNTS_CONSISTENT : 0);
	out->tsc = perfctr_bpf_time(&s->mark->bpf, sum[PERFCTR_BPF_TIME]);
	out->switches = sum[PERFCTR_BPF_PUT];
	out->migrations = sum[PERFCTR_BPF_MOVED];
	out->n_counters = s->n_events;
	for (uint32_t i = 0; i < s->n_events; i++)
		out->counter[i] = perfctr_bpf_value(s->event[i], sum);
	return 0;
}

/* The sums of all CPUs are kept together, as if they were those of one CPU. */
unsigned int perfctr_bpf_session_cpus(const struct perfctr_session *session)
{
	(void)session;
	return 1;
}

/* The counts are those up to each member's last switch. */
void perfctr_bpf_session_read_cpu(const struct perfctr_session *session, unsigned int cpu,
				  struct perfctr_counts *out)
{
	const struct session *s = session_of(session);
	struct perfctr_bpf_slot slot;
	uint64_t sum[PERFCTR_BPF_FIELDS];

	(void)cpu;
	if (perfctr_bpf_copy(s->mark->bpf.mapped, &slot) < 0)
		out->flags |= PERFCTR_COUNTS_DISTURBED;
	add_gain(s, &slot, sum);
	if (perfctr_bpf_whole(sum, s->n_events, s->event) < 0)
		out->flags |= PERFCTR_COUNTS_DISTURBED;
	out->tsc = perfctr_bpf_time(&s->mark->bpf, sum[PERFCTR_BPF_TIME]);
	out->switches = sum[PERFCTR_BPF_PUT];
	out->n_counters = s->n_events;
	for (uint32_t i = 0; i < s->n_events; i++)
		out->counter[i] = perfctr_bpf_value(s->event[i], sum);
}
