/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_ANSWERS_H
#define PERFCTR_ANSWERS_H

#include "../line.h"

/*
 * Of an event that cannot be counted: is it one of perf's that no machine, or not this one, can
 * count?  Then the line says what to write instead, and errno is ENOENT or EINVAL.  pmu: there is
 * one.
 */
bool perfctr_event_answer(const char *spec, bool pmu, const struct line *line);

#endif
