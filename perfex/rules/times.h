/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys, in CSV, JSON and rules, of the times of a counted command, in ns. */
#ifndef PERFEX_TIMES_H
#define PERFEX_TIMES_H

#include <stdbool.h>

enum { TIME_ELAPSED, TIME_USER, TIME_SYSTEM, N_TIMES };
extern const char *const time_keys[N_TIMES];

/* Returns true if name is the key of a time, or "tsc", the time stamp. */
bool is_time_name(const char *name);

#endif
