// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads of the state page that the inline functions give up, and the sums of a stopped context. */
#include "internal.h"

static uint64_t load_sum(const struct perfctr_page_counter *c)
{
	return *(const volatile __u64 *)&c->sum;
}

/*
 * Reads the sums of a stopped context; 0: the context is started.  Another thread may start the
 * context, or change its control, meanwhile, which seq shows.  Sums of a started context are not
 * read at all: each switch would repeat the read, and the end of a region counts the instructions
 * executed here.
 */
int perfctr_read_stopped(const struct perfctr_page *page, unsigned int n,
			 struct perfctr_snapshot *sums)
{
	uint32_t seq;

	do {
		seq = __atomic_load_n(&page->seq, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&page->flags, __ATOMIC_RELAXED) & PERFCTR_PAGE_STARTED)
			return 0;
		sums->tsc = load_sum(&page->tsc);
		for (unsigned int i = 0; i < n; i++)
			sums->counter[i] = load_sum(&page->counter[i]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((seq & 1) || __atomic_load_n(&page->seq, __ATOMIC_RELAXED) != seq);
	return 1;
}

uint64_t perfctr_read_pmc_slow(const struct perfctr_page *page, unsigned int i)
{
	const struct perfctr_page_counter *c = &page->counter[i];
	struct perfctr_snapshot sums;
	uint64_t value;

	while (!perfctr_try_pmc(c, &value))
		if (perfctr_read_stopped(page, i + 1, &sums))
			return sums.counter[i];
	return value;
}

uint64_t perfctr_read_tsc_slow(const struct perfctr_page *page)
{
	const struct perfctr_page_counter *c = &page->tsc;
	struct perfctr_snapshot sums;
	uint64_t value;

	while (!perfctr_try_tsc(c, &value))
		if (perfctr_read_stopped(page, 0, &sums))
			return sums.tsc;
	return value;
}
