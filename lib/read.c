// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading sums and records. */
#include "internal.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

int perfctr_read_scope(const struct perfctr *p, unsigned int scope, struct perfctr_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->scope = scope;
	return ioctl(p->fd, PERFCTR_IOC_READ, out);
}

int perfctr_read(const struct perfctr *p, struct perfctr_counts *out)
{
	return perfctr_read_scope(p, PERFCTR_SCOPE_SELF, out);
}

int perfctr_next_record(const struct perfctr *p, struct perfctr_record *record)
{
	memset(record, 0, sizeof(*record));
	record->size = sizeof(*record);
	return ioctl(p->fd, PERFCTR_IOC_RECORD, record);
}

/*
 * The sum of a context that is stopped; false when it is started.  Another thread may start it, or
 * change its control, meanwhile: seq tells.
 */
static bool stopped_sum(const struct perfctr_page *page, const struct perfctr_page_counter *c,
			uint64_t *sum)
{
	uint32_t seq, flags;

	do {
		seq = __atomic_load_n(&page->seq, __ATOMIC_ACQUIRE);
		flags = __atomic_load_n(&page->flags, __ATOMIC_RELAXED);
		*sum = *(const volatile __u64 *)&c->sum;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((seq & 1) || __atomic_load_n(&page->seq, __ATOMIC_RELAXED) != seq);
	return !(flags & PERFCTR_PAGE_STARTED);
}

uint64_t perfctr_read_pmc_slow(const struct perfctr_page *page, unsigned int i)
{
	const struct perfctr_page_counter *c = &page->counter[i];
	uint64_t value;

	while (!perfctr_try_pmc(c, &value) && !stopped_sum(page, c, &value))
		;
	return value;
}

uint64_t perfctr_read_tsc_slow(const struct perfctr_page *page)
{
	const struct perfctr_page_counter *c = &page->tsc;
	uint64_t value;

	while (!perfctr_try_tsc(c, &value) && !stopped_sum(page, c, &value))
		;
	return value;
}

uint64_t perfctr_read_counter(const struct perfctr *p, unsigned int i)
{
	const struct perfctr_page *page = perfctr_page(p);
	struct perfctr_counts counts;

	if (page && i < page->n_counters)
		return perfctr_read_pmc(page, i);
	if (perfctr_read(p, &counts) < 0)
		return 0;
	if (i >= counts.n_counters) {
		errno = EINVAL;
		return 0;
	}
	return counts.counter[i];
}
