// SPDX-License-Identifier: LGPL-2.1-or-later
/* IDT WinChip C6, 2 and 3. */
#include "family.h"

EVENT_TABLE(winchip);

/* WinChip data sheets, "CESR". */
static const struct perfctr_field cesr[] = {
	{ 0, 7, "ES", "event select: what is counted" },
	{ 0 },
};

enum { EVENT_BITS = 0xff };

#define WINCHIP(text, number)                                                                      \
	.name = (text), .table = { &perfctr_table_winchip }, .event_bits = EVENT_BITS,             \
	.evntsel = { "CESR, half", cesr },                                                         \
	.info = {                                                                                  \
		.pmu = (number), .n_general = 2, .general_bits = 40, .evntsel_allowed = EVENT_BITS \
	}

const struct family perfctr_pmu_winchip_c6 = { WINCHIP("winchip_c6", PERFCTR_PMU_WINCHIP_C6) };
const struct family perfctr_pmu_winchip_2 = { WINCHIP("winchip_2", PERFCTR_PMU_WINCHIP_2) };
