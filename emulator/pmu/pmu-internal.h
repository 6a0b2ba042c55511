/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: what a family of processors describes to the core */
#ifndef I386_TCG_PMU_INTERNAL_H
#define I386_TCG_PMU_INTERNAL_H

#include "cpu.h"
#include "pmu-miscount.h"
#include "pmu-stats.h"
#include "pmu-syscalls.h"

typedef enum X86PMURegisterKind {
    PMU_CONTROL,            /* read and written */
    PMU_CONSTANT,           /* read only, set at reset */
    PMU_CONTROL_STATUS,     /* read and written, with overflow bits */
    PMU_STATUS,             /* read only, the overflow bits */
    PMU_STATUS_CLEAR,       /* clears the overflow bits that are written as ones, reads as zero */
    PMU_STATUS_SET,         /* sets the overflow bits that are written as ones, reads as zero */
    PMU_COMPUTED,           /* read only, by the family's compute() */
    PMU_COUNTER,            /* takes a value that is sign-extended from 32 bits */
    PMU_COUNTER_LOW,        /* takes the low 32 bits of any value, sign-extended */
    PMU_COUNTER_FULL,       /* takes a value of its full width */
    PMU_SHARED,             /* one for all processors: read and written, counts nothing */
} X86PMURegisterKind;

/*
 * @count registers from MSR @msr on. Their state is in control[], in counter[] or in the machine's
 * shared registers, from @index on.
 */
typedef struct X86PMURegister {
    uint32_t msr;
    uint8_t count;
    uint8_t kind;
    uint8_t index;
    uint8_t stats_kind;     /* PMU_STATS_EVNTSEL etc. */
    uint64_t writable;      /* the other bits of a control or status register are reserved */
} X86PMURegister;

typedef struct X86PMUFamily {
    const char *name;
    /* Does the processor belong to this family? Asked without pmu-model. NULL: no. */
    bool (*match)(CPUX86State *env);
    unsigned nb_counters;
    unsigned counter_width;
    const X86PMURegister *registers;    /* ends with a count of 0 */
    bool masks_lvtpc;                   /* an interrupt masks its own LVT entry */
    bool drops_reserved;                /* reserved bits are ignored, and do not fault */
    void (*reset)(X86PMUState *pmu);    /* all registers are zero before; NULL: and stay so */
    /* May change what CPUID reports. NULL: changes nothing. */
    void (*cpuid)(CPUX86State *env, uint32_t leaf,
                  uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);
    /* Returns the setting of the counter according to the control registers. */
    X86PMUSetting (*decode)(const X86PMUState *pmu, unsigned counter);
    /*
     * Shows the overflow of a counter in the register that shows it, if there is one. If the
     * counter triggers, the overflow may also change the setting of this counter or of others.
     */
    void (*set_overflow)(X86PMUState *pmu, unsigned counter);
    /*
     * Called when a counter asks for an interrupt. If software has asked for freezing, stops all
     * counters and returns true. NULL: software cannot ask for it.
     */
    bool (*freeze)(X86PMUState *pmu);
    /*
     * Returns the counter that RDPMC reads with this ECX; from PMU_RDPMC_SHARED on, a shared
     * register; -1 if RDPMC faults. RDPMC returns only the bits in *mask, which is all ones before.
     * NULL: there is no RDPMC.
     */
    int (*rdpmc)(uint32_t ecx, uint64_t *mask);
    /* Does RDPMC in user mode read 0 from this counter? NULL: no. */
    bool (*hidden)(const X86PMUState *pmu, unsigned counter);
    /* Returns the value of the PMU_COMPUTED register @index. NULL: there is none. */
    uint64_t (*compute)(const X86PMUState *pmu, unsigned index);
    const void *data;                   /* for the family's own use */
    const struct X86PMUFamily *odd;     /* for processors with odd numbers; NULL: this one */
} X86PMUFamily;

#define PMU_FAMILY(name) extern const X86PMUFamily x86_pmu_##name;
#include "families.h"
#undef PMU_FAMILY

#define PMU_MAX_SHARED          20
#define PMU_RDPMC_SHARED        PMU_MAX_COUNTERS

/* IA32_DEBUGCTL, AMD's DebugCtl */
#define PMU_MSR_DEBUGCTL        0x1d9
#define DEBUGCTL_FREEZE_PMCS    BIT_ULL(12)
#define STATUS_CTR_FRZ          BIT_ULL(59)     /* of the register that shows overflows */

/*
 * The number of reference cycles of an instruction: with pmu-mode=hardware and -icount shift=N, the
 * ticks of the time stamp counter for an instruction; otherwise 1.
 */
uint64_t x86_pmu_reference_scale(void);

static inline uint64_t x86_pmu_event_total(const X86PMUState *pmu, unsigned mode,
                                           X86PMUEvent event)
{
    const uint64_t *total = pmu->total[mode];

    switch (event) {
    case PMU_EVENT_INSN:
        return total[event] + pmu->limit[mode] - pmu->budget[mode];
    case PMU_EVENT_ACCESS:
        return total[PMU_EVENT_LOAD] + total[PMU_EVENT_STORE];
    case PMU_EVENT_OTHER_BRANCH:
        return total[PMU_EVENT_BRANCH] - total[PMU_EVENT_NEAR_TAKEN];
    case PMU_EVENT_REFERENCE:
        return x86_pmu_event_total(pmu, mode, PMU_EVENT_INSN) * x86_pmu_reference_scale();
    case PMU_EVENT_L1D_MISS:
        return total[PMU_EVENT_L1D_LOAD_MISS] + total[PMU_EVENT_L1D_STORE_MISS];
    case PMU_EVENT_L2_REFERENCE:
        return total[PMU_EVENT_L1D_LOAD_MISS] + total[PMU_EVENT_L1D_STORE_MISS] +
               total[PMU_EVENT_L1I_MISS];
    case PMU_EVENT_L2_HIT:
        return x86_pmu_event_total(pmu, mode, PMU_EVENT_L2_REFERENCE) -
               x86_pmu_event_total(pmu, mode, PMU_EVENT_L2_MISS);
    case PMU_EVENT_L2_MISS:
        return total[PMU_EVENT_L2_LOAD_MISS] + total[PMU_EVENT_L2_STORE_MISS] +
               total[PMU_EVENT_L2_CODE_MISS];
    case PMU_EVENT_DTLB_MISS:
        return total[PMU_EVENT_DTLB_LOAD_MISS] + total[PMU_EVENT_DTLB_STORE_MISS];
    default:
        return total[event];
    }
}

/* Is it an event of caches or TLBs? An instruction may have several of them. */
static inline bool x86_pmu_is_miss(int event)
{
    return (event >= PMU_EVENT_L1D_LOAD_MISS && event <= PMU_EVENT_ITLB_MISS) ||
           event >= PMU_EVENT_L1D_MISS;
}

static inline unsigned x86_pmu_current_mode(CPUX86State *env)
{
    return (env->hflags & HF_CPL_MASK) == 3;
}

static inline bool x86_pmu_counting(CPUX86State *env)
{
    return env_cpu(env)->tcg_cflags & CF_PMU;
}

/*
 * An instruction that accesses the PMU ends its TB, so it is the last one that the TB has charged.
 * To see the state before the instruction, uncharge it, and charge it again afterwards.
 */
static inline void x86_pmu_uncharge_insn(CPUX86State *env)
{
    if (x86_pmu_counting(env)) {
        env->pmu.budget[x86_pmu_current_mode(env)]++;
    }
}

static inline void x86_pmu_charge_insn(CPUX86State *env)
{
    if (x86_pmu_counting(env)) {
        env->pmu.budget[x86_pmu_current_mode(env)]--;
    }
}

static inline uint64_t x86_pmu_counter_mask(const X86PMUState *pmu)
{
    return MAKE_64BIT_MASK(0, pmu->family->counter_width);
}

/* pmu.c */
/* After an overflow, the value exceeds the counter's width until the next synchronization. */
uint64_t x86_pmu_counter_value(const X86PMUState *pmu, const X86PMUCounter *counter);
/*
 * Brings the values of the counters up to date and shows their overflows. Returns true if the
 * overflows have changed settings: the caller must then call x86_pmu_reconfigure().
 */
bool x86_pmu_synchronize(X86PMUState *pmu);
/* Applies changes of the control registers. The counters must be synchronized. */
void x86_pmu_reconfigure(CPUX86State *env);
/* Synchronizes the counters, and applies the changes that their overflows have made. */
void x86_pmu_update(CPUX86State *env);

/* pmu-access.c */
void x86_pmu_shared_reset(void);

/* pmu-memory.c */
bool x86_pmu_memory_realize(X86CPU *cpu, Error **errp);
void x86_pmu_memory_reset(CPUX86State *env);
/* Called when a counter has an event of the caches, TLBs or predictor. */
void x86_pmu_memory_start(CPUX86State *env);

/* Event select registers (pmu-evtsel.c) */
#define EVTSEL_USR      BIT_ULL(16)
#define EVTSEL_OS       BIT_ULL(17)
#define EVTSEL_EDGE     BIT_ULL(18)
#define EVTSEL_INT      BIT_ULL(20)
#define EVTSEL_EN       BIT_ULL(22)
#define EVTSEL_INV      BIT_ULL(23)

/*
 * The code of an event: event select and unit mask, bits 0-15 and 32-35 of the register. A list
 * ends with PMU_EVENT_NONE.
 */
typedef struct X86PMUEventCode {
    uint64_t code;
    int8_t event;
} X86PMUEventCode;

/* Returns the setting that @evtsel gives its counter. @evtsel is 0 if the counter is disabled. */
X86PMUSetting x86_pmu_decode_evtsel(uint64_t evtsel, const X86PMUEventCode *events);

/* pmu-silicon.c */
bool x86_pmu_silicon_realize(X86CPU *cpu, Error **errp);
/* The delay of the next interrupt, in instructions. */
unsigned x86_pmu_next_skid(X86PMUState *pmu);
/* Does an invalid write fault: reserved bits, or a read-only register? */
bool x86_pmu_write_faults(const X86PMUState *pmu, const X86PMURegister *r);
void x86_pmu_promise_trace(const CPUX86State *env, uint32_t leaf,
                           uint32_t *eax, uint32_t *ebx, uint32_t *ecx);
bool x86_pmu_lies_about_leaf(CPUX86State *env, uint32_t leaf);
/*
 * Does the PMU lie about this register? Then an access faults if *faults is set; otherwise reads
 * return 0 and writes do nothing.
 */
bool x86_pmu_lies_about(const X86PMUState *pmu, const X86PMURegister *r, bool *faults);
bool x86_pmu_lies_about_rdpmc(const X86PMUState *pmu, uint32_t ecx, bool *faults);
void x86_pmu_erratum_write(X86PMUState *pmu, const X86PMURegister *r, unsigned index,
                           uint64_t value);

/* pmu-miscount.c */
bool x86_pmu_miscount_realize(X86CPU *cpu, Error **errp);
void x86_pmu_miscount_reset(X86PMUState *pmu);
/* Returns false if there is no such way. The counters must be synchronized. */
bool x86_pmu_miscount_write(X86PMUState *pmu, uint64_t value);
bool x86_pmu_miscount_is_noisy(const X86PMUState *pmu);
/* Called when the counters have been synchronized. Draws a new noise for later counts. */
void x86_pmu_miscount_redraw(X86PMUState *pmu);
/* The wrong number for a number of events: in total, and since the last synchronization. */
uint64_t x86_pmu_miscounted_total(const X86PMUState *pmu, const X86PMUSetting *setting,
                                  uint64_t total);
uint64_t x86_pmu_miscounted_progress(const X86PMUState *pmu, const X86PMUSetting *setting,
                                     uint64_t progress);

/* pmu-stats.c */
bool x86_pmu_stats_realize(X86CPU *cpu, Error **errp);
void x86_pmu_stats_rdmsr(X86PMUState *pmu, const X86PMURegister *r, uint32_t msr);
void x86_pmu_stats_wrmsr(X86PMUState *pmu, const X86PMURegister *r, uint32_t msr);
uint64_t x86_pmu_stats_read(const X86PMUState *pmu, unsigned index);

/* pmu-syscalls.c */
bool x86_pmu_syscalls_realize(X86CPU *cpu, Error **errp);
/* Returns the value of the MSR @index of the window. */
uint64_t x86_pmu_syscalls_read(unsigned index);

#endif
