// SPDX-License-Identifier: GPL-2.0-only
/* The trace of a session: the records that it writes to its rings. */
#include <linux/overflow.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include "gate.h"

void perfctr_trace_clear(struct perfctr_session *s)
{
	unsigned int cpu;

	perfctr_rings_clear(&s->rings, struct_size((struct perfctr_trace_record *)NULL, counter,
						   s->hw->n_events));
	for_each_cpu(cpu, s->cpus)
		per_cpu_ptr(s->cpu, cpu)->ticks = 0;
}

void perfctr_trace(struct perfctr_session *s, u32 type, struct task_struct *task, u64 now)
{
	unsigned int cpu = smp_processor_id();
	struct perfctr_cpu_ring *ring = &s->rings.cpu[cpu];
	const struct perfctr_page *page = perfctr_session_page(s, cpu);
	bool marked = s->mark && perfctr_thread(task)->mark == s->mark;
	struct perfctr_trace_record *record = perfctr_ring_claim(ring);
	u32 i;

	if (!record)
		return;
	record->time = now;
	record->type = type;
	record->tgid = marked ? task_tgid_nr_ns(task, s->ns) : 0;
	record->tid = marked ? task_pid_nr_ns(task, s->ns) : 0;
	record->lost = ring->lost;
	record->tsc = page->tsc.sum;
	for (i = 0; i < s->hw->n_events; i++)
		record->counter[i] = page->counter[i].sum;
	perfctr_ring_show(ring);
}
