/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small memory hierarchy: caches and TLBs that replace the least recently used entry, and a
 * predictor of conditional branches. It knows nothing of QEMU and allocates nothing.
 */
#ifndef I386_PMU_HIERARCHY_H
#define I386_PMU_HIERARCHY_H

#include <stdbool.h>
#include <stdint.h>

#define PMU_LINE_SHIFT  6   /* lines of 64 bytes */
#define PMU_PAGE_SHIFT  12  /* pages of 4 KiB */

/*
 * A cache or TLB: the numbers of its lines or pages. Number n is in set n % sets; sets is a power
 * of two.
 */
typedef struct X86PMUCache {
    uint32_t sets, ways;
    uint64_t *number;       /* the ways of each set, the last used first; n + 1, or 0 for none */
} X86PMUCache;

/* @number: an array of sets * ways zeros */
static inline void x86_pmu_cache_init(X86PMUCache *cache, uint32_t sets, uint32_t ways,
                                      uint64_t *number)
{
    *cache = (X86PMUCache) { .sets = sets, .ways = ways, .number = number };
}

/* Uses a number. Was it missing? Then it replaces the least recently used one of its set. */
bool x86_pmu_cache_misses(X86PMUCache *cache, uint64_t number);
void x86_pmu_cache_drop(X86PMUCache *cache, uint64_t number);
void x86_pmu_cache_empty(X86PMUCache *cache);

/*
 * Counters of two bits. A counter predicts "taken" from 2 on. The outcome of a branch moves its
 * counter up or down. The index of the counter is history, the last @bits outcomes, exclusive-or
 * the branch's address.
 */
typedef struct X86PMUPredictor {
    uint32_t bits;
    uint32_t history;       /* the last outcome is in bit 0 */
    uint8_t *counter;
} X86PMUPredictor;

/* @counter: an array of 2^bits zeros */
static inline void x86_pmu_predictor_init(X86PMUPredictor *predictor, uint32_t bits,
                                          uint8_t *counter)
{
    *predictor = (X86PMUPredictor) { .bits = bits, .counter = counter };
}

/* A branch has run. Was it mispredicted? */
bool x86_pmu_predictor_misses(X86PMUPredictor *predictor, uint64_t address, bool taken);

#endif
