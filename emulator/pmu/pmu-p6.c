/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel P6 without architectural monitoring: Pentium Pro to III (SDM volume 3, 20.6.8). An
 * interrupt does not mask the LVT entry; on the Pentium M it would.
 */
#include "qemu/osdep.h"
#include "pmu-internal.h"

#define NB_COUNTERS     2
#define WIDTH           40

/* Bit 21 is reserved. Only register 0 has EN, which enables both counters. */
#define EVTSEL0_WRITABLE 0xffdfffffULL
#define EVTSEL1_WRITABLE (EVTSEL0_WRITABLE & ~EVTSEL_EN)

enum {
    EVTSEL0,
    EVTSEL1,
};

static const X86PMURegister p6_registers[] = {
    { 0x0c1, NB_COUNTERS, PMU_COUNTER_LOW, 0, PMU_STATS_COUNTER },
    { 0x186, 1, PMU_CONTROL, EVTSEL0, PMU_STATS_EVNTSEL, EVTSEL0_WRITABLE },
    { 0x187, 1, PMU_CONTROL, EVTSEL1, PMU_STATS_EVNTSEL, EVTSEL1_WRITABLE },
    { }
};

static const X86PMUEventCode p6_events[] = {
    { 0x00c0, PMU_EVENT_INSN },         /* INST_RETIRED */
    { 0x0079, PMU_EVENT_INSN },         /* CPU_CLK_UNHALTED */
    { 0x00c4, PMU_EVENT_BRANCH },       /* BR_INST_RETIRED */
    { 0x00c9, PMU_EVENT_NEAR_TAKEN },   /* BR_TAKEN_RETIRED */
    { 0x00c5, PMU_EVENT_MISPREDICTED }, /* BR_MISS_PRED_RETIRED */
    { 0x0043, PMU_EVENT_ACCESS },       /* DATA_MEM_REFS */
    { 0x0045, PMU_EVENT_L1D_MISS },     /* DCU_LINES_IN */
    { 0x0081, PMU_EVENT_L1I_MISS },     /* IFU_IFETCH_MISS */
    { 0x0f28, PMU_EVENT_L1I_MISS },     /* L2_IFETCH:MESI */
    { 0x0085, PMU_EVENT_ITLB_MISS },    /* ITLB_MISS */
    { 0x0f2e, PMU_EVENT_L2_REFERENCE }, /* L2_RQSTS:MESI, I */
    { 0x012e, PMU_EVENT_L2_MISS },
    { 0, PMU_EVENT_NONE }
};

static bool p6_match(CPUX86State *env)
{
    return IS_INTEL_CPU(env) && (env->cpuid_version >> 8 & 0xf) == 6 && env->cpuid_level < 0xa;
}

static X86PMUSetting p6_decode(const X86PMUState *pmu, unsigned counter)
{
    bool enabled = pmu->control[EVTSEL0] & EVTSEL_EN;

    return x86_pmu_decode_evtsel(enabled ? pmu->control[EVTSEL0 + counter] : 0, p6_events);
}

static void p6_set_overflow(X86PMUState *pmu, unsigned counter)
{
    /* No register shows an overflow. */
}

static int p6_rdpmc(uint32_t ecx, uint64_t *mask)
{
    return ecx < NB_COUNTERS ? ecx : -1;
}

const X86PMUFamily x86_pmu_p6 = {
    .name = "p6",
    .match = p6_match,
    .nb_counters = NB_COUNTERS,
    .counter_width = WIDTH,
    .registers = p6_registers,
    .decode = p6_decode,
    .set_overflow = p6_set_overflow,
    .rdpmc = p6_rdpmc,
};
