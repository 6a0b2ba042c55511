/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks whether a request can be counted at all. */
#ifndef PERFCTR_FEASIBLE_H
#define PERFCTR_FEASIBLE_H

#include "../line.h"
#include "../pmu/machine.h"

/*
 * Returns true if no counter can count the request, with a line and errno: EBUSY if other users
 * have the counters that can, otherwise EINVAL.  Also returns true, with ENOMEM, if there is no
 * memory to find out.
 */
bool perfctr_request_is_impossible(const struct perfctr_pmu_info *info,
				   const struct perfctr_request *request, const struct line *line);

#endif
