// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <stddef.h>

char *name_in_source(const char *name)
{
	return NULL;
}
