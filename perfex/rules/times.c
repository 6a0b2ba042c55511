// SPDX-License-Identifier: GPL-2.0-or-later
#include "times.h"

#include <string.h>

const char *const time_keys[N_TIMES] = { "elapsed_ns", "user_ns", "system_ns" };

bool is_time_name(const char *name)
{
	for (unsigned int i = 0; i < N_TIMES; i++)
		if (strcmp(time_keys[i], name) == 0)
			return true;
	return strcmp(name, "tsc") == 0;
}
