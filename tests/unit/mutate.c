// SPDX-License-Identifier: GPL-2.0-or-later
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* A linear congruential generator (Knuth, MMIX) gives the same numbers everywhere for the same seed. */
uint32_t mutate_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static size_t below(uint64_t *seed, size_t n)
{
	return n ? mutate_random(seed) % n : 0;
}

/* Copies a random part of the text over another part. */
static void repeat_part(uint64_t *seed, char *text, size_t length)
{
	size_t from = below(seed, length), to = below(seed, length);
	size_t n = below(seed, length - (from > to ? from : to));

	memmove(text + to, text + from, n);
}

static size_t mutate_once(uint64_t *seed, char *text, size_t length)
{
	static const char likely[] = "\n\t \"'#:,=()[]{}-+*/&!|>%@.0e1x\0\377";
	size_t at = below(seed, length);

	if (!length)
		return 0;
	switch (mutate_random(seed) % 5) {
	case 0:
		text[at] = (char)mutate_random(seed);
		break;
	case 1:
		text[at] = likely[below(seed, sizeof(likely) - 1)];
		break;
	case 2:
		memmove(text + at, text + at + 1, length - at - 1);
		return length - 1;
	case 3:
		repeat_part(seed, text, length);
		break;
	default:
		return at;
	}
	return length;
}

char *mutate(uint64_t *seed, const char *text, size_t *length)
{
	char *mutant, *exact;

	*length = strlen(text);
	mutant = malloc(*length + 1);
	memcpy(mutant, text, *length);
	for (size_t n = 1 + below(seed, 6); n; n--)
		*length = mutate_once(seed, mutant, *length);
	exact = malloc(*length ? *length : 1);
	memcpy(exact, mutant, *length);
	free(mutant);
	return exact;
}
