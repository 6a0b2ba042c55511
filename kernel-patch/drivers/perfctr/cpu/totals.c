// SPDX-License-Identifier: GPL-2.0-only
/* What a session has counted on each CPU, in memory that users map. */
#include <linux/cpumask.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include "gate.h"

static size_t totals_bytes(void)
{
	return sizeof(struct perfctr_totals) + nr_cpu_ids * sizeof(struct perfctr_cpu_totals);
}

int perfctr_totals_alloc(struct perfctr_session *s)
{
	int err = perfctr_buffer_alloc(&s->totals_buffer, totals_bytes());

	if (err)
		return err;
	s->totals = s->totals_buffer.address;
	s->totals->size = sizeof(*s->totals);
	s->totals->abi_version = PERFCTR_ABI_VERSION;
	s->totals->n_cpus = nr_cpu_ids;
	s->totals->cpu_bytes = sizeof(s->totals->cpu[0]);
	return 0;
}

struct perfctr_cpu_totals *perfctr_totals_here(struct perfctr_session *s)
{
	return &s->totals->cpu[smp_processor_id()];
}

/* The session is stopped. seq goes on, so that a reader notices. */
void perfctr_totals_clear(struct perfctr_session *s)
{
	unsigned int cpu;

	s->totals->n_counters = s->hw->n_events;
	s->disturbed = false;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct perfctr_cpu_totals *totals = &s->totals->cpu[cpu];
		u32 seq = totals->seq;

		WRITE_ONCE(totals->seq, seq + 1);
		smp_wmb();	/* seq before what it guards */
		memset_startat(totals, 0, tsc);
		smp_wmb();	/* what seq guards before seq */
		WRITE_ONCE(totals->seq, seq + 2);
	}
}

static u32 begin_copy(const struct perfctr_cpu_totals *totals)
{
	u32 seq;

	/* Pairs with the release at the end of a change: what seq guards is read after it. */
	while ((seq = smp_load_acquire(&totals->seq)) & 1)
		cpu_relax();
	return seq;
}

static bool retry_copy(const struct perfctr_cpu_totals *totals, u32 seq)
{
	smp_rmb();	/* what seq guards before seq */
	return READ_ONCE(totals->seq) != seq;
}

/* The CPU may go on counting. */
void perfctr_totals_copy(const struct perfctr_session *s, unsigned int number,
			 struct perfctr_cpu_totals *copy)
{
	const struct perfctr_cpu_totals *totals = &s->totals->cpu[number];
	u32 seq;

	do {
		seq = begin_copy(totals);
		*copy = *totals;
	} while (retry_copy(totals, seq));
}
