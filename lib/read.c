// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading sums and records. */
#include "backend/backend.h"

#include <errno.h>
#include <string.h>

int perfctr_read_scope(const struct perfctr *p, unsigned int scope, struct perfctr_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->scope = scope;
	return p->backend->read(p, out);
}

int perfctr_read(const struct perfctr *p, struct perfctr_counts *out)
{
	return perfctr_read_scope(p, PERFCTR_SCOPE_SELF, out);
}

int perfctr_next_record(const struct perfctr *p, struct perfctr_record *record)
{
	memset(record, 0, sizeof(*record));
	record->size = sizeof(*record);
	return p->backend->next_record ? p->backend->next_record(p, record) : perfctr_unable();
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

uint64_t perfctr_read_counter(const struct perfctr *p, unsigned int i)
{
	const struct perfctr_page *page = perfctr_get_page(p);
	struct perfctr_counts counts;
	uint64_t value;

	if (page && i < page->n_counters)
		return perfctr_read_pmc(page, i);
	if (p->backend->read_counter && perfctr_is_owner(p) &&
	    p->backend->read_counter(p, i, &value))
		return value;
	if (perfctr_read(p, &counts) < 0)
		return 0;
	if (i >= counts.n_counters) {
		errno = EINVAL;
		return 0;
	}
	return counts.counter[i];
}
