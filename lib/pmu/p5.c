// SPDX-License-Identifier: LGPL-2.1-or-later
/* Intel Pentium, without MMX and with it. */
#include "cesr.h"

EVENT_TABLE(p5);
EVENT_TABLE(p5_mmx);

/* Intel SDM volume 3, "Control and Event Select Register (CESR)". */
static const struct perfctr_field cesr[] = { FIELD_CESR_EVENT("ES"), FIELDS_CESR_CONTROL, { 0 } };

/* The event select, and the bit that counts clocks instead. */
enum { EVENT_BITS = 0x13f };

const struct family perfctr_pmu_p5 = {
	.name = "p5",
	.table = { &perfctr_table_p5 },
	.event_bits = EVENT_BITS,
	.evntsel = { "CESR, half", cesr },
	.info = { .pmu = PERFCTR_PMU_P5, CESR_INFO(0x1ff) },
};

const struct family perfctr_pmu_p5_mmx = {
	.name = "p5_mmx",
	.table = { &perfctr_table_p5, &perfctr_table_p5_mmx },
	.event_bits = EVENT_BITS,
	.evntsel = { "CESR, half", cesr },
	.info = { .pmu = PERFCTR_PMU_P5_MMX, CESR_INFO(0x1ff) },
};
