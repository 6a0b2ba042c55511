// SPDX-License-Identifier: GPL-2.0-only
/* The trace of a session: a ring of records for each CPU, which users map and empty. */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "hooks.h"
#include "session.h"

static struct perfctr_ring *ring_of(const struct perfctr_session *s, unsigned int cpu)
{
	return s->ring[cpu].address;
}

void perfctr_rings_free(struct perfctr_session *s)
{
	unsigned int cpu;

	for (cpu = 0; s->ring && cpu < nr_cpu_ids; cpu++)
		perfctr_buffer_free(&s->ring[cpu]);
	kvfree(s->ring);
	s->ring = NULL;
}

/* Freed by the caller in any case. */
int perfctr_rings_alloc(struct perfctr_session *s)
{
	unsigned int cpu;
	int err;

	s->ring = kvcalloc(nr_cpu_ids, sizeof(s->ring[0]), GFP_KERNEL_ACCOUNT);
	if (!s->ring)
		return -ENOMEM;
	s->ring_bytes = PAGE_ALIGN(sizeof(struct perfctr_ring) + s->trace_bytes);
	for_each_cpu(cpu, s->cpus) {
		err = perfctr_buffer_alloc(&s->ring[cpu], s->ring_bytes);
		if (err)
			return err;
	}
	return 0;
}

/* The session is stopped and has a new control. */
void perfctr_rings_clear(struct perfctr_session *s)
{
	size_t record = struct_size((struct perfctr_trace_record *)NULL, counter, s->hw->n_events);
	unsigned int cpu;

	for_each_cpu(cpu, s->cpus) {
		struct perfctr_ring *ring = ring_of(s, cpu);
		struct perfctr_session_cpu *sc = per_cpu_ptr(s->cpu, cpu);

		memset(ring, 0, s->ring_bytes);
		ring->size = sizeof(*ring);
		ring->records = sizeof(*ring);
		ring->record_bytes = record;
		ring->n_records = rounddown_pow_of_two(s->trace_bytes / record);
		sc->n_records = ring->n_records;
		sc->record_bytes = record;
		sc->head = 0;
		sc->tail = 0;
		sc->lost = 0;
		sc->ticks = 0;
	}
}

/* The ring of the CPU that user space names, or -EINVAL. */
static int find_ring(const struct perfctr_session *s, unsigned long number)
{
	unsigned int cpu;

	if (!s->ring || number >= nr_cpu_ids)
		return -EINVAL;
	cpu = array_index_nospec(number, nr_cpu_ids);
	return cpumask_test_cpu(cpu, s->cpus) ? (int)cpu : -EINVAL;
}

/* Under s->lock. */
int perfctr_rings_consume(struct perfctr_session *s, const struct perfctr_consume *consume)
{
	struct perfctr_session_cpu *sc;
	int cpu = find_ring(s, consume->cpu);
	struct perfctr_ring *ring;
	u32 tail, head;

	if (cpu < 0)
		return cpu;
	sc = per_cpu_ptr(s->cpu, cpu);
	ring = ring_of(s, cpu);
	tail = READ_ONCE(sc->tail);
	head = READ_ONCE(sc->head);
	if (consume->tail < ring->tail || consume->tail - ring->tail > head - tail)
		return -EINVAL;
	ring->tail = consume->tail;
	smp_store_release(&sc->tail, (u32)consume->tail);	/* the reads before it */
	return 0;
}

int perfctr_rings_mmap(struct perfctr_session *s, struct vm_area_struct *vma, unsigned long offset)
{
	int cpu = find_ring(s, offset / s->ring_bytes);

	if (cpu < 0 || offset % s->ring_bytes)
		return -EINVAL;
	return perfctr_buffer_mmap(&s->ring[cpu], vma);
}

/* On the CPU, interrupts off; task runs from now on. The totals are of this moment. */
void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now)
{
	unsigned int cpu = smp_processor_id();
	struct perfctr_session_cpu *sc = this_cpu_ptr(s->cpu);
	const struct perfctr_cpu_totals *totals = &s->totals->cpu[cpu];
	struct perfctr_ring *ring = ring_of(s, cpu);
	bool marked = s->group && perfctr_thread(task)->mark == s->group;
	struct perfctr_trace_record *record;

	/* Pairs with the release of the tail: the room is not read any more. */
	if (sc->head - smp_load_acquire(&sc->tail) >= sc->n_records) {
		sc->lost++;
		ring->lost++;
		return;
	}
	record = (void *)ring + sizeof(*ring) +
		 (sc->head & (sc->n_records - 1)) * sc->record_bytes;
	record->time = now;
	record->type = type;
	record->tgid = marked ? task_tgid_nr_ns(task, s->ns) : 0;
	record->tid = marked ? task_pid_nr_ns(task, s->ns) : 0;
	record->lost = sc->lost;
	record->tsc = totals->tsc;
	memcpy(record->counter, totals->counter, s->hw->n_events * sizeof(record->counter[0]));
	sc->lost = 0;
	WRITE_ONCE(sc->head, sc->head + 1);
	smp_wmb();	/* the record before the head that shows it */
	ring->head++;
}
