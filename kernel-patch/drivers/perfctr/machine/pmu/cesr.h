/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Pentium's registers, which other makers have adopted: CESR (MSR 11H) selects the events of
 * both counters, CTR0 and CTR1 (12H, 13H). The evntsel of an event is its counter's half of CESR.
 */
#ifndef _PERFCTR_CESR_H
#define _PERFCTR_CESR_H

#include <linux/bits.h>
#include "../pmu.h"

#define CESR_COUNTERS	2

/* A half of CESR, as Intel and Cyrix have it (SDM volume 3, 20.6.9.1). */
#define CESR_EVENT	GENMASK(5, 0)
#define CESR_KERNEL	BIT(6)		/* CPL 0 to 2 */
#define CESR_USER	BIT(7)
#define CESR_CLOCKS	BIT(8)		/* the clocks in these rings instead of the event */
/* Bit 9 drives a pin. */

#define CESR_INSTRUCTIONS	0x16

#define CESR_ALLOWED	(CESR_EVENT | CESR_KERNEL | CESR_USER | CESR_CLOCKS)

/* Operations of struct perfctr_pmu. The last one is for processors without RDPMC. */
void perfctr_cesr_take_cpu(bool first);
void perfctr_cesr_give_cpu(void);
void perfctr_cesr_load(const struct perfctr_hw_control *hw);
void perfctr_cesr_enable(u64 slots);
void perfctr_cesr_clear(u64 slots);
u32 perfctr_cesr_msr_of(u32 slot);
bool perfctr_cesr_intact(u64 slots);
void perfctr_cesr_read_msr(const struct perfctr_hw_control *hw, u64 *value);

/*
 * Members of struct perfctr_pmu that all families with CESR share. A family adds the masks, and
 * check() and read() if it needs them.
 */
#define PERFCTR_CESR_COMMON					\
	.n_general = CESR_COUNTERS,				\
	.counter_msr = 0x12,					\
	.probe_evntsel = CESR_INSTRUCTIONS | CESR_KERNEL,	\
	.msr_of = perfctr_cesr_msr_of,				\
	.take_cpu = perfctr_cesr_take_cpu,			\
	.give_cpu = perfctr_cesr_give_cpu,			\
	.load = perfctr_cesr_load,				\
	.enable = perfctr_cesr_enable,				\
	.clear = perfctr_cesr_clear,				\
	.intact = perfctr_cesr_intact

#endif
