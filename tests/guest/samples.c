// SPDX-License-Identifier: GPL-2.0-or-later
#include "samples.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

int try_samples(int fd, struct perfctr_samples_args *args)
{
	args->size = sizeof(*args);
	return ioctl(fd, PERFCTR_IOC_SAMPLES, args);
}

struct sampler sampler_open(int fd, const struct perfctr_samples_args *given)
{
	struct perfctr_samples_args args = { .room_bytes = 1 << 21 };
	struct sampler s = { .fd = fd };

	if (given)
		args = *given;
	ck_assert_msg(try_samples(fd, &args) == 0, "samples: %s", strerror(errno));
	ck_assert_uint_le(args.n_cpus, MAX_CPUS);
	s.flags = args.flags;
	s.n_cpus = args.n_cpus;
	s.ring_bytes = args.ring_bytes;
	for (uint32_t i = 0; i < s.n_cpus; i++) {
		s.ring[i] = mmap(NULL, s.ring_bytes, PROT_READ, MAP_SHARED, fd,
				 (off_t)PERFCTR_RING_OFFSET + i * (off_t)s.ring_bytes);
		ck_assert_msg(s.ring[i] != MAP_FAILED, "mmap: %s", strerror(errno));
	}
	return s;
}

void sampler_close(struct sampler *s)
{
	for (uint32_t i = 0; i < s->n_cpus; i++)
		munmap((void *)s->ring[i], s->ring_bytes);
}

uint64_t sampler_take(const struct sampler *s, visit_sample *visit, void *argument)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < s->n_cpus; i++) {
		const struct perfctr_ring *ring = s->ring[i];
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		struct perfctr_consume consume = { .size = sizeof(consume),
						   .cpu = i,
						   .tail = head };

		taken += head - ring->tail;
		for (uint64_t n = ring->tail; n < head; n++)
			visit(ring_record(ring, n), argument);
		ck_assert_int_eq(ioctl(s->fd, PERFCTR_IOC_CONSUME, &consume), 0);
	}
	return taken;
}

struct perfctr_sampled sampler_totals(const struct sampler *s)
{
	struct perfctr_sampled totals = { .size = sizeof(totals) };

	ck_assert_int_eq(ioctl(s->fd, PERFCTR_IOC_SAMPLED, &totals), 0);
	return totals;
}

const struct perfctr_sample_registers *registers_of(const struct perfctr_sample *sample,
						    uint32_t n_counters)
{
	return (const void *)&sample->counter[n_counters];
}
