// SPDX-License-Identifier: GPL-2.0-only
/* What a session has counted on each CPU, in memory that users map. */
#include <linux/cpumask.h>
#include <linux/smp.h>
#include "session.h"

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
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct perfctr_cpu_totals *totals = &s->totals->cpu[cpu];
		u32 seq = totals->seq;

		WRITE_ONCE(totals->seq, seq + 1);
		smp_wmb();	/* seq before what it guards */
		memset(&totals->tsc, 0, sizeof(*totals) - offsetof(typeof(*totals), tsc));
		smp_wmb();	/* what seq guards before seq */
		WRITE_ONCE(totals->seq, seq + 2);
	}
}

/* The CPU does not change its totals meanwhile. */
void perfctr_totals_add(const struct perfctr_session *s, unsigned int cpu,
			struct perfctr_counts *counts)
{
	const struct perfctr_cpu_totals *totals = &s->totals->cpu[cpu];
	unsigned int i;

	counts->tsc += totals->tsc;
	counts->switches += totals->switches;
	for (i = 0; i < counts->n_counters; i++)
		counts->counter[i] += totals->counter[i];
}
