/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: the part that knows no family of processors */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/i386/apic.h"
#include "tcg/helper-tcg.h"
#include "pmu-internal.h"

static const X86PMUFamily *const families[] = {
#define PMU_FAMILY(name) &x86_pmu_##name,
#include "families.h"
#undef PMU_FAMILY
};

/*
 * The MSRs that belong to the PMU of some x86 processor: an access to one that the family lacks
 * faults, where QEMU otherwise ignores an unknown MSR.
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
};

/* A budget that outlasts every run. */
#define UNLIMITED (1LL << 60)

/* ENTER with a nesting level above 7 can exceed this; its overflow may be noticed late. */
#define MAX_ACCESSES_PER_INSN 8
/* As many loads and stores, each in two lines, and the instruction's own. */
#define MAX_MISSES_PER_INSN (4 * MAX_ACCESSES_PER_INSN + 1)

static unsigned current_mode(CPUX86State *env)
{
    return (env->hflags & HF_CPL_MASK) == 3;
}

static bool counting(CPUX86State *env)
{
    return env_cpu(env)->tcg_cflags & CF_PMU;
}

/*
 * The instructions that access the PMU end their TB, so that they are the last one which the TB
 * has charged: take it back to see the state before them, charge it again afterwards.
 */
static void uncharge_current_insn(CPUX86State *env)
{
    if (counting(env)) {
        env->pmu.budget[current_mode(env)]++;
    }
}

static void charge_current_insn(CPUX86State *env)
{
    if (counting(env)) {
        env->pmu.budget[current_mode(env)]--;
    }
}

static uint64_t counted_total(const X86PMUState *pmu, const X86PMUSetting *setting)
{
    uint64_t total = 0;

    for (unsigned mode = 0; mode < PMU_NB_MODES; mode++) {
        if (!(setting->modes >> mode & 1)) {
            continue;
        }
        if (!setting->complement) {
            total += x86_pmu_event_total(pmu, mode, setting->event);
            continue;
        }
        total += x86_pmu_event_total(pmu, mode, PMU_EVENT_INSN);
        if (!(setting->blind_modes >> mode & 1)) {
            total -= x86_pmu_event_total(pmu, mode, setting->event);
        }
    }
    return x86_pmu_miscounted_total(pmu, setting, total);
}

/* Exceeds the width of the counter after an overflow that has not been noticed yet. */
static uint64_t counter_value(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    if (!counter->setting.modes) {
        return counter->value;
    }
    return counter->value +
           x86_pmu_miscounted_progress(pmu, &counter->setting,
                                       counted_total(pmu, &counter->setting) - counter->base);
}

static uint64_t counter_mask(const X86PMUState *pmu)
{
    return MAKE_64BIT_MASK(0, pmu->family->counter_width);
}

static bool has_overflowed(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    uint64_t value = counter_value(pmu, counter);

    return value > counter_mask(pmu) ||
           (counter->setting.always_overflows && value != counter->value);
}

/* The instructions that have retired, in all modes. */
static uint64_t retired(const X86PMUState *pmu)
{
    return x86_pmu_event_total(pmu, 0, PMU_EVENT_INSN) +
           x86_pmu_event_total(pmu, 1, PMU_EVENT_INSN);
}

/* Does what the counter has counted since the last synchronization ask for an interrupt? */
static bool asks_for_interrupt(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    const X86PMUSetting *setting = &counter->setting;
    uint64_t value = counter_value(pmu, counter);
    uint64_t events = value - counter->value;

    if (!setting->interrupt) {
        return false;
    }
    if (!setting->with_next) {
        return has_overflowed(pmu, counter);
    }
    if (setting->shown) {
        return events > 0;
    }
    /* An instruction may have both the event that overflows the counter and the next. */
    return has_overflowed(pmu, counter) &&
           (setting->always_overflows ? events : value - counter_mask(pmu)) > 1;
}

static bool needs_attention(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    return has_overflowed(pmu, counter) || asks_for_interrupt(pmu, counter);
}

/* An interrupt that is under way already is that of this overflow, too. */
static void send_interrupt(X86PMUState *pmu, unsigned counter)
{
    if (!(pmu->pending >> counter & 1)) {
        pmu->pending |= BIT(counter);
        pmu->counter[counter].due = retired(pmu) + x86_pmu_next_skid(pmu);
    }
}

static bool freeze(X86PMUState *pmu)
{
    return pmu->family->freeze && pmu->family->freeze(pmu);
}

/*
 * Bring the counters up to date and latch their overflows. True: that has changed control
 * registers.
 */
static bool synchronize(X86PMUState *pmu)
{
    bool triggered = false;

    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        X86PMUCounter *counter = &pmu->counter[i];

        if (counter->setting.modes) {
            if (asks_for_interrupt(pmu, counter)) {
                send_interrupt(pmu, i);
                triggered |= freeze(pmu);
            }
            if (has_overflowed(pmu, counter)) {
                pmu->family->set_overflow(pmu, i);
                triggered |= counter->setting.triggers;
            }
            counter->value = counter_value(pmu, counter) & counter_mask(pmu);
            counter->base = counted_total(pmu, &counter->setting);
        }
    }
    x86_pmu_miscount_redraw(pmu);
    return triggered;
}

/*
 * The number of instructions in which the counter can neither overflow nor interrupt before the
 * last one. For several events per instruction it is too small and approaches the overflow in
 * steps.
 */
static int64_t insns_to_overflow(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    uint64_t left = counter_mask(pmu) + 1 - counter_value(pmu, counter);

    if (counter->setting.always_overflows ||
        (counter->setting.with_next && counter->setting.shown)) {
        return 1;
    }
    if (x86_pmu_is_miss(counter->setting.event)) {
        return DIV_ROUND_UP(left, MAX_MISSES_PER_INSN);
    }
    switch (counter->setting.event) {
    case PMU_EVENT_LOAD:
    case PMU_EVENT_STORE:
        return DIV_ROUND_UP(left, MAX_ACCESSES_PER_INSN);
    case PMU_EVENT_ACCESS:
        return DIV_ROUND_UP(left, 2 * MAX_ACCESSES_PER_INSN);
    case PMU_EVENT_REFERENCE:
        return DIV_ROUND_UP(left, x86_pmu_reference_scale());
    default:
        return left;
    }
}

/* Something happens when it overflows. */
static bool must_be_exact(const X86PMUCounter *counter)
{
    return counter->setting.modes && (counter->setting.interrupt || counter->setting.triggers);
}

static void set_budget(X86PMUState *pmu)
{
    int64_t budget[PMU_NB_MODES] = { UNLIMITED, UNLIMITED };
    uint64_t now = retired(pmu);

    pmu->watched = pmu->pending;
    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        const X86PMUCounter *counter = &pmu->counter[i];

        if (pmu->pending >> i & 1) {
            int64_t insns = counter->due > now ? counter->due - now : 0;

            budget[0] = MIN(budget[0], insns);
            budget[1] = MIN(budget[1], insns);
        }
        if (must_be_exact(counter)) {
            bool now_due = needs_attention(pmu, counter);
            int64_t insns = now_due ? 0 : insns_to_overflow(pmu, counter);

            for (unsigned mode = 0; mode < PMU_NB_MODES; mode++) {
                if (now_due || (counter->setting.modes >> mode & 1)) {
                    budget[mode] = MIN(budget[mode], insns);
                }
            }
            pmu->watched = true;
        }
    }
    for (unsigned mode = 0; mode < PMU_NB_MODES; mode++) {
        pmu->total[mode][PMU_EVENT_INSN] = x86_pmu_event_total(pmu, mode, PMU_EVENT_INSN);
        pmu->budget[mode] = pmu->limit[mode] = budget[mode];
    }
}

static uint32_t event_cflags(const X86PMUSetting *setting)
{
    if (x86_pmu_is_miss(setting->event)) {
        return CF_PMU | CF_PMU_CACHES;
    }
    switch (setting->event) {
    case PMU_EVENT_MISPREDICTED:
        return CF_PMU | CF_PMU_PREDICT;
    case PMU_EVENT_BRANCH:
    case PMU_EVENT_NEAR_TAKEN:
    case PMU_EVENT_OTHER_BRANCH:
        return CF_PMU | CF_PMU_BRANCH;
    case PMU_EVENT_LOAD:
    case PMU_EVENT_STORE:
    case PMU_EVENT_ACCESS:
        return CF_PMU | CF_PMU_MEM;
    case PMU_EVENT_X87:
        return CF_PMU | CF_PMU_X87;
    default:
        return CF_PMU;
    }
}

/* Follow a change of the control registers; the counters are synchronized. */
static void reconfigure(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    CPUState *cs = env_cpu(env);
    uint32_t cflags = env_archcpu(env)->pmu_stats || pmu->pending ? CF_PMU : 0;

    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        X86PMUCounter *counter = &pmu->counter[i];

        counter->setting = pmu->family->decode(pmu, i);
        if (counter->setting.event == PMU_EVENT_NONE || pmu->lie == PMU_NO_COUNTS ||
            (pmu->spoiled >> i & 1)) {
            counter->setting.modes = 0;
        }
        if (counter->setting.modes) {
            counter->base = counted_total(pmu, &counter->setting);
            cflags |= event_cflags(&counter->setting);
        }
    }
    if (cflags & (CF_PMU_CACHES | CF_PMU_PREDICT)) {
        x86_pmu_memory_start(env);
    }
    cs->tcg_cflags = (cs->tcg_cflags & ~CF_PMU_MASK) | cflags;
    set_budget(pmu);
}

/* Look at the counters now, and follow what their overflows have changed. */
static void update(CPUX86State *env)
{
    if (synchronize(&env->pmu)) {
        reconfigure(env);
    } else {
        set_budget(&env->pmu);
    }
}

static void raise_pmi(CPUX86State *env)
{
    bool locked = qemu_mutex_iothread_locked();

    if (!env_archcpu(env)->apic_state) {
        return;
    }
    if (!locked) {
        qemu_mutex_lock_iothread();
    }
    apic_deliver_pmi(env_archcpu(env)->apic_state, env->pmu.family->masks_lvtpc);
    if (!locked) {
        qemu_mutex_unlock_iothread();
    }
}

/* One for all that have come in the meantime. */
static void deliver_interrupts(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint32_t pending = pmu->pending;
    uint64_t now = retired(pmu);

    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        if ((pending >> i & 1) && pmu->counter[i].due <= now) {
            pmu->pending &= ~BIT(i);
        }
    }
    if (pmu->pending != pending) {
        pmu->stats.pmi++;
        raise_pmi(env);
        reconfigure(env);
    }
}

static void add_branches(CPUX86State *env, int n)
{
    if (env_cpu(env)->tcg_cflags & CF_PMU_BRANCH) {
        env->pmu.total[current_mode(env)][PMU_EVENT_BRANCH] += n;
    }
}

/* INTO traps. */
void x86_pmu_far_branch(CPUX86State *env)
{
    add_branches(env, 1);
}

/* INT n, already counted, turned out to fault. */
void x86_pmu_undo_int(CPUX86State *env)
{
    uncharge_current_insn(env);
    add_branches(env, -1);
}

/* A TB found the budget of its mode too small and has not run its first instruction. */
void x86_pmu_tb_exit(CPUState *cs, const TranslationBlock *tb)
{
    CPUX86State *env = cs->env_ptr;
    X86PMUState *pmu = &env->pmu;
    int64_t budget = pmu->budget[current_mode(env)];
    uint32_t cflags = tb_cflags(tb);

    if (cflags & CF_USE_ICOUNT) {
        /* The TB has already charged its instructions there. */
        cpu_neg(cs)->icount_decr.u16.low += tb->icount;
    }
    if (budget > 0) {
        /* Run just the instructions up to the one that may overflow a counter. */
        cs->cflags_next_tb = (cflags & ~CF_COUNT_MASK) | budget;
        return;
    }
    update(env);
    deliver_interrupts(env);
}

/* The mode that is left may have run down the budget of the other one, or overflowed a counter. */
void x86_pmu_mode_change(CPUX86State *env)
{
    set_budget(&env->pmu);
}

/* An iteration of a string instruction can overflow a counter, and be interrupted after it. */
void helper_pmu_poll(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        const X86PMUCounter *counter = &pmu->counter[i];

        if (must_be_exact(counter) && needs_attention(pmu, counter)) {
            update(env);
            return;
        }
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

static X86PMUAccess absent_register(CPUX86State *env, uint32_t msr)
{
    if (in_stats_window(msr) || msr == PMU_MISCOUNT_MSR) {
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

/* What a write leaves in the counter, and whether this is what was written. */
static bool valid_counter_value(const X86PMUState *pmu, X86PMURegisterKind kind, uint64_t *value)
{
    uint64_t mask = counter_mask(pmu), written = *value;

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

    uncharge_current_insn(env);
    synchronize(&env->pmu);
    good = x86_pmu_miscount_write(&env->pmu, value);
    reconfigure(env);
    charge_current_insn(env);
    return good ? PMU_ACCESS_DONE : PMU_ACCESS_FAULT;
}

/*
 * A WRMSR retires under the registers that it has written: the one that switches counting on is
 * counted, the one that switches it off is not.
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
    uncharge_current_insn(env);
    synchronize(pmu);
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
    }
    reconfigure(env);
    charge_current_insn(env);
    x86_pmu_stats_wrmsr(pmu, r, msr);
    return PMU_ACCESS_DONE;
}

static uint64_t read_counter(CPUX86State *env, unsigned index)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t value;

    uncharge_current_insn(env);
    if (x86_pmu_miscount_is_noisy(pmu)) {
        update(env);
    }
    value = counter_value(pmu, &pmu->counter[index]) & counter_mask(pmu);
    charge_current_insn(env);
    return value;
}

static uint64_t read_status(CPUX86State *env, unsigned index)
{
    X86PMUState *pmu = &env->pmu;

    uncharge_current_insn(env);
    update(env);
    charge_current_insn(env);
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
        uncharge_current_insn(env);
        *value = x86_pmu_stats_read(pmu, msr - PMU_STATS_MSR);
        charge_current_insn(env);
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
    if (env->pmu.family->hidden && BIT(current_mode(env)) == PMU_USER &&
        env->pmu.family->hidden(&env->pmu, index)) {
        mask = 0;
    }
    *value = read_counter(env, index) & mask;
    return PMU_ACCESS_DONE;
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t leaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    /* A bit that promises registers is the family's to set. */
    if (leaf == 0x80000001) {
        *ecx &= ~CPUID_EXT3_PERFCORE;
    }
    if (env->pmu.family && env->pmu.family->cpuid) {
        env->pmu.family->cpuid(env, leaf, eax, ebx, ecx, edx);
    }
    if (env->pmu.lie == PMU_NO_LEAF && leaf == 0xa) {
        *eax = *ebx = *ecx = *edx = 0;
    }
}

void x86_pmu_reset(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    if (!pmu->family) {
        return;
    }
    memset(pmu->counter, 0, sizeof(pmu->counter));
    memset(pmu->control, 0, sizeof(pmu->control));
    pmu->pending = 0;
    pmu->skids.next = 0;
    pmu->cleared = 0;
    pmu->spoiled = 0;
    if (pmu->family->reset) {
        pmu->family->reset(pmu);
    }
    x86_pmu_memory_reset(env);
    x86_pmu_miscount_reset(pmu);
    reconfigure(env);
}

static const X86PMUFamily *find_family(X86CPU *cpu)
{
    for (int i = 0; i < ARRAY_SIZE(families); i++) {
        if (cpu->pmu_model ? !strcmp(cpu->pmu_model, families[i]->name)
                           : families[i]->match && families[i]->match(&cpu->env)) {
            return families[i];
        }
    }
    return NULL;
}

bool x86_pmu_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;

    if (cpu->enable_pmu) {
        env->pmu.family = find_family(cpu);
        if (cpu->pmu_model && !env->pmu.family) {
            error_setg(errp, "pmu-model=%s is not known", cpu->pmu_model);
            return false;
        }
        if (env->pmu.family && env->pmu.family->odd && CPU(cpu)->cpu_index % 2) {
            env->pmu.family = env->pmu.family->odd;
        }
    }
    if (!x86_pmu_silicon_realize(cpu, errp) || !x86_pmu_memory_realize(cpu, errp) ||
        !x86_pmu_miscount_realize(cpu, errp)) {
        return false;
    }
    x86_pmu_reset(env);
    return x86_pmu_stats_realize(cpu, errp);
}
