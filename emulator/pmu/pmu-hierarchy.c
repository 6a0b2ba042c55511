/* SPDX-License-Identifier: GPL-2.0-only */
#include "pmu-hierarchy.h"
#include <string.h>

static uint64_t *set_of(const X86PMUCache *cache, uint64_t number)
{
    return cache->number + (number & (cache->sets - 1)) * cache->ways;
}

bool x86_pmu_cache_misses(X86PMUCache *cache, uint64_t number)
{
    uint64_t *way = set_of(cache, number), moved = number + 1;

    for (uint32_t i = 0; i < cache->ways; i++) {
        uint64_t was = way[i];

        way[i] = moved;
        if (was == number + 1) {
            return false;
        }
        moved = was;
    }
    return true;
}

void x86_pmu_cache_drop(X86PMUCache *cache, uint64_t number)
{
    uint64_t *way = set_of(cache, number);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cache->ways; i++) {
        if (way[i] != number + 1) {
            way[kept++] = way[i];
        }
    }
    if (kept < cache->ways) {
        way[kept] = 0;
    }
}

void x86_pmu_cache_empty(X86PMUCache *cache)
{
    memset(cache->number, 0, sizeof(*cache->number) * cache->sets * cache->ways);
}

bool x86_pmu_predictor_misses(X86PMUPredictor *predictor, uint64_t address, bool taken)
{
    uint32_t mask = (1U << predictor->bits) - 1;
    uint8_t *counter = &predictor->counter[(address ^ predictor->history) & mask];
    bool predicted = *counter >= 2;

    if (taken && *counter < 3) {
        ++*counter;
    } else if (!taken && *counter > 0) {
        --*counter;
    }
    predictor->history = (predictor->history << 1 | taken) & mask;
    return predicted != taken;
}
