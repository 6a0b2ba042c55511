/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_ANSWERS_H
#define PERFCTR_ANSWERS_H

#include "../line.h"

/*
 * Is spec an event of perf's that perfctr cannot count, on any machine or on this one?  Then the
 * line says what to write instead, and errno is ENOENT or EINVAL.  pmu: the machine has a PMU.
 */
bool perfctr_event_answer(const char *spec, bool pmu, const struct line *line);

#endif
