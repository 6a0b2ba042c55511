// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: samples of contexts. */
#include "patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define DEFAULT_ROOM_BYTES 65536

struct patch_samples {
	struct perfctr_samples base;
	int fd; /* the context's */
	unsigned int flags;
	unsigned int depth;
	struct patch_rings rings;
};

void perfctr_patch_samples_close(struct perfctr_samples *samples)
{
	struct patch_samples *s = (struct patch_samples *)samples;

	perfctr_patch_rings_unmap(&s->rings);
	free(s);
}

/* A kernel that has periods, but not yet samples, gives ENOTTY. */
static int open_samples(struct patch_samples *s, struct perfctr_samples_args *args)
{
	if (ioctl(s->fd, PERFCTR_IOC_SAMPLES, args) < 0) {
		if (errno == ENOTTY || errno == EOPNOTSUPP)
			errno = ENOTSUP;
		return -1;
	}
	return perfctr_patch_rings_map(&s->rings, s->fd, args->n_cpus, args->ring_bytes);
}

struct perfctr_samples *perfctr_patch_samples_open(struct perfctr *p,
						   const struct perfctr_samples_options *options)
{
	struct perfctr_samples_args args = {
		.size = sizeof(args),
		.flags = options->flags,
		.room_bytes = options->room_bytes ? options->room_bytes : DEFAULT_ROOM_BYTES,
		.depth = options->depth,
		.watermark = options->watermark,
		.jitter = options->jitter,
		.max_samples = options->max_samples,
		.seed = options->seed,
	};
	struct patch_samples *s = calloc(1, sizeof(*s));
	int error;

	if (!s)
		return NULL;
	if (args.flags & PERFCTR_SAMPLES_CHAIN && !args.depth)
		args.depth = PERFCTR_MAX_DEPTH;
	s->fd = p->fd;
	s->flags = args.flags;
	s->depth = args.depth;
	if (open_samples(s, &args) < 0) {
		error = errno;
		perfctr_patch_samples_close(&s->base);
		errno = error;
		return NULL;
	}
	return &s->base;
}

/* Lets perfctr_patch_ring_visit() call a visitor of samples. */
struct take {
	const struct patch_samples *samples;
	perfctr_sample_visit *visit;
	void *argument;
	struct perfctr_sample_view view; /* n_counters and cpu are filled in */
	bool stopped;
};

static int visit_sample(const void *record, void *argument)
{
	struct take *take = argument;
	struct perfctr_sample_view *view = &take->view;
	const uint64_t *rest;

	view->sample = record;
	if (view->sample->type != PERFCTR_SAMPLE_PERIOD)
		return 0;
	rest = (const uint64_t *)view->sample->counter + view->n_counters;
	if (take->samples->flags & PERFCTR_SAMPLES_REGISTERS) {
		view->registers = (const struct perfctr_sample_registers *)rest;
		rest += sizeof(*view->registers) / sizeof(*rest);
	}
	if (take->samples->flags & PERFCTR_SAMPLES_CHAIN) {
		view->depth = (unsigned int)rest[0];
		view->chain = rest + 1;
	}
	take->stopped = take->visit(view, take->argument);
	return take->stopped;
}

/*
 * Returns the number of counters in a record.  The options determine the size of all other parts.
 */
static unsigned int counters_in(const struct patch_samples *s, const struct perfctr_ring *ring)
{
	size_t bytes = sizeof(struct perfctr_sample);

	if (s->flags & PERFCTR_SAMPLES_REGISTERS)
		bytes += sizeof(struct perfctr_sample_registers);
	if (s->flags & PERFCTR_SAMPLES_CHAIN)
		bytes += (1 + s->depth) * sizeof(uint64_t);
	return (unsigned int)((ring->record_bytes - bytes) / sizeof(uint64_t));
}

static long take_all(struct patch_samples *s, struct take *take)
{
	long n, sum = 0;

	for (unsigned int cpu = 0; cpu < s->rings.n_cpus && !take->stopped; cpu++) {
		const struct perfctr_ring *ring = s->rings.ring[cpu];

		if (!ring || !ring->record_bytes)
			continue;
		take->view.cpu = cpu;
		take->view.n_counters = counters_in(s, ring);
		n = perfctr_patch_ring_visit(&s->rings, cpu, visit_sample, take);
		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

long perfctr_patch_samples_take(struct perfctr_samples *samples, perfctr_sample_visit *visit,
				void *argument)
{
	struct patch_samples *s = (struct patch_samples *)samples;
	struct take take = { .samples = s, .visit = visit, .argument = argument };
	struct perfctr_sampled sampled = { .size = sizeof(sampled) };
	long n = take_all(s, &take);

	if (n || take.stopped)
		return n;
	if (perfctr_patch_samples_read(samples, &sampled) < 0)
		return -1;
	if (!(sampled.flags & PERFCTR_SAMPLED_ENDED))
		return 0;
	/* The last samples may have come after the first take and before the read of the flags. */
	n = take_all(s, &take);
	if (n || take.stopped)
		return n;
	errno = ENOSPC;
	return -1;
}

int perfctr_patch_samples_read(const struct perfctr_samples *samples,
			       struct perfctr_sampled *sampled)
{
	const struct patch_samples *s = (const struct patch_samples *)samples;

	return ioctl(s->fd, PERFCTR_IOC_SAMPLED, sampled) < 0 ? -1 : 0;
}

int perfctr_patch_read_periods(const struct perfctr *p, struct perfctr_periods *periods)
{
	return ioctl(p->fd, PERFCTR_IOC_PERIODS, periods) < 0 ? -1 : 0;
}

int perfctr_patch_resume(struct perfctr *p)
{
	return ioctl(p->fd, PERFCTR_IOC_RESUME) < 0 ? -1 : 0;
}
