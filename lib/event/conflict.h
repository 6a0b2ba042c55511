/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why requests cannot be counted together. */
#ifndef PERFCTR_CONFLICT_H
#define PERFCTR_CONFLICT_H

#include "../line.h"
#include "../pmu/machine.h"

/* For requests that do not fit: -1, errno ENOSPC, and which of them conflict over what. */
int perfctr_explain_conflict(const struct perfctr_pmu_info *info,
			     const struct perfctr_request *requests, size_t n,
			     const struct line *line);

#endif
