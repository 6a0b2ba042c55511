/*
 * Intel architectural performance monitoring, version 2 (SDM volume 3, chapter 20)
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qemu/osdep.h"
#include "pmu-internal.h"

#define NB_GENERAL      4
#define NB_FIXED        3
#define WIDTH           48
#define FIRST_FIXED     NB_GENERAL

#define GENERAL_MASK    (BIT_ULL(NB_GENERAL) - 1)
#define FIXED_MASK      ((BIT_ULL(NB_FIXED) - 1) << 32)

/* IA32_PERFEVTSELx; bit 21 (AnyThread) is reserved before version 3 */
#define EVTSEL_WRITABLE 0xffdfffffULL

/* IA32_FIXED_CTR_CTRL, four bits for each counter */
#define FIXED_MODES     3
#define FIXED_PMI       8
#define FIXED_WRITABLE  0xbbbULL

/* IA32_PERF_GLOBAL_STATUS also has bits for events that this PMU never reports. */
#define OVF_CLEAR_MASK  (GENERAL_MASK | FIXED_MASK | 3ULL << 62)

#define PERF_CAP_FW_WRITE BIT_ULL(13)

enum {
    EVTSEL0,
    FIXED_CTR_CTRL = EVTSEL0 + NB_GENERAL,
    GLOBAL_CTRL,
    GLOBAL_STATUS,
    PERF_CAPABILITIES,
};

static const X86PMURegister arch_registers[] = {
    { 0x0c1, NB_GENERAL, PMU_COUNTER, 0, PMU_STATS_COUNTER },
    { 0x186, NB_GENERAL, PMU_CONTROL, EVTSEL0, PMU_STATS_EVNTSEL, EVTSEL_WRITABLE },
    { 0x309, NB_FIXED, PMU_COUNTER_FULL, FIRST_FIXED, PMU_STATS_FIXED_CTR },
    { 0x345, 1, PMU_CONSTANT, PERF_CAPABILITIES, PMU_STATS_OTHER },
    { 0x38d, 1, PMU_CONTROL, FIXED_CTR_CTRL, PMU_STATS_FIXED_CTR_CTRL, FIXED_WRITABLE },
    { 0x38e, 1, PMU_STATUS, GLOBAL_STATUS, PMU_STATS_GLOBAL_STATUS },
    { 0x38f, 1, PMU_CONTROL, GLOBAL_CTRL, PMU_STATS_GLOBAL_CTRL, GENERAL_MASK | FIXED_MASK },
    { 0x390, 1, PMU_STATUS_CLEAR, GLOBAL_STATUS, PMU_STATS_GLOBAL_OVF_CTRL, OVF_CLEAR_MASK },
    { 0x4c1, NB_GENERAL, PMU_COUNTER_FULL, 0, PMU_STATS_COUNTER },
    { }
};

/*
 * Event select and unit mask. A cycle is an instruction. The codes that are not architectural are
 * those of Sandy Bridge (BR_INST_RETIRED.NEAR_TAKEN), Nehalem (MEM_INST_RETIRED.LOADS and STORES)
 * and Skylake (MEM_INST_RETIRED.ALL_LOADS and ALL_STORES).
 */
static const X86PMUEventCode arch_events[] = {
    { 0x00c0, PMU_EVENT_INSN },
    { 0x003c, PMU_EVENT_INSN },
    { 0x013c, PMU_EVENT_INSN },
    { 0x00c4, PMU_EVENT_BRANCH },
    { 0x20c4, PMU_EVENT_NEAR_TAKEN },
    { 0x010b, PMU_EVENT_LOAD },
    { 0x81d0, PMU_EVENT_LOAD },
    { 0x020b, PMU_EVENT_STORE },
    { 0x82d0, PMU_EVENT_STORE },
    { 0, PMU_EVENT_NONE }
};

static bool arch_match(CPUX86State *env)
{
    return IS_INTEL_CPU(env) && (env->cpuid_version >> 8 & 0xf) == 6 && env->cpuid_level >= 0xa;
}

static void arch_reset(X86PMUState *pmu)
{
    pmu->control[GLOBAL_CTRL] = GENERAL_MASK;
    pmu->control[PERF_CAPABILITIES] = PERF_CAP_FW_WRITE;
}

static void arch_cpuid(CPUX86State *env, uint32_t leaf,
                       uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    if (leaf == 1) {
        *ecx |= CPUID_EXT_PDCM;
    } else if (leaf == 0xa) {
        *eax = 2 | NB_GENERAL << 8 | WIDTH << 16 | 7 << 24;
        /* not available: LLC references, LLC misses, mispredicted branches */
        *ebx = BIT(3) | BIT(4) | BIT(6);
        *ecx = 0;
        *edx = NB_FIXED | WIDTH << 5;
    }
}

static X86PMUSetting decode_general(const X86PMUState *pmu, unsigned counter)
{
    uint64_t evtsel = pmu->control[EVTSEL0 + counter];
    bool enabled = (evtsel & EVTSEL_EN) && (pmu->control[GLOBAL_CTRL] >> counter & 1);

    return x86_pmu_decode_evtsel(enabled ? evtsel : 0, arch_events);
}

static X86PMUSetting decode_fixed(const X86PMUState *pmu, unsigned fixed)
{
    unsigned bits = pmu->control[FIXED_CTR_CTRL] >> (4 * fixed);
    X86PMUSetting setting = { .event = PMU_EVENT_NONE };

    if (pmu->control[GLOBAL_CTRL] >> (32 + fixed) & 1) {
        setting.event = PMU_EVENT_INSN; /* instructions, cycles, reference cycles */
        setting.modes = bits & FIXED_MODES;
        setting.interrupt = bits & FIXED_PMI;
    }
    return setting;
}

static X86PMUSetting arch_decode(const X86PMUState *pmu, unsigned counter)
{
    return counter < FIRST_FIXED ? decode_general(pmu, counter)
                                 : decode_fixed(pmu, counter - FIRST_FIXED);
}

static void arch_set_overflow(X86PMUState *pmu, unsigned counter)
{
    pmu->control[GLOBAL_STATUS] |=
        counter < FIRST_FIXED ? BIT_ULL(counter) : BIT_ULL(32 + counter - FIRST_FIXED);
}

static int arch_rdpmc(uint32_t ecx, uint64_t *mask)
{
    if (ecx < NB_GENERAL) {
        return ecx;
    }
    ecx ^= BIT(30);
    return ecx < NB_FIXED ? FIRST_FIXED + ecx : -1;
}

const X86PMUFamily x86_pmu_arch = {
    .name = "arch",
    .match = arch_match,
    .nb_counters = NB_GENERAL + NB_FIXED,
    .counter_width = WIDTH,
    .registers = arch_registers,
    .masks_lvtpc = true,
    .reset = arch_reset,
    .cpuid = arch_cpuid,
    .decode = arch_decode,
    .set_overflow = arch_set_overflow,
    .rdpmc = arch_rdpmc,
};
