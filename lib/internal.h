/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

#include <stdbool.h>
#include <perfctr.h>

/* perfctr_control_assign() but for the counters of taken, as bits of info's masks. */
int perfctr_assign_but(struct perfctr_control *c, const struct perfctr_pmu_info *info,
		       uint64_t taken);

/* Does a counter of this number count software?  PERFCTR_SOFTWARE + n counts event n. */
bool perfctr_is_software(uint32_t counter);

/* What the capabilities exclude: -1, errno ENOTSUP and c->bad_event, bad_reason filled in. */
int perfctr_refuse_unable(struct perfctr_control *c, uint32_t capabilities);

/* Why event c->bad_event is refused: c->bad_reason in words.  c->bad_event is an index. */
void perfctr_describe_bad_event(const struct perfctr_control *c,
				const struct perfctr_pmu_info *info, char *text, size_t size);

/*
 * Options of a program's own size into those of the library's: what an older program does not know
 * is 0, as is what this library does not know.  least: bytes of their first version.  -1: EINVAL,
 * E2BIG.
 */
int perfctr_take_options(void *options, size_t size, const void *given, size_t given_size,
			 size_t least);

/* Zeros, to be unmapped by munmap(); in a forked child they are zeros again.  NULL with errno. */
void *perfctr_map_wiped(size_t size);

/* A count without what counting it added: once `first`, then `repeated`; not below 0. */
uint64_t perfctr_less_overhead(uint64_t count, uint64_t first, uint64_t repeated, uint64_t times);

#endif
