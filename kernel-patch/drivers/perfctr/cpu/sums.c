// SPDX-License-Identifier: GPL-2.0-only
/* Adds up what all CPUs have counted for a session, or for a tree counted by totals. */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include "page.h"

struct summing {
	const struct perfctr_cpu_pages *pages;
	const struct task_struct *reader;
	bool counts_on;		/* a CPU was counting a thread other than the reader */
};

static bool is_cpu_counting(int cpu, void *summing)
{
	const struct summing *sum = summing;

	return READ_ONCE(perfctr_page_of_cpu(sum->pages, cpu)->flags) & PERFCTR_PAGE_COUNTING;
}

/* Called on each CPU with interrupts off: brings its sums up to date, and reports them. */
static void tell_sums(void *summing)
{
	struct summing *sum = summing;
	const struct perfctr_cpu_pages *pages = sum->pages;
	unsigned int cpu = smp_processor_id();
	struct perfctr_told *told;

	if (is_cpu_counting(cpu, sum) && pages->fold(pages->owner) && current != sum->reader)
		WRITE_ONCE(sum->counts_on, true);
	if (!pages->told)
		return;
	told = this_cpu_ptr(pages->told);
	memset(&told->counts, 0, sizeof(told->counts));
	perfctr_page_add(perfctr_page_of_cpu(pages, cpu), &told->counts);
	told->fresh = true;
}

static int tell_stopped_sums(void *summing)
{
	tell_sums(summing);
	return 0;
}

static u64 count_entries(const struct perfctr_cpu_pages *pages, const struct cpumask *cpus)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_cpu(cpu, cpus)
		n += READ_ONCE(perfctr_page_of_cpu(pages, cpu)->switches);
	return n;
}

static void forget_told_sums(const struct perfctr_cpu_pages *pages, const struct cpumask *cpus)
{
	unsigned int cpu;

	if (!pages->told)
		return;
	for_each_cpu(cpu, cpus)
		per_cpu_ptr(pages->told, cpu)->fresh = false;
}

/*
 * The sums of a CPU that was not counting were up to date. If the CPU has begun to count since,
 * they may have grown.
 */
static void add_cpu_sums(const struct perfctr_cpu_pages *pages, const struct cpumask *cpus,
			 struct perfctr_counts *counts)
{
	struct perfctr_counts copy;
	unsigned int cpu;

	for_each_cpu(cpu, cpus) {
		const struct perfctr_told *told =
			pages->told ? per_cpu_ptr(pages->told, cpu) : NULL;

		if (told && told->fresh) {
			perfctr_add_counts(counts, &told->counts);
			continue;
		}
		perfctr_page_copy(perfctr_page_of_cpu(pages, cpu), &copy);
		perfctr_add_counts(counts, &copy);
	}
}

bool perfctr_sum_cpus(const struct perfctr_cpu_pages *pages, const struct cpumask *cpus,
		      bool at_once, struct perfctr_counts *counts)
{
	struct summing sum = { .pages = pages, .reader = current };
	u64 before = count_entries(pages, cpus);

	smp_rmb();	/* switches before flags */
	forget_told_sums(pages, cpus);
	if (at_once)
		stop_machine(tell_stopped_sums, &sum, cpus);
	else
		on_each_cpu_cond_mask(is_cpu_counting, tell_sums, &sum, true, cpus);
	smp_rmb();	/* flags before seq, and the sums before switches */
	add_cpu_sums(pages, cpus, counts);
	return at_once || (!sum.counts_on && count_entries(pages, cpus) == before);
}
