/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: the part that is common to all families of processors */
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

/* A budget that no run uses up. */
#define UNLIMITED (1LL << 60)

/* Only ENTER with a nesting level above 7 exceeds this: its overflow may be noticed late. */
#define MAX_ACCESSES_PER_INSN 8
/* That many loads and that many stores, each in two lines, and the fetch of the instruction. */
#define MAX_MISSES_PER_INSN (4 * MAX_ACCESSES_PER_INSN + 1)

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

uint64_t x86_pmu_counter_value(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    if (!counter->setting.modes) {
        return counter->value;
    }
    return counter->value +
           x86_pmu_miscounted_progress(pmu, &counter->setting,
                                       counted_total(pmu, &counter->setting) - counter->base);
}

static bool has_overflowed(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    uint64_t value = x86_pmu_counter_value(pmu, counter);

    return value > x86_pmu_counter_mask(pmu) ||
           (counter->setting.always_overflows && value != counter->value);
}

/* The number of instructions that have retired in all modes. */
static uint64_t retired(const X86PMUState *pmu)
{
    return x86_pmu_event_total(pmu, 0, PMU_EVENT_INSN) +
           x86_pmu_event_total(pmu, 1, PMU_EVENT_INSN);
}

/* Do the counts since the last synchronization ask for an interrupt? */
static bool asks_for_interrupt(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    const X86PMUSetting *setting = &counter->setting;
    uint64_t value = x86_pmu_counter_value(pmu, counter);
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
    /* An instruction may have both the event that overflows the counter and the next one. */
    return has_overflowed(pmu, counter) &&
           (setting->always_overflows ? events : value - x86_pmu_counter_mask(pmu)) > 1;
}

static bool needs_attention(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    return has_overflowed(pmu, counter) || asks_for_interrupt(pmu, counter);
}

/* An interrupt of the counter that is already under way also serves this overflow. */
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

bool x86_pmu_synchronize(X86PMUState *pmu)
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
            counter->value = x86_pmu_counter_value(pmu, counter) & x86_pmu_counter_mask(pmu);
            counter->base = counted_total(pmu, &counter->setting);
        }
    }
    x86_pmu_miscount_redraw(pmu);
    return triggered;
}

/*
 * Returns a number of instructions of which only the last one can overflow the counter or make it
 * interrupt. If an instruction can have several events, the number is a lower bound: the budget
 * then approaches the overflow in steps.
 */
static int64_t insns_to_overflow(const X86PMUState *pmu, const X86PMUCounter *counter)
{
    uint64_t left = x86_pmu_counter_mask(pmu) + 1 - x86_pmu_counter_value(pmu, counter);

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

/* Does an overflow of the counter have an effect at once? */
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

void x86_pmu_reconfigure(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    CPUState *cs = env_cpu(env);
    uint32_t cflags = env_archcpu(env)->pmu_stats || pmu->pending ? CF_PMU : 0;

    pmu->enabled = false;
    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        X86PMUCounter *counter = &pmu->counter[i];

        counter->setting = pmu->family->decode(pmu, i);
        pmu->enabled |= counter->setting.modes != 0;
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

void x86_pmu_update(CPUX86State *env)
{
    if (x86_pmu_synchronize(&env->pmu)) {
        x86_pmu_reconfigure(env);
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

/* Looks for overflows, and delivers one interrupt for all interrupts that are due. */
static void deliver_interrupts(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint32_t pending;
    uint64_t now;

    x86_pmu_update(env);
    pending = pmu->pending;
    now = retired(pmu);
    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        if ((pending >> i & 1) && pmu->counter[i].due <= now) {
            pmu->pending &= ~BIT(i);
        }
    }
    if (pmu->pending != pending) {
        pmu->stats.pmi++;
        raise_pmi(env);
        x86_pmu_reconfigure(env);
    }
}

static void add_branches(CPUX86State *env, int n)
{
    if (env_cpu(env)->tcg_cflags & CF_PMU_BRANCH) {
        env->pmu.total[x86_pmu_current_mode(env)][PMU_EVENT_BRANCH] += n;
    }
}

/* INTO traps: it is a far branch. */
void x86_pmu_far_branch(CPUX86State *env)
{
    add_branches(env, 1);
}

/* INT n faults, but has already been counted as an instruction and a branch. */
void x86_pmu_undo_int(CPUX86State *env)
{
    x86_pmu_uncharge_insn(env);
    add_branches(env, -1);
}

/* A TB found the budget of its mode too small and has not run its first instruction. */
void x86_pmu_tb_exit(CPUState *cs, const TranslationBlock *tb)
{
    CPUX86State *env = cs->env_ptr;
    X86PMUState *pmu = &env->pmu;
    int64_t budget = pmu->budget[x86_pmu_current_mode(env)];
    uint32_t cflags = tb_cflags(tb);

    if (cflags & CF_USE_ICOUNT) {
        /* Give back the instructions that the TB has charged to icount. */
        cpu_neg(cs)->icount_decr.u16.low += tb->icount;
    }
    if (budget > 0) {
        /* Run only the instructions up to the one that may overflow a counter. */
        cs->cflags_next_tb = (cflags & ~CF_COUNT_MASK) | budget;
        return;
    }
    deliver_interrupts(env);
}

/*
 * The CPU is about to take an interrupt, between two TBs. If the last instruction overflowed a
 * counter, send the counter's interrupt first: then the APIC chooses by priority.
 */
void x86_pmu_before_interrupt(CPUX86State *env)
{
    if (env->pmu.watched && env->pmu.budget[x86_pmu_current_mode(env)] <= 0) {
        deliver_interrupts(env);
    }
}

/* A branch that changes the mode is counted after the change. Will it overflow a counter? */
static bool branch_overflows(const X86PMUState *pmu)
{
    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        const X86PMUCounter *counter = &pmu->counter[i];

        if (must_be_exact(counter) && (event_cflags(&counter->setting) & CF_PMU_BRANCH) &&
            insns_to_overflow(pmu, counter) == 1) {
            return true;
        }
    }
    return false;
}

/*
 * Code in the old mode has used the budget of that mode only. A counter may count both modes, so
 * the new mode may have less left than its budget says.
 */
void x86_pmu_mode_change(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    set_budget(pmu);
    if (branch_overflows(pmu)) {
        for (unsigned mode = 0; mode < PMU_NB_MODES; mode++) {
            pmu->budget[mode] = pmu->limit[mode] = 0;
        }
    }
}

/* Called after an iteration of a string instruction, which can overflow a counter. */
void helper_pmu_poll(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;

    for (unsigned i = 0; i < pmu->family->nb_counters; i++) {
        const X86PMUCounter *counter = &pmu->counter[i];

        if (must_be_exact(counter) && needs_attention(pmu, counter)) {
            x86_pmu_update(env);
            return;
        }
    }
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t leaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    /* This bit promises registers, so only the family may set it. */
    if (leaf == 0x80000001) {
        *ecx &= ~CPUID_EXT3_PERFCORE;
    }
    if (env->pmu.family && env->pmu.family->cpuid) {
        env->pmu.family->cpuid(env, leaf, eax, ebx, ecx, edx);
    }
    x86_pmu_promise_trace(env, leaf, eax, ebx, ecx);
    if (x86_pmu_lies_about_leaf(env, leaf)) {
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
    if (env_cpu(env)->cpu_index == 0) {
        x86_pmu_shared_reset();
    }
    x86_pmu_memory_reset(env);
    x86_pmu_miscount_reset(pmu);
    x86_pmu_reconfigure(env);
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
    return x86_pmu_stats_realize(cpu, errp) && x86_pmu_syscalls_realize(cpu, errp);
}
