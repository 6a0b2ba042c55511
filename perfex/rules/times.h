/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times of a counted command, ns, by the keys that programs know them by. */
#ifndef PERFEX_TIMES_H
#define PERFEX_TIMES_H

#include <stdbool.h>

enum { TIME_ELAPSED, TIME_USER, TIME_SYSTEM, N_TIMES };
extern const char *const time_keys[N_TIMES];

/* Is it the key of a time, or of the time stamp? */
bool is_time_name(const char *name);

#endif
