/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

#include <stdbool.h>
#include <perfctr.h>

/*
 * As perfctr_control_assign(), but avoids the counters in taken, which has the bits of info's
 * masks.
 */
int perfctr_assign_but(struct perfctr_control *c, const struct perfctr_pmu_info *info,
		       uint64_t taken);

/* Does a counter of this number count software?  PERFCTR_SOFTWARE + n counts event n. */
bool perfctr_is_software(uint32_t counter);

/*
 * Refuses a control that the capabilities exclude: -1 with errno ENOTSUP, c->bad_event and
 * c->bad_reason filled in.
 */
int perfctr_refuse_unable(struct perfctr_control *c, uint32_t capabilities);

/*
 * Describes c->bad_reason: why event c->bad_event is refused.  c->bad_event must be a valid index.
 */
void perfctr_describe_bad_event(const struct perfctr_control *c,
				const struct perfctr_pmu_info *info, char *text, size_t size);

/*
 * Copies options of the size that the program knows to options of the size that this library knows.
 * Fields that the program does not know become 0.  Fields that this library does not know must be
 * 0, otherwise -1 with E2BIG.  least: the size of the first version; -1 with EINVAL if the
 * program's options are smaller.
 */
int perfctr_take_options(void *options, size_t size, const void *given, size_t given_size,
			 size_t least);

/*
 * Maps memory full of zeros, which is full of zeros again in a forked child.  The caller unmaps it
 * by munmap().  NULL with errno.
 */
void *perfctr_map_wiped(size_t size);

/*
 * Returns count without the overhead of counting, which is `first` for the first time and
 * `repeated` for each further one; at least 0.
 */
uint64_t perfctr_less_overhead(uint64_t count, uint64_t first, uint64_t repeated, uint64_t times);

#endif
