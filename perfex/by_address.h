/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches arrays that are sorted by address. */
#ifndef PERFEX_BY_ADDRESS_H
#define PERFEX_BY_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns how many of the n elements have an address not above this one.  An element has size
 * bytes.  field points to the address, a uint64_t, of the first element.
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

/* The same for an array of n elements with the address in this member. */
#define COUNT_UP_TO(array, n, member, address)                                                     \
	((n) ? count_up_to(&(array)->member, n, sizeof(*(array)), address) : 0)

#endif
