// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inline functions as symbols of the library, for languages that cannot use C headers.  The
 * headers' own functions get other names here.
 */
#if defined(__x86_64__) || defined(__i386__)
#define perfctr_read_pmc inline_read_pmc
#define perfctr_read_tsc inline_read_tsc
#define perfctr_read_snapshot inline_read_snapshot
#include <perfctr.h>
#undef perfctr_read_pmc
#undef perfctr_read_tsc
#undef perfctr_read_snapshot

uint64_t perfctr_read_pmc(const struct perfctr_page *page, unsigned int i)
{
	return inline_read_pmc(page, i);
}

uint64_t perfctr_read_tsc(const struct perfctr_page *page)
{
	return inline_read_tsc(page);
}

void perfctr_read_snapshot(const struct perfctr_page *page, unsigned int n,
			   struct perfctr_snapshot *snapshot)
{
	inline_read_snapshot(page, n, snapshot);
}
#endif
