/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AMD: K7 and K8, family 10h, family 15h and later with six counters, PerfMonV2 (APM volume 2,
 * 13.2.1; BIOS and kernel developer's guides of the families). From family 15h on there are also
 * counters of the northbridge, which is the data fabric from Zen on, and from Zen on counters of
 * the L3 cache. Their events are not modelled.
 */
#include "qemu/osdep.h"
#include "pmu-internal.h"

#define NB_LEGACY       4
#define NB_CORE         6
#define WIDTH           48
#define CORE_MASK       (BIT_ULL(NB_CORE) - 1)
#define NB_NORTHBRIDGE  4
#define NB_L3           6

/*
 * Bit 21 is reserved. From family 10h on, the event has four more bits, and two bits choose guest
 * or host.
 */
#define EVTSEL_GUEST    BIT_ULL(40)
#define EVTSEL_HOST     BIT_ULL(41)
#define K7_WRITABLE     0xffdfffffULL
#define F10_WRITABLE    (K7_WRITABLE | 0xfULL << 32 | EVTSEL_GUEST | EVTSEL_HOST)

/*
 * From Zen on: 14 bits of event and the unit mask. Before Zen: 12 bits of event, the unit mask, and
 * the bits that send the interrupt to one processor or to all.
 */
#define NORTHBRIDGE_WRITABLE    (0xffffULL | EVTSEL_EN | 0xfULL << 32)
#define F15_NORTHBRIDGE         (NORTHBRIDGE_WRITABLE | EVTSEL_INT | 0x1fULL << 36)
#define ZEN_NORTHBRIDGE         (NORTHBRIDGE_WRITABLE | 3ULL << 59)
/* 8 bits of event, the unit mask, slices and threads. */
#define L3_WRITABLE             (0xffffULL | EVTSEL_EN | 0xfULL << 48 | 0xffULL << 56)
#define SHARED_COUNTER          (BIT_ULL(WIDTH) - 1)

/* Linux writes ones to all bits of PerfCntrGlobalStatusClr, so that no bit faults. */
#define STATUS_CLEAR    UINT64_MAX

#define EXT3_PERFLLC            BIT(28) /* of ECX of Fn8000_0001 */
#define EXT_PERFMON     0x80000022
#define EXT_PERFMON_V2          BIT(0)  /* of its EAX */
#define EXT_PERFMON_FREEZE      BIT(2)

/* The bits for branches and pins can be written, and do nothing. */
#define DEBUGCTL_WRITABLE       (DEBUGCTL_FREEZE_PMCS | BIT_ULL(11) | 0x3f)

enum {
    EVTSEL0,
    GLOBAL_CTL = EVTSEL0 + NB_CORE,     /* all ones if there is no such register */
    GLOBAL_STATUS,
    DEBUGCTL,
};

/* Shared registers. */
enum {
    NORTHBRIDGE_CTL,
    NORTHBRIDGE_CTR = NORTHBRIDGE_CTL + NB_NORTHBRIDGE,
    L3_CTL = NORTHBRIDGE_CTR + NB_NORTHBRIDGE,
    L3_CTR = L3_CTL + NB_L3,
    NB_SHARED = L3_CTR + NB_L3,
};
QEMU_BUILD_BUG_ON(NB_SHARED > PMU_MAX_SHARED);

#define LEGACY_REGISTERS(writable) \
    { 0xc0010000, NB_LEGACY, PMU_CONTROL, EVTSEL0, PMU_STATS_EVNTSEL, writable }, \
    { 0xc0010004, NB_LEGACY, PMU_COUNTER_FULL, 0, PMU_STATS_COUNTER }

#define CORE_PAIR(n) \
    { 0xc0010200 + 2 * (n), 1, PMU_CONTROL, EVTSEL0 + (n), PMU_STATS_EVNTSEL, F10_WRITABLE }, \
    { 0xc0010201 + 2 * (n), 1, PMU_COUNTER_FULL, n, PMU_STATS_COUNTER }

/* The first four counters are also at the addresses of the K7. */
#define CORE_REGISTERS \
    LEGACY_REGISTERS(F10_WRITABLE), \
    CORE_PAIR(0), CORE_PAIR(1), CORE_PAIR(2), CORE_PAIR(3), CORE_PAIR(4), CORE_PAIR(5)

#define SHARED_PAIR(msr, ctl, ctr, n, writable) \
    { (msr) + 2 * (n), 1, PMU_SHARED, (ctl) + (n), PMU_STATS_OTHER, writable }, \
    { (msr) + 2 * (n) + 1, 1, PMU_SHARED, (ctr) + (n), PMU_STATS_OTHER, SHARED_COUNTER }

#define NORTHBRIDGE_PAIR(n, writable) \
    SHARED_PAIR(0xc0010240, NORTHBRIDGE_CTL, NORTHBRIDGE_CTR, n, writable)

#define NORTHBRIDGE_REGISTERS(writable) \
    NORTHBRIDGE_PAIR(0, writable), NORTHBRIDGE_PAIR(1, writable), \
    NORTHBRIDGE_PAIR(2, writable), NORTHBRIDGE_PAIR(3, writable)

#define L3_PAIR(n)  SHARED_PAIR(0xc0010230, L3_CTL, L3_CTR, n, L3_WRITABLE)

#define ZEN_REGISTERS \
    CORE_REGISTERS, \
    NORTHBRIDGE_REGISTERS(ZEN_NORTHBRIDGE), \
    L3_PAIR(0), L3_PAIR(1), L3_PAIR(2), L3_PAIR(3), L3_PAIR(4), L3_PAIR(5)

static const X86PMURegister k7_registers[] = {
    LEGACY_REGISTERS(K7_WRITABLE),
    { }
};

static const X86PMURegister f10_registers[] = {
    LEGACY_REGISTERS(F10_WRITABLE),
    { }
};

static const X86PMURegister f15_registers[] = {
    CORE_REGISTERS,
    NORTHBRIDGE_REGISTERS(F15_NORTHBRIDGE),
    { }
};

static const X86PMURegister zen_registers[] = {
    ZEN_REGISTERS,
    { }
};

static const X86PMURegister v2_registers[] = {
    ZEN_REGISTERS,
    { PMU_MSR_DEBUGCTL, 1, PMU_CONTROL, DEBUGCTL, PMU_STATS_OTHER, DEBUGCTL_WRITABLE },
    { 0xc0000300, 1, PMU_STATUS, GLOBAL_STATUS, PMU_STATS_GLOBAL_STATUS },
    { 0xc0000301, 1, PMU_CONTROL, GLOBAL_CTL, PMU_STATS_GLOBAL_CTRL, CORE_MASK },
    { 0xc0000302, 1, PMU_STATUS_CLEAR, GLOBAL_STATUS, PMU_STATS_GLOBAL_OVF_CTRL, STATUS_CLEAR },
    { }
};

/* Events that all families have. */
#define MISSES \
    { 0x00c3, PMU_EVENT_MISPREDICTED }, \
    { 0x0040, PMU_EVENT_ACCESS },       /* to the data cache */ \
    { 0x0041, PMU_EVENT_L1D_MISS }, \
    { 0x0141, PMU_EVENT_L1D_MISS }, \
    { 0x0081, PMU_EVENT_L1I_MISS }

static const X86PMUEventCode k7_events[] = {
    { 0x00c0, PMU_EVENT_INSN },
    { 0x0076, PMU_EVENT_INSN },         /* cycles */
    { 0x00c2, PMU_EVENT_BRANCH },
    { 0x00c4, PMU_EVENT_NEAR_TAKEN },
    MISSES,
    { 0x0046, PMU_EVENT_DTLB_MISS },    /* of both levels; 0746: of pages of all sizes */
    { 0x0746, PMU_EVENT_DTLB_MISS },
    { 0x0085, PMU_EVENT_ITLB_MISS },
    { 0x0385, PMU_EVENT_ITLB_MISS },
    { 0x037d, PMU_EVENT_L2_REFERENCE }, /* of code and data, and of the TLBs */
    { 0x077d, PMU_EVENT_L2_REFERENCE },
    { 0x037e, PMU_EVENT_L2_MISS },
    { 0x077e, PMU_EVENT_L2_MISS },
    { 0, PMU_EVENT_NONE }
};

/* Zen's events. LsDispatch counts loads and stores by its unit mask. */
static const X86PMUEventCode core_events[] = {
    { 0x00c0, PMU_EVENT_INSN },
    { 0x0076, PMU_EVENT_INSN },
    { 0x00c2, PMU_EVENT_BRANCH },
    { 0x00c4, PMU_EVENT_NEAR_TAKEN },
    { 0x0129, PMU_EVENT_LOAD },
    { 0x0229, PMU_EVENT_STORE },
    MISSES,
    { 0xff45, PMU_EVENT_DTLB_MISS },    /* the TLB has one level */
    { 0xf045, PMU_EVENT_DTLB_MISS },
    { 0xff85, PMU_EVENT_ITLB_MISS },
    { 0xc860, PMU_EVENT_L1D_MISS },     /* requests of the data cache to L2; ff60: all requests */
    { 0xff60, PMU_EVENT_L2_REFERENCE },
    { 0x0964, PMU_EVENT_L2_MISS },      /* of code and data */
    { 0, PMU_EVENT_NONE }
};

static unsigned family_of(CPUX86State *env)
{
    unsigned base = env->cpuid_version >> 8 & 0xf;

    return base == 0xf ? base + (env->cpuid_version >> 20 & 0xff) : base;
}

static bool is_amd(CPUX86State *env, unsigned first, unsigned last)
{
    return IS_AMD_CPU(env) && family_of(env) >= first && family_of(env) <= last;
}

static bool k7_match(CPUX86State *env)
{
    return is_amd(env, 0x6, 0x6) || is_amd(env, 0xf, 0xf);
}

/* -perfctr-core leaves the four counters of family 10h, as some hypervisors do. */
static bool has_core_counters(CPUX86State *env)
{
    bool wished = env->user_features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE;

    return is_amd(env, 0x15, UINT_MAX) &&
           (!wished || (env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE));
}

static bool f10_match(CPUX86State *env)
{
    return is_amd(env, 0x10, UINT_MAX) && !has_core_counters(env);
}

static bool f15_match(CPUX86State *env)
{
    return is_amd(env, 0x15, 0x16) && has_core_counters(env);
}

static bool zen_match(CPUX86State *env)
{
    return is_amd(env, 0x17, UINT_MAX) && has_core_counters(env);
}

static bool v2_match(CPUX86State *env)
{
    return zen_match(env) && env->cpuid_xlevel >= EXT_PERFMON;
}

static void amd_reset(X86PMUState *pmu)
{
    pmu->control[GLOBAL_CTL] = CORE_MASK;
}

static void f15_cpuid(CPUX86State *env, uint32_t leaf,
                      uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    if (leaf == 0x80000001) {
        *ecx |= CPUID_EXT3_PERFCORE | CPUID_EXT3_PERFNB;
    }
}

static void zen_cpuid(CPUX86State *env, uint32_t leaf,
                      uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    f15_cpuid(env, leaf, eax, ebx, ecx, edx);
    if (leaf == 0x80000001) {
        *ecx |= EXT3_PERFLLC;
    }
}

static void v2_cpuid(CPUX86State *env, uint32_t leaf,
                     uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    zen_cpuid(env, leaf, eax, ebx, ecx, edx);
    if (leaf == EXT_PERFMON) {
        *eax = EXT_PERFMON_V2 | EXT_PERFMON_FREEZE;
        *ebx = NB_CORE | NB_NORTHBRIDGE << 10;
        *ecx = *edx = 0;
    }
}

/* A counter with only one of the two bits counts nothing, because there is no guest. */
static bool counts_nobody(uint64_t evtsel)
{
    return !(evtsel & EVTSEL_GUEST) != !(evtsel & EVTSEL_HOST);
}

static X86PMUSetting decode(const X86PMUState *pmu, unsigned counter,
                            const X86PMUEventCode *events)
{
    uint64_t evtsel = pmu->control[EVTSEL0 + counter];
    bool enabled = (evtsel & EVTSEL_EN) && (pmu->control[GLOBAL_CTL] >> counter & 1) &&
                   !(pmu->control[GLOBAL_STATUS] & STATUS_CTR_FRZ);

    return x86_pmu_decode_evtsel(enabled && !counts_nobody(evtsel) ? evtsel : 0, events);
}

static X86PMUSetting k7_decode(const X86PMUState *pmu, unsigned counter)
{
    return decode(pmu, counter, k7_events);
}

static X86PMUSetting core_decode(const X86PMUState *pmu, unsigned counter)
{
    return decode(pmu, counter, core_events);
}

static void no_overflow_status(X86PMUState *pmu, unsigned counter)
{
}

static void v2_set_overflow(X86PMUState *pmu, unsigned counter)
{
    pmu->control[GLOBAL_STATUS] |= BIT_ULL(counter);
}

static bool v2_freeze(X86PMUState *pmu)
{
    if (!(pmu->control[DEBUGCTL] & DEBUGCTL_FREEZE_PMCS)) {
        return false;
    }
    pmu->control[GLOBAL_STATUS] |= STATUS_CTR_FRZ;
    return true;
}

static int k7_rdpmc(uint32_t ecx, uint64_t *mask)
{
    return ecx < NB_LEGACY ? ecx : -1;
}

/* The numbers of the northbridge's counters follow those of the core. */
static int f15_rdpmc(uint32_t ecx, uint64_t *mask)
{
    if (ecx < NB_CORE) {
        return ecx;
    }
    ecx -= NB_CORE;
    return ecx < NB_NORTHBRIDGE ? PMU_RDPMC_SHARED + NORTHBRIDGE_CTR + ecx : -1;
}

/* The numbers of the L3 cache's counters follow those of the northbridge. */
static int zen_rdpmc(uint32_t ecx, uint64_t *mask)
{
    unsigned l3 = ecx - (NB_CORE + NB_NORTHBRIDGE);

    return l3 < NB_L3 ? PMU_RDPMC_SHARED + L3_CTR + l3 : f15_rdpmc(ecx, mask);
}

const X86PMUFamily x86_pmu_k7 = {
    .name = "k7",
    .match = k7_match,
    .nb_counters = NB_LEGACY,
    .counter_width = WIDTH,
    .drops_reserved = true,
    .registers = k7_registers,
    .reset = amd_reset,
    .decode = k7_decode,
    .set_overflow = no_overflow_status,
    .rdpmc = k7_rdpmc,
};

const X86PMUFamily x86_pmu_amd_f10 = {
    .name = "amd-f10",
    .match = f10_match,
    .nb_counters = NB_LEGACY,
    .counter_width = WIDTH,
    .drops_reserved = true,
    .registers = f10_registers,
    .reset = amd_reset,
    .decode = k7_decode,
    .set_overflow = no_overflow_status,
    .rdpmc = k7_rdpmc,
};

const X86PMUFamily x86_pmu_amd_f15 = {
    .name = "amd-f15",
    .match = f15_match,
    .nb_counters = NB_CORE,
    .counter_width = WIDTH,
    .drops_reserved = true,
    .registers = f15_registers,
    .reset = amd_reset,
    .cpuid = f15_cpuid,
    .decode = core_decode,
    .set_overflow = no_overflow_status,
    .rdpmc = f15_rdpmc,
};

const X86PMUFamily x86_pmu_zen = {
    .name = "zen",
    .match = zen_match,
    .nb_counters = NB_CORE,
    .counter_width = WIDTH,
    .drops_reserved = true,
    .registers = zen_registers,
    .reset = amd_reset,
    .cpuid = zen_cpuid,
    .decode = core_decode,
    .set_overflow = no_overflow_status,
    .rdpmc = zen_rdpmc,
};

const X86PMUFamily x86_pmu_zen_v2 = {
    .name = "zen-v2",
    .match = v2_match,
    .nb_counters = NB_CORE,
    .counter_width = WIDTH,
    .drops_reserved = true,
    .registers = v2_registers,
    .reset = amd_reset,
    .cpuid = v2_cpuid,
    .decode = core_decode,
    .set_overflow = v2_set_overflow,
    .freeze = v2_freeze,
    .rdpmc = zen_rdpmc,
};
