// SPDX-License-Identifier: LGPL-2.1-or-later
/* VIA C3. */
#include "family.h"

EVENT_TABLE(via_c3);

/* VIA C3 Samuel 2 Processor Datasheet. */
static const struct perfctr_field evntsel[] = {
	{ 0, 8, "event select", "what is counted" },
	{ 0 },
};

enum { EVENT_BITS = 0x1ff };

const struct family perfctr_pmu_via_c3 = {
	.name = "via_c3",
	.table = { &perfctr_table_via_c3 },
	.event_bits = EVENT_BITS,
	.evntsel = { "EVNTSEL1", evntsel },
	.info = { .pmu = PERFCTR_PMU_VIA_C3,
		  .n_general = 2,
		  .general_bits = 32,
		  .evntsel_allowed = EVENT_BITS },
};
