// SPDX-License-Identifier: GPL-2.0-only
/* Limits of the number of interrupts that counters cause, and of the CPU time that these take. */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>
#include "../kernel/parameters.h"
#include "../machine/percpu.h"
#include "internal.h"

/* The limits of perf_events. */
#define INTERRUPTS_PER_SECOND	100000
#define INTERRUPT_PERCENT	25

/*
 * A period may be as short as one event. Beyond these limits counters do not interrupt, and the
 * next switch or tick accounts for the overflows, so that the CPU has time for other work.
 *
 * If the instructions of each interrupt cause the next one, the CPU does nothing else. It does not
 * even get to its tick, while jiffies advance without it. Interrupts therefore never renew their
 * own budget.
 */
static unsigned int interrupts_per_tick = INTERRUPTS_PER_SECOND / HZ;
module_param(interrupts_per_tick, uint, 0644);
MODULE_PARM_DESC(interrupts_per_tick,
		 "maximum counter interrupts per tick and CPU; ticks account for later overflows");

static unsigned int interrupt_percent = INTERRUPT_PERCENT;
module_param(interrupt_percent, uint, 0644);
MODULE_PARM_DESC(interrupt_percent,
		 "maximum percentage of a tick for counter interrupts; above 100: no limit");

/* In ticks of the time stamp counter. */
static u64 part_of_tick(unsigned int percent)
{
	return (u64)(tsc_khz / HZ) * 10 * percent;
}

static unsigned int permitted_percent(void)
{
	return min(READ_ONCE(interrupt_percent), 100u);
}

/*
 * An emulated CPU may stand still within an interrupt, for longer than a whole tick. A percentage
 * above 100 therefore means that there is no limit.
 */
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
 * Returns the time stamp ticks between the last interrupt and this one, which began at start, if
 * they are overhead of the interrupts, and else 0. If kernel mode is counted, the entry and exit of
 * an interrupt, and the signals that it sends, can cause the next one. The time that other code
 * gets is never that short compared with the time of the interrupt itself.
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
 * If interrupts have used up their budget until just now, this tick does not renew it, but a later
 * one: the interrupted code makes progress before there are further interrupts.
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
