/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface of libpfm.c, the only user of libpfm4. */
#ifndef PERFCTR_LIBPFM_H
#define PERFCTR_LIBPFM_H

#include "../line.h"
#include "../pmu/machine.h"

/*
 * Returns the name of libpfm4's PMU number i, from 0, among those of this machine and info's
 * family; NULL: there are fewer.
 */
const char *perfctr_libpfm_pmu(const struct perfctr_pmu_info *info, unsigned int i);

/*
 * Encodes "event[:umask]..[:modifier]..".  The family's libpfm_ignored bits, as those that enable,
 * are left out.  -1 with errno ENOENT (no such event), or with a line EINVAL (wrong unit mask or
 * modifier) or ENOMEM.
 */
int perfctr_libpfm_encode(const struct perfctr_pmu_info *info, const char *event, uint64_t *evntsel,
			  uint64_t *evntsel2, const struct line *line);

/* As perfctr_events_list_once(), without a pattern. */
int perfctr_libpfm_visit(const struct perfctr_pmu_info *info,
			 int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			 void *arg);

#endif
