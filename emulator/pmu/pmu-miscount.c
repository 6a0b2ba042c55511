/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Performance monitoring unit: events that are counted wrongly on purpose, for tests of programs
 * that detect wrong counts. Instructions, cycles and reference cycles are always counted right.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "pmu-internal.h"

#define PER_INTERRUPT   3
#define FORGOTTEN       1000

/*
 * The noise is the sum of 12 random numbers of 16 bits, minus the mean. It is almost normally
 * distributed. Its variance is the sum of theirs, 12 * 2^32 / 12, so the deviation is 2^16.
 */
#define NB_SUMMANDS     12
#define PER_WORD        4
#define DEVIATION       65536LL
#define PERCENT         100

static const char *const ways[PMU_MISCOUNT_NB_WAYS] = {
    [PMU_MISCOUNT_NONE] = "none",
    [PMU_MISCOUNT_HALF] = "half",
    [PMU_MISCOUNT_INTERRUPTS] = "interrupts",
    [PMU_MISCOUNT_FORGETS] = "forgets",
    [PMU_MISCOUNT_NOISE] = "noise",
};

static unsigned way_of(const X86PMUState *pmu)
{
    return pmu->miscount.value & 0xff;
}

static uint64_t seed_of(const X86PMUState *pmu)
{
    return pmu->miscount.value >> 8;
}

static bool is_right(const X86PMUSetting *setting)
{
    return setting->event == PMU_EVENT_INSN || setting->event == PMU_EVENT_REFERENCE;
}

/* Steele and Vigna's SplitMix. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

void x86_pmu_miscount_redraw(X86PMUState *pmu)
{
    int64_t sum = 0;

    if (way_of(pmu) != PMU_MISCOUNT_NOISE) {
        return;
    }
    for (int i = 0; i < NB_SUMMANDS / PER_WORD; i++) {
        uint64_t word = next_random(&pmu->miscount.random);

        for (int j = 0; j < PER_WORD; j++) {
            sum += word >> 16 * j & 0xffff;
        }
    }
    pmu->miscount.noise = sum - NB_SUMMANDS * DEVIATION / 2;
}

uint64_t x86_pmu_miscounted_total(const X86PMUState *pmu, const X86PMUSetting *setting,
                                  uint64_t total)
{
    if (is_right(setting)) {
        return total;
    }
    switch (way_of(pmu)) {
    case PMU_MISCOUNT_HALF:
        return (total + seed_of(pmu)) / 2;
    case PMU_MISCOUNT_FORGETS:
        return total - (total + seed_of(pmu)) / FORGOTTEN;
    case PMU_MISCOUNT_INTERRUPTS:
        for (unsigned mode = 0; mode < PMU_NB_MODES; mode++) {
            if (setting->modes >> mode & 1) {
                total += PER_INTERRUPT * pmu->miscount.interrupts[mode];
            }
        }
        return total;
    default:
        return total;
    }
}

uint64_t x86_pmu_miscounted_progress(const X86PMUState *pmu, const X86PMUSetting *setting,
                                     uint64_t progress)
{
    if (way_of(pmu) != PMU_MISCOUNT_NOISE || is_right(setting)) {
        return progress;
    }
    return progress + (int64_t)progress * pmu->miscount.noise / (PERCENT * DEVIATION);
}

bool x86_pmu_miscount_is_noisy(const X86PMUState *pmu)
{
    return way_of(pmu) == PMU_MISCOUNT_NOISE;
}

/* An external interrupt is taken in the current mode. */
void x86_pmu_interrupted(CPUX86State *env)
{
    env->pmu.miscount.interrupts[(env->hflags & HF_CPL_MASK) == 3]++;
}

bool x86_pmu_miscount_write(X86PMUState *pmu, uint64_t value)
{
    if ((value & 0xff) >= PMU_MISCOUNT_NB_WAYS) {
        return false;
    }
    pmu->miscount.value = value;
    pmu->miscount.random = seed_of(pmu);
    x86_pmu_miscount_redraw(pmu);
    return true;
}

void x86_pmu_miscount_reset(X86PMUState *pmu)
{
    x86_pmu_miscount_write(pmu, pmu->miscount.at_reset);
}

/* WAY[:SEED] */
bool x86_pmu_miscount_realize(X86CPU *cpu, Error **errp)
{
    X86PMUMiscount *miscount = &cpu->env.pmu.miscount;
    char way[16];
    uint32_t seed = 0;
    int end = 0, seeded = 0;

    if (!cpu->pmu_miscount) {
        return true;
    }
    if (sscanf(cpu->pmu_miscount, "%15[a-z]%n:%" SCNu32 "%n", way, &end, &seed, &seeded) >= 1 &&
        !cpu->pmu_miscount[seeded ?: end]) {
        for (unsigned i = 0; i < PMU_MISCOUNT_NB_WAYS; i++) {
            if (!strcmp(way, ways[i])) {
                miscount->exists = true;
                miscount->at_reset = PMU_MISCOUNT(i, seed);
                return true;
            }
        }
    }
    error_setg(errp, "pmu-miscount=%s: there are none, half, interrupts, forgets and noise, with "
               ":SEED behind it or not, a number of 32 bits", cpu->pmu_miscount);
    return false;
}
