/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes that keep together what is compared. */
#ifndef PERFEX_TOGETHER_H
#define PERFEX_TOGETHER_H

#include <perfctr_events.h>
#include "../rules/rules.h"

/*
 * As perfctr_requests_plan().  Among the plans with the fewest passes it looks for one that has all
 * events of many rules in one pass, and an event with the one that text shows it relative to.
 * rules: linked; NULL: none.
 */
int together_plan(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
		  size_t n, const struct rules *rules, unsigned int pass[], unsigned int *n_passes,
		  char *error, size_t size);

#endif
