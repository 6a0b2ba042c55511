// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <stdlib.h>

void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);

	if (!memory)
		fail("out of memory");
	return memory;
}
