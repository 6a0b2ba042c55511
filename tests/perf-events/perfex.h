/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERF_EVENTS_PERFEX_H
#define PERF_EVENTS_PERFEX_H

#include <check.h>

/* The command, which is "perfex" on the path. */
TCase *perfex_tests(void);
/* Tests that expect a number of intervals, or an end, within a time. */
TCase *perfex_clock_tests(void);

#endif
