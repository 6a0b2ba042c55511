/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the tests of events by name. */
#ifndef NAMES_H
#define NAMES_H

#include "machines.h"

#define USER PERFCTR_MODE_USER
#define KERNEL PERFCTR_MODE_KERNEL
#define BOTH PERFCTR_MODE_BOTH

/* Expects that spec is accepted, or refused with one line. */
void expect_answer(const struct perfctr_pmu_info *info, const char *spec);

#endif
