/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_EVENTS_PERFEX_H
#define PERF_EVENTS_PERFEX_H

#include <check.h>

/* The command, which is "perfex" on the path. */
TCase *perfex_tests(void);

#endif
