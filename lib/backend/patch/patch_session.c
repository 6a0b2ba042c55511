// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: sessions, with their descriptors and mappings. */
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
	const char *pages; /* state pages, one for each CPU */
	size_t pages_bytes;
	size_t cpu_bytes;
	unsigned int n_cpus;
	struct patch_rings rings; /* of the trace, if there is one */
};

static const struct patch_session *session_of(const struct perfctr_session *session)
{
	return (const struct patch_session *)session;
}

void perfctr_patch_session_close(struct perfctr_session *session)
{
	struct patch_session *s = (struct patch_session *)session;

	if (s->rings.ring)
		perfctr_patch_rings_unmap(&s->rings);
	if (s->pages)
		munmap((void *)s->pages, s->pages_bytes);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static int open_session(struct patch_session *s, const struct perfctr_session_options *options)
{
	struct perfctr_session_args open = {
		.size = sizeof(open),
		.mark = options->mark ? options->mark->fd : -1,
		.policy = options->policy,
		.cpus = (uintptr_t)options->cpus,
		.cpus_bytes = (uint32_t)options->cpus_size,
		.trace_bytes = options->trace_bytes,
		.trace_ticks = options->trace_ticks,
	};
	const void *pages;

	if (perfctr_patch_info(&s->base.info) < 0)
		return -1;
	s->base.capabilities = perfctr_patch_capabilities(&s->base.info) & ~PERFCTR_CAN_SOFTWARE;
	s->fd = perfctr_patch_call(PERFCTR_IOC_SESSION, &open);
	if (s->fd < 0)
		return -1;
	s->n_cpus = open.n_cpus;
	s->cpu_bytes = open.cpu_bytes;
	s->pages_bytes = open.pages_bytes;
	pages = mmap(NULL, s->pages_bytes, PROT_READ, MAP_SHARED, s->fd, 0);
	if (pages == MAP_FAILED)
		return -1;
	s->pages = pages;
	if (!open.ring_bytes)
		return 0;
	return perfctr_patch_rings_map(&s->rings, s->fd, s->n_cpus, open.ring_bytes);
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
	return session_of(session)->n_cpus;
}

void perfctr_patch_session_read_cpu(const struct perfctr_session *session, unsigned int cpu,
				    struct perfctr_counts *out)
{
	const struct patch_session *s = session_of(session);
	const volatile struct perfctr_page *page = (const void *)(s->pages + cpu * s->cpu_bytes);
	uint32_t seq;

	do {
		seq = __atomic_load_n(&page->seq, __ATOMIC_ACQUIRE);
		out->flags = page->flags & PERFCTR_PAGE_DISTURBED ? PERFCTR_COUNTS_DISTURBED : 0;
		out->tsc = page->tsc.sum;
		out->switches = page->switches;
		out->n_counters = page->n_counters;
		for (uint32_t i = 0; i < out->n_counters; i++)
			out->counter[i] = page->counter[i].sum;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || __atomic_load_n(&page->seq, __ATOMIC_RELAXED) != seq);
}

/* Lets perfctr_patch_ring_visit() call a visitor of a trace's records. */
struct trace_visit {
	perfctr_trace_visit *visit;
	void *argument;
};

static int visit_record(const void *record, void *argument)
{
	const struct trace_visit *v = argument;

	return v->visit(record, v->argument);
}

long perfctr_patch_session_trace(struct perfctr_session *session, unsigned int cpu,
				 perfctr_trace_visit *visit, void *argument)
{
	struct trace_visit v = { visit, argument };

	return perfctr_patch_ring_visit(&session_of(session)->rings, cpu, visit_record, &v);
}

uint64_t perfctr_patch_session_lost(const struct perfctr_session *session)
{
	return perfctr_patch_rings_lost(&session_of(session)->rings);
}
