// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that the compiler inlines, two levels deep. */
#include <stdint.h>

static inline __attribute__((always_inline)) uint32_t mix(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

static inline __attribute__((always_inline)) uint32_t twice(uint32_t x)
{
	x = mix(x);
	return mix(x + 1);
}

__attribute__((noinline)) uint32_t walk(uint32_t n)
{
	uint32_t x = 1;

	while (n--)
		x = twice(x) + mix(n);
	return x;
}

int main(int argc, char **argv)
{
	return walk((uint32_t)argc) == mix((uint32_t)argc + 7);
}
