// SPDX-License-Identifier: GPL-2.0-only
/* How many interrupts counters may have, and how much of a CPU's time. */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>
#include "../machine/percpu.h"
#include "internal.h"

#ifndef MODULE
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "perfctr."
#endif

/* What perf_events allows. */
#define INTERRUPTS_PER_SECOND	100000
#define INTERRUPT_PERCENT	25

/*
 * Periods may be as short as an event. What more interrupts than these would tell is found out at
 * switches and ticks, so that the CPU has time for others. Where each interrupt's own instructions
 * bring the next one nothing else comes to the CPU, its tick neither, and jiffies go on without it:
 * so interrupts do not renew what they may have.
 */
static unsigned int interrupts_per_tick = INTERRUPTS_PER_SECOND / HZ;
module_param(interrupts_per_tick, uint, 0644);
MODULE_PARM_DESC(interrupts_per_tick, "of counters, on each CPU; what comes later the tick finds");

static unsigned int interrupt_percent = INTERRUPT_PERCENT;
module_param(interrupt_percent, uint, 0644);
MODULE_PARM_DESC(interrupt_percent, "of each tick's time for them; likewise; beyond 100: no limit");

/* In ticks of the time stamp. */
static u64 part_of_tick(unsigned int percent)
{
	return (u64)(tsc_khz / HZ) * 10 * percent;
}

static unsigned int permitted_percent(void)
{
	return min(READ_ONCE(interrupt_percent), 100u);
}

/* An emulated CPU may have stood still within one: all of a tick is not much for that. */
static bool is_interrupt_time_used(const struct perfctr_cpu *cpu)
{
	unsigned int percent = READ_ONCE(interrupt_percent);

	return percent <= 100 && cpu->interrupt_time > part_of_tick(percent);
}

bool perfctr_interrupted_enough(const struct perfctr_cpu *cpu)
{
	return cpu->interrupts >= READ_ONCE(interrupts_per_tick) || is_interrupt_time_used(cpu);
}

/*
 * Time stamp ticks between the last interrupt and this one, which began at start, that are theirs:
 * where kernel mode is counted, what they do on their way in and out, and the signals that they
 * send, bring the next one. Nobody else's time is as short as that beside their own.
 */
static u64 interrupt_overhead_before(const struct perfctr_cpu *cpu, u64 start)
{
	u64 between = start - cpu->interrupted;
	unsigned int percent = permitted_percent();

	if (user_mode(get_irq_regs()) || between * percent >= cpu->last_interrupt * (100 - percent))
		return 0;
	return between;
}

void perfctr_interrupt_begins(struct perfctr_cpu *cpu, u64 start)
{
	cpu->interrupts++;
	cpu->interrupt_time += interrupt_overhead_before(cpu, start);
}

void perfctr_interrupt_ends(struct perfctr_cpu *cpu, u64 start)
{
	cpu->interrupted = rdtsc();
	cpu->last_interrupt = cpu->interrupted - start;
	cpu->interrupt_time += cpu->last_interrupt;
}

/*
 * Behind interrupts that took a tick the next tick waits: what they interrupt gets on before there
 * are others.
 */
void perfctr_renew_interrupts(struct perfctr_cpu *cpu)
{
	if (perfctr_interrupted_enough(cpu) &&
	    rdtsc() - cpu->interrupted < part_of_tick(INTERRUPT_PERCENT))
		return;
	cpu->tick = get_jiffies_64();
	cpu->interrupts = 0;
	cpu->interrupt_time = 0;
}
