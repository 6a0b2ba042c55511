// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "ring.h"

void perfctr_rings_free(struct perfctr_rings *rings)
{
	unsigned int cpu;

	for (cpu = 0; rings->cpu && cpu < nr_cpu_ids; cpu++)
		perfctr_buffer_free(&rings->cpu[cpu].buffer);
	kvfree(rings->cpu);
	rings->cpu = NULL;
}

u32 perfctr_ring_bytes(u32 room_bytes)
{
	return PAGE_ALIGN(sizeof(struct perfctr_ring) + room_bytes);
}

size_t perfctr_rings_bytes(const struct cpumask *cpus, u32 room_bytes)
{
	return nr_cpu_ids * sizeof(struct perfctr_cpu_ring) +
	       (size_t)perfctr_ring_bytes(room_bytes) * cpumask_weight(cpus);
}

int perfctr_rings_alloc(struct perfctr_rings *rings, const struct cpumask *cpus, u32 room_bytes)
{
	unsigned int cpu;
	int err;

	rings->cpu = kvcalloc(nr_cpu_ids, sizeof(rings->cpu[0]), GFP_KERNEL_ACCOUNT);
	if (!rings->cpu)
		return -ENOMEM;
	rings->room_bytes = room_bytes;
	rings->ring_bytes = perfctr_ring_bytes(room_bytes);
	for_each_cpu(cpu, cpus) {
		err = perfctr_buffer_alloc(&rings->cpu[cpu].buffer, rings->ring_bytes);
		if (err)
			return err;
	}
	return 0;
}

static void clear_ring(struct perfctr_cpu_ring *r, const struct perfctr_rings *rings,
		       u32 record_bytes)
{
	struct perfctr_ring *ring = r->buffer.address;

	memset(ring, 0, rings->ring_bytes);
	ring->size = sizeof(*ring);
	ring->records = sizeof(*ring);
	ring->record_bytes = record_bytes;
	ring->n_records = rounddown_pow_of_two(rings->room_bytes / record_bytes);
	r->n_records = ring->n_records;
	r->record_bytes = record_bytes;
	r->head = 0;
	r->tail = 0;
	r->lost = 0;
}

void perfctr_rings_clear(struct perfctr_rings *rings, u32 record_bytes)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		if (rings->cpu[cpu].buffer.address)
			clear_ring(&rings->cpu[cpu], rings, record_bytes);
}

/* Returns the ring of the CPU that user space names, or NULL. */
static struct perfctr_cpu_ring *find_ring(const struct perfctr_rings *rings, unsigned long number)
{
	struct perfctr_cpu_ring *r;

	if (!rings->cpu || number >= nr_cpu_ids)
		return NULL;
	r = &rings->cpu[array_index_nospec(number, nr_cpu_ids)];
	return r->buffer.address ? r : NULL;
}

int perfctr_rings_consume(struct perfctr_rings *rings, const struct perfctr_consume *consume)
{
	struct perfctr_cpu_ring *r = find_ring(rings, consume->cpu);
	struct perfctr_ring *ring;

	if (!r)
		return -EINVAL;
	ring = r->buffer.address;
	if (consume->tail < ring->tail || consume->tail - ring->tail > perfctr_ring_fill(r))
		return -EINVAL;
	ring->tail = consume->tail;
	smp_store_release(&r->tail, (u32)consume->tail);	/* after the user's reads */
	return 0;
}

int perfctr_rings_mmap(struct perfctr_rings *rings, struct vm_area_struct *vma,
		       unsigned long offset)
{
	struct perfctr_cpu_ring *r;

	if (!rings->cpu || offset % rings->ring_bytes)
		return -EINVAL;
	r = find_ring(rings, offset / rings->ring_bytes);
	return r ? perfctr_buffer_mmap(&r->buffer, vma) : -EINVAL;
}
