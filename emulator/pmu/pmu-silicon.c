/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Performance monitoring unit: behaviour of processors and hypervisors that is not in the manuals
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "sysemu/cpu-timers.h"
#include "pmu-internal.h"

#define NB_GENERAL  4   /* Nehalem's general counters */
#define MAX_SKID    1000000

static const char *const modes[] = {
    [PMU_STRICT] = "strict",
    [PMU_HARDWARE] = "hardware",
    [PMU_LENIENT] = "lenient",
};

static const char *const lies[] = {
    [PMU_HONEST] = "none",
    [PMU_NO_REGISTERS] = "no-registers",
    [PMU_ZERO_REGISTERS] = "zero-registers",
    [PMU_RDPMC_FAULTS] = "rdpmc-faults",
    [PMU_RDPMC_ZERO] = "rdpmc-zero",
    [PMU_NO_COUNTS] = "no-counts",
    [PMU_NO_FIXED] = "no-fixed",
    [PMU_NO_LEAF] = "no-leaf",
    [PMU_LEAF_LOST] = "leaf-lost",
    [PMU_TRACE] = "trace",
    [PMU_NEHALEM] = "nehalem",
};

/* Returns the index of the name, 0 for NULL, or -1 if there is no such name. */
static int find_name(const char *name, const char *const *names, int n)
{
    for (int i = 0; i < n; i++) {
        if (!name || !strcmp(name, names[i])) {
            return i;
        }
    }
    return -1;
}

/* Numbers with colons between them. NULL: no skid. */
static bool parse_skids(X86PMUSkids *skids, const char *text)
{
    for (; text; skids->nb++) {
        const char *end;
        unsigned insns;

        if (skids->nb == PMU_MAX_SKIDS || qemu_strtoui(text, &end, 10, &insns) < 0 ||
            insns > MAX_SKID || (*end && *end != ':')) {
            return false;
        }
        skids->insns[skids->nb] = insns;
        text = *end ? end + 1 : NULL;
    }
    return true;
}

unsigned x86_pmu_next_skid(X86PMUState *pmu)
{
    X86PMUSkids *skids = &pmu->skids;
    unsigned insns;

    if (!skids->nb) {
        return 0;
    }
    insns = skids->insns[skids->next];
    skids->next = (skids->next + 1) % skids->nb;
    return insns;
}

/* Do reference cycles follow the time stamp? All processors of the machine share the answer. */
static bool reference_is_time;

bool x86_pmu_silicon_realize(X86CPU *cpu, Error **errp)
{
    const char *name = cpu->pmu_lie;
    bool some = name && strstart(name, "odd:", &name);
    int mode = find_name(cpu->pmu_mode, modes, ARRAY_SIZE(modes));
    int lie = find_name(name, lies, ARRAY_SIZE(lies));

    if (mode < 0) {
        error_setg(errp, "pmu-mode=%s: there are strict, hardware and lenient", cpu->pmu_mode);
        return false;
    }
    if (lie < 0) {
        error_setg(errp, "pmu-lie=%s is not known", cpu->pmu_lie);
        return false;
    }
    if (!parse_skids(&cpu->env.pmu.skids, cpu->pmu_skid)) {
        error_setg(errp, "pmu-skid=%s: up to %d numbers of instructions up to %d, with colons between",
                   cpu->pmu_skid, PMU_MAX_SKIDS, MAX_SKID);
        return false;
    }
    cpu->env.pmu.mode = mode;
    reference_is_time = mode == PMU_HARDWARE;
    cpu->env.pmu.lie = some && CPU(cpu)->cpu_index % 2 == 0 ? PMU_HONEST : lie;
    return true;
}

/*
 * Processors do not fault at writes to IA32_PMCx: the register takes the low 32 bits of the value
 * and ignores the others (SDM volume 3, 20.2.8).
 */
bool x86_pmu_write_faults(const X86PMUState *pmu, const X86PMURegister *r)
{
    switch (pmu->mode) {
    case PMU_STRICT:
        return true;
    case PMU_HARDWARE:
        return !pmu->family->drops_reserved && r->kind != PMU_COUNTER &&
               r->kind != PMU_COUNTER_LOW;
    default:
        return false;
    }
}

/* On a processor that is started again, the kernel executes CPUID before it enables paging. */
bool x86_pmu_lies_about_leaf(CPUX86State *env, uint32_t leaf)
{
    X86PMUState *pmu = &env->pmu;
    bool paging = env->cr[0] & CR0_PG_MASK;

    if (pmu->lie == PMU_LEAF_LOST && pmu->leaf_told && !paging) {
        pmu->lie = PMU_NO_LEAF;
    }
    pmu->leaf_told |= leaf == 0xa && paging;
    return pmu->lie == PMU_NO_LEAF && leaf == 0xa;
}

/* Makes CPUID report Processor Trace with output to tables of regions (SDM volume 3, 33.3.1). */
void x86_pmu_promise_trace(const CPUX86State *env, uint32_t leaf,
                           uint32_t *eax, uint32_t *ebx, uint32_t *ecx)
{
    if (env->pmu.lie != PMU_TRACE || (uint32_t)env->regs[R_ECX]) {
        return;
    }
    if (leaf == 7) {
        *ebx |= CPUID_7_0_EBX_INTEL_PT;
    }
    if (leaf == 0x14) {
        *eax = *ebx = 0;
        *ecx = 3;
    }
}

bool x86_pmu_lies_about(const X86PMUState *pmu, const X86PMURegister *r, bool *faults)
{
    *faults = pmu->lie == PMU_NO_REGISTERS;
    switch (pmu->lie) {
    case PMU_NO_REGISTERS:
    case PMU_ZERO_REGISTERS:
        return r->kind != PMU_CONSTANT && r->msr != MSR_IA32_MISC_ENABLE &&
               r->msr != PMU_MSR_DEBUGCTL;
    case PMU_NO_FIXED:
        return r->stats_kind == PMU_STATS_FIXED_CTR;
    default:
        return false;
    }
}

bool x86_pmu_lies_about_rdpmc(const X86PMUState *pmu, uint32_t ecx, bool *faults)
{
    *faults = pmu->lie == PMU_RDPMC_FAULTS || pmu->lie == PMU_NO_REGISTERS;
    switch (pmu->lie) {
    case PMU_NO_REGISTERS:
    case PMU_ZERO_REGISTERS:
    case PMU_RDPMC_FAULTS:
    case PMU_RDPMC_ZERO:
        return true;
    case PMU_NO_FIXED:
        return ecx >> 30 == 1;
    default:
        return false;
    }
}

/* With -icount shift=N, each instruction advances the time stamp by 2^N. */
uint64_t x86_pmu_reference_scale(void)
{
    return reference_is_time && icount_enabled() == 1 ? icount_to_ns(1) : 1;
}

/* Returns the bit of an event of the sequence that cleanses the counters, 0 for other events. */
static unsigned cleansing(uint64_t evtsel)
{
    switch (evtsel) {
    case 0x4300b5:
        return 1;
    case 0x4300d2:
        return 2;
    case 0x4300b1:
        return 4;
    default:
        return 0;
    }
}

/*
 * Errata AAK100 of Nehalem and BD53 of Westmere: a counter may count wrongly unless software
 * selects and enables the three events of the cleansing sequence first. Here such a counter counts
 * nothing.
 */
void x86_pmu_erratum_write(X86PMUState *pmu, const X86PMURegister *r, unsigned index,
                           uint64_t value)
{
    unsigned n = index - r->index;
    bool counts = false;

    if (pmu->lie != PMU_NEHALEM) {
        return;
    }
    if (r->stats_kind == PMU_STATS_EVNTSEL) {
        if (!(value & EVTSEL_EN) || cleansing(value) || pmu->cleared == 7) {
            pmu->spoiled &= ~BIT(n);
        } else {
            pmu->spoiled |= BIT(n);
        }
    } else if (r->stats_kind == PMU_STATS_GLOBAL_CTRL) {
        for (n = 0; n < NB_GENERAL; n++) {
            uint64_t evtsel = pmu->control[n]; /* the event selects come first in control[] */

            if (value >> n & 1) {
                pmu->cleared |= cleansing(evtsel);
                counts |= (evtsel & EVTSEL_EN) && !cleansing(evtsel);
            }
        }
        if (counts) {
            pmu->cleared = 0;
        }
    }
}
