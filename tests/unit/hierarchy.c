// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the caches and the branch predictor of the emulated machine with simple ones.  The simple cache knows when
 * each number was used, and the simple predictor has its history in characters.
 */
#include "unit.h"

#include "../../emulator/pmu/pmu-hierarchy.c"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 20000, MAX_ENTRIES = 1024 };

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* An entry of the cache, in any order, with the time of its last use. */
struct kept {
	uint64_t number;
	size_t used; /* 0: the entry is empty */
};

/* Returns true after a miss.  The number then replaces an empty entry, or the least recently used one of its set. */
static bool naive_cache_misses(struct kept *kept, uint32_t sets, uint32_t ways, uint64_t number,
			       size_t now)
{
	uint32_t first = (uint32_t)(number % sets) * ways, oldest = first;

	for (uint32_t i = 0; i < sets * ways; i++)
		if (kept[i].used && kept[i].number == number) {
			kept[i].used = now;
			return false;
		}
	for (uint32_t i = first; i < first + ways; i++)
		if (kept[i].used < kept[oldest].used)
			oldest = i;
	kept[oldest] = (struct kept){ number, now };
	return true;
}

static void naive_drop(struct kept *kept, uint32_t n, uint64_t number)
{
	for (uint32_t i = 0; i < n; i++)
		if (kept[i].number == number)
			kept[i].used = 0;
}

static const struct {
	uint32_t sets, ways, range;
} shapes[] = {
	{ 1, 1, 3 }, { 1, 4, 6 }, { 8, 1, 20 }, { 16, 4, 100 }, { 64, 8, 600 }, { 4, 16, 80 },
};

START_TEST(a_cache_misses_what_was_not_used_lately)
{
	uint64_t numbers[MAX_ENTRIES] = { 0 };
	uint32_t sets = shapes[_i].sets, ways = shapes[_i].ways, state = 1 + (uint32_t)_i;
	struct kept kept[MAX_ENTRIES] = { 0 };
	X86PMUCache cache;
	size_t misses = 0;

	x86_pmu_cache_init(&cache, sets, ways, numbers);
	for (size_t i = 1; i <= STEPS; i++) {
		uint64_t number = next_random(&state) % shapes[_i].range;
		bool missed;

		if (i % 101 == 100) {
			x86_pmu_cache_drop(&cache, number);
			naive_drop(kept, sets * ways, number);
			continue;
		}
		if (i % 4001 == 4000) {
			x86_pmu_cache_empty(&cache);
			memset(kept, 0, sizeof(kept));
		}
		missed = x86_pmu_cache_misses(&cache, number);
		ck_assert_int_eq(missed, naive_cache_misses(kept, sets, ways, number, i));
		misses += missed;
	}
	ck_assert_uint_gt(misses, STEPS / 100);
	ck_assert_uint_lt(misses, STEPS - STEPS / 100);
}
END_TEST

/* A cache of 512 lines in sets of eight. */
START_TEST(counts_by_hand)
{
	uint64_t numbers[512] = { 0 };
	unsigned int misses[4] = { 0 };
	X86PMUCache cache;

	x86_pmu_cache_init(&cache, 64, 8, numbers);
	for (uint64_t i = 0; i < 3 * 512; i++)
		misses[0] += x86_pmu_cache_misses(&cache, 1000 + i % 512);
	for (uint64_t i = 0; i < 90; i++)
		misses[1] += x86_pmu_cache_misses(&cache, 5000000 + 64 * (i % 9));
	x86_pmu_cache_empty(&cache);
	for (uint64_t i = 0; i < 80; i++)
		misses[2] += x86_pmu_cache_misses(&cache, 64 * (i % 8));
	x86_pmu_cache_empty(&cache);
	for (uint64_t i = 0; i < 3 * 1024; i++)
		misses[3] += x86_pmu_cache_misses(&cache, i % 1024);
	ck_assert_uint_eq(misses[0], 512);
	ck_assert_uint_eq(misses[1], 90);
	ck_assert_uint_eq(misses[2], 8);
	/* Before a line is used again, 15 other lines of its set have been used: each access misses. */
	ck_assert_uint_eq(misses[3], 3 * 1024);
}
END_TEST

/*
 * Returns true after a misprediction.  The table sums up the outcomes of each history and address in a number from 0 to
 * 3.
 */
static bool naive_misses(int *table, char *history, unsigned int bits, uint64_t address, bool taken)
{
	unsigned int index = 0;
	bool predicted;

	for (unsigned int i = 0; i < bits; i++)
		index += (unsigned int)((history[i] == '1') != (address >> i & 1)) << i;
	predicted = table[index] > 1;
	table[index] += taken ? 1 : -1;
	if (table[index] < 0)
		table[index] = 0;
	if (table[index] > 3)
		table[index] = 3;
	memmove(history + 1, history, bits - 1);
	history[0] = taken ? '1' : '0';
	return predicted != taken;
}

START_TEST(a_predictor_goes_by_what_came_after_the_last_outcomes)
{
	unsigned int bits = 1 + (unsigned int)_i;
	static uint8_t counters[1 << 12];
	static int table[1 << 12];
	char history[12];
	uint32_t state = 7;
	X86PMUPredictor predictor;
	size_t misses = 0;

	memset(counters, 0, sizeof(counters));
	memset(table, 0, sizeof(table));
	memset(history, '0', sizeof(history));
	x86_pmu_predictor_init(&predictor, bits, counters);
	for (size_t i = 0; i < STEPS; i++) {
		uint64_t address = next_random(&state) % 5 * 1021;
		bool taken = i % 7 < 4 ? i % 3 : next_random(&state) & 1;
		bool missed = x86_pmu_predictor_misses(&predictor, address, taken);

		ck_assert_int_eq(missed, naive_misses(table, history, bits, address, taken));
		misses += missed;
	}
	ck_assert_uint_gt(misses, STEPS / 10);
	ck_assert_uint_lt(misses, STEPS - STEPS / 10);
}
END_TEST

/*
 * The history fills with ones.  12 histories are new, and the history of all ones needs two misses.  Then there are no
 * more misses.
 */
START_TEST(mispredictions_by_hand)
{
	static uint8_t counters[1 << 12];
	unsigned int always = 0, loops = 0;
	X86PMUPredictor predictor;

	memset(counters, 0, sizeof(counters));
	x86_pmu_predictor_init(&predictor, 12, counters);
	for (unsigned int i = 0; i < 1000; i++)
		always += x86_pmu_predictor_misses(&predictor, 0x401, true);
	/*
	 * Histories 0, 1, 3, ... occur once each.  The history of all ones misses twice before its counter predicts
	 * "taken".
	 */
	ck_assert_uint_eq(always, 12 + 2);
	/* After 99 iterations the history no longer shows the beginning of the loop: each exit misses. */
	for (unsigned int i = 0; i < 100 * 100; i++)
		x86_pmu_predictor_misses(&predictor, 0x401, i % 100 != 99);
	for (unsigned int i = 0; i < 100 * 100; i++)
		loops += x86_pmu_predictor_misses(&predictor, 0x401, i % 100 != 99);
	ck_assert_uint_eq(loops, 100);
}
END_TEST

TCase *hierarchy_tests(void)
{
	TCase *tests = tcase_create("hierarchy");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, a_cache_misses_what_was_not_used_lately, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_test(tests, counts_by_hand);
	tcase_add_loop_test(tests, a_predictor_goes_by_what_came_after_the_last_outcomes, 0, 12);
	tcase_add_test(tests, mispredictions_by_hand);
	return tests;
}
