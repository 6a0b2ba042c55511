// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: sessions, their descriptors and what is mapped of them. */
#include "patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

struct patch_session {
	struct perfctr_session base;
	int fd;
	const struct perfctr_totals *totals;
	size_t totals_bytes;
	size_t ring_bytes;
	const struct perfctr_ring **ring; /* by CPU, NULL where there is none */
};

static const struct patch_session *session_of(const struct perfctr_session *session)
{
	return (const struct patch_session *)session;
}

void perfctr_patch_session_close(struct perfctr_session *session)
{
	struct patch_session *s = (struct patch_session *)session;

	for (unsigned int cpu = 0; s->ring && cpu < s->totals->n_cpus; cpu++)
		if (s->ring[cpu])
			munmap((void *)s->ring[cpu], s->ring_bytes);
	free(s->ring);
	if (s->totals)
		munmap((void *)s->totals, s->totals_bytes);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static void *map_totals(const struct patch_session *s, size_t bytes, off_t offset)
{
	void *address = mmap(NULL, bytes, PROT_READ, MAP_SHARED, s->fd, offset);

	return address == MAP_FAILED ? NULL : address;
}

/* A CPU that the session does not count on has no ring. */
static int map_rings(struct patch_session *s)
{
	s->ring = calloc(s->totals->n_cpus, sizeof(s->ring[0]));
	if (!s->ring)
		return -1;
	for (unsigned int cpu = 0; cpu < s->totals->n_cpus; cpu++) {
		s->ring[cpu] = map_totals(s, s->ring_bytes,
					  (off_t)PERFCTR_RING_OFFSET + cpu * (off_t)s->ring_bytes);
		if (!s->ring[cpu] && errno != EINVAL)
			return -1;
	}
	return 0;
}

static int open_session(struct patch_session *s, const struct perfctr_session_options *options)
{
	struct perfctr_session_args open = {
		.size = sizeof(open),
		.group = options->group ? options->group->fd : -1,
		.policy = options->policy,
		.cpus = (uintptr_t)options->cpus,
		.cpus_bytes = (uint32_t)options->cpus_size,
		.trace_bytes = options->trace_bytes,
		.trace_ticks = options->trace_ticks,
	};

	if (perfctr_patch_info(&s->base.info) < 0)
		return -1;
	s->base.capabilities =
		perfctr_patch_capabilities(&s->base.info) & ~PERFCTR_CAN_SOFTWARE;
	s->fd = perfctr_patch_call(PERFCTR_IOC_SESSION, &open);
	if (s->fd < 0)
		return -1;
	s->totals_bytes = open.totals_bytes;
	s->ring_bytes = open.ring_bytes;
	s->totals = map_totals(s, s->totals_bytes, 0);
	if (!s->totals)
		return -1;
	return open.ring_bytes ? map_rings(s) : 0;
}

struct perfctr_session *perfctr_patch_session_open(const struct perfctr_session_options *options)
{
	struct patch_session *s = calloc(1, sizeof(*s));
	int error;

	if (!s)
		return NULL;
	s->fd = -1;
	if (open_session(s, options) < 0) {
		error = errno;
		perfctr_patch_session_close(&s->base);
		errno = error;
		return NULL;
	}
	return &s->base;
}

int perfctr_patch_session_control(struct perfctr_session *session, struct perfctr_control *c)
{
	return ioctl(session_of(session)->fd, PERFCTR_IOC_CONTROL, c);
}

int perfctr_patch_session_start(struct perfctr_session *session)
{
	return ioctl(session_of(session)->fd, PERFCTR_IOC_START);
}

int perfctr_patch_session_stop(struct perfctr_session *session)
{
	return ioctl(session_of(session)->fd, PERFCTR_IOC_STOP);
}

int perfctr_patch_session_read(const struct perfctr_session *session, struct perfctr_counts *out)
{
	return ioctl(session_of(session)->fd, PERFCTR_IOC_READ, out);
}

unsigned int perfctr_patch_session_cpus(const struct perfctr_session *session)
{
	return session_of(session)->totals->n_cpus;
}

void perfctr_patch_session_totals(const struct perfctr_session *session, unsigned int cpu,
				  struct perfctr_cpu_totals *out)
{
	const struct patch_session *s = session_of(session);
	const struct perfctr_cpu_totals *totals =
		(const void *)((const char *)s->totals->cpu + (size_t)cpu * s->totals->cpu_bytes);
	uint32_t seq;

	do {
		seq = __atomic_load_n(&totals->seq, __ATOMIC_ACQUIRE);
		memcpy(out, totals, sizeof(*out));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || __atomic_load_n(&totals->seq, __ATOMIC_RELAXED) != seq);
}

long perfctr_patch_session_trace(struct perfctr_session *session, unsigned int cpu,
				 perfctr_trace_visit *visit, void *argument)
{
	const struct patch_session *s = session_of(session);
	struct perfctr_consume consume = { .size = sizeof(consume), .cpu = cpu };
	const struct perfctr_ring *ring;
	uint64_t head, tail;

	if (!s->ring || cpu >= s->totals->n_cpus || !s->ring[cpu]) {
		errno = EINVAL;
		return -1;
	}
	ring = s->ring[cpu];
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	tail = ring->tail;
	for (consume.tail = tail; consume.tail < head; consume.tail++) {
		const char *record = (const char *)ring + ring->records +
				     (consume.tail & (ring->n_records - 1)) * ring->record_bytes;

		if (visit((const void *)record, argument))
			break;
	}
	if (consume.tail != tail && ioctl(s->fd, PERFCTR_IOC_CONSUME, &consume) < 0)
		return -1;
	return (long)(consume.tail - tail);
}

uint64_t perfctr_patch_session_lost(const struct perfctr_session *session)
{
	const struct patch_session *s = session_of(session);
	uint64_t lost = 0;

	for (unsigned int cpu = 0; s->ring && cpu < s->totals->n_cpus; cpu++)
		if (s->ring[cpu])
			lost += s->ring[cpu]->lost;
	return lost;
}
