/* SPDX-License-Identifier: GPL-2.0-only */
/* Event select registers: the same from Intel's P6 and AMD's K7 on */
#include "qemu/osdep.h"
#include "pmu-internal.h"

#define EVTSEL_EVENT    0xf0000ffffULL

static int lookup_event(uint64_t evtsel, const X86PMUEventCode *events)
{
    while (events->event != PMU_EVENT_NONE && events->code != (evtsel & EVTSEL_EVENT)) {
        events++;
    }
    return events->event;
}

/*
 * The threshold compares the number of events in a cycle, and a cycle is an instruction. If a cycle
 * has at most one event, a threshold of one changes nothing, and a greater one is never reached.
 * INV inverts the comparison: a greater threshold is then met in every cycle, and a threshold of
 * one in the cycles without the event. An instruction can have several loads, stores, misses and
 * reference cycles: thresholds on these events are not modelled. EDGE would need the order of the
 * cycles, and is not modelled either. The counter then counts nothing.
 */
static void apply_threshold(X86PMUSetting *setting, uint64_t evtsel)
{
    unsigned threshold = evtsel >> 24 & 0xff;
    bool several = setting->event == PMU_EVENT_LOAD || setting->event == PMU_EVENT_STORE ||
                   setting->event == PMU_EVENT_ACCESS || x86_pmu_is_miss(setting->event) ||
                   (setting->event == PMU_EVENT_REFERENCE && x86_pmu_reference_scale() > 1);

    if (evtsel & EVTSEL_EDGE) {
        setting->event = PMU_EVENT_NONE;
    } else if (threshold == 0 || setting->event == PMU_EVENT_NONE) {
        return;
    } else if (several) {
        setting->event = PMU_EVENT_NONE;
    } else if (threshold > 1) {
        setting->event = evtsel & EVTSEL_INV ? PMU_EVENT_INSN : PMU_EVENT_NONE;
    } else {
        setting->complement = evtsel & EVTSEL_INV;
    }
}

X86PMUSetting x86_pmu_decode_evtsel(uint64_t evtsel, const X86PMUEventCode *events)
{
    X86PMUSetting setting = {
        .event = lookup_event(evtsel, events),
        .modes = (evtsel & EVTSEL_OS ? PMU_KERNEL : 0) | (evtsel & EVTSEL_USR ? PMU_USER : 0),
        .interrupt = evtsel & EVTSEL_INT,
    };

    apply_threshold(&setting, evtsel);
    return setting;
}
