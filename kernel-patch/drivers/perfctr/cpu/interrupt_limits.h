/* SPDX-License-Identifier: GPL-2.0-only */
/* How many interrupts of counters a CPU may have in a tick. Interrupts off, on the CPU itself. */
#ifndef PERFCTR_INTERRUPT_LIMITS_H
#define PERFCTR_INTERRUPT_LIMITS_H

#include <linux/types.h>

struct perfctr_cpu;

/* The first and the last that an interrupt does; start: the time stamp at its first. */
void perfctr_interrupt_begins(struct perfctr_cpu *cpu, u64 start);
void perfctr_interrupt_ends(struct perfctr_cpu *cpu, u64 start);
/* No more of them before the next tick. */
bool perfctr_interrupted_enough(const struct perfctr_cpu *cpu);
/* A tick, or the first interrupting context after one: there may be others. */
void perfctr_renew_interrupts(struct perfctr_cpu *cpu);

#endif
