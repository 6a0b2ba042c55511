/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Explains why requests cannot be counted together. */
#ifndef PERFCTR_CONFLICT_H
#define PERFCTR_CONFLICT_H

#include "../line.h"
#include "../pmu/machine.h"

/*
 * Writes which of the requests, which do not fit, conflict over which counters or routes.  Returns
 * -1 with errno ENOSPC.
 */
int perfctr_explain_conflict(const struct perfctr_pmu_info *info,
			     const struct perfctr_request *requests, size_t n,
			     const struct line *line);

#endif
