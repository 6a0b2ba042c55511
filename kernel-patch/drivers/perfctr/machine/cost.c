// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of the instructions that counting needs on this machine, so that users can
 * judge figures.
 */
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "../kernel/compat.h"
#include "machine.h"

#define REPEAT 64

#define ticks(statement) ({				\
	u64 start_ = rdtsc_ordered();			\
	int i_;						\
							\
	for (i_ = 0; i_ < REPEAT; i_++)			\
		statement;				\
	(u32)((rdtsc_ordered() - start_) / REPEAT);	\
})

struct perfctr_costs perfctr_costs;

void __init perfctr_measure_rdtsc(void)
{
	unsigned long flags;

	if (!boot_cpu_has(X86_FEATURE_TSC))
		return;
	local_irq_save(flags);
	perfctr_costs.rdtsc = ticks(rdtsc());
	local_irq_restore(flags);
}

void perfctr_measure_costs(void)
{
	const struct perfctr_pmu *pmu = perfctr_pmu;
	struct perfctr_costs *costs = &perfctr_costs;
	u64 value __maybe_unused;

	lockdep_assert_irqs_disabled();
	if (!boot_cpu_has(X86_FEATURE_TSC))
		return;
	pmu->take_cpu(true);
	if (pmu->features & PERFCTR_FEATURE_RDPMC)
		costs->rdpmc = ticks(value = perfctr_rdpmc(0));
	costs->rdmsr = ticks(rdmsrl(pmu->counter_msr, value));
	costs->wrmsr = ticks(wrmsrl(pmu->counter_msr, 0));
	pmu->give_cpu();
}
