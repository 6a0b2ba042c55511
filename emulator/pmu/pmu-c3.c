/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VIA C3 (data book, appendix A): only counter 1, at its addresses on the P6, without mode bits
 *
 * On the chip, RDPMC with index 0 reads the time stamp. Here it reads 0.
 */
#include "qemu/osdep.h"
#include "pmu-internal.h"

#define NB_COUNTERS     2
#define WIDTH           32
#define EVNTSEL         0
#define EVENT           0x1ff

static const X86PMURegister c3_registers[] = {
    { 0x0c2, 1, PMU_COUNTER_FULL, 1, PMU_STATS_COUNTER },
    { 0x187, 1, PMU_CONTROL, EVNTSEL, PMU_STATS_EVNTSEL, EVENT },
    { }
};

static bool c3_match(CPUX86State *env)
{
    unsigned model = env->cpuid_version >> 4 & 0xf;

    return !memcmp(&env->cpuid_vendor1, "Cent", 4) && !memcmp(&env->cpuid_vendor2, "aurH", 4) &&
           !memcmp(&env->cpuid_vendor3, "auls", 4) && (env->cpuid_version >> 8 & 0xf) == 6 &&
           model >= 6 && model <= 9;
}

/* Event 1C0H, instructions and iterations of string instructions, is not modelled. */
static X86PMUSetting c3_decode(const X86PMUState *pmu, unsigned counter)
{
    unsigned event = pmu->control[EVNTSEL];
    X86PMUSetting setting = { .event = PMU_EVENT_NONE };

    if (counter == 1 && (event == 0x079 || event == 0x0c0)) {
        setting.event = PMU_EVENT_INSN;
        setting.modes = PMU_KERNEL | PMU_USER;
    }
    return setting;
}

static void c3_set_overflow(X86PMUState *pmu, unsigned counter)
{
}

static int c3_rdpmc(uint32_t ecx, uint64_t *mask)
{
    return ecx < NB_COUNTERS ? ecx : -1;
}

const X86PMUFamily x86_pmu_c3 = {
    .name = "c3",
    .match = c3_match,
    .nb_counters = NB_COUNTERS,
    .counter_width = WIDTH,
    .registers = c3_registers,
    .decode = c3_decode,
    .set_overflow = c3_set_overflow,
    .rdpmc = c3_rdpmc,
};
