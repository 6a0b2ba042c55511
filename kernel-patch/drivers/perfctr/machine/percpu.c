// SPDX-License-Identifier: GPL-2.0-only
/* The state of one CPU's counters, for the context switch, the gates and reservations. */
#include <linux/lockdep.h>
#include <linux/seq_file.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include "../kernel/hooks.h"
#include "percpu.h"

DEFINE_PER_CPU(struct perfctr_cpu, perfctr_cpu);
DEFINE_PER_CPU(u64, perfctr_gate_slots);

/* Stops the counters of slots for a moment; other counters of this CPU go on. */
void perfctr_cpu_freeze(u64 slots)
{
	lockdep_assert_irqs_disabled();
	perfctr_pmu->enable(__this_cpu_read(perfctr_cpu.running) & ~slots);
}

/* Restarts the counters that perfctr_cpu_freeze() has stopped. */
void perfctr_cpu_thaw(void)
{
	lockdep_assert_irqs_disabled();
	perfctr_pmu->enable(__this_cpu_read(perfctr_cpu.running));
}

/*
 * Called when a session has just loaded its events into the counters of slots and set these
 * counters to 0. They no longer hold counts of contexts, and a control that used them must be
 * loaded again.
 */
void perfctr_cpu_forget(u64 slots)
{
	struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);

	lockdep_assert_irqs_disabled();
	cpu->control = 0;
	cpu->own &= ~slots;
	cpu->foreign &= ~slots;
}

/*
 * Called on the CPU itself, with interrupts off. Returns whether a counter that has stopped may
 * still cause an interrupt for an overflow.
 */
bool perfctr_cpu_may_interrupt(void)
{
	const struct perfctr_cpu *cpu = this_cpu_ptr(&perfctr_cpu);
	u32 latest = tsc_khz / (1000 / PERFCTR_LATEST_INTERRUPT);

	lockdep_assert_irqs_disabled();
	return cpu->routed && rdtsc() - cpu->overflowed <= latest;
}

/*
 * Gives this CPU's interrupt of counters back to perf_events. No counter of this driver causes
 * further interrupts. An interrupt that is already on its way must still be handled by this driver,
 * because perf_events would not recognize it. Callers that can sleep have waited for that interrupt
 * before; a CPU that goes offline or suspends waits for it here.
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

/*
 * Called after take_cpu() and after give_cpu(): the counters have no events of this driver, and no
 * counts of its users.
 */
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
