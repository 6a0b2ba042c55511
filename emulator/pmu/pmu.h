/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit of the TCG x86 processors */
#ifndef I386_PMU_H
#define I386_PMU_H

#include "pmu-hierarchy.h"

/*
 * Flags in tb->cflags: the events that the generated code counts. A TB that is translated while no
 * counter counts has none of these flags, and is the same as without a PMU.
 */
#define CF_PMU          0x00001000 /* instructions */
#define CF_PMU_BRANCH   0x00002000
#define CF_PMU_MEM      0x00004000 /* loads and stores */
#define CF_PMU_X87      0x00200000
#define CF_PMU_CACHES   0x00400000 /* events of caches and TLBs */
#define CF_PMU_PREDICT  0x00800000 /* mispredicted branches */
#define CF_PMU_MASK     (CF_PMU | CF_PMU_BRANCH | CF_PMU_MEM | CF_PMU_X87 | CF_PMU_CACHES | \
                         CF_PMU_PREDICT)

typedef enum X86PMUEvent {
    PMU_EVENT_NONE = -1,
    PMU_EVENT_INSN,
    PMU_EVENT_BRANCH,
    PMU_EVENT_NEAR_TAKEN,
    PMU_EVENT_LOAD,
    PMU_EVENT_STORE,
    PMU_EVENT_X87,
    PMU_EVENT_MISPREDICTED,
    PMU_EVENT_L1D_LOAD_MISS,
    PMU_EVENT_L1D_STORE_MISS,
    PMU_EVENT_L1I_MISS,
    PMU_EVENT_L2_LOAD_MISS,
    PMU_EVENT_L2_STORE_MISS,
    PMU_EVENT_L2_CODE_MISS,
    PMU_EVENT_DTLB_LOAD_MISS,
    PMU_EVENT_DTLB_STORE_MISS,
    PMU_EVENT_ITLB_MISS,
    PMU_NB_EVENTS,
    /* These are computed from the others: */
    PMU_EVENT_ACCESS = PMU_NB_EVENTS,   /* loads and stores */
    PMU_EVENT_OTHER_BRANCH,             /* branches that are not near taken ones */
    PMU_EVENT_REFERENCE,                /* cycles at the rate of the time stamp counter */
    PMU_EVENT_L1D_MISS,
    PMU_EVENT_L2_REFERENCE,             /* misses of the first caches */
    PMU_EVENT_L2_HIT,
    PMU_EVENT_L2_MISS,
    PMU_EVENT_DTLB_MISS,
} X86PMUEvent;

/* The modes: 0 is kernel mode (CPL 0 to 2), 1 is user mode (CPL 3). */
#define PMU_KERNEL      (1 << 0)
#define PMU_USER        (1 << 1)
#define PMU_NB_MODES    2

/* Large enough for every family. */
#define PMU_MAX_COUNTERS 18
#define PMU_MAX_CONTROLS 70
#define PMU_MAX_REGISTERS 128

/* How the control registers have set up a counter. */
typedef struct X86PMUSetting {
    int8_t event;
    uint8_t modes;          /* 0: does not count */
    bool complement;        /* counts the instructions without the event */
    uint8_t blind_modes;    /* modes in which the complement never sees the event */
    bool interrupt;         /* an overflow interrupts */
    bool with_next;         /* ... with the next event, and with every event while shown is set */
    bool shown;             /* an overflow that software has not cleared */
    bool always_overflows;  /* every event overflows the counter */
    bool triggers;          /* its overflow changes the setting of this counter or of others */
} X86PMUSetting;

typedef struct X86PMUCounter {
    X86PMUSetting setting;
    uint64_t value;         /* at the last synchronization */
    uint64_t base;          /* the event's total at that time */
    uint64_t due;           /* the instruction after which its pending interrupt comes */
} X86PMUCounter;

/*
 * Delays of interrupts, in instructions. The interrupts of a processor take them in turn.
 */
#define PMU_MAX_SKIDS 8

typedef struct X86PMUSkids {
    uint32_t insns[PMU_MAX_SKIDS];
    uint8_t nb, next;
} X86PMUSkids;

/* A machine reset does not clear the statistics. */
typedef struct X86PMUStats {
    uint64_t rdmsr, wrmsr, rdpmc, pmi;
    uint64_t rdmsr_of[PMU_MAX_REGISTERS];   /* in the order of the family's registers */
    uint64_t wrmsr_of[PMU_MAX_REGISTERS];
} X86PMUStats;

/* The effect of a write that the manual forbids. */
typedef enum X86PMUMode {
    PMU_STRICT,     /* it faults */
    PMU_HARDWARE,   /* it faults where processors fault, and is ignored where they ignore it */
    PMU_LENIENT,    /* it is ignored, and absent registers read as zero */
} X86PMUMode;

/* How the PMU differs from what CPUID reports. */
typedef enum X86PMULie {
    PMU_HONEST,
    PMU_NO_REGISTERS,       /* accesses to the registers fault */
    PMU_ZERO_REGISTERS,     /* the registers ignore writes and read as zero */
    PMU_RDPMC_FAULTS,
    PMU_RDPMC_ZERO,
    PMU_NO_COUNTS,          /* the counters keep what is written to them, and never count */
    PMU_NO_FIXED,           /* fixed counters are as PMU_ZERO_REGISTERS */
    PMU_NO_LEAF,
    PMU_LEAF_LOST,          /* PMU_NO_LEAF from the second start of the processor on */
    PMU_TRACE,              /* CPUID promises Processor Trace */
    PMU_NEHALEM,            /* Nehalem's erratum: see x86_pmu_erratum_write() */
} X86PMULie;

/* The caches and TLBs of the model. */
typedef enum X86PMUCachePart {
    PMU_L1D,
    PMU_L1I,
    PMU_L2,
    PMU_DTLB,
    PMU_ITLB,
    PMU_NB_CACHES,
} X86PMUCachePart;

/* The size is KiB of a cache, or pages of a TLB. 0: the shape that CPUID reports. */
typedef struct X86PMUShape {
    uint32_t size, ways;
} X86PMUShape;

typedef struct X86PMUMemory X86PMUMemory;

/* Counts that are wrong on purpose: see pmu-miscount.h. */
typedef struct X86PMUMiscount {
    bool exists;            /* the MSR exists */
    uint64_t value;         /* of the MSR */
    uint64_t at_reset;      /* its value at reset */
    uint64_t interrupts[PMU_NB_MODES];
    uint64_t random;        /* state of the generator */
    int64_t noise;          /* the error of the counts since the last synchronization */
} X86PMUMiscount;

typedef struct X86PMUState {
    X86PMUMode mode;
    X86PMULie lie;
    uint8_t cleared;        /* PMU_NEHALEM: the events of the cleansing sequence seen so far */
    uint32_t spoiled;       /* ... and the counters that count nothing */
    bool leaf_told;         /* PMU_LEAF_LOST: code with paging has read CPUID leaf 0AH */
    /*
     * The number of instructions that may still retire before the counters must be checked.
     * Generated code subtracts the instructions of a TB before it runs them, and leaves the TB if
     * the budget is too small.
     */
    int64_t budget[PMU_NB_MODES];
    int64_t limit[PMU_NB_MODES];    /* the budget when it was set */
    uint64_t total[PMU_NB_MODES][PMU_NB_EVENTS];

    X86PMUCounter counter[PMU_MAX_COUNTERS];
    uint64_t control[PMU_MAX_CONTROLS];
    bool enabled;           /* software has enabled a counter, for any event, in at least one mode */
    bool watched;           /* a change of the mode must call x86_pmu_mode_change() */
    uint32_t pending;       /* counters that have an interrupt under way */
    X86PMUSkids skids;
    X86PMUMiscount miscount;
    const struct X86PMUFamily *family;
    X86PMUStats stats;

    X86PMUMemory *memory;   /* NULL: no event has needed it since the reset */
    X86PMUShape shape[PMU_NB_CACHES];
    uint32_t history;       /* the number of outcomes that the predictor keeps */
    bool told;              /* CPUID reports the shapes that the user chose */
} X86PMUState;

/*
 * The charge of a TB, or of the part of a TB before an instruction: the numbers of instructions,
 * loads and stores in one word. The translator ends a TB before a field can overflow.
 */
#define PMU_CHARGE(insns, loads, stores) \
    ((uint32_t)(insns) | (uint32_t)(loads) << 10 | (uint32_t)(stores) << 21)
#define PMU_CHARGE_INSNS(charge)    ((charge) & 0x3ff)
#define PMU_CHARGE_LOADS(charge)    ((charge) >> 10 & 0x7ff)
#define PMU_CHARGE_STORES(charge)   ((charge) >> 21)
#define PMU_CHARGE_MAX_MEM          0x700

/* The arguments of helper_pmu_access() beside the address. */
#define PMU_ACCESS(bytes, stores, mmu_index) \
    ((uint32_t)(bytes) | (uint32_t)(stores) << 16 | (uint32_t)(mmu_index) << 17)
#define PMU_ACCESS_BYTES(access)        ((access) & 0xffff)
#define PMU_ACCESS_STORES(access)       ((access) >> 16 & 1)
#define PMU_ACCESS_MMU_INDEX(access)    ((access) >> 17)

#endif
