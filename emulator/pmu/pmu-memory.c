/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: caches, TLBs and a branch predictor. Their misses are events. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "pmu-internal.h"

#define NO_LINE UINT64_MAX

struct X86PMUMemory {
    X86PMUCache cache[PMU_NB_CACHES];
    X86PMUPredictor predictor;
    uint64_t fetched;       /* the line of code that was fetched last, by its virtual address */
};

static const char *const names[PMU_NB_CACHES] = {
    [PMU_L1D] = "l1d",
    [PMU_L1I] = "l1i",
    [PMU_L2] = "l2",
    [PMU_DTLB] = "dtlb",
    [PMU_ITLB] = "itlb",
};

#define MAX_SIZE        16384
#define MAX_WAYS        16
#define MAX_HISTORY     20

/* The shape of a TLB, if pmu-caches has none. The default shapes of caches come from CPUID. */
static const X86PMUShape default_tlb = { .size = 64, .ways = 4 };
#define DEFAULT_HISTORY 12

/* The number of lines of a cache, or of entries of a TLB. */
static uint32_t nb_entries(unsigned part, X86PMUShape shape)
{
    return part == PMU_DTLB || part == PMU_ITLB ? shape.size : shape.size << 10 >> PMU_LINE_SHIFT;
}

/* QEMU's CPUID cannot describe a cache unless it has more sets than ways. */
static bool valid_shape(unsigned part, X86PMUShape shape)
{
    return is_power_of_2(shape.size) && shape.size <= MAX_SIZE && is_power_of_2(shape.ways) &&
           shape.ways <= MAX_WAYS && nb_entries(part, shape) > shape.ways * shape.ways;
}

static bool parse_part(X86PMUState *pmu, const char *text)
{
    char name[8];
    X86PMUShape shape;
    unsigned bits;
    int end = 0;

    if (sscanf(text, "history=%u%n", &bits, &end) == 1) {
        pmu->history = bits;
        return !text[end] && bits >= 1 && bits <= MAX_HISTORY;
    }
    if (sscanf(text, "%7[a-z0-9]=%u/%u%n", name, &shape.size, &shape.ways, &end) != 3 ||
        text[end]) {
        return false;
    }
    for (unsigned i = 0; i < PMU_NB_CACHES; i++) {
        if (!strcmp(name, names[i])) {
            pmu->shape[i] = shape;
            return valid_shape(i, shape);
        }
    }
    return false;
}

bool x86_pmu_memory_realize(X86CPU *cpu, Error **errp)
{
    X86PMUState *pmu = &cpu->env.pmu;
    g_auto(GStrv) wishes = g_strsplit(cpu->pmu_caches ?: "", ":", -1);

    pmu->shape[PMU_DTLB] = pmu->shape[PMU_ITLB] = default_tlb;
    pmu->history = DEFAULT_HISTORY;
    for (char **wish = wishes; *wish; wish++) {
        if (!parse_part(pmu, *wish)) {
            error_setg(errp, "pmu-caches=%s: '%s' is none of l1d=KIB/WAYS, l1i, l2, dtlb=PAGES/WAYS, "
                       "itlb, history=BITS; powers of two up to %d, with up to %d ways and more sets "
                       "than ways, and up to %d bits", cpu->pmu_caches, *wish, MAX_SIZE, MAX_WAYS,
                       MAX_HISTORY);
            return false;
        }
    }
    return true;
}

/* Makes CPUID report the shape that the user chose, if any. */
static void reshape(CPUCacheInfo **info, X86PMUShape shape)
{
    if (*info && shape.size) {
        *info = g_memdup2(*info, sizeof(**info));
        (*info)->size = shape.size << 10;
        (*info)->line_size = 1 << PMU_LINE_SHIFT;
        (*info)->associativity = shape.ways;
        (*info)->partitions = (*info)->lines_per_tag = 1;
        (*info)->sets = (*info)->size / (*info)->line_size / shape.ways;
    }
}

static void reshape_all(CPUCaches *caches, const X86PMUShape *shape)
{
    reshape(&caches->l1d_cache, shape[PMU_L1D]);
    reshape(&caches->l1i_cache, shape[PMU_L1I]);
    reshape(&caches->l2_cache, shape[PMU_L2]);
}

/* Returns the shape that CPUID reports for a cache. */
static X86PMUShape told_shape(CPUX86State *env, unsigned part)
{
    const CPUCaches *caches = IS_AMD_CPU(env) ? &env->cache_info_amd : &env->cache_info_cpuid4;
    const CPUCacheInfo *info = part == PMU_L1D ? caches->l1d_cache
                               : part == PMU_L1I ? caches->l1i_cache : caches->l2_cache;

    return (X86PMUShape) { .size = info->size >> 10, .ways = info->associativity };
}

/* Frees all caches and the predictor. x86_pmu_memory_start() allocates empty ones. */
static void forget(X86PMUState *pmu)
{
    if (pmu->memory) {
        for (unsigned i = 0; i < PMU_NB_CACHES; i++) {
            g_free(pmu->memory->cache[i].number);
        }
        g_free(pmu->memory->predictor.counter);
        g_free(pmu->memory);
        pmu->memory = NULL;
    }
}

/* At the first reset QEMU has not set up the caches of CPUID yet. */
void x86_pmu_memory_reset(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    forget(pmu);
    if (!pmu->told && env->cache_info_cpuid4.l1d_cache) {
        reshape_all(&env->cache_info_cpuid2, pmu->shape);
        reshape_all(&env->cache_info_cpuid4, pmu->shape);
        reshape_all(&env->cache_info_amd, pmu->shape);
        pmu->told = true;
    }
}

void x86_pmu_memory_start(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->memory) {
        return;
    }
    pmu->memory = g_new0(X86PMUMemory, 1);
    pmu->memory->fetched = NO_LINE;
    for (unsigned i = 0; i < PMU_NB_CACHES; i++) {
        X86PMUShape shape = i == PMU_DTLB || i == PMU_ITLB ? pmu->shape[i] : told_shape(env, i);
        uint32_t n = nb_entries(i, shape);

        x86_pmu_cache_init(&pmu->memory->cache[i], n / shape.ways, shape.ways,
                           g_new0(uint64_t, n));
    }
    x86_pmu_predictor_init(&pmu->memory->predictor, pmu->history,
                           g_new0(uint8_t, 1 << pmu->history));
}

static uint64_t *totals(CPUX86State *env)
{
    return env->pmu.total[(env->hflags & HF_CPL_MASK) == 3];
}

/*
 * Finds the physical address of an access. Returns false if the access faults, or is to a device,
 * which no cache holds. Generated code calls this before the access. The caller passes
 * MMU_DATA_LOAD for stores, too, because a probe for a store would already invalidate TBs in the
 * page. So a store to a page that is only readable does not fault here.
 */
static bool find_physical(CPUX86State *env, target_ulong addr, MMUAccessType type,
                          int mmu_index, bool *faults, uint64_t *physical)
{
    CPUTLBEntryFull *full;
    void *host;
    int flags = probe_access_full(env, addr, type, mmu_index, true, &host, &full, 0);

    *faults = flags & TLB_INVALID_MASK;
    if (flags & (TLB_INVALID_MASK | TLB_MMIO)) {
        return false;
    }
    *physical = full->phys_addr | (addr & ~TARGET_PAGE_MASK);
    return true;
}

/*
 * Intel's spatial prefetcher: with each line that the second cache fetches, it fetches the other
 * line of the aligned 128 bytes. That is neither a use nor a miss (Optimization Reference Manual,
 * "Data Prefetch to the L2 and Last Level Cache").
 */
static void prefetch_pair(X86PMUState *pmu, uint64_t line)
{
    if (pmu->mode == PMU_HARDWARE) {
        x86_pmu_cache_misses(&pmu->memory->cache[PMU_L2], line ^ 1);
    }
}

/* Uses a line in the first-level cache @first, and if it misses there, in the second cache. */
static void use_line(X86PMUState *pmu, unsigned first, uint64_t physical,
                     uint64_t *first_misses, uint64_t *second_misses)
{
    uint64_t line = physical >> PMU_LINE_SHIFT;

    if (!x86_pmu_cache_misses(&pmu->memory->cache[first], line)) {
        return;
    }
    ++*first_misses;
    if (x86_pmu_cache_misses(&pmu->memory->cache[PMU_L2], line)) {
        ++*second_misses;
        prefetch_pair(pmu, line);
    }
}

void helper_pmu_access(CPUX86State *env, target_ulong addr, uint32_t access)
{
    X86PMUMemory *memory = env->pmu.memory;
    uint64_t *total = totals(env);
    bool store = PMU_ACCESS_STORES(access);
    target_ulong last = (addr + PMU_ACCESS_BYTES(access) - 1) >> PMU_LINE_SHIFT;
    target_ulong page = -1;

    for (target_ulong line = addr >> PMU_LINE_SHIFT; line <= last; line++) {
        target_ulong virtual = line << PMU_LINE_SHIFT;
        uint64_t physical;
        bool faults;
        bool cached = find_physical(env, virtual, MMU_DATA_LOAD, PMU_ACCESS_MMU_INDEX(access),
                                    &faults, &physical);

        if (faults) {
            return;
        }
        if (virtual >> PMU_PAGE_SHIFT != page) {
            page = virtual >> PMU_PAGE_SHIFT;
            total[store ? PMU_EVENT_DTLB_STORE_MISS : PMU_EVENT_DTLB_LOAD_MISS] +=
                x86_pmu_cache_misses(&memory->cache[PMU_DTLB], page);
        }
        if (cached) {
            use_line(&env->pmu, PMU_L1D, physical,
                     &total[store ? PMU_EVENT_L1D_STORE_MISS : PMU_EVENT_L1D_LOAD_MISS],
                     &total[store ? PMU_EVENT_L2_STORE_MISS : PMU_EVENT_L2_LOAD_MISS]);
        }
    }
}

/*
 * An instruction that begins at @pc runs. If it is in the line that was fetched last, it uses no
 * cache and no TLB.
 */
void helper_pmu_fetch(CPUX86State *env, target_ulong pc)
{
    X86PMUMemory *memory = env->pmu.memory;
    uint64_t *total = totals(env), physical;
    bool faults;

    if (!(env->hflags & HF_CS64_MASK)) {
        pc = (uint32_t)pc;
    }
    if (memory->fetched == pc >> PMU_LINE_SHIFT) {
        return;
    }
    memory->fetched = pc >> PMU_LINE_SHIFT;
    total[PMU_EVENT_ITLB_MISS] +=
        x86_pmu_cache_misses(&memory->cache[PMU_ITLB], pc >> PMU_PAGE_SHIFT);
    if (find_physical(env, pc, MMU_INST_FETCH, cpu_mmu_index(env, true), &faults, &physical)) {
        use_line(&env->pmu, PMU_L1I, physical, &total[PMU_EVENT_L1I_MISS],
                 &total[PMU_EVENT_L2_CODE_MISS]);
    }
}

/* A conditional branch runs. @place: its offset in its page. */
void helper_pmu_predict(CPUX86State *env, uint32_t place, uint32_t taken)
{
    totals(env)[PMU_EVENT_MISPREDICTED] +=
        x86_pmu_predictor_misses(&env->pmu.memory->predictor, place, taken);
}

/* CLFLUSH */
void helper_pmu_drop_line(CPUX86State *env, target_ulong addr)
{
    X86PMUMemory *memory = env->pmu.memory;
    uint64_t physical;
    bool faults;

    if (find_physical(env, addr, MMU_DATA_LOAD, cpu_mmu_index(env, false), &faults, &physical)) {
        for (unsigned i = PMU_L1D; i <= PMU_L2; i++) {
            x86_pmu_cache_drop(&memory->cache[i], physical >> PMU_LINE_SHIFT);
        }
        memory->fetched = NO_LINE;
    }
}

/* INVD, WBINVD */
void helper_pmu_empty_caches(CPUX86State *env)
{
    for (unsigned i = PMU_L1D; i <= PMU_L2; i++) {
        x86_pmu_cache_empty(&env->pmu.memory->cache[i]);
    }
    env->pmu.memory->fetched = NO_LINE;
}

void x86_pmu_flush_tlb(CPUX86State *env)
{
    x86_pmu_cache_empty(&env->pmu.memory->cache[PMU_DTLB]);
    x86_pmu_cache_empty(&env->pmu.memory->cache[PMU_ITLB]);
    env->pmu.memory->fetched = NO_LINE;
}

void x86_pmu_flush_page(CPUX86State *env, target_ulong addr)
{
    x86_pmu_cache_drop(&env->pmu.memory->cache[PMU_DTLB], addr >> PMU_PAGE_SHIFT);
    x86_pmu_cache_drop(&env->pmu.memory->cache[PMU_ITLB], addr >> PMU_PAGE_SHIFT);
    env->pmu.memory->fetched = NO_LINE;
}
