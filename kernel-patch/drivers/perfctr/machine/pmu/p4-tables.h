/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event detectors that feed each counter (SDM volume 3, table "Performance Counter MSRs and
 * Associated CCCR and ESCR MSRs (Processors Based on Intel NetBurst Microarchitecture)").
 * tests/kernel-patch compares these tables with those of perf_events.
 */
#ifndef _PERFCTR_P4_TABLES_H
#define _PERFCTR_P4_TABLES_H

#define P4_N_COUNTERS	18
#define P4_FIRST_ESCR	MSR_P4_BSU_ESCR0
#define P4_ESCR_SPAN	(MSR_P4_CRU_ESCR5 - P4_FIRST_ESCR + 1)

/*
 * Indexed by the ESCR select field of a CCCR; 0: none. Counters with the same detectors share a
 * row.
 */
static const u16 p4_escrs[][8] = {
	[0] = {	/* BPU_COUNTER0-1 */
		MSR_P4_BPU_ESCR0, MSR_P4_IS_ESCR0, MSR_P4_MOB_ESCR0, MSR_P4_ITLB_ESCR0,
		MSR_P4_PMH_ESCR0, MSR_P4_IX_ESCR0, MSR_P4_FSB_ESCR0, MSR_P4_BSU_ESCR0,
	},
	[1] = {	/* BPU_COUNTER2-3 */
		MSR_P4_BPU_ESCR1, MSR_P4_IS_ESCR1, MSR_P4_MOB_ESCR1, MSR_P4_ITLB_ESCR1,
		MSR_P4_PMH_ESCR1, MSR_P4_IX_ESCR1, MSR_P4_FSB_ESCR1, MSR_P4_BSU_ESCR1,
	},
	[2] = {	/* MS_COUNTER0-1 */
		MSR_P4_MS_ESCR0, MSR_P4_TC_ESCR0, MSR_P4_TBPU_ESCR0,
	},
	[3] = {	/* MS_COUNTER2-3 */
		MSR_P4_MS_ESCR1, MSR_P4_TC_ESCR1, MSR_P4_TBPU_ESCR1,
	},
	[4] = {	/* FLAME_COUNTER0-1 */
		MSR_P4_FLAME_ESCR0, MSR_P4_FIRM_ESCR0, MSR_P4_SAAT_ESCR0, MSR_P4_U2L_ESCR0,
		0, MSR_P4_DAC_ESCR0,
	},
	[5] = {	/* FLAME_COUNTER2-3 */
		MSR_P4_FLAME_ESCR1, MSR_P4_FIRM_ESCR1, MSR_P4_SAAT_ESCR1, MSR_P4_U2L_ESCR1,
		0, MSR_P4_DAC_ESCR1,
	},
	[6] = {	/* IQ_COUNTER0, 1, 4 */
		MSR_P4_IQ_ESCR0, MSR_P4_ALF_ESCR0, MSR_P4_RAT_ESCR0, MSR_P4_SSU_ESCR0,
		MSR_P4_CRU_ESCR0, MSR_P4_CRU_ESCR2, MSR_P4_CRU_ESCR4,
	},
	[7] = {	/* IQ_COUNTER2, 3, 5 */
		MSR_P4_IQ_ESCR1, MSR_P4_ALF_ESCR1, MSR_P4_RAT_ESCR1, 0,
		MSR_P4_CRU_ESCR1, MSR_P4_CRU_ESCR3, MSR_P4_CRU_ESCR5,
	},
};

/* The row of each counter. */
static const u8 p4_row[P4_N_COUNTERS] = {
	0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 6, 7,
};

/*
 * The bits that an event may have. In a CCCR they exclude OVF_PMI, which a period sets; FORCE_OVF;
 * CASCADE, which starts a counter at the overflow of another one; and OVF. In an ESCR they exclude
 * the bits of the other logical processor.
 */
#define P4_CCCR_ALLOWED		(P4_CCCR_ENABLE | P4_CCCR_ESCR_SELECT_MASK | P4_CCCR_THREAD_ANY | \
				 P4_CCCR_COMPARE | P4_CCCR_COMPLEMENT | P4_CCCR_THRESHOLD_MASK | \
				 P4_CCCR_EDGE)
#define P4_CCCR_REQUIRED	(P4_CCCR_ENABLE | P4_CCCR_THREAD_ANY)
#define P4_ESCR_ALLOWED		(P4_ESCR_EVENT_MASK | P4_ESCR_EVENTMASK_MASK | P4_ESCR_TAG_MASK | \
				 P4_ESCR_TAG_ENABLE | P4_ESCR_T0_OS | P4_ESCR_T0_USR)

/*
 * Replay tagging (SDM volume 3, table "List of Metrics Available for Replay Tagging"): the reason
 * of the replay (bits 0-2, 9, 10), and whether loads or stores are tagged (bits 0 and 1 of
 * MATRIX_VERT). Bit 24 enables tagging; bit 25 would write records to memory. tagged_mispred_branch
 * is not allowed: it needs bits 15 and 16, which are reserved where the manual describes the
 * register.
 */
#define P4_PEBS_ENABLE_ALLOWED		0x01000607
#define P4_PEBS_MATRIX_VERT_ALLOWED	0x00000003

#endif
