/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in the order of its addresses. */
#ifndef PERFEX_BY_ADDRESS_H
#define PERFEX_BY_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many of the n elements, of size bytes each, have an address up to this one.  field: the
 * place of the first one's uint64_t.
 */
static inline size_t count_up_to(const void *field, size_t n, size_t size, uint64_t address)
{
	size_t first = 0, end = n;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (*(const uint64_t *)((const char *)field + middle * size) <= address)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Of an array, by a field of its elements. */
#define COUNT_UP_TO(array, n, member, address)                                                     \
	((n) ? count_up_to(&(array)->member, n, sizeof(*(array)), address) : 0)

#endif
