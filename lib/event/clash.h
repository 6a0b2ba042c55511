/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why requests cannot be counted, or not together. */
#ifndef PERFCTR_CLASH_H
#define PERFCTR_CLASH_H

#include "../line.h"
#include "../pmu/machine.h"

/* No counter can count it: true, with errno EINVAL and a line. */
bool perfctr_request_is_impossible(const struct perfctr_pmu_info *info,
				   const struct perfctr_request *request, const struct line *line);

/* NetBurst's replay tags are for a whole run: two clash.  True: errno ENOSPC and a line. */
bool perfctr_requests_have_two_tags(const struct perfctr_request *requests, size_t n,
				    const struct line *line);

/* For requests that do not fit: -1, errno ENOSPC, and which of them clash over what. */
int perfctr_explain_clash(const struct perfctr_pmu_info *info,
			  const struct perfctr_request *requests, size_t n,
			  const struct line *line);

#endif
