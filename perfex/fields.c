// SPDX-License-Identifier: GPL-2.0-or-later
#include "fields.h"

#include <stddef.h>

#define EVENT                                                                                      \
	{ 0, 7, "event select", "what is counted" },                                               \
	{                                                                                          \
		8, 15, "unit mask", "which kinds of it"                                            \
	}
#define RINGS                                                                                      \
	{ 16, 16, "USR", "count in user mode: CPL 1 to 3" },                                       \
	{                                                                                          \
		17, 17, "OS", "count in kernel mode: CPL 0"                                        \
	}
#define EDGE                                                                                       \
	{                                                                                          \
		18, 18, "E", "edge: count when the condition becomes true"                         \
	}
#define INTERRUPT                                                                                  \
	{                                                                                          \
		20, 20, "INT", "interrupt on overflow"                                             \
	}
#define ENABLE                                                                                     \
	{                                                                                          \
		22, 22, "EN", "enable the counter"                                                 \
	}
#define COMPARISON                                                                                 \
	{ 23, 23, "INV", "invert the comparison with CMASK" },                                     \
	{                                                                                          \
		24, 31, "CMASK", "count cycles with at least so many; 0: count events"             \
	}

/* Intel SDM volume 3, "Architectural Performance Monitoring": figure of IA32_PERFEVTSELx. */
static const struct field arch[] = {
	EVENT,	   RINGS,
	EDGE,	   { 19, 19, "PC", "toggle a pin" },
	INTERRUPT, { 21, 21, "ANY", "count for both logical processors of a core" },
	ENABLE,	   COMPARISON,
	{ 0 },
};

/* The same, "Fixed-function Performance Counters"; the driver moves the bits to their place. */
static const struct field fixed[] = { RINGS, ENABLE, { 0 } };

/* Intel SDM volume 3, "P6 Family Processor Performance Counters": PerfEvtSel0 and 1. */
static const struct field p6[] = {
	EVENT,	    RINGS,
	EDGE,	    { 19, 19, "PC", "toggle a pin at each event, not at overflow" },
	INTERRUPT,  { 22, 22, "EN", "enable both counters; in PerfEvtSel0 alone" },
	COMPARISON, { 0 },
};

/* AMD64 Architecture Programmer's Manual volume 2, "Performance Event-Select Registers". */
static const struct field amd[] = {
	EVENT,
	RINGS,
	EDGE,
	INTERRUPT,
	ENABLE,
	COMPARISON,
	{ 32, 35, "event select 11-8", "the upper bits of the event select" },
	{ 40, 40, "GUEST", "count in guests only" },
	{ 41, 41, "HOST", "count in the host only" },
	{ 0 },
};

#define CESR_CONTROL                                                                               \
	{ 6, 6, "CC low", "count in kernel mode: CPL 0 to 2" },                                    \
		{ 7, 7, "CC middle", "count in user mode: CPL 3" },                                \
		{ 8, 8, "CC high", "count clocks instead of the event" },                          \
	{                                                                                          \
		9, 9, "PC", "pin signals overflows, not events"                                    \
	}

/* Intel SDM volume 3, "Control and Event Select Register (CESR)". */
static const struct field cesr[] = {
	{ 0, 5, "ES", "event select: what is counted" },
	CESR_CONTROL,
	{ 0 },
};

/* Cyrix M II Data Book, "Counter Event Control Register". */
static const struct field mii[] = {
	{ 0, 5, "TC", "event select: what is counted" },
	CESR_CONTROL,
	{ 10, 10, "TC high", "the event's highest bit" },
	{ 0 },
};

/* WinChip data sheets, "CESR". */
static const struct field winchip[] = { { 0, 7, "ES", "event select: what is counted" }, { 0 } };

/* VIA C3 Samuel 2 Processor Datasheet. */
static const struct field c3[] = { { 0, 8, "event select", "what is counted" }, { 0 } };

/* Intel SDM volume 3, "CCCR MSRs" and "ESCR MSRs" of NetBurst. */
static const struct field cccr[] = {
	{ 12, 12, "ENABLE", "enable the counter" },
	{ 13, 15, "ESCR select", "which ESCR of the counter's block feeds it" },
	{ 16, 17, "active thread", "3: count whichever logical processor is active" },
	{ 18, 18, "compare", "compare with the threshold" },
	{ 19, 19, "complement", "at most the threshold, instead of more" },
	{ 20, 23, "threshold", "of the comparison" },
	{ 24, 24, "edge", "count when the comparison becomes true" },
	{ 25, 25, "FORCE_OVF", "overflow at each count" },
	{ 26, 26, "OVF_PMI_T0", "interrupt on overflow, thread 0" },
	{ 27, 27, "OVF_PMI_T1", "likewise, thread 1" },
	{ 30, 30, "cascade", "start when the counter of the pair overflows" },
	{ 31, 31, "OVF", "has overflowed" },
	{ 0 },
};

static const struct field escr[] = {
	{ 0, 0, "T1_USR", "detect in user mode, thread 1" },
	{ 1, 1, "T1_OS", "detect in kernel mode, thread 1" },
	{ 2, 2, "T0_USR", "detect in user mode, thread 0: CPL 1 to 3" },
	{ 3, 3, "T0_OS", "detect in kernel mode, thread 0: CPL 0" },
	{ 4, 4, "tag enable", "tag micro-operations, for counting at retirement" },
	{ 5, 8, "tag value", "the tag" },
	{ 9, 24, "event mask", "which kinds of the event" },
	{ 25, 30, "event select", "what is detected" },
	{ 0 },
};

static const struct {
	uint32_t pmu;
	struct layouts layouts;
} layouts[] = {
	{ PERFCTR_PMU_ARCH,
	  { .evntsel = { "IA32_PERFEVTSELx", arch },
	    .fixed = { "IA32_FIXED_CTR_CTRL, as", fixed } } },
	{ PERFCTR_PMU_P5, { .evntsel = { "CESR, half", cesr } } },
	{ PERFCTR_PMU_P5_MMX, { .evntsel = { "CESR, half", cesr } } },
	{ PERFCTR_PMU_P6, { .evntsel = { "PerfEvtSelx", p6 } } },
	{ PERFCTR_PMU_P4, { .evntsel = { "CCCR", cccr }, .evntsel2 = { "ESCR", escr } } },
	{ PERFCTR_PMU_K7, { .evntsel = { "PERF_CTLx", amd } } },
	{ PERFCTR_PMU_K8, { .evntsel = { "PERF_CTLx", amd } } },
	{ PERFCTR_PMU_AMD, { .evntsel = { "PERF_CTLx", amd } } },
	{ PERFCTR_PMU_MII, { .evntsel = { "CESR, half", mii } } },
	{ PERFCTR_PMU_WINCHIP_C6, { .evntsel = { "CESR, half", winchip } } },
	{ PERFCTR_PMU_WINCHIP_2, { .evntsel = { "CESR, half", winchip } } },
	{ PERFCTR_PMU_VIA_C3, { .evntsel = { "EVNTSEL1", c3 } } },
};

const struct layouts *layouts_of(const struct perfctr_pmu_info *info)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].pmu == info->pmu)
			return &layouts[i].layouts;
	return NULL;
}
