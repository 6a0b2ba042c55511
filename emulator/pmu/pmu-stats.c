/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: statistics for tests and benchmarks */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "sysemu/sysemu.h"
#include "pmu-internal.h"

static FILE *stats_file;

static unsigned register_slot(const X86PMUState *pmu, const X86PMURegister *r, uint32_t msr)
{
    unsigned slot = msr - r->msr;

    for (const X86PMURegister *before = pmu->family->registers; before != r; before++) {
        slot += before->count;
    }
    assert(slot < PMU_MAX_REGISTERS);
    return slot;
}

/* Returns -1 if the processor has no such register. */
static int find_slot(const X86PMUState *pmu, uint32_t msr)
{
    int slot = 0;

    for (const X86PMURegister *r = pmu->family->registers; r->count; slot += r->count, r++) {
        if (msr >= r->msr && msr < r->msr + r->count) {
            return slot + msr - r->msr;
        }
    }
    return -1;
}

void x86_pmu_stats_rdmsr(X86PMUState *pmu, const X86PMURegister *r, uint32_t msr)
{
    pmu->stats.rdmsr++;
    pmu->stats.rdmsr_of[register_slot(pmu, r, msr)]++;
}

void x86_pmu_stats_wrmsr(X86PMUState *pmu, const X86PMURegister *r, uint32_t msr)
{
    pmu->stats.wrmsr++;
    pmu->stats.wrmsr_of[register_slot(pmu, r, msr)]++;
}

/* Returns the sum over the registers of one kind; for PMU_STATS_NB_KINDS, over all registers. */
static uint64_t sum_registers(const X86PMUState *pmu, const uint64_t *counts, unsigned kind)
{
    uint64_t sum = 0;

    for (const X86PMURegister *r = pmu->family->registers; r->count; counts += r->count, r++) {
        for (int i = 0; i < r->count; i++) {
            sum += kind == PMU_STATS_NB_KINDS || kind == r->stats_kind ? counts[i] : 0;
        }
    }
    return sum;
}

uint64_t x86_pmu_stats_read(const X86PMUState *pmu, unsigned index)
{
    switch (index) {
    case PMU_STATS_VERSION:
        return 1;
    case PMU_STATS_RDMSR:
        return pmu->stats.rdmsr;
    case PMU_STATS_WRMSR:
        return pmu->stats.wrmsr;
    case PMU_STATS_RDPMC:
        return pmu->stats.rdpmc;
    case PMU_STATS_PMU_RDMSR:
        return sum_registers(pmu, pmu->stats.rdmsr_of, PMU_STATS_NB_KINDS);
    case PMU_STATS_PMU_WRMSR:
        return sum_registers(pmu, pmu->stats.wrmsr_of, PMU_STATS_NB_KINDS);
    case PMU_STATS_PMI:
        return pmu->stats.pmi;
    case PMU_STATS_INSN_KERNEL:
        return x86_pmu_event_total(pmu, 0, PMU_EVENT_INSN);
    case PMU_STATS_INSN_USER:
        return x86_pmu_event_total(pmu, 1, PMU_EVENT_INSN);
    case PMU_STATS_RDMSR_OF ... PMU_STATS_RDMSR_OF + PMU_STATS_NB_KINDS - 1:
        return sum_registers(pmu, pmu->stats.rdmsr_of, index - PMU_STATS_RDMSR_OF);
    case PMU_STATS_WRMSR_OF ... PMU_STATS_WRMSR_OF + PMU_STATS_NB_KINDS - 1:
        return sum_registers(pmu, pmu->stats.wrmsr_of, index - PMU_STATS_WRMSR_OF);
    default:
        return 0;
    }
}

/*
 * Adds the counts of the registers that the families of both processors have. The family of the
 * first processor, which is that of @sum, has all registers of the other families.
 */
static void add_registers(X86PMUState *sum, const X86PMUState *pmu)
{
    unsigned to = 0;

    for (const X86PMURegister *r = sum->family->registers; r->count; r++) {
        for (int i = 0; i < r->count; i++, to++) {
            int from = find_slot(pmu, r->msr + i);

            if (from >= 0) {
                sum->stats.rdmsr_of[to] += pmu->stats.rdmsr_of[from];
                sum->stats.wrmsr_of[to] += pmu->stats.wrmsr_of[from];
            }
        }
    }
}

static void add_stats(X86PMUState *sum, const X86PMUState *pmu)
{
    sum->family = sum->family ?: pmu->family;
    sum->stats.rdmsr += pmu->stats.rdmsr;
    sum->stats.wrmsr += pmu->stats.wrmsr;
    sum->stats.rdpmc += pmu->stats.rdpmc;
    sum->stats.pmi += pmu->stats.pmi;
    add_registers(sum, pmu);
    for (int mode = 0; mode < PMU_NB_MODES; mode++) {
        sum->total[mode][PMU_EVENT_INSN] += x86_pmu_event_total(pmu, mode, PMU_EVENT_INSN);
    }
}

static void write_registers(const X86PMUState *pmu)
{
    const char *separator = "";
    unsigned slot = 0;

    for (const X86PMURegister *r = pmu->family->registers; r->count; r++) {
        for (int i = 0; i < r->count; i++, slot++) {
            fprintf(stats_file, "%s\"0x%x\": {\"rdmsr\": %" PRIu64 ", \"wrmsr\": %" PRIu64 "}",
                    separator, r->msr + i, pmu->stats.rdmsr_of[slot], pmu->stats.wrmsr_of[slot]);
            separator = ", ";
        }
    }
}

static void write_stats(const X86PMUState *pmu)
{
    static const struct {
        const char *name;
        unsigned index;
    } fields[] = {
        { "rdmsr", PMU_STATS_RDMSR },
        { "wrmsr", PMU_STATS_WRMSR },
        { "rdpmc", PMU_STATS_RDPMC },
        { "pmu_rdmsr", PMU_STATS_PMU_RDMSR },
        { "pmu_wrmsr", PMU_STATS_PMU_WRMSR },
        { "pmi", PMU_STATS_PMI },
        { "instructions_kernel", PMU_STATS_INSN_KERNEL },
        { "instructions_user", PMU_STATS_INSN_USER },
    };

    for (int i = 0; i < ARRAY_SIZE(fields); i++) {
        fprintf(stats_file, "\"%s\": %" PRIu64 ", ", fields[i].name,
                x86_pmu_stats_read(pmu, fields[i].index));
    }
    fprintf(stats_file, "\"msr\": {");
    write_registers(pmu);
    fprintf(stats_file, "}");
}

static void write_file(Notifier *notifier, void *data)
{
    X86PMUState *sum = g_new0(X86PMUState, 1);
    const char *separator = "";
    CPUState *cs;

    fprintf(stats_file, "{\"schema\": \"pmu-stats\", \"version\": 1, \"family\": \"%s\",\n"
            "\"cpus\": [", X86_CPU(first_cpu)->env.pmu.family->name);
    CPU_FOREACH(cs) {
        const X86PMUState *pmu = &X86_CPU(cs)->env.pmu;

        fprintf(stats_file, "%s\n{\"cpu\": %d, ", separator, cs->cpu_index);
        write_stats(pmu);
        fprintf(stats_file, "}");
        add_stats(sum, pmu);
        separator = ",";
    }
    fprintf(stats_file, "],\n\"total\": {");
    write_stats(sum);
    fprintf(stats_file, "}}\n");
    fclose(stats_file);
    g_free(sum);
}

static Notifier exit_notifier = { .notify = write_file };

bool x86_pmu_stats_realize(X86CPU *cpu, Error **errp)
{
    if (cpu->pmu_stats && !cpu->env.pmu.family) {
        error_setg(errp, "pmu-stats=on needs pmu=on and a processor that has an emulated PMU");
        return false;
    }
    if (!cpu->pmu_stats_file || stats_file) {
        return true;
    }
    if (!cpu->pmu_stats) {
        error_setg(errp, "pmu-stats-file needs pmu-stats=on");
        return false;
    }
    stats_file = fopen(cpu->pmu_stats_file, "w");
    if (!stats_file) {
        error_setg_errno(errp, errno, "cannot write the PMU statistics to '%s'",
                         cpu->pmu_stats_file);
        return false;
    }
    qemu_add_exit_notifier(&exit_notifier);
    return true;
}
