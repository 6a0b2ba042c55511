// SPDX-License-Identifier: GPL-2.0-only
/* What the context switch, gates and reservations know of one CPU's counters. */
#include <linux/lockdep.h>
#include <linux/seq_file.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include "../kernel/hooks.h"
#include "percpu.h"

DEFINE_PER_CPU(struct perfctr_cpu, perfctr_cpu);
DEFINE_PER_CPU(u64, perfctr_gate_slots);

/* Stops some counters for a moment. */
void perfctr_cpu_freeze(u64 slots)
{
	lockdep_assert_irqs_disabled();
	perfctr_pmu->enable(__this_cpu_read(perfctr_cpu.running) & ~slots);
}

void perfctr_cpu_thaw(void)
{
	lockdep_assert_irqs_disabled();
	perfctr_pmu->enable(__this_cpu_read(perfctr_cpu.running));
}

/*
 * A session has them now, with its events, from 0: nothing of contexts is in them that would have
 * to be cleared, and a control that had them before is to be loaded anew.
 */
void perfctr_cpu_forget(u64 slots)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	cpu->control = 0;
	cpu->own &= ~slots;
	cpu->foreign &= ~slots;
}

/* On the CPU itself: a counter that has stopped may not have told of its overflow yet. */
bool perfctr_cpu_may_interrupt(void)
{
	const struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	u32 latest = tsc_khz / (1000 / PERFCTR_LATEST_INTERRUPT);

	lockdep_assert_irqs_disabled();
	return cpu->routed && rdtsc() - cpu->overflowed <= latest;
}

/*
 * No counter of ours interrupts any more. One that is under way is to come to us: perf_events would
 * not know it. Callers that can sleep wait before; a CPU that goes or is suspended waits here.
 */
void perfctr_cpu_give_interrupts(void)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	if (!cpu->routed)
		return;
	while (perfctr_cpu_may_interrupt())
		cpu_relax();
	perfctr_cpu_acknowledge(~cpu->running);
	WRITE_ONCE(cpu->routed, false);
	perfctr_route_interrupts(false);
}

bool perfctr_cpu_has_interrupts(unsigned int cpu)
{
	return READ_ONCE(per_cpu(perfctr_cpu.routed, cpu));
}

/* The counters were taken or given back: stopped, all 0, no event selected. */
void perfctr_cpu_reset(void)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	cpu->owner = 0;
	cpu->control = 0;
	cpu->own = 0;
	cpu->foreign = 0;
	cpu->running = 0;
	perfctr_cpu_give_interrupts();
}

u64 perfctr_disturbances(void)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu(perfctr_cpu.disturbances, cpu));
	return n;
}

u32 perfctr_mute_cpus(void)
{
	unsigned int cpu;
	u32 n = 0;

	for_each_online_cpu(cpu)
		n += perfctr_cpu_is_mute(cpu);
	return n;
}

void perfctr_cpu_show(struct seq_file *m, unsigned int number)
{
	const struct perfctr_cpu *cpu = per_cpu_ptr(&perfctr_cpu, number);

	seq_printf(m, "%u %llu %d %llu %llu %llu %llu\n", number, READ_ONCE(cpu->owner),
		   !!READ_ONCE(cpu->enabled), READ_ONCE(cpu->entries), READ_ONCE(cpu->starts),
		   READ_ONCE(cpu->loads), READ_ONCE(cpu->clears));
}
