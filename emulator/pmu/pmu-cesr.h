/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of the Pentium, which other processors have adopted: CESR, CTR0 and CTR1 (SDM
 * volume 3, 20.6.9)
 */
#ifndef I386_TCG_PMU_CESR_H
#define I386_TCG_PMU_CESR_H

#include "pmu-internal.h"

#define CESR_NB_COUNTERS    2
#define CESR_CODE           0x3f        /* in a half of CESR, like the bits below */
#define CESR_KERNEL         (1 << 6)
#define CESR_USER           (1 << 7)
#define CESR_CLOCKS         (1 << 8)

#define CESR_REGISTERS(writable) \
    { 0x11, 1, PMU_CONTROL, 0, PMU_STATS_EVNTSEL, (writable) * 0x10001ULL }, \
    { 0x12, CESR_NB_COUNTERS, PMU_COUNTER_FULL, 0, PMU_STATS_COUNTER }

static inline unsigned cesr_half(const X86PMUState *pmu, unsigned counter)
{
    return pmu->control[0] >> (16 * counter) & 0xffff;
}

/*
 * Returns the setting for a half of CESR, with the event that its code selects. A clock is an
 * instruction.
 */
static inline X86PMUSetting cesr_setting(unsigned half, int event)
{
    return (X86PMUSetting) {
        .event = half & CESR_CLOCKS ? PMU_EVENT_INSN : event,
        .modes = (half & CESR_KERNEL ? PMU_KERNEL : 0) | (half & CESR_USER ? PMU_USER : 0),
    };
}

/* Returns the event that has this code on all these processors, or PMU_EVENT_NONE. */
int x86_pmu_cesr_event(unsigned code);

/* Does nothing, because only a pin shows an overflow. */
void x86_pmu_cesr_set_overflow(X86PMUState *pmu, unsigned counter);
int x86_pmu_cesr_rdpmc(uint32_t ecx, uint64_t *mask);

#endif
