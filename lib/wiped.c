// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory that a forked child finds full of zeros. */
#define _GNU_SOURCE
#include "internal.h"

#include <sys/mman.h>

void *perfctr_map_wiped(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	if (madvise(memory, size, MADV_WIPEONFORK) < 0) {
		munmap(memory, size);
		return NULL;
	}
	return memory;
}
