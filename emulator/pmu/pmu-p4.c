/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel NetBurst: Pentium 4 and its Xeons, one logical processor (SDM volume 3, 20.6.3) */
#include "qemu/osdep.h"
#include "pmu-internal.h"

#define NB_COUNTERS     18
#define NB_ESCRS        45
#define WIDTH           40
#define FAST_RDPMC      BIT(31)

/* MSR_*_CCCR */
#define CCCR_CASCADE_EXTENDED   BIT_ULL(11)
#define CCCR_ENABLE             BIT_ULL(12)
#define CCCR_ACTIVE_THREAD      (3ULL << 16)
#define CCCR_COMPARE            BIT_ULL(18)
#define CCCR_COMPLEMENT         BIT_ULL(19)
#define CCCR_EDGE               BIT_ULL(24)
#define CCCR_FORCE_OVF          BIT_ULL(25)
#define CCCR_OVF_PMI            BIT_ULL(26)
#define CCCR_CASCADE            BIT_ULL(30)
#define CCCR_OVF                BIT_ULL(31)
#define CCCR_WRITABLE           0xc7fff000ULL
#define MAX_THRESHOLD           15

/* From this stepping on, models 0 and 1 have the erratum of model 2: see cascade_erratum(). */
#define ERRATUM_STEPPING        10

/* MSR_*_ESCR; bits 0 and 1 are the modes of the second logical processor, and reserved here */
#define ESCR_USR        BIT_ULL(2)
#define ESCR_OS         BIT_ULL(3)
#define ESCR_TAG        BIT_ULL(4)
#define ESCR_WRITABLE   0x7ffffffcULL

/* The ESCRs that have modelled events. Each is the first ESCR of a pair. */
#define ESCR_BSU        0x3a0
#define ESCR_FSB        0x3a2
#define ESCR_FIRM       0x3a4
#define ESCR_PMH        0x3ac
#define ESCR_BPU        0x3b2
#define ESCR_ITLB       0x3b6
#define ESCR_CRU0       0x3b8
#define ESCR_RAT        0x3bc
#define ESCR_TBPU       0x3c2
#define ESCR_CRU2       0x3cc

#define PEBS_UOP_TAG    BIT_ULL(24)
#define PEBS_REPLAY     0xfffULL            /* the reasons of replays */
#define PEBS_WRITABLE   0x03001fffULL
#define VERT_LOADS      BIT_ULL(0)
#define VERT_STORES     BIT_ULL(1)
#define VERT_WRITABLE   0x1fffULL

/* Performance monitoring available; branch trace storage and PEBS unavailable; fast strings. */
#define MISC_AT_RESET   (BIT_ULL(7) | BIT_ULL(11) | BIT_ULL(12) | BIT_ULL(0))

enum {
    CCCR0,
    ESCR0 = CCCR0 + NB_COUNTERS,
    PEBS_ENABLE = ESCR0 + NB_ESCRS,
    PEBS_MATRIX_VERT,
    MISC_ENABLE,
};

#define CCCRS(first, count, more) \
    { 0x360 + (first), count, PMU_CONTROL_STATUS, CCCR0 + (first), PMU_STATS_EVNTSEL, \
      CCCR_WRITABLE | (more) }

#define ESCRS(msr, count, index) \
    { msr, count, PMU_CONTROL, ESCR0 + (index), PMU_STATS_EVNTSEL, ESCR_WRITABLE }

#define COMMON_REGISTERS \
    { 0x1a0, 1, PMU_CONTROL, MISC_ENABLE, PMU_STATS_OTHER, UINT64_MAX }, \
    { 0x300, NB_COUNTERS, PMU_COUNTER_FULL, 0, PMU_STATS_COUNTER }, \
    CCCRS(0, 12, 0), \
    CCCRS(12, 1, CCCR_CASCADE_EXTENDED), \
    CCCRS(13, 2, 0), \
    CCCRS(15, 3, CCCR_CASCADE_EXTENDED), \
    ESCRS(0x3a0, 26, 0),    /* BSU FSB FIRM FLAME DAC MOB PMH SAAT U2L BPU IS ITLB CRU0-1 */ \
    ESCRS(0x3bc, 3, 28),    /* RAT, SSU0 */ \
    ESCRS(0x3c0, 6, 31),    /* MS TBPU TC */ \
    ESCRS(0x3c8, 6, 37),    /* IX ALF CRU2-3 */ \
    ESCRS(0x3e0, 2, 43),    /* CRU4-5 */ \
    { 0x3f1, 1, PMU_CONTROL, PEBS_ENABLE, PMU_STATS_OTHER, PEBS_WRITABLE }, \
    { 0x3f2, 1, PMU_CONTROL, PEBS_MATRIX_VERT, PMU_STATS_OTHER, VERT_WRITABLE }

static const X86PMURegister early_registers[] = {
    COMMON_REGISTERS,
    ESCRS(0x3ba, 2, 26),    /* IQ */
    { }
};

static const X86PMURegister late_registers[] = {
    COMMON_REGISTERS,
    { }
};

/* The first of a pair of ESCRs, by block of counters (BPU, MS, FLAME, IQ) and ESCR select. */
static const uint16_t pairs[4][8] = {
    { 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8, 0x3a2, 0x3a0 },
    { 0x3c0, 0x3c4, 0x3c2 },
    { 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8 },
    { 0x3ba, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0 },
};

/* The event that an ESCR detects, and the modes in which it does. */
typedef struct Detection {
    int8_t event;
    uint8_t modes;
} Detection;

static const Detection nothing = { PMU_EVENT_NONE, 0 };

static unsigned p4_model(const CPUX86State *env)
{
    return (env->cpuid_version >> 4 & 0xf) | (env->cpuid_version >> 12 & 0xf0);
}

static bool p4_match_models(CPUX86State *env, bool late)
{
    return IS_INTEL_CPU(env) && (env->cpuid_version >> 8 & 0xf) == 15 &&
           (p4_model(env) > 2) == late;
}

static bool p4_match_early(CPUX86State *env)
{
    return p4_match_models(env, false);
}

static bool p4_match_late(CPUX86State *env)
{
    return p4_match_models(env, true);
}

static void p4_reset(X86PMUState *pmu)
{
    pmu->control[MISC_ENABLE] = MISC_AT_RESET;
}

/* Counters come in pairs. A pair sees the first ESCR of each pair of ESCRs, or the second. */
static unsigned second_of_pairs(unsigned counter)
{
    return counter < 16 ? counter >> 1 & 1 : counter & 1;
}

/* Returns 0 if this model has no such register. */
static uint64_t read_escr(const X86PMUState *pmu, uint32_t msr)
{
    for (const X86PMURegister *r = pmu->family->registers; r->count; r++) {
        if (msr >= r->msr && msr < r->msr + r->count) {
            return pmu->control[r->index + msr - r->msr];
        }
    }
    return 0;
}

static unsigned event_select(uint64_t escr)
{
    return escr >> 25 & 0x3f;
}

static unsigned event_mask(uint64_t escr)
{
    return escr >> 9 & 0xffff;
}

static uint8_t modes(uint64_t escr)
{
    return (escr & ESCR_OS ? PMU_KERNEL : 0) | (escr & ESCR_USR ? PMU_USER : 0);
}

static int8_t accesses(bool loads, bool stores)
{
    if (loads) {
        return stores ? PMU_EVENT_ACCESS : PMU_EVENT_LOAD;
    }
    return stores ? PMU_EVENT_STORE : PMU_EVENT_NONE;
}

/* uop_type: TAGLOADS and TAGSTORES */
static Detection detect_rat(uint64_t escr)
{
    Detection d = { PMU_EVENT_NONE, modes(escr) };

    if (event_select(escr) == 0x02) {
        d.event = accesses(event_mask(escr) & 2, event_mask(escr) & 4);
    }
    return d;
}

/* x87_FP_uop: ALL */
static Detection detect_firm(uint64_t escr)
{
    Detection d = { PMU_EVENT_NONE, modes(escr) };

    if (event_select(escr) == 0x04 && event_mask(escr) & 0x8000) {
        d.event = PMU_EVENT_X87;
    }
    return d;
}

/* global_power_events: Running. A cycle is an instruction. */
static Detection detect_fsb(uint64_t escr)
{
    Detection d = { PMU_EVENT_NONE, modes(escr) };

    if (event_select(escr) == 0x13 && event_mask(escr) & 1) {
        d.event = PMU_EVENT_INSN;
    }
    return d;
}

/*
 * retired_branch_type: CONDITIONAL, CALL, RETURN and INDIRECT together; fewer of them are not
 * modelled. retired_mispred_branch_type: CONDITIONAL; other branches are never mispredicted.
 */
static Detection detect_tbpu(uint64_t escr)
{
    Detection d = { PMU_EVENT_NONE, modes(escr) };

    if (event_select(escr) == 0x04 && (event_mask(escr) & 0x1e) == 0x1e) {
        d.event = PMU_EVENT_BRANCH;
    } else if (event_select(escr) == 0x05 && event_mask(escr) & 2) {
        d.event = PMU_EVENT_MISPREDICTED;
    }
    return d;
}

/*
 * BSQ_cache_reference: the reads of the second cache that misses of the first caches cause. Three
 * masks are modelled: RD_2ndL_HITS, HITE and HITM together; RD_2ndL_MISS; and all four together.
 * There is no third cache, and nothing is written back.
 */
static Detection detect_bsu(uint64_t escr)
{
    bool hits = (event_mask(escr) & 7) == 7, misses = event_mask(escr) & 0x100;
    Detection d = { PMU_EVENT_NONE, modes(escr) };

    if (event_select(escr) == 0x0c && misses) {
        d.event = hits ? PMU_EVENT_L2_REFERENCE : PMU_EVENT_L2_MISS;
    } else if (event_select(escr) == 0x0c && hits) {
        d.event = PMU_EVENT_L2_HIT;
    }
    return d;
}

/* page_walk_type: DTMISS or ITMISS; their sum is not modelled. */
static Detection detect_pmh(uint64_t escr)
{
    static const int8_t events[4] = {
        PMU_EVENT_NONE, PMU_EVENT_DTLB_MISS, PMU_EVENT_ITLB_MISS, PMU_EVENT_NONE,
    };

    return event_select(escr) == 0x01 ? (Detection) { events[event_mask(escr) & 3], modes(escr) }
                                      : nothing;
}

/* BPU_fetch_request: TCMISS; the trace cache is the first cache of code. */
static Detection detect_bpu(uint64_t escr)
{
    return event_select(escr) == 0x03 && event_mask(escr) & 1
               ? (Detection) { PMU_EVENT_L1I_MISS, modes(escr) } : nothing;
}

/* ITLB_reference: MISS; hits are not modelled. */
static Detection detect_itlb(uint64_t escr)
{
    return event_select(escr) == 0x18 && event_mask(escr) == 2
               ? (Detection) { PMU_EVENT_ITLB_MISS, modes(escr) } : nothing;
}

/*
 * uops_retired: NBOGUS, one for each instruction; instr_retired: NBOGUSNTAG; mispred_branch_retired:
 * NBOGUS
 */
static Detection detect_cru0(uint64_t escr)
{
    static const int8_t events[4] = {
        PMU_EVENT_NONE, PMU_EVENT_INSN, PMU_EVENT_INSN, PMU_EVENT_MISPREDICTED,
    };
    unsigned event = event_select(escr);
    Detection d = { PMU_EVENT_NONE, modes(escr) };

    if (event < ARRAY_SIZE(events) && event_mask(escr) & 1) {
        d.event = events[event];
    }
    return d;
}

/* branch_retired: MMNP, MMTP, or both. Here they include mispredicted branches. */
static Detection detect_branches(uint64_t escr)
{
    static const int8_t events[4] = {
        PMU_EVENT_NONE, PMU_EVENT_OTHER_BRANCH, PMU_EVENT_NEAR_TAKEN, PMU_EVENT_BRANCH,
    };
    unsigned mask = event_mask(escr);

    return (Detection) { events[(mask & 1) | (mask >> 1 & 2)], modes(escr) };
}

/* Both ESCRs of a pair can tag. If they tag different events, the sum is not modelled. */
static Detection both(Detection a, Detection b)
{
    if (a.event == PMU_EVENT_NONE || !a.modes) {
        return b;
    }
    if (b.event == PMU_EVENT_NONE || !b.modes) {
        return a;
    }
    return a.event == b.event ? (Detection) { a.event, a.modes | b.modes } : nothing;
}

/* front_end_event: NBOGUS */
static Detection tagged_at_front_end(const X86PMUState *pmu, unsigned mask)
{
    return mask & 1 ? both(detect_rat(read_escr(pmu, ESCR_RAT)), detect_rat(read_escr(pmu, ESCR_RAT + 1)))
                    : nothing;
}

static Detection tagged_by(uint64_t escr, unsigned tags)
{
    return escr & ESCR_TAG && escr >> 5 & tags ? detect_firm(escr) : nothing;
}

/* execution_event: NBOGUS0 to 3, the bits of the tag's value */
static Detection tagged_at_execution(const X86PMUState *pmu, unsigned mask)
{
    unsigned tags = mask & 0xf;

    return both(tagged_by(read_escr(pmu, ESCR_FIRM), tags), tagged_by(read_escr(pmu, ESCR_FIRM + 1), tags));
}

/*
 * replay_event: NBOGUS. PEBS_ENABLE selects the reason for the replay: a miss of the first data
 * cache, of the second cache, or of the data TLB. Other reasons, and several together, are not
 * modelled. MATRIX_VERT selects the replayed accesses: loads, stores, or both, which is not
 * modelled for the second cache.
 */
static Detection tagged_by_replay(const X86PMUState *pmu, unsigned mask)
{
    static const struct {
        uint8_t reason;
        int8_t events[4];
    } replays[] = {
        { 1, { PMU_EVENT_NONE, PMU_EVENT_L1D_LOAD_MISS, PMU_EVENT_L1D_STORE_MISS,
               PMU_EVENT_L1D_MISS } },
        { 2, { PMU_EVENT_NONE, PMU_EVENT_L2_LOAD_MISS, PMU_EVENT_L2_STORE_MISS,
               PMU_EVENT_NONE } },
        { 4, { PMU_EVENT_NONE, PMU_EVENT_DTLB_LOAD_MISS, PMU_EVENT_DTLB_STORE_MISS,
               PMU_EVENT_DTLB_MISS } },
    };
    uint64_t enable = pmu->control[PEBS_ENABLE], vert = pmu->control[PEBS_MATRIX_VERT];

    for (int i = 0; mask & 1 && enable & PEBS_UOP_TAG && i < ARRAY_SIZE(replays); i++) {
        if ((enable & PEBS_REPLAY) == replays[i].reason) {
            return (Detection) { replays[i].events[vert & (VERT_LOADS | VERT_STORES)],
                                 PMU_KERNEL | PMU_USER };
        }
    }
    return nothing;
}

static Detection detect_cru2(const X86PMUState *pmu, uint64_t escr)
{
    unsigned mask = event_mask(escr);
    Detection d;

    switch (event_select(escr)) {
    case 0x06:
        return detect_branches(escr);
    case 0x08:
        d = tagged_at_front_end(pmu, mask);
        break;
    case 0x09:
        d = tagged_by_replay(pmu, mask);
        break;
    case 0x0c:
        d = tagged_at_execution(pmu, mask);
        break;
    default:
        return nothing;
    }
    d.modes &= modes(escr);
    return d;
}

static Detection detect(const X86PMUState *pmu, uint32_t pair, uint64_t escr)
{
    switch (pair) {
    case ESCR_BSU:
        return detect_bsu(escr);
    case ESCR_PMH:
        return detect_pmh(escr);
    case ESCR_BPU:
        return detect_bpu(escr);
    case ESCR_ITLB:
        return detect_itlb(escr);
    case ESCR_FSB:
        return detect_fsb(escr);
    case ESCR_FIRM:
        return detect_firm(escr);
    case ESCR_CRU0:
        return detect_cru0(escr);
    case ESCR_RAT:
        return detect_rat(escr);
    case ESCR_TBPU:
        return detect_tbpu(escr);
    case ESCR_CRU2:
        return detect_cru2(pmu, escr);
    default:
        return nothing;
    }
}

/*
 * Compare counts the cycles in which the number of events is above the threshold, and with
 * Complement the other cycles. A cycle is an instruction. In a mode that the ESCR does not detect,
 * the number of events is 0. A cycle can have several loads, stores and misses: for these events,
 * the thresholds from 0 to 14 are not modelled. It has at most one of any other event. EDGE is not
 * modelled for any event.
 */
static void compare(X86PMUSetting *setting, uint64_t cccr)
{
    unsigned threshold = cccr >> 20 & 0xf;
    unsigned most = 1;

    if (setting->event == PMU_EVENT_NONE) {
        return;
    }
    if (setting->event == PMU_EVENT_LOAD || setting->event == PMU_EVENT_STORE ||
        setting->event == PMU_EVENT_ACCESS || x86_pmu_is_miss(setting->event)) {
        most = MAX_THRESHOLD;
    }
    if (cccr & CCCR_EDGE || (most > 1 && threshold < most)) {
        setting->event = PMU_EVENT_NONE;
    } else if (cccr & CCCR_COMPLEMENT) {
        setting->blind_modes = ~setting->modes;
        setting->modes = PMU_KERNEL | PMU_USER;
        setting->complement = threshold < most;
        if (threshold >= most) {
            setting->event = PMU_EVENT_INSN;
        }
    } else if (threshold >= most) {
        setting->event = PMU_EVENT_NONE;
    }
}

/* Returns the counter that starts this counter by its overflow, or -1. */
static int cascade_source(const X86PMUState *pmu, unsigned counter)
{
    static const uint8_t extended[NB_COUNTERS] = { [12] = 16, [15] = 17, [16] = 17, [17] = 16 };
    uint64_t cccr = pmu->control[CCCR0 + counter];

    if (cccr & CCCR_ENABLE) {
        return -1;
    }
    if (cccr & CCCR_CASCADE_EXTENDED) {
        return extended[counter];
    }
    if (cccr & CCCR_CASCADE) {
        return counter < 16 ? counter ^ 2 : counter - 2;
    }
    return -1;
}

static bool is_cascade_source(const X86PMUState *pmu, unsigned counter)
{
    for (unsigned i = 0; i < NB_COUNTERS; i++) {
        if (cascade_source(pmu, i) == counter) {
            return true;
        }
    }
    return false;
}

/* A cascaded counter of some models overflows without an interrupt (SDM volume 3, 18.15.5.7). */
static bool cascade_erratum(const X86PMUState *pmu)
{
    const CPUX86State *env = container_of(pmu, CPUX86State, pmu);
    unsigned model = p4_model(env);

    return model == 2 || (model < 2 && (env->cpuid_version & 0xf) >= ERRATUM_STEPPING);
}

static bool interrupts(const X86PMUState *pmu, uint64_t cccr)
{
    return (cccr & CCCR_OVF_PMI) &&
           !(cccr & (CCCR_CASCADE | CCCR_CASCADE_EXTENDED) && cascade_erratum(pmu));
}

/*
 * The interrupt comes with the next event after the overflow. While OVF is set, each event asks for
 * an interrupt again. Software that unmasks the LVT entry before it clears OVF gets a second
 * interrupt.
 */
static X86PMUSetting p4_decode(const X86PMUState *pmu, unsigned counter)
{
    uint64_t cccr = pmu->control[CCCR0 + counter];
    uint32_t pair = pairs[MIN(counter / 4, 3)][cccr >> 13 & 7];
    X86PMUSetting setting = { .event = PMU_EVENT_NONE };
    Detection d;

    if (!(cccr & CCCR_ENABLE) || (cccr & CCCR_ACTIVE_THREAD) != CCCR_ACTIVE_THREAD) {
        return setting;
    }
    d = detect(pmu, pair, read_escr(pmu, pair + second_of_pairs(counter)));
    setting.event = d.event;
    setting.modes = d.modes;
    setting.interrupt = interrupts(pmu, cccr);
    setting.with_next = true;
    setting.shown = cccr & CCCR_OVF;
    setting.always_overflows = cccr & CCCR_FORCE_OVF;
    setting.triggers = setting.interrupt || is_cascade_source(pmu, counter);
    if (cccr & CCCR_COMPARE) {
        compare(&setting, cccr);
    }
    return setting;
}

static void p4_set_overflow(X86PMUState *pmu, unsigned counter)
{
    for (unsigned i = 0; i < NB_COUNTERS; i++) {
        if (cascade_source(pmu, i) == counter) {
            pmu->control[CCCR0 + i] |= CCCR_ENABLE;
        }
    }
    pmu->control[CCCR0 + counter] |= CCCR_OVF;
}

static int p4_rdpmc(uint32_t ecx, uint64_t *mask)
{
    if (ecx & FAST_RDPMC) {
        *mask = UINT32_MAX;
    }
    ecx &= ~FAST_RDPMC;
    return ecx < NB_COUNTERS ? ecx : -1;
}

#define P4_COMMON \
    .nb_counters = NB_COUNTERS, \
    .counter_width = WIDTH, \
    .masks_lvtpc = true, \
    .reset = p4_reset, \
    .decode = p4_decode, \
    .set_overflow = p4_set_overflow, \
    .rdpmc = p4_rdpmc

/* Models 0 to 2 */
const X86PMUFamily x86_pmu_p4 = {
    .name = "p4",
    .match = p4_match_early,
    .registers = early_registers,
    P4_COMMON,
};

/* Models 3 and later */
const X86PMUFamily x86_pmu_p4_late = {
    .name = "p4-late",
    .match = p4_match_late,
    .registers = late_registers,
    P4_COMMON,
};
