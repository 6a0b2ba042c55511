/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of the operating system, by the names that users of perf type. */
#ifndef PERFCTR_SOFTWARE_H
#define PERFCTR_SOFTWARE_H

#include <perfctr_events.h>

#include "../line.h"

/* Returns the name of the software event PERFCTR_SOFTWARE + n; NULL: there is none. */
const char *perfctr_software_name(uint32_t counter);

/*
 * Parses spec as perfctr_events_parse_once() does, if it names a software event.  Returns 1, or -1
 * with errno and a line; 0: spec names none.
 */
int perfctr_software_parse(const struct perfctr_pmu_info *info, const char *spec,
			   struct perfctr_request *request, const struct line *line);

/* As perfctr_events_list_once(), without a pattern. */
int perfctr_software_visit(int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			   void *arg);

#endif
