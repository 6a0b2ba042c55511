/* SPDX-License-Identifier: GPL-2.0-only */
/* RDMSR, WRMSR and RDPMC of the registers that a family describes */
#include "qemu/osdep.h"
#include "tcg/helper-tcg.h"
#include "pmu-internal.h"

/*
 * The MSRs that belong to the PMU of some x86 processor. Unless pmu-mode is lenient, an access to
 * one that the family lacks faults. QEMU ignores accesses to other unknown MSRs.
 */
static const struct {
    uint32_t first, last;
} pmu_msrs[] = {
    { 0x00000011, 0x00000013 }, /* CESR, CTR0-1 */
    { 0x000000c1, 0x000000c8 }, /* IA32_PMC0-7 */
    { 0x00000186, 0x0000018d }, /* IA32_PERFEVTSEL0-7 */
    { 0x000001a6, 0x000001a7 }, /* MSR_OFFCORE_RSP_0-1 */
    { 0x00000300, 0x00000318 }, /* NetBurst's counters, IA32_FIXED_CTR0-15 */
    { 0x00000329, 0x00000329 }, /* IA32_PERF_METRICS */
    { 0x00000345, 0x00000345 }, /* IA32_PERF_CAPABILITIES */
    { 0x00000360, 0x00000371 }, /* NetBurst's CCCRs */
    { 0x0000038d, 0x00000396 }, /* IA32_FIXED_CTR_CTRL, IA32_PERF_GLOBAL_*, uncore */
    { 0x000003a0, 0x000003f9 }, /* NetBurst's ESCRs, PEBS */
    { 0x000004c1, 0x000004c8 }, /* IA32_A_PMC0-7 */
    { 0x00001900, 0x000019ff }, /* IA32_PMC_GPn_*, IA32_PMC_FXn_* */
    { 0xc0000300, 0xc0000303 }, /* AMD PerfMonV2 global registers */
    { 0xc0010000, 0xc0010007 }, /* K7's PerfEvtSel and PerfCtr */
    { 0xc0010200, 0xc001020b }, /* family 15h's PERF_CTL and PERF_CTR */
    { 0xc0010230, 0xc001023b }, /* ChL3PmcCfg and ChL3Pmc */
    { 0xc0010240, 0xc0010247 }, /* family 15h's NB_PERF_CTL and NB_PERF_CTR */
};

/* Registers that all processors of the machine share. */
static uint64_t shared[PMU_MAX_SHARED];

void x86_pmu_shared_reset(void)
{
    for (int i = 0; i < PMU_MAX_SHARED; i++) {
        qatomic_set_u64(&shared[i], 0);
    }
}

static const X86PMURegister *find_register(const X86PMUState *pmu, uint32_t msr)
{
    for (const X86PMURegister *r = pmu->family->registers; r->count; r++) {
        if (msr >= r->msr && msr < r->msr + r->count) {
            return r;
        }
    }
    return NULL;
}

static bool in_stats_window(uint32_t msr)
{
    return msr - PMU_STATS_MSR < PMU_STATS_NB_MSRS;
}

static bool in_syscalls_window(uint32_t msr)
{
    return msr - PMU_SYSCALLS_MSR < PMU_SYSCALLS_NB_MSRS;
}

static X86PMUAccess absent_register(CPUX86State *env, uint32_t msr)
{
    if (in_stats_window(msr) || in_syscalls_window(msr) || msr == PMU_MISCOUNT_MSR) {
        return PMU_ACCESS_FAULT;
    }
    for (int i = 0; i < ARRAY_SIZE(pmu_msrs); i++) {
        if (msr >= pmu_msrs[i].first && msr <= pmu_msrs[i].last &&
            env->pmu.mode != PMU_LENIENT) {
            return PMU_ACCESS_FAULT;
        }
    }
    return PMU_ACCESS_UNKNOWN;
}

/* Replaces *value by the value that the counter takes. Was the written value valid? */
static bool valid_counter_value(const X86PMUState *pmu, X86PMURegisterKind kind, uint64_t *value)
{
    uint64_t mask = x86_pmu_counter_mask(pmu), written = *value;

    if (kind == PMU_COUNTER_FULL) {
        *value &= mask;
        return *value == written;
    }
    *value = (int64_t)(int32_t)written & mask;
    return kind == PMU_COUNTER_LOW ||
           ((written & mask) == *value &&
            ((written & ~mask) == 0 || (written | mask) == UINT64_MAX));
}

static bool valid_write(const X86PMUState *pmu, const X86PMURegister *r, uint64_t *value)
{
    uint64_t written = *value;

    switch (r->kind) {
    case PMU_CONTROL:
    case PMU_CONTROL_STATUS:
    case PMU_STATUS_CLEAR:
    case PMU_STATUS_SET:
    case PMU_SHARED:
        *value &= r->writable;
        return *value == written;
    case PMU_COUNTER:
    case PMU_COUNTER_LOW:
    case PMU_COUNTER_FULL:
        return valid_counter_value(pmu, r->kind, value);
    default:
        return false;
    }
}

static X86PMUAccess write_miscount(CPUX86State *env, uint64_t value)
{
    bool good;

    x86_pmu_uncharge_insn(env);
    x86_pmu_synchronize(&env->pmu);
    good = x86_pmu_miscount_write(&env->pmu, value);
    x86_pmu_reconfigure(env);
    x86_pmu_charge_insn(env);
    return good ? PMU_ACCESS_DONE : PMU_ACCESS_FAULT;
}

/*
 * A WRMSR retires after it has changed the registers: a WRMSR that switches counting on is counted,
 * one that switches counting off is not.
 */
X86PMUAccess x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t value)
{
    X86PMUState *pmu = &env->pmu;
    const X86PMURegister *r;
    unsigned index;
    bool faults;

    if (!pmu->family) {
        return PMU_ACCESS_UNKNOWN;
    }
    if (msr == PMU_MISCOUNT_MSR && pmu->miscount.exists) {
        return write_miscount(env, value);
    }
    r = find_register(pmu, msr);
    if (!r) {
        return absent_register(env, msr);
    }
    if (x86_pmu_lies_about(pmu, r, &faults)) {
        return faults ? PMU_ACCESS_FAULT : PMU_ACCESS_DONE;
    }
    if (!valid_write(pmu, r, &value) && x86_pmu_write_faults(pmu, r)) {
        return PMU_ACCESS_FAULT;
    }
    index = r->index + msr - r->msr;
    x86_pmu_uncharge_insn(env);
    x86_pmu_synchronize(pmu);
    switch (r->kind) {
    case PMU_CONTROL:
    case PMU_CONTROL_STATUS:
        pmu->control[index] = value;
        x86_pmu_erratum_write(pmu, r, index, value);
        break;
    case PMU_STATUS_CLEAR:
        pmu->control[index] &= ~value;
        break;
    case PMU_STATUS_SET:
        pmu->control[index] |= value;
        break;
    case PMU_COUNTER:
    case PMU_COUNTER_LOW:
    case PMU_COUNTER_FULL:
        pmu->counter[index].value = value;
        break;
    case PMU_SHARED:
        qatomic_set_u64(&shared[index], value);
        break;
    }
    x86_pmu_reconfigure(env);
    x86_pmu_charge_insn(env);
    x86_pmu_stats_wrmsr(pmu, r, msr);
    return PMU_ACCESS_DONE;
}

static uint64_t read_counter(CPUX86State *env, unsigned index)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t value;

    x86_pmu_uncharge_insn(env);
    if (x86_pmu_miscount_is_noisy(pmu)) {
        x86_pmu_update(env);
    }
    value = x86_pmu_counter_value(pmu, &pmu->counter[index]) & x86_pmu_counter_mask(pmu);
    x86_pmu_charge_insn(env);
    return value;
}

static uint64_t read_status(CPUX86State *env, unsigned index)
{
    X86PMUState *pmu = &env->pmu;

    x86_pmu_uncharge_insn(env);
    x86_pmu_update(env);
    x86_pmu_charge_insn(env);
    return pmu->control[index];
}

X86PMUAccess x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *value)
{
    X86PMUState *pmu = &env->pmu;
    const X86PMURegister *r;
    unsigned index;
    bool faults;

    if (!pmu->family) {
        return PMU_ACCESS_UNKNOWN;
    }
    if (in_stats_window(msr) && env_archcpu(env)->pmu_stats) {
        x86_pmu_uncharge_insn(env);
        *value = x86_pmu_stats_read(pmu, msr - PMU_STATS_MSR);
        x86_pmu_charge_insn(env);
        return PMU_ACCESS_DONE;
    }
    if (in_syscalls_window(msr) && env_archcpu(env)->pmu_syscalls) {
        *value = x86_pmu_syscalls_read(msr - PMU_SYSCALLS_MSR);
        return PMU_ACCESS_DONE;
    }
    if (msr == PMU_MISCOUNT_MSR && pmu->miscount.exists) {
        *value = pmu->miscount.value;
        return PMU_ACCESS_DONE;
    }
    r = find_register(pmu, msr);
    if (!r) {
        return absent_register(env, msr);
    }
    if (x86_pmu_lies_about(pmu, r, &faults)) {
        *value = 0;
        return faults ? PMU_ACCESS_FAULT : PMU_ACCESS_DONE;
    }
    x86_pmu_stats_rdmsr(pmu, r, msr);
    index = r->index + msr - r->msr;
    switch (r->kind) {
    case PMU_COUNTER:
    case PMU_COUNTER_LOW:
    case PMU_COUNTER_FULL:
        *value = read_counter(env, index);
        break;
    case PMU_CONTROL_STATUS:
    case PMU_STATUS:
        *value = read_status(env, index);
        break;
    case PMU_STATUS_CLEAR:
    case PMU_STATUS_SET:
        *value = 0;
        break;
    case PMU_COMPUTED:
        *value = pmu->family->compute(pmu, index);
        break;
    case PMU_SHARED:
        *value = qatomic_read_u64(&shared[index]);
        break;
    default:
        *value = pmu->control[index];
        break;
    }
    return PMU_ACCESS_DONE;
}

X86PMUAccess x86_pmu_rdpmc(CPUX86State *env, uint32_t ecx, uint64_t *value)
{
    uint64_t mask = UINT64_MAX;
    bool faults;
    int index;

    if (!env->pmu.family || !env->pmu.family->rdpmc) {
        return PMU_ACCESS_UNKNOWN;
    }
    index = env->pmu.family->rdpmc(ecx, &mask);
    if (index < 0) {
        return PMU_ACCESS_FAULT;
    }
    if (x86_pmu_lies_about_rdpmc(&env->pmu, ecx, &faults)) {
        *value = 0;
        return faults ? PMU_ACCESS_FAULT : PMU_ACCESS_DONE;
    }
    env->pmu.stats.rdpmc++;
    if (env->pmu.family->hidden && BIT(x86_pmu_current_mode(env)) == PMU_USER &&
        env->pmu.family->hidden(&env->pmu, index)) {
        mask = 0;
    }
    if (index >= PMU_RDPMC_SHARED) {
        *value = qatomic_read_u64(&shared[index - PMU_RDPMC_SHARED]);
    } else {
        *value = read_counter(env, index) & mask;
    }
    return PMU_ACCESS_DONE;
}
