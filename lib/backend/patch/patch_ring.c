// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel patch: rings of records, one for each CPU.  They are mapped from a descriptor and
 * emptied.
 */
#include "patch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

void perfctr_patch_rings_unmap(struct patch_rings *rings)
{
	for (unsigned int cpu = 0; rings->ring && cpu < rings->n_cpus; cpu++)
		if (rings->ring[cpu])
			munmap((void *)rings->ring[cpu], rings->ring_bytes);
	free(rings->ring);
	rings->ring = NULL;
}

/* mmap(2) gives EINVAL for a CPU that is not counted, because it has no ring. */
int perfctr_patch_rings_map(struct patch_rings *rings, int fd, unsigned int n_cpus,
			    size_t ring_bytes)
{
	rings->fd = fd;
	rings->n_cpus = n_cpus;
	rings->ring_bytes = ring_bytes;
	rings->ring = calloc(n_cpus, sizeof(rings->ring[0]));
	if (!rings->ring)
		return -1;
	for (unsigned int cpu = 0; cpu < n_cpus; cpu++) {
		void *address = mmap(NULL, ring_bytes, PROT_READ, MAP_SHARED, fd,
				     (off_t)PERFCTR_RING_OFFSET + cpu * (off_t)ring_bytes);

		if (address != MAP_FAILED)
			rings->ring[cpu] = address;
		else if (errno != EINVAL)
			return -1;
	}
	return 0;
}

long perfctr_patch_ring_visit(const struct patch_rings *rings, unsigned int cpu,
			      patch_ring_visit *visit, void *argument)
{
	struct perfctr_consume consume = { .size = sizeof(consume), .cpu = cpu };
	const struct perfctr_ring *ring;
	uint64_t head, tail;

	if (!rings->ring || cpu >= rings->n_cpus || !rings->ring[cpu]) {
		errno = EINVAL;
		return -1;
	}
	ring = rings->ring[cpu];
	head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	tail = ring->tail;
	for (consume.tail = tail; consume.tail < head; consume.tail++) {
		const char *record = (const char *)ring + ring->records +
				     (consume.tail & (ring->n_records - 1)) * ring->record_bytes;

		if (visit(record, argument))
			break;
	}
	if (consume.tail != tail && ioctl(rings->fd, PERFCTR_IOC_CONSUME, &consume) < 0)
		return -1;
	return (long)(consume.tail - tail);
}

uint64_t perfctr_patch_rings_lost(const struct patch_rings *rings)
{
	uint64_t lost = 0;

	for (unsigned int cpu = 0; rings->ring && cpu < rings->n_cpus; cpu++)
		if (rings->ring[cpu])
			lost += rings->ring[cpu]->lost;
	return lost;
}
