/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel Pentium, and Pentium with MMX (SDM volume 3, 20.6.9) */
#include "qemu/osdep.h"
#include "pmu-cesr.h"

#define WIDTH           40
#define HALF_WRITABLE   0x3ff           /* with the pin control, which does nothing */

static const X86PMURegister p5_registers[] = {
    CESR_REGISTERS(HALF_WRITABLE),
    { }
};

/* The modelled codes that the Pentium with MMX added. Each is for one counter only. */
static const struct {
    uint8_t code;
    uint8_t counter;
    int8_t event;
} p5_mmx_events[] = {
    { 0x30, 0, PMU_EVENT_INSN },        /* cycles not halted */
    { 0x32, 1, PMU_EVENT_NEAR_TAKEN },
};

static bool is_p5(CPUX86State *env)
{
    return IS_INTEL_CPU(env) && (env->cpuid_version >> 8 & 0xf) == 5;
}

static bool has_mmx(CPUX86State *env)
{
    return env->features[FEAT_1_EDX] & CPUID_MMX;
}

static bool p5_match(CPUX86State *env)
{
    return is_p5(env) && !has_mmx(env);
}

static bool p5_mmx_match(CPUX86State *env)
{
    return is_p5(env) && has_mmx(env);
}

static X86PMUSetting p5_decode(const X86PMUState *pmu, unsigned counter)
{
    unsigned half = cesr_half(pmu, counter);

    return cesr_setting(half, x86_pmu_cesr_event(half & CESR_CODE));
}

static X86PMUSetting p5_mmx_decode(const X86PMUState *pmu, unsigned counter)
{
    unsigned half = cesr_half(pmu, counter);

    for (int i = 0; i < ARRAY_SIZE(p5_mmx_events); i++) {
        if (p5_mmx_events[i].code == (half & CESR_CODE) && p5_mmx_events[i].counter == counter) {
            return cesr_setting(half, p5_mmx_events[i].event);
        }
    }
    return p5_decode(pmu, counter);
}

/* There is no RDPMC. */
const X86PMUFamily x86_pmu_p5 = {
    .name = "p5",
    .match = p5_match,
    .nb_counters = CESR_NB_COUNTERS,
    .counter_width = WIDTH,
    .registers = p5_registers,
    .decode = p5_decode,
    .set_overflow = x86_pmu_cesr_set_overflow,
};

const X86PMUFamily x86_pmu_p5_mmx = {
    .name = "p5mmx",
    .match = p5_mmx_match,
    .nb_counters = CESR_NB_COUNTERS,
    .counter_width = WIDTH,
    .registers = p5_registers,
    .decode = p5_mmx_decode,
    .set_overflow = x86_pmu_cesr_set_overflow,
    .rdpmc = x86_pmu_cesr_rdpmc,
};
