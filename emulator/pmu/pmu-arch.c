/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel architectural performance monitoring, versions 1 to 6 (SDM volume 3, chapter 20) */
#include "qemu/osdep.h"
#include "pmu-internal.h"

/* The counters: general ones, then fixed ones. */
#define MAX_GENERAL     10
#define MAX_FIXED       5
#define FIRST_FIXED     MAX_GENERAL

/* IA32_PERFEVTSELx. Not every version has these bits. */
#define EVTSEL_ANY_THREAD   BIT_ULL(21)
#define EVTSEL_USER_DISABLE BIT_ULL(37)
#define EVTSEL_UMASK2       (0xffULL << 40)
#define EVTSEL_WRITABLE     0xffdfffffULL

/* IA32_FIXED_CTR_CTRL: for each counter four bits in the lower half, and four in the upper half */
#define FIXED_MODES         3
#define FIXED_PMI           8
#define FIXED_WRITABLE      0xbULL
#define FIXED_ANY_THREAD    4ULL
#define FIXED_USER_DISABLE  (2ULL << 32)

#define STATUS_LBR_FRZ      BIT_ULL(58)
#define STATUS_UNCORE       BIT_ULL(61)
#define STATUS_DS           BIT_ULL(62)
#define STATUS_COND_CHGD    BIT_ULL(63)

#define PERF_CAP_FW_WRITE   BIT_ULL(13)

/* Of IA32_DEBUGCTL only freezing is modelled. The bits for branches and SMM do nothing. */
#define DEBUGCTL_WRITABLE   0x5fc3

#define EBX_USER_DISABLE    BIT(2)      /* CPUID.23H.0 */
#define EBX_UMASK2          BIT(0)

enum {
    EVTSEL0,
    FIXED_CTR_CTRL = EVTSEL0 + MAX_GENERAL,
    GLOBAL_CTRL,
    GLOBAL_STATUS,
    GLOBAL_INUSE,
    PERF_CAPABILITIES,
    PERF_METRICS,
    DEBUGCTL,
};

/* How the families of this file differ. */
typedef struct ArchVersion {
    unsigned version;
    unsigned nb_general;
    uint32_t fixed;             /* mask of the fixed counters that exist */
    bool full_width;            /* IA32_A_PMCx */
    bool any_thread;
    bool ext;                   /* CPUID leaf 23H: UnitMask2 and RDPMC_USR_DISABLE */
    bool force_abort;           /* microcode uses counter 3 for transactions */
    /* The fields of hybrid processors. */
    uint32_t kind;              /* CPUID leaf 1AH; 0: all cores are of one kind */
    unsigned told_general;      /* CPUID leaf 0AH reports the counters that all kinds have */
    uint32_t told_fixed;
    bool told_own;              /* leaf 23H reports the counters of this kind */
    const X86PMUEventCode *events;  /* NULL: arch_events */
} ArchVersion;

/*
 * Events by event select and unit mask. A cycle is an instruction. The codes that are not
 * architectural come from Sandy Bridge (BR_INST_RETIRED.NEAR_TAKEN), Nehalem
 * (MEM_INST_RETIRED.LOADS and STORES, and the misses) and Skylake (MEM_INST_RETIRED.ALL_LOADS and
 * ALL_STORES).
 */
static const X86PMUEventCode arch_events[] = {
    { 0x00c0, PMU_EVENT_INSN },
    { 0x003c, PMU_EVENT_INSN },
    { 0x013c, PMU_EVENT_REFERENCE },
    { 0x00c4, PMU_EVENT_BRANCH },
    { 0x00c5, PMU_EVENT_MISPREDICTED },
    { 0x4f2e, PMU_EVENT_L2_REFERENCE },
    { 0x412e, PMU_EVENT_L2_MISS },
    { 0x20c4, PMU_EVENT_NEAR_TAKEN },
    { 0x010b, PMU_EVENT_LOAD },
    { 0x81d0, PMU_EVENT_LOAD },
    { 0x020b, PMU_EVENT_STORE },
    { 0x82d0, PMU_EVENT_STORE },
    { 0x0151, PMU_EVENT_L1D_MISS },         /* L1D.REPL */
    { 0x0280, PMU_EVENT_L1I_MISS },         /* L1I.MISSES */
    { 0x10cb, PMU_EVENT_L2_LOAD_MISS },     /* MEM_LOAD_RETIRED.LLC_MISS */
    { 0x80cb, PMU_EVENT_DTLB_LOAD_MISS },   /* MEM_LOAD_RETIRED.DTLB_MISS */
    { 0x0108, PMU_EVENT_DTLB_LOAD_MISS },   /* DTLB_LOAD_MISSES.ANY, WALK_COMPLETED */
    { 0x0208, PMU_EVENT_DTLB_LOAD_MISS },
    { 0x010c, PMU_EVENT_DTLB_STORE_MISS },  /* MEM_STORE_RETIRED.DTLB_MISS */
    { 0x0149, PMU_EVENT_DTLB_MISS },        /* DTLB_MISSES.ANY, WALK_COMPLETED */
    { 0x0249, PMU_EVENT_DTLB_MISS },
    { 0x0185, PMU_EVENT_ITLB_MISS },        /* ITLB_MISSES.ANY, WALK_COMPLETED */
    { 0x0285, PMU_EVENT_ITLB_MISS },
    { 0x20c8, PMU_EVENT_ITLB_MISS },        /* ITLB_MISS_RETIRED */
    { 0, PMU_EVENT_NONE }
};

/*
 * Events of hybrid processors. Beside the architectural events, each kind of core has a code that
 * the other kind lacks, and two codes that select other events there. The codes of E-cores are made
 * up.
 */
static const X86PMUEventCode core_events[] = {
    { 0x00c0, PMU_EVENT_INSN },
    { 0x003c, PMU_EVENT_INSN },
    { 0x013c, PMU_EVENT_REFERENCE },
    { 0x00c4, PMU_EVENT_BRANCH },
    { 0x00c5, PMU_EVENT_MISPREDICTED },
    { 0x20c4, PMU_EVENT_NEAR_TAKEN },
    { 0x81d0, PMU_EVENT_LOAD },
    { 0x82d0, PMU_EVENT_STORE },
    { 0, PMU_EVENT_NONE }
};

static const X86PMUEventCode atom_events[] = {
    { 0x00c0, PMU_EVENT_INSN },
    { 0x003c, PMU_EVENT_INSN },
    { 0x013c, PMU_EVENT_REFERENCE },
    { 0x00c4, PMU_EVENT_BRANCH },
    { 0x00c5, PMU_EVENT_MISPREDICTED },
    { 0x80c4, PMU_EVENT_NEAR_TAKEN },
    { 0x81d0, PMU_EVENT_STORE },
    { 0x82d0, PMU_EVENT_LOAD },
    { 0, PMU_EVENT_NONE }
};

static const ArchVersion *version_of(const X86PMUState *pmu)
{
    return pmu->family->data;
}

static uint64_t general_mask(const ArchVersion *v)
{
    return BIT_ULL(v->nb_general) - 1;
}

static bool arch_match(CPUX86State *env)
{
    return IS_INTEL_CPU(env) && (env->cpuid_version >> 8 & 0xf) == 6 && env->cpuid_level >= 0xa;
}

static void arch_reset(X86PMUState *pmu)
{
    const ArchVersion *v = version_of(pmu);

    pmu->control[GLOBAL_CTRL] = general_mask(v);
    pmu->control[PERF_CAPABILITIES] = v->full_width ? PERF_CAP_FW_WRITE : 0;
}

/* Does the processor have CPUID leaf 23H? */
static bool has_ext(const ArchVersion *v)
{
    return v->ext || v->told_own;
}

static unsigned told_general(const ArchVersion *v)
{
    return v->kind ? v->told_general : v->nb_general;
}

static uint32_t told_fixed(const ArchVersion *v)
{
    return v->kind ? v->told_fixed : v->fixed;
}

static void arch_cpuid(CPUX86State *env, uint32_t leaf,
                       uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    const ArchVersion *v = version_of(&env->pmu);
    uint32_t subleaf = env->regs[R_ECX];

    switch (leaf) {
    case 1:
        if (v->version >= 2) {
            *ecx |= CPUID_EXT_PDCM;
        }
        break;
    case 7:
        if (subleaf == 0) {
            *edx |= (v->kind ? BIT(15) : 0) | (v->force_abort ? BIT(13) : 0);
            *eax = MAX(*eax, has_ext(v));
        } else if (subleaf == 1 && has_ext(v)) {
            *eax |= BIT(8);
        }
        break;
    case 0xa:
        *eax = v->version | told_general(v) << 8 | env->pmu.family->counter_width << 16 | 7 << 24;
        /*
         * EBX reports that hybrids lack references and misses of the last level cache, because
         * tests need such a processor.
         */
        *ebx = v->kind ? BIT(3) | BIT(4) : 0;
        *ecx = v->version >= 5 ? told_fixed(v) : 0;
        *edx = v->version >= 2 ? cto32(told_fixed(v)) | env->pmu.family->counter_width << 5 : 0;
        if (v->version >= 5) {
            *edx |= !v->any_thread << 15;
        }
        break;
    case 0x1a:
        *eax = v->kind;
        break;
    case 0x23:
        *eax = *ebx = *ecx = *edx = 0;
        if (has_ext(v) && subleaf == 0) {
            *eax = 3;   /* subleaves 0 and 1 */
            *ebx = v->ext ? EBX_UMASK2 | EBX_USER_DISABLE : 0;
        } else if (has_ext(v) && subleaf == 1) {
            *eax = general_mask(v);
            *ebx = v->fixed;
        }
        break;
    }
}

/* Global enables exist from version 2 on. From version 4 on, CTR_FRZ stops all counters. */
static bool globally_enabled(const X86PMUState *pmu, unsigned bit)
{
    unsigned version = version_of(pmu)->version;

    if (version >= 4 && (pmu->control[GLOBAL_STATUS] & STATUS_CTR_FRZ)) {
        return false;
    }
    return version < 2 || (pmu->control[GLOBAL_CTRL] >> bit & 1);
}

static X86PMUSetting decode_general(const X86PMUState *pmu, unsigned counter)
{
    uint64_t evtsel = pmu->control[EVTSEL0 + counter];
    bool enabled = (evtsel & EVTSEL_EN) && globally_enabled(pmu, counter);

    /* No event has a second unit mask. */
    return x86_pmu_decode_evtsel(enabled && !(evtsel & EVTSEL_UMASK2) ? evtsel : 0,
                                 version_of(pmu)->events ?: arch_events);
}

static X86PMUSetting decode_fixed(const X86PMUState *pmu, unsigned fixed)
{
    unsigned bits = pmu->control[FIXED_CTR_CTRL] >> (4 * fixed);
    X86PMUSetting setting = { .event = PMU_EVENT_NONE };

    if (globally_enabled(pmu, 32 + fixed)) {
        /* Instructions, cycles, reference cycles, slots. Further counters count nothing. */
        setting.event = fixed == 2 ? PMU_EVENT_REFERENCE
                        : fixed < 4 ? PMU_EVENT_INSN : PMU_EVENT_NONE;
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

/*
 * Versions 2 and 3 clear IA32_PERF_GLOBAL_CTRL. Later versions set CTR_FRZ (SDM volume 3, 17.4.7).
 */
static bool arch_freeze(X86PMUState *pmu)
{
    if (!(pmu->control[DEBUGCTL] & DEBUGCTL_FREEZE_PMCS)) {
        return false;
    }
    if (version_of(pmu)->version >= 4) {
        pmu->control[GLOBAL_STATUS] |= STATUS_CTR_FRZ;
    } else {
        pmu->control[GLOBAL_CTRL] = 0;
    }
    return true;
}

static bool arch_hidden(const X86PMUState *pmu, unsigned counter)
{
    if (counter < FIRST_FIXED) {
        return pmu->control[EVTSEL0 + counter] & EVTSEL_USER_DISABLE;
    }
    return pmu->control[FIXED_CTR_CTRL] & FIXED_USER_DISABLE << 4 * (counter - FIRST_FIXED);
}

/*
 * IA32_PERF_GLOBAL_INUSE: the counters that have an event; bit 63 is set if one may interrupt.
 */
static uint64_t arch_compute(const X86PMUState *pmu, unsigned index)
{
    uint64_t fixed = pmu->control[FIXED_CTR_CTRL], inuse = 0;

    for (unsigned i = 0; i < MAX_GENERAL; i++) {
        uint64_t evtsel = pmu->control[EVTSEL0 + i];

        inuse |= (evtsel & 0xff ? BIT_ULL(i) : 0) | (evtsel & EVTSEL_INT ? BIT_ULL(63) : 0);
    }
    for (unsigned i = 0; i < MAX_FIXED; i++, fixed >>= 4) {
        inuse |= (fixed & FIXED_MODES ? BIT_ULL(32 + i) : 0) |
                 (fixed & FIXED_PMI ? BIT_ULL(63) : 0);
    }
    return inuse;
}

static int select_counter(const ArchVersion *v, uint32_t ecx)
{
    if (ecx < v->nb_general) {
        return ecx;
    }
    ecx ^= BIT(30);
    return ecx < MAX_FIXED && (v->fixed >> ecx & 1) ? FIRST_FIXED + ecx : -1;
}

/* @bits for each fixed counter of @mask, at its place in IA32_FIXED_CTR_CTRL. */
#define EACH_FIXED(mask, bits) \
    (((mask) & 1 ? (bits) : 0) | ((mask) & 2 ? (bits) << 4 : 0) | \
     ((mask) & 4 ? (bits) << 8 : 0) | ((mask) & 8 ? (bits) << 12 : 0) | \
     ((mask) & 16 ? (bits) << 16 : 0))

#define GENERAL(nb, evtsel) \
    { 0x0c1, nb, PMU_COUNTER, 0, PMU_STATS_COUNTER }, \
    { 0x186, nb, PMU_CONTROL, EVTSEL0, PMU_STATS_EVNTSEL, evtsel }

#define FIXED(first, nb) \
    { 0x309 + (first), nb, PMU_COUNTER_FULL, FIRST_FIXED + (first), PMU_STATS_FIXED_CTR }

#define FULL_WIDTH(nb) \
    { 0x4c1, nb, PMU_COUNTER_FULL, 0, PMU_STATS_COUNTER }

#define COUNTERS(nb, mask)  (BIT_ULL(nb) - 1 + ((uint64_t)(mask) << 32))

#define GLOBAL(nb, mask, fixed_bits, status) \
    { PMU_MSR_DEBUGCTL, 1, PMU_CONTROL, DEBUGCTL, PMU_STATS_OTHER, DEBUGCTL_WRITABLE }, \
    { 0x345, 1, PMU_CONSTANT, PERF_CAPABILITIES, PMU_STATS_OTHER }, \
    { 0x38d, 1, PMU_CONTROL, FIXED_CTR_CTRL, PMU_STATS_FIXED_CTR_CTRL, \
      EACH_FIXED(mask, fixed_bits) }, \
    { 0x38e, 1, PMU_STATUS, GLOBAL_STATUS, PMU_STATS_GLOBAL_STATUS }, \
    { 0x38f, 1, PMU_CONTROL, GLOBAL_CTRL, PMU_STATS_GLOBAL_CTRL, COUNTERS(nb, mask) }, \
    { 0x390, 1, PMU_STATUS_CLEAR, GLOBAL_STATUS, PMU_STATS_GLOBAL_OVF_CTRL, \
      COUNTERS(nb, mask) | STATUS_DS | STATUS_COND_CHGD | (status) }

#define STATUS_V4   (STATUS_LBR_FRZ | STATUS_CTR_FRZ | STATUS_UNCORE)

#define GLOBAL_V4(nb, mask, fixed_bits) \
    GLOBAL(nb, mask, fixed_bits, STATUS_V4), \
    { 0x391, 1, PMU_STATUS_SET, GLOBAL_STATUS, PMU_STATS_OTHER, \
      COUNTERS(nb, mask) | STATUS_DS | STATUS_V4 }, \
    { 0x392, 1, PMU_COMPUTED, GLOBAL_INUSE, PMU_STATS_OTHER }

/*
 * Defines a family. @id: a C identifier; @match_: its match(); @width: the width of all counters;
 * @odd_: the family of the processors with odd numbers; then the fields of its ArchVersion.
 */
#define ARCH_FAMILY_BUT(id, name_, match_, width, odd_, ...) \
    static const ArchVersion id##_version = { __VA_ARGS__ }; \
    static int id##_rdpmc(uint32_t ecx, uint64_t *mask) \
    { \
        return select_counter(&id##_version, ecx); \
    } \
    const X86PMUFamily x86_pmu_##id = { \
        .name = name_, \
        .match = match_, \
        .nb_counters = MAX_GENERAL + MAX_FIXED, \
        .counter_width = width, \
        .registers = id##_registers, \
        .masks_lvtpc = true, \
        .reset = arch_reset, \
        .cpuid = arch_cpuid, \
        .decode = arch_decode, \
        .set_overflow = arch_set_overflow, \
        .freeze = arch_freeze, \
        .rdpmc = id##_rdpmc, \
        .hidden = arch_hidden, \
        .compute = arch_compute, \
        .data = &id##_version, \
        .odd = odd_, \
    }

#define ARCH_FAMILY(id, name, match, width, ...) \
    ARCH_FAMILY_BUT(id, name, match, width, NULL, __VA_ARGS__)

static const X86PMURegister arch_registers[] = {
    GENERAL(4, EVTSEL_WRITABLE),
    FIXED(0, 3),
    FULL_WIDTH(4),
    GLOBAL(4, 7, FIXED_WRITABLE, 0),
    { }
};
ARCH_FAMILY(arch, "arch", arch_match, 48,
            .version = 2, .nb_general = 4, .fixed = 7, .full_width = true);

/* Like the Core Duo: only two counters, each with its own enable bit. */
static const X86PMURegister arch_v1_registers[] = {
    GENERAL(2, EVTSEL_WRITABLE),
    { }
};
ARCH_FAMILY(arch_v1, "arch-v1", NULL, 40, .version = 1, .nb_general = 2);

/* Like the Core 2. */
static const X86PMURegister arch_v2_registers[] = {
    GENERAL(2, EVTSEL_WRITABLE),
    FIXED(0, 3),
    GLOBAL(2, 7, FIXED_WRITABLE, 0),
    { }
};
ARCH_FAMILY(arch_v2, "arch-v2", NULL, 40, .version = 2, .nb_general = 2, .fixed = 7);

/* Like Nehalem: with AnyThread. */
static const X86PMURegister arch_v3_registers[] = {
    GENERAL(4, EVTSEL_WRITABLE | EVTSEL_ANY_THREAD),
    FIXED(0, 3),
    GLOBAL(4, 7, FIXED_WRITABLE | FIXED_ANY_THREAD, 0),
    { }
};
ARCH_FAMILY(arch_v3, "arch-v3", NULL, 48,
            .version = 3, .nb_general = 4, .fixed = 7, .any_thread = true);

/* Like Skylake without hyper-threading: bits of GLOBAL_STATUS can be set, and there are more. */
static const X86PMURegister arch_v4_registers[] = {
    GENERAL(8, EVTSEL_WRITABLE | EVTSEL_ANY_THREAD),
    FIXED(0, 3),
    FULL_WIDTH(8),
    GLOBAL_V4(8, 7, FIXED_WRITABLE | FIXED_ANY_THREAD),
    { }
};
ARCH_FAMILY(arch_v4, "arch-v4", NULL, 48,
            .version = 4, .nb_general = 8, .fixed = 7, .full_width = true, .any_thread = true);

#define arch_tfa_registers arch_v4_registers
ARCH_FAMILY(arch_tfa, "arch-tfa", NULL, 48,
            .version = 4, .nb_general = 8, .fixed = 7, .full_width = true, .any_thread = true,
            .force_abort = true);

/*
 * Version 5 reports its fixed counters as a bitmap. Here fixed counter 3, which counts slots, is
 * missing, and counter 4 exists. CPUID leaf 23H reports later additions of any version.
 */
#define FIXED_V5    0x17
#define EVTSEL_V5   (EVTSEL_WRITABLE | EVTSEL_USER_DISABLE | EVTSEL_UMASK2)
#define REGISTERS_V5(nb) \
    GENERAL(nb, EVTSEL_V5), \
    FIXED(0, 3), \
    FIXED(4, 1), \
    FULL_WIDTH(nb), \
    GLOBAL_V4(nb, FIXED_V5, FIXED_WRITABLE | FIXED_USER_DISABLE)

static const X86PMURegister arch_v5_registers[] = {
    REGISTERS_V5(8),
    { }
};
ARCH_FAMILY(arch_v5, "arch-v5", NULL, 48,
            .version = 5, .nb_general = 8, .fixed = FIXED_V5, .full_width = true, .ext = true);

/*
 * Version 6 has further addresses for the registers, four for each counter. Here a general counter
 * has two of the four, and a fixed one has one. Like Lion Cove it has ten general counters.
 */
#define V6_GENERAL(n) \
    { 0x1900 + 4 * (n), 1, PMU_COUNTER_FULL, n, PMU_STATS_COUNTER }, \
    { 0x1901 + 4 * (n), 1, PMU_CONTROL, EVTSEL0 + (n), PMU_STATS_EVNTSEL, EVTSEL_V5 }
#define V6_FIXED(n) \
    { 0x1980 + 4 * (n), 1, PMU_COUNTER_FULL, FIRST_FIXED + (n), PMU_STATS_FIXED_CTR }

static const X86PMURegister arch_v6_registers[] = {
    REGISTERS_V5(10),
    V6_GENERAL(0), V6_GENERAL(1), V6_GENERAL(2), V6_GENERAL(3),
    V6_GENERAL(4), V6_GENERAL(5), V6_GENERAL(6), V6_GENERAL(7),
    V6_GENERAL(8), V6_GENERAL(9),
    V6_FIXED(0), V6_FIXED(1), V6_FIXED(2), V6_FIXED(4),
    { }
};
ARCH_FAMILY(arch_v6, "arch-v6", NULL, 48,
            .version = 6, .nb_general = 10, .fixed = FIXED_V5, .full_width = true, .ext = true);

/*
 * Alder Lake and later have two kinds of cores. CPUID leaf 0AH reports the counters that both have.
 * P-cores have more counters, which leaf 23H reports if it exists. They also have PERF_METRICS,
 * which counts nothing.
 */
#define CORE_FIXED      0xf
#define ATOM_FIXED      7
#define METRICS         BIT(16) /* bit 48 of IA32_PERF_GLOBAL_* */
#define CORE_KIND       0x40000001
#define ATOM_KIND       0x20000001

#define CORE_REGISTERS(evtsel, fixed_bits) \
    GENERAL(8, evtsel), \
    FIXED(0, 4), \
    FULL_WIDTH(8), \
    { 0x329, 1, PMU_CONTROL, PERF_METRICS, PMU_STATS_OTHER, UINT64_MAX }, \
    GLOBAL_V4(8, CORE_FIXED | METRICS, fixed_bits), \
    { }

static const X86PMURegister hybrid_atom_registers[] = {
    GENERAL(6, EVTSEL_WRITABLE),
    FIXED(0, 3),
    FULL_WIDTH(6),
    GLOBAL_V4(6, ATOM_FIXED, FIXED_WRITABLE),
    { }
};
#define hybrid_ext_atom_registers hybrid_atom_registers

static const X86PMURegister hybrid_registers[] = {
    CORE_REGISTERS(EVTSEL_WRITABLE, FIXED_WRITABLE)
};

static const X86PMURegister hybrid_ext_registers[] = {
    CORE_REGISTERS(EVTSEL_WRITABLE | EVTSEL_USER_DISABLE | EVTSEL_UMASK2,
                   FIXED_WRITABLE | FIXED_USER_DISABLE)
};

#define HYBRID(general, fixed_mask, kind_, events_) \
    .version = 5, .nb_general = general, .fixed = fixed_mask, .full_width = true, .kind = kind_, \
    .told_general = 6, .told_fixed = ATOM_FIXED, .events = events_

ARCH_FAMILY(hybrid_atom, "hybrid-atom", NULL, 48,
            HYBRID(6, ATOM_FIXED, ATOM_KIND, atom_events));
ARCH_FAMILY(hybrid_ext_atom, "hybrid-ext-atom", NULL, 48,
            HYBRID(6, ATOM_FIXED, ATOM_KIND, atom_events), .told_own = true);

ARCH_FAMILY_BUT(hybrid, "hybrid", NULL, 48, &x86_pmu_hybrid_atom,
                HYBRID(8, CORE_FIXED, CORE_KIND, core_events));
ARCH_FAMILY_BUT(hybrid_ext, "hybrid-ext", NULL, 48, &x86_pmu_hybrid_ext_atom,
                HYBRID(8, CORE_FIXED, CORE_KIND, core_events), .ext = true, .told_own = true);
