/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What can be counted at all. */
#ifndef PERFCTR_FEASIBLE_H
#define PERFCTR_FEASIBLE_H

#include "../line.h"
#include "../pmu/machine.h"

/*
 * No counter can count it: true, with a line and errno EINVAL, or EBUSY where others have those
 * that can.
 */
bool perfctr_request_is_impossible(const struct perfctr_pmu_info *info,
				   const struct perfctr_request *request, const struct line *line);

#endif
