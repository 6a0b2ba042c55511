/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The Pentium's single control register (CESR).  Each half of it controls one counter. */
#ifndef PERFCTR_CESR_H
#define PERFCTR_CESR_H

#include "family.h"

/* Initialisers of the info of a struct family. */
#define CESR_INFO(allowed)                                                                         \
	.n_general = 2, .general_bits = 40, .evntsel_allowed = (allowed), .evntsel_user = 0x80,    \
	.evntsel_kernel = 0x40

#define FIELD_CESR_EVENT(name) { 0, 5, name, "event select: what is counted" }
#define FIELDS_CESR_CONTROL                                                                        \
	{ 6, 6, "CC low", "count in kernel mode: CPL 0 to 2" },                                    \
		{ 7, 7, "CC middle", "count in user mode: CPL 3" },                                \
		{ 8, 8, "CC high", "count clocks instead of the event" },                          \
		{ 9, 9, "PC", "pin signals overflows, not events" }

/* The tables of the Pentium's events, which other families have too. */
extern const struct event_table perfctr_table_p5, perfctr_table_p5_mmx
	__attribute__((visibility("hidden")));

#endif
