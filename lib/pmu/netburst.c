// SPDX-License-Identifier: LGPL-2.1-or-later
#include "netburst.h"

#include <string.h>

#define CCCR_ESCR_SELECT 13

/*
 * Intel SDM volume 3, "Performance Counter MSRs and Associated CCCR and ESCR MSRs (Processors Based
 * on Intel NetBurst Microarchitecture)".  Of each pair the second ESCR has an odd address.
 */
#define BPU_0 0x3
#define BPU_1 0xc
#define MS_0 0x30
#define MS_1 0xc0
#define FLAME_0 0x300
#define FLAME_1 0xc00
#define IQ_0 0x13000
#define IQ_1 0x2c000

const struct netburst_escr perfctr_netburst_escrs[NETBURST_ESCRS] = {
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

int perfctr_netburst_route(uint64_t cccr, unsigned int counter)
{
	unsigned int select = cccr >> CCCR_ESCR_SELECT & 7;

	for (int i = 0; i < NETBURST_ESCRS; i++)
		if (perfctr_netburst_escrs[i].select == select &&
		    perfctr_netburst_escrs[i].counters >> counter & 1)
			return i;
	return -1;
}

uint64_t perfctr_netburst_routed(uint64_t cccr)
{
	uint64_t counters = 0;

	for (unsigned int i = 0; i < NETBURST_COUNTERS; i++)
		if (perfctr_netburst_route(cccr, i) >= 0)
			counters |= UINT64_C(1) << i;
	return counters;
}

uint64_t perfctr_netburst_fed_by(const char *escrs)
{
	uint64_t counters = 0;

	while (*escrs) {
		size_t length = strcspn(escrs, ",");

		for (int i = 0; i < NETBURST_ESCRS; i++)
			if (strlen(perfctr_netburst_escrs[i].name) == length &&
			    strncmp(perfctr_netburst_escrs[i].name, escrs, length) == 0)
				counters |= perfctr_netburst_escrs[i].counters;
		escrs += length;
		escrs += *escrs == ',';
	}
	return counters;
}
