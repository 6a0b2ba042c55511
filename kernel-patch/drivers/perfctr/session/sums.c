// SPDX-License-Identifier: GPL-2.0-only
/* What a session has counted, added up over its CPUs. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include "../machine/machine.h"
#include "internal.h"

struct fold {
	struct perfctr_session *session;
	struct task_struct *reader;
	bool counts_on;		/* some thread but the reader was being counted */
	struct cpumask *told;	/* stopped CPUs that have folded */
};

static void fold_this_cpu(void *arg)
{
	struct fold *fold = arg;

	if (perfctr_gate_fold(fold->session) && current != fold->reader)
		WRITE_ONCE(fold->counts_on, true);
	/* All counters as of one instruction: what changes the totals next may be a switch. */
	this_cpu_ptr(fold->session->cpu)->told = *perfctr_totals_here(fold->session);
}

static int fold_stopped_cpu(void *arg)
{
	const struct fold *fold = arg;

	fold_this_cpu(arg);
	cpumask_set_cpu(smp_processor_id(), fold->told);
	return 0;
}

static u64 count_openings(const struct perfctr_session *s)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_cpu(cpu, s->cpus)
		n += READ_ONCE(s->totals->cpu[cpu].switches);
	return n;
}

/* A CPU whose gate is closed has published what it counted, and is not disturbed. */
static void find_open_gates(const struct perfctr_session *s, struct cpumask *open)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, s->cpus, cpu_online_mask)
		if (perfctr_gate_is_open(s, cpu))
			cpumask_set_cpu(cpu, open);
}

static void add_totals(struct perfctr_counts *counts, const struct perfctr_cpu_totals *totals)
{
	unsigned int i;

	counts->tsc += totals->tsc;
	counts->switches += totals->switches;
	for (i = 0; i < counts->n_counters; i++)
		counts->counter[i] += totals->counter[i];
}

/* But for those in told, who have told theirs. */
static void add_all(const struct perfctr_session *s, struct perfctr_counts *counts,
		    const struct cpumask *told)
{
	unsigned int cpu;

	for_each_cpu(cpu, s->cpus) {
		struct perfctr_cpu_totals *totals = &per_cpu_ptr(s->cpu, cpu)->told;

		if (!cpumask_test_cpu(cpu, told))
			perfctr_totals_copy(s, cpu, totals);
		add_totals(counts, totals);
		if (static_branch_unlikely(&perfctr_kinds))
			counts->kind_tsc[perfctr_kind_of_cpu(cpu)] += totals->tsc;
	}
}

/* By stopping the machine, which holds up everybody: only for who asks for it and may. */
static void add_at_one_instant(struct perfctr_session *s, struct perfctr_counts *counts,
			       struct cpumask *cpus)
{
	struct fold fold = { .session = s, .reader = current, .told = cpus };

	stop_machine(fold_stopped_cpu, &fold, s->cpus);
	add_all(s, counts, cpus);
}

/* It is said whether something was counted between the first sum and the last. */
static void add_one_by_one(struct perfctr_session *s, struct perfctr_counts *counts,
			   struct cpumask *cpus)
{
	struct fold fold = { .session = s, .reader = current };
	u64 before = count_openings(s);

	cpus_read_lock();
	find_open_gates(s, cpus);
	on_each_cpu_mask(cpus, fold_this_cpu, &fold, true);
	add_all(s, counts, cpus);
	cpus_read_unlock();
	if (fold.counts_on || count_openings(s) != before)
		counts->flags &= ~PERFCTR_COUNTS_CONSISTENT;
}

int perfctr_sum_cpus(struct perfctr_session *s, struct perfctr_counts *counts, bool at_once)
{
	lockdep_assert_held(&s->lock);
	cpumask_var_t cpus;

	if (!s->started) {
		add_all(s, counts, cpu_none_mask);
		return 0;
	}
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL_ACCOUNT))
		return -ENOMEM;
	if (at_once)
		add_at_one_instant(s, counts, cpus);
	else
		add_one_by_one(s, counts, cpus);
	free_cpumask_var(cpus);
	return 0;
}
