/* SPDX-License-Identifier: GPL-2.0-only */
/* Rings of records, one for each CPU, which users map and empty: ring.c. */
#ifndef _PERFCTR_RING_H
#define _PERFCTR_RING_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/perfctr.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include "buffer.h"

#define PERFCTR_MAX_USER_ROOM_BYTES	65536	/* of a ring, without CAP_PERFMON */

struct cpumask;

/* Of one CPU: what the driver goes by. What users map only shows it. */
struct perfctr_cpu_ring {
	struct perfctr_buffer buffer;	/* struct perfctr_ring; without memory: no ring */
	u32 n_records;			/* as in the ring */
	u32 record_bytes;
	u32 head;			/* low halves of the ring's */
	u32 tail;			/* changed by who consumes */
	u32 lost;			/* records, since the last that was not */
} ____cacheline_aligned_in_smp;

struct perfctr_rings {
	struct perfctr_cpu_ring *cpu;	/* by number; NULL: there are none */
	u32 ring_bytes;
	u32 room_bytes;			/* of it, for records */
};

u32 perfctr_ring_bytes(u32 room_bytes);
int perfctr_rings_alloc(struct perfctr_rings *rings, const struct cpumask *cpus, u32 room_bytes);
void perfctr_rings_free(struct perfctr_rings *rings);	/* those that were not made, too */
/* Nobody writes or consumes meanwhile. */
void perfctr_rings_clear(struct perfctr_rings *rings, u32 record_bytes);
/* One at a time. */
int perfctr_rings_consume(struct perfctr_rings *rings, const struct perfctr_consume *consume);
int perfctr_rings_mmap(struct perfctr_rings *rings, struct vm_area_struct *vma,
		       unsigned long offset);

/* On its CPU, interrupts off: room for the next record, or NULL: it is lost. */
static inline void *perfctr_ring_claim(struct perfctr_cpu_ring *r)
{
	struct perfctr_ring *ring = r->buffer.address;

	/* Pairs with the release of the tail: the room is not read any more. */
	if (r->head - smp_load_acquire(&r->tail) >= r->n_records) {
		r->lost++;
		ring->lost++;
		return NULL;
	}
	return (void *)ring + sizeof(*ring) + (r->head & (r->n_records - 1)) * r->record_bytes;
}

/* The record that was claimed is written. */
static inline void perfctr_ring_show(struct perfctr_cpu_ring *r)
{
	struct perfctr_ring *ring = r->buffer.address;

	r->lost = 0;
	WRITE_ONCE(r->head, r->head + 1);
	smp_wmb();	/* the record before the head that shows it */
	ring->head++;
}

/* Anywhere. */
static inline u32 perfctr_ring_fill(const struct perfctr_cpu_ring *r)
{
	return READ_ONCE(r->head) - READ_ONCE(r->tail);
}

#endif
