// SPDX-License-Identifier: LGPL-2.1-or-later
/* Cyrix 6x86MX, MII and III. */
#include "cesr.h"

EVENT_TABLE(mii);

/* Cyrix M II Data Book, "Counter Event Control Register". */
static const struct perfctr_field cesr[] = {
	FIELD_CESR_EVENT("TC"),
	FIELDS_CESR_CONTROL,
	{ 10, 10, "TC high", "the event's highest bit" },
	{ 0 },
};

const struct family perfctr_pmu_mii = {
	.name = "mii",
	.table = { &perfctr_table_p5, &perfctr_table_p5_mmx, &perfctr_table_mii },
	.event_bits = 0x53f,
	.evntsel = { "CESR, half", cesr },
	.info = { .pmu = PERFCTR_PMU_MII, CESR_INFO(0x5ff) },
};
