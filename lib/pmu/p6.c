// SPDX-License-Identifier: LGPL-2.1-or-later
/* Intel Pentium Pro, II, III and M. */
#include "evntsel.h"
#include "family.h"

EVENT_TABLE(p6);

/* Intel SDM volume 3, "P6 Family Processor Performance Counters": PerfEvtSel0 and 1. */
static const struct perfctr_field evntsel[] = {
	FIELDS_EVENT,	   FIELDS_MODES,
	FIELD_EDGE,	   { 19, 19, "PC", "toggle a pin at each event, not at overflow" },
	FIELD_INTERRUPT,   { 22, 22, "EN", "enable both counters; in PerfEvtSel0 alone" },
	FIELDS_COMPARISON, { 0 },
};

const struct family perfctr_pmu_p6 = {
	.name = "p6",
	.libpfm = { "pm", "ppro", "pii" },
	.table = { &perfctr_table_p6 },
	EVNTSEL_FAMILY(0),
	.enable_first = EVNTSEL_EN,
	.evntsel = { "PerfEvtSelx", evntsel },
	.info = { .pmu = PERFCTR_PMU_P6, EVNTSEL_INFO(2, 40, 0, 0) },
};
