// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * NetBurst: Intel Pentium 4 and its Xeons.  An event needs two registers: evntsel is the CCCR, and
 * evntsel2 the ESCR.
 */
#include "family.h"

EVENT_TABLE(p4);

/* Intel SDM volume 3, "CCCR MSRs" and "ESCR MSRs" of NetBurst. */
static const struct perfctr_field cccr[] = {
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

static const struct perfctr_field escr[] = {
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

/*
 * Intel SDM volume 3, "Performance Counter MSRs and Associated CCCR and ESCR MSRs (Processors Based
 * on Intel NetBurst Microarchitecture)", without "MSR_".  The second ESCR of each pair has an odd
 * address.
 */
#define BPU_0 0x3
#define BPU_1 0xc
#define MS_0 0x30
#define MS_1 0xc0
#define FLAME_0 0x300
#define FLAME_1 0xc00
#define IQ_0 0x13000
#define IQ_1 0x2c000

static const struct route escrs[] = {
	{ "BSU_ESCR0", 0x3a0, 7, BPU_0 },     { "BSU_ESCR1", 0x3a1, 7, BPU_1 },
	{ "FSB_ESCR0", 0x3a2, 6, BPU_0 },     { "FSB_ESCR1", 0x3a3, 6, BPU_1 },
	{ "FIRM_ESCR0", 0x3a4, 1, FLAME_0 },  { "FIRM_ESCR1", 0x3a5, 1, FLAME_1 },
	{ "FLAME_ESCR0", 0x3a6, 0, FLAME_0 }, { "FLAME_ESCR1", 0x3a7, 0, FLAME_1 },
	{ "DAC_ESCR0", 0x3a8, 5, FLAME_0 },   { "DAC_ESCR1", 0x3a9, 5, FLAME_1 },
	{ "MOB_ESCR0", 0x3aa, 2, BPU_0 },     { "MOB_ESCR1", 0x3ab, 2, BPU_1 },
	{ "PMH_ESCR0", 0x3ac, 4, BPU_0 },     { "PMH_ESCR1", 0x3ad, 4, BPU_1 },
	{ "SAAT_ESCR0", 0x3ae, 2, FLAME_0 },  { "SAAT_ESCR1", 0x3af, 2, FLAME_1 },
	{ "U2L_ESCR0", 0x3b0, 3, FLAME_0 },   { "U2L_ESCR1", 0x3b1, 3, FLAME_1 },
	{ "BPU_ESCR0", 0x3b2, 0, BPU_0 },     { "BPU_ESCR1", 0x3b3, 0, BPU_1 },
	{ "IS_ESCR0", 0x3b4, 1, BPU_0 },      { "IS_ESCR1", 0x3b5, 1, BPU_1 },
	{ "ITLB_ESCR0", 0x3b6, 3, BPU_0 },    { "ITLB_ESCR1", 0x3b7, 3, BPU_1 },
	{ "CRU_ESCR0", 0x3b8, 4, IQ_0 },      { "CRU_ESCR1", 0x3b9, 4, IQ_1 },
	{ "IQ_ESCR0", 0x3ba, 0, IQ_0 },	      { "IQ_ESCR1", 0x3bb, 0, IQ_1 },
	{ "RAT_ESCR0", 0x3bc, 2, IQ_0 },      { "RAT_ESCR1", 0x3bd, 2, IQ_1 },
	{ "SSU_ESCR0", 0x3be, 3, IQ_0 },      { "MS_ESCR0", 0x3c0, 0, MS_0 },
	{ "MS_ESCR1", 0x3c1, 0, MS_1 },	      { "TBPU_ESCR0", 0x3c2, 2, MS_0 },
	{ "TBPU_ESCR1", 0x3c3, 2, MS_1 },     { "TC_ESCR0", 0x3c4, 1, MS_0 },
	{ "TC_ESCR1", 0x3c5, 1, MS_1 },	      { "IX_ESCR0", 0x3c8, 5, BPU_0 },
	{ "IX_ESCR1", 0x3c9, 5, BPU_1 },      { "ALF_ESCR0", 0x3ca, 1, IQ_0 },
	{ "ALF_ESCR1", 0x3cb, 1, IQ_1 },      { "CRU_ESCR2", 0x3cc, 5, IQ_0 },
	{ "CRU_ESCR3", 0x3cd, 5, IQ_1 },      { "CRU_ESCR4", 0x3e0, 6, IQ_0 },
	{ "CRU_ESCR5", 0x3e1, 6, IQ_1 },
};

static const struct routes routes = {
	.unit = "ESCR",
	.shift = 13,
	.n = sizeof(escrs) / sizeof(escrs[0]),
	.route = escrs,
};

const struct family perfctr_pmu_p4 = {
	.name = "p4",
	.libpfm = { "netburst" },
	.table = { &perfctr_table_p4 },
	.code_refused = "an event of NetBurst needs two registers; write a name, or "
			"0xCCCR/0xESCR@0xPMC",
	.routes = &routes,
	.select_bits2 = 0x7e000000,
	.umask_bits2 = 0x01fffff0, /* and tags */
	.libpfm_swapped = true,
	.libpfm_ignored2 = 0xf, /* the modes, of both logical processors */
	.evntsel = { "CCCR", cccr },
	.evntsel2 = { "ESCR", escr },
	.info = { .pmu = PERFCTR_PMU_P4,
		  .n_general = 18,
		  .general_bits = 40,
		  .evntsel_allowed = 0x01fff000,
		  .evntsel_required = 0x1000,
		  .evntsel2_allowed = 0x7ffffffc,
		  .evntsel2_user = 4,
		  .evntsel2_kernel = 8,
		  .p4_pebs_enable_allowed = 0x01000607,
		  .p4_pebs_matrix_vert_allowed = 3 },
};
