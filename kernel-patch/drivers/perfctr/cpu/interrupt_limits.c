// SPDX-License-Identifier: GPL-2.0-only
/* Limits on the number of interrupts that counters cause, and on the CPU time that they take. */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <asm/irq_regs.h>
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>
#include "../kernel/parameters.h"
#include "../machine/percpu.h"
#include "internal.h"

/* The same as the default limits of perf_events. */
#define INTERRUPTS_PER_SECOND	100000
#define INTERRUPT_PERCENT	25

/*
 * A period may be as short as one event. To leave the CPU time for other work, counters do not
 * interrupt beyond these limits: the next switch or tick accounts for the overflows.
 *
 * If the instructions of each interrupt cause the next one, the CPU does nothing else. It does not
 * even handle its tick, although other CPUs advance jiffies. So no interrupt renews the budget,
 * however much time has passed.
 */
static unsigned int interrupts_per_tick = INTERRUPTS_PER_SECOND / HZ;
module_param(interrupts_per_tick, uint, 0644);
MODULE_PARM_DESC(interrupts_per_tick,
		 "maximum counter interrupts per tick and CPU; ticks account for later overflows");

static unsigned int interrupt_percent = INTERRUPT_PERCENT;
module_param(interrupt_percent, uint, 0644);
MODULE_PARM_DESC(interrupt_percent,
		 "maximum percentage of a tick for counter interrupts; above 100: no limit");

/* Returns the percentage of a tick, in ticks of the time stamp counter. */
static u64 part_of_tick(unsigned int percent)
{
	return (u64)(tsc_khz / HZ) * 10 * percent;
}

static unsigned int permitted_percent(void)
{
	return min(READ_ONCE(interrupt_percent), 100u);
}

/*
 * An emulated CPU may stand still in an interrupt for longer than a whole tick. So 100 percent is
 * still a limit, and a higher percentage means that there is none.
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
 * that gap is overhead of the interrupts, else 0. If kernel mode is counted, the entry and exit of
 * an interrupt, and the signals that it sends, can cause the next one. Such a gap lies in the
 * kernel, and is shorter, compared with the interrupt itself, than the gaps in which other code
 * runs.
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
 * If interrupts have used up the budget just now, this tick does not renew it, but a later tick
 * does: the interrupted code makes progress before there are further interrupts.
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
