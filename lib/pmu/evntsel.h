/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout of event select registers that the P6 introduced, and that Intel and AMD keep. */
#ifndef PERFCTR_EVNTSEL_H
#define PERFCTR_EVNTSEL_H

#define EVNTSEL_USR (UINT64_C(1) << 16)
#define EVNTSEL_OS (UINT64_C(1) << 17)
#define EVNTSEL_INT (UINT64_C(1) << 20)
#define EVNTSEL_EN (UINT64_C(1) << 22)

/* Event, unit mask, USR, OS, edge, EN, INV and CMASK. */
#define EVNTSEL_ALLOWED 0xffc7ffff

/*
 * Initialisers of a struct family.  high: the bits of the event select in the register's upper
 * half.
 */
#define EVNTSEL_FAMILY(high)                                                                       \
	.event_bits = 0xffff | (high), .umask_shift = 8, .cmask_shift = 24,                        \
	.libpfm_ignored = EVNTSEL_INT | EVNTSEL_EN

/* Initialisers of its info. */
#define EVNTSEL_INFO(counters, bits, high, required)                                               \
	.n_general = (counters), .general_bits = (bits),                                           \
	.evntsel_allowed = EVNTSEL_ALLOWED | (high), .evntsel_required = (required),               \
	.evntsel_user = EVNTSEL_USR, .evntsel_kernel = EVNTSEL_OS

#define FIELDS_EVENT                                                                               \
	{ 0, 7, "event select", "what is counted" }, { 8, 15, "unit mask", "which kinds of it" }
#define FIELDS_MODES                                                                               \
	{ 16, 16, "USR", "count in user mode: CPL 1 to 3" },                                       \
		{ 17, 17, "OS", "count in kernel mode: CPL 0" }
#define FIELD_EDGE { 18, 18, "E", "edge: count when the condition becomes true" }
#define FIELD_INTERRUPT { 20, 20, "INT", "interrupt on overflow" }
#define FIELD_ENABLE { 22, 22, "EN", "enable the counter" }
#define FIELDS_COMPARISON                                                                          \
	{ 23, 23, "INV", "invert the comparison with CMASK" },                                     \
		{ 24, 31, "CMASK", "count cycles with at least so many; 0: count events" }

#endif
