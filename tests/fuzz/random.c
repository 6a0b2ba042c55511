// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers that are the same everywhere for the same seed. */
#include "fuzz.h"

/* The finaliser of MurmurHash3, on two words. */
uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15ull + b;

	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

/* Marsaglia's xorshift with a multiplication; the state is never 0. */
uint64_t next(struct fuzzer *f)
{
	f->random ^= f->random >> 12;
	f->random ^= f->random << 25;
	f->random ^= f->random >> 27;
	return f->random * 0x2545f4914f6cdd1dull;
}

uint64_t below(struct fuzzer *f, uint64_t n)
{
	return (next(f) >> 32) % n;
}

bool chance(struct fuzzer *f, unsigned int percent)
{
	return below(f, 100) < percent;
}

/* A number near a limit, or any number. */
uint64_t awkward(struct fuzzer *f)
{
	switch (below(f, 7)) {
	case 0:
		return below(f, 34);
	case 1:
		return ~0ull;
	case 2:
		return 1ull << below(f, 64);
	case 3:
		return (1ull << below(f, 64)) - 1;
	case 4:
		return PERFCTR_FIXED + below(f, 34);
	case 5:
		return (uint64_t)(uintptr_t)f->arena + below(f, ARENA_PAGES * PAGE_BYTES);
	default:
		return next(f);
	}
}

static unsigned int weight_of(const void *first, size_t stride, size_t i)
{
	return *(const unsigned int *)((const char *)first + i * stride);
}

size_t weighted(struct fuzzer *f, const void *first, size_t stride, size_t n)
{
	uint64_t sum = 0, pick;
	size_t i;

	for (i = 0; i < n; i++)
		sum += weight_of(first, stride, i);
	pick = below(f, sum);
	for (i = 0; pick >= weight_of(first, stride, i); i++)
		pick -= weight_of(first, stride, i);
	return i;
}
