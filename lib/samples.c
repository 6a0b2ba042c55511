// SPDX-License-Identifier: LGPL-2.1-or-later
/* Samples, and the numbers of periods that are over. */
#include "backend/backend.h"
#include "internal.h"

#include <errno.h>
#include <string.h>

/* The size of the options in the first version that has a size. */
#define OPTIONS_SIZE_0 (offsetof(struct perfctr_samples_options, seed) + sizeof(uint64_t))

struct perfctr_samples *perfctr_samples_open(struct perfctr *p,
					     const struct perfctr_samples_options *given)
{
	struct perfctr_samples_options options = { .size = sizeof(options) };
	struct perfctr_samples *s;

	if (given &&
	    perfctr_take_options(&options, sizeof(options), given, given->size, OPTIONS_SIZE_0) < 0)
		return NULL;
	if (!p->backend->samples_open) {
		errno = ENOTSUP;
		return NULL;
	}
	s = p->backend->samples_open(p, &options);
	if (s)
		s->backend = p->backend;
	return s;
}

void perfctr_samples_close(struct perfctr_samples *s)
{
	int error = errno;

	if (s)
		s->backend->samples_close(s);
	errno = error;
}

long perfctr_samples_take(struct perfctr_samples *s, perfctr_sample_visit *visit, void *argument)
{
	return s->backend->samples_take(s, visit, argument);
}

int perfctr_samples_read(const struct perfctr_samples *s, struct perfctr_sampled *sampled)
{
	memset(sampled, 0, sizeof(*sampled));
	sampled->size = sizeof(*sampled);
	return s->backend->samples_read(s, sampled);
}

int perfctr_read_periods(const struct perfctr *p, unsigned int scope,
			 struct perfctr_periods *periods)
{
	memset(periods, 0, sizeof(*periods));
	periods->size = sizeof(*periods);
	periods->scope = scope;
	return p->backend->read_periods ? p->backend->read_periods(p, periods) : perfctr_unable();
}

int perfctr_resume(struct perfctr *p)
{
	return p->backend->resume ? p->backend->resume(p) : perfctr_unable();
}
