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

/* The driver's own state of one CPU's ring. The memory that users map only shows a copy. */
struct perfctr_cpu_ring {
	struct perfctr_buffer buffer;	/* struct perfctr_ring; address is NULL: no ring */
	u32 n_records;			/* room, a power of two */
	u32 record_bytes;
	u32 head;			/* low halves of the values in the ring */
	u32 tail;			/* advanced by the consumer */
	u32 lost;			/* since the last record that was not lost */
} ____cacheline_aligned_in_smp;

struct perfctr_rings {
	struct perfctr_cpu_ring *cpu;	/* indexed by CPU; NULL: no rings */
	u32 ring_bytes;
	u32 room_bytes;			/* of each ring, for its records */
};

/* Returns the size of a ring that has room_bytes for its records. */
u32 perfctr_ring_bytes(u32 room_bytes);
/* Returns what perfctr_rings_alloc() allocates, in bytes: the caller charges it to a user. */
size_t perfctr_rings_bytes(const struct cpumask *cpus, u32 room_bytes);
/* Returns 0 or -ENOMEM. The caller frees the rings even if this fails. May sleep. */
int perfctr_rings_alloc(struct perfctr_rings *rings, const struct cpumask *cpus, u32 room_bytes);
void perfctr_rings_free(struct perfctr_rings *rings);	/* also if some are missing */
/* Empties all rings. The caller makes sure that nobody writes or consumes meanwhile. */
void perfctr_rings_clear(struct perfctr_rings *rings, u32 record_bytes);
/*
 * Moves tail forward, at most to head. Returns 0, or -EINVAL if there is no such ring or tail. The
 * caller makes sure that there is one consumer at a time.
 */
int perfctr_rings_consume(struct perfctr_rings *rings, const struct perfctr_consume *consume);
/*
 * Maps the ring that starts at offset: the number of its CPU times ring_bytes. Returns 0, -EINVAL
 * if there is no such ring, or an error of perfctr_buffer_mmap().
 */
int perfctr_rings_mmap(struct perfctr_rings *rings, struct vm_area_struct *vma,
		       unsigned long offset);

/*
 * Called on the ring's CPU with interrupts off. Returns the place of the next record, or NULL if
 * the ring is full, and the record is lost.
 */
static inline void *perfctr_ring_claim(struct perfctr_cpu_ring *r)
{
	struct perfctr_ring *ring = r->buffer.address;

	/* Pairs with the release of tail: the consumer has read the record that was here. */
	if (r->head - smp_load_acquire(&r->tail) >= r->n_records) {
		r->lost++;
		ring->lost++;
		return NULL;
	}
	return (void *)ring + sizeof(*ring) + (r->head & (r->n_records - 1)) * r->record_bytes;
}

/* Publishes the record at the claimed place, which the caller has written. */
static inline void perfctr_ring_show(struct perfctr_cpu_ring *r)
{
	struct perfctr_ring *ring = r->buffer.address;

	r->lost = 0;
	WRITE_ONCE(r->head, r->head + 1);
	smp_wmb();	/* the record before the head that shows it */
	ring->head++;
}

/* Returns the number of records that have not been consumed. May be called anywhere. */
static inline u32 perfctr_ring_fill(const struct perfctr_cpu_ring *r)
{
	return READ_ONCE(r->head) - READ_ONCE(r->tail);
}

#endif
