// SPDX-License-Identifier: LGPL-2.1-or-later
/* Several counts of one moment. */
#include "internal.h"

static uint64_t load_sum(const struct perfctr_page_counter *c)
{
	return *(const volatile __u64 *)&c->sum;
}

/* Another thread may start the context, or change its control, meanwhile: seq tells. */
int perfctr_read_stopped(const struct perfctr_page *page, unsigned int n,
			 struct perfctr_snapshot *sums)
{
	uint32_t seq, flags;

	do {
		seq = __atomic_load_n(&page->seq, __ATOMIC_ACQUIRE);
		flags = __atomic_load_n(&page->flags, __ATOMIC_RELAXED);
		sums->tsc = load_sum(&page->tsc);
		for (unsigned int i = 0; i < n; i++)
			sums->counter[i] = load_sum(&page->counter[i]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((seq & 1) || __atomic_load_n(&page->seq, __ATOMIC_RELAXED) != seq);
	return !(flags & PERFCTR_PAGE_STARTED);
}
