/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings of samples, by the bare ABI. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "period.h"

#define MAX_CPUS 8

struct sampler {
	int fd;		/* of the context; its opener closes it */
	uint32_t flags; /* PERFCTR_SAMPLES_* */
	uint32_t n_cpus, ring_bytes;
	const struct perfctr_ring *ring[MAX_CPUS];
};

int try_samples(int fd, struct perfctr_samples_args *args);
/* args: NULL for counts only, with room for all samples of a test. */
struct sampler sampler_open(int fd, const struct perfctr_samples_args *args);
void sampler_close(struct sampler *s);

/* Visits the samples of each CPU, oldest first, and frees their room. Returns their number. */
typedef void visit_sample(const struct perfctr_sample *sample, void *argument);
uint64_t sampler_take(const struct sampler *s, visit_sample *visit, void *argument);
struct perfctr_sampled sampler_totals(const struct sampler *s);

/* The registers after the counts of a sample. */
const struct perfctr_sample_registers *registers_of(const struct perfctr_sample *sample,
						    uint32_t n_counters);

#endif
