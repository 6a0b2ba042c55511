/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small memory hierarchy: caches and TLBs that replace the least recently used entry, and a
 * predictor of conditional branches. It knows nothing of QEMU and allocates nothing.
 */
#ifndef I386_PMU_HIERARCHY_H
#define I386_PMU_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

#define PMU_LINE_SHIFT  6   /* lines of 64 bytes, */
#define PMU_PAGE_SHIFT  12  /* pages of 4 KiB */

/* Holds numbers of lines or pages. Number n is in set n % sets. sets is a power of two. */
typedef struct X86PMUCache {
    uint32_t sets, ways;
    uint64_t *number;       /* plus 1, 0: none; the ways of each set, the last used one first */
} X86PMUCache;

/* @number: sets * ways zeros */
static inline void x86_pmu_cache_init(X86PMUCache *cache, uint32_t sets, uint32_t ways,
                                      uint64_t *number)
{
    *cache = (X86PMUCache) { .sets = sets, .ways = ways, .number = number };
}

/* Uses a number: was it missing? It is there afterwards. */
bool x86_pmu_cache_misses(X86PMUCache *cache, uint64_t number);
void x86_pmu_cache_drop(X86PMUCache *cache, uint64_t number);
void x86_pmu_cache_empty(X86PMUCache *cache);

/*
 * Counters of two bits. From 2 on they say that a branch is taken. The outcome of a branch moves
 * its counter up or down. The index of the counter is the last outcomes, as many as bits,
 * exclusive-or the address.
 */
typedef struct X86PMUPredictor {
    uint32_t bits;
    uint32_t history;       /* the last outcome lowest */
    uint8_t *counter;
} X86PMUPredictor;

/* @counter: 2^bits zeros */
static inline void x86_pmu_predictor_init(X86PMUPredictor *predictor, uint32_t bits,
                                          uint8_t *counter)
{
    *predictor = (X86PMUPredictor) { .bits = bits, .counter = counter };
}

/* A branch has run: was it mispredicted? */
bool x86_pmu_predictor_misses(X86PMUPredictor *predictor, uint64_t address, bool taken);

#endif
