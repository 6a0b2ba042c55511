/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance monitoring unit: the part that all processors with a CESR share */
#include "qemu/osdep.h"
#include "pmu-cesr.h"

static const struct {
    uint8_t code;
    int8_t event;
} cesr_events[] = {
    { 0x00, PMU_EVENT_LOAD },
    { 0x01, PMU_EVENT_STORE },
    { 0x12, PMU_EVENT_BRANCH },
    /* Taken branches or hits of the branch target buffer. Here only taken branches hit it. */
    { 0x14, PMU_EVENT_NEAR_TAKEN },
    { 0x16, PMU_EVENT_INSN },
};

int x86_pmu_cesr_event(unsigned code)
{
    for (int i = 0; i < ARRAY_SIZE(cesr_events); i++) {
        if (cesr_events[i].code == code) {
            return cesr_events[i].event;
        }
    }
    return PMU_EVENT_NONE;
}

void x86_pmu_cesr_set_overflow(X86PMUState *pmu, unsigned counter)
{
}

int x86_pmu_cesr_rdpmc(uint32_t ecx, uint64_t *mask)
{
    return ecx < CESR_NB_COUNTERS ? ecx : -1;
}
