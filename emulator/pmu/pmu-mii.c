/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cyrix 6x86MX, MII, III (M II data book, 2.7): the Pentium's registers, with a seventh bit of
 * event code and wider counters
 */
#include "qemu/osdep.h"
#include "pmu-cesr.h"

#define WIDTH           48
#define CODE_HIGH       (1 << 10)
#define HALF_WRITABLE   0x7ff           /* with the pin control, which does nothing */

static const X86PMURegister mii_registers[] = {
    CESR_REGISTERS(HALF_WRITABLE),
    { }
};

static bool mii_match(CPUX86State *env)
{
    return !memcmp(&env->cpuid_vendor1, "Cyri", 4) && !memcmp(&env->cpuid_vendor2, "xIns", 4) &&
           !memcmp(&env->cpuid_vendor3, "tead", 4) && (env->cpuid_version >> 8 & 0xf) == 6;
}

/* None of the codes with the seventh bit is modelled. */
static X86PMUSetting mii_decode(const X86PMUState *pmu, unsigned counter)
{
    unsigned half = cesr_half(pmu, counter);
    int event = half & CODE_HIGH ? PMU_EVENT_NONE : x86_pmu_cesr_event(half & CESR_CODE);

    return cesr_setting(half, event);
}

const X86PMUFamily x86_pmu_mii = {
    .name = "mii",
    .match = mii_match,
    .nb_counters = CESR_NB_COUNTERS,
    .counter_width = WIDTH,
    .registers = mii_registers,
    .decode = mii_decode,
    .set_overflow = x86_pmu_cesr_set_overflow,
    .rdpmc = x86_pmu_cesr_rdpmc,
};
