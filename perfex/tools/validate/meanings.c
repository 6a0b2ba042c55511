// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The quantities that events count, according to the manuals of the processors.  An event of
 * another name, or without a name, has the meaning of the event here with the same registers.
 */
#include "validate.h"

static const struct meaning {
	const char *pmu; /* for perfctr_events_is_pmu(); NULL: any */
	const char *event;
	enum quantity quantity;
} meanings[] = {
	/* Generic names, which exist if the kernel's events or the tables have them. */
	{ NULL, "instructions", INSTRUCTIONS },
	{ NULL, "branches", BRANCHES },
	{ NULL, "branch-misses", MISPREDICTED },
	{ NULL, "cycles", CYCLES },
	{ NULL, "ref-cycles", TICKS },
	{ NULL, "L1-dcache-load-misses", L1D_MISSES },
	{ NULL, "L1-icache-load-misses", L1I_MISSES },
	{ NULL, "dTLB-load-misses", DTLB_MISSES },
	{ NULL, "iTLB-load-misses", ITLB_MISSES },
	{ "arch", "cache-misses", LLC_MISSES },
	{ NULL, "page-faults", PAGE_FAULTS },
	{ NULL, "minor-faults", PAGE_FAULTS },
	{ NULL, "context-switches", SWITCHES },
	{ "arch", "INST_RETIRED:ANY", INSTRUCTIONS },
	{ "arch", "CPU_CLK_UNHALTED:CORE", CYCLES },
	{ "arch", "CPU_CLK_UNHALTED:REF", TICKS },
	/* Intel; each processor has some of these events. */
	{ "arch", "BR_INST_RETIRED:CONDITIONAL", CONDITIONAL },
	{ "arch", "BR_INST_RETIRED:COND", CONDITIONAL },
	{ "arch", "BR_INST_RETIRED:NEAR_CALL", CALLS },
	{ "arch", "BR_INST_RETIRED:NEAR_RETURN", RETURNS },
	{ "arch", "BR_INST_RETIRED:NEAR_TAKEN", TAKEN },
	{ "arch", "BR_INST_RETIRED:NOT_TAKEN", NOT_TAKEN },
	{ "arch", "BR_INST_RETIRED:COND_NTAKEN", NOT_TAKEN },
	{ "arch", "BR_MISP_RETIRED:CONDITIONAL", MISPREDICTED },
	{ "arch", "MEM_INST_RETIRED:LOADS", LOADS },
	{ "arch", "MEM_INST_RETIRED:STORES", STORES },
	{ "arch", "MEM_INST_RETIRED:ALL_LOADS", LOADS },
	{ "arch", "MEM_INST_RETIRED:ALL_STORES", STORES },
	{ "arch", "MEM_UOPS_RETIRED:ALL_LOADS", LOADS },
	{ "arch", "MEM_UOPS_RETIRED:ALL_STORES", STORES },
	{ "arch", "MEM_UOP_RETIRED:ANY_LOADS", LOADS },
	{ "arch", "MEM_UOP_RETIRED:ANY_STORES", STORES },
	{ "arch", "INST_RETIRED:LOADS", LOADS },
	{ "arch", "INST_RETIRED:STORES", STORES },
	{ "arch", "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", SCALAR_DOUBLE },
	{ "arch", "FP_ARITH_INST_RETIRED:SCALAR_SINGLE", SCALAR_SINGLE },
	{ "arch", "FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", PACKED_128_DOUBLE },
	{ "arch", "FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", PACKED_128_SINGLE },
	{ "arch", "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", PACKED_256_DOUBLE },
	{ "arch", "FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", PACKED_256_SINGLE },
	{ "arch", "MEM_LOAD_RETIRED:L1_MISS", L1D_MISSES },
	{ "arch", "MEM_LOAD_RETIRED:L2_MISS", L2_MISSES },
	{ "arch", "MEM_LOAD_RETIRED:L3_MISS", LLC_MISSES },
	{ "arch", "MEM_LOAD_UOPS_RETIRED:L1_MISS", L1D_MISSES },
	{ "arch", "MEM_LOAD_UOPS_RETIRED:L2_MISS", L2_MISSES },
	{ "arch", "MEM_LOAD_UOPS_RETIRED:L3_MISS", LLC_MISSES },
	{ "arch", "MEM_LOAD_RETIRED:DTLB_MISS", DTLB_MISSES },
	{ "arch", "MEM_INST_RETIRED:STLB_MISS_LOADS", DTLB_MISSES },
	{ "arch", "MEM_UOPS_RETIRED:STLB_MISS_LOADS", DTLB_MISSES },
	{ "arch", "DTLB_LOAD_MISSES:WALK_COMPLETED", DTLB_MISSES },
	{ "arch", "ITLB_MISSES:WALK_COMPLETED", ITLB_MISSES },
	{ "arch", "MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM", SHARED_LINES },
	{ "arch", "MEM_LOAD_UOPS_L3_HIT_RETIRED:XSNP_HITM", SHARED_LINES },
	{ "p6", "INST_RETIRED", INSTRUCTIONS },
	{ "p6", "BR_INST_RETIRED", BRANCHES },
	{ "p6", "BR_TAKEN_RETIRED", TAKEN },
	{ "p6", "BR_MISS_PRED_RETIRED", MISPREDICTED },
	{ "p6", "CPU_CLK_UNHALTED", CYCLES },
	/* AMD: the names and codes are the same from K7 on. */
	{ NULL, "RETIRED_TAKEN_BRANCH_INSTRUCTIONS", TAKEN },
	{ NULL, "RETIRED_TAKEN_BRANCHES", TAKEN },
	{ NULL, "RETIRED_NEAR_RETURNS", RETURNS },
	{ NULL, "RETIRED_CONDITIONAL_BRANCH_INSTRUCTIONS", CONDITIONAL },
	{ NULL, "LS_DISPATCH:LD_DISPATCH", LOADS },
	{ NULL, "LS_DISPATCH:STORE_DISPATCH", STORES },
	{ NULL, "RETIRED_MMX_FP_INSTRUCTIONS:X87_INSTR", X87 },
	{ NULL, "RETIRED_SSE_AVX_OPERATIONS:DP_ADD_SUB_FLOPS", FLOPS_DOUBLE },
	{ NULL, "RETIRED_SSE_AVX_OPERATIONS:SP_ADD_SUB_FLOPS", FLOPS_SINGLE },
	/* NetBurst */
	{ "p4", "instr_retired:NBOGUSNTAG", INSTRUCTIONS },
	{ "p4", "branch_retired:MMNP:MMNM:MMTP:MMTM", BRANCHES },
	{ "p4", "branch_retired:MMTP:MMTM", TAKEN },
	{ "p4", "branch_retired:MMNP:MMNM", NOT_TAKEN },
	{ "p4", "x87_FP_uop:ALL", X87 },
	{ "p4", "global_power_events:RUNNING", CYCLES },
	{ "p4", "retired_mispred_branch_type:CONDITIONAL", MISPREDICTED },
	{ "p4", "replay_event:NBOGUS:L1_LD_MISS", L1D_MISSES },
	{ "p4", "replay_event:NBOGUS:L2_LD_MISS", L2_MISSES },
	{ "p4", "replay_event:NBOGUS:DTLB_LD_MISS", DTLB_MISSES },
	{ "p4", "replay_event:NBOGUS:DTLB_ALL_MISS", DTLB_MISSES },
	{ "p4", "BSQ_cache_reference:RD_2ndL_MISS", L2_MISSES },
	{ "p4", "cache-misses", LLC_MISSES },
	{ "p4", "BPU_fetch_request:TCMISS", L1I_MISSES },
	{ "p4", "page_walk_type:DTMISS", DTLB_MISSES },
	{ "p4", "page_walk_type:ITMISS", ITLB_MISSES },
	{ "p4", "ITLB_reference:MISS", ITLB_MISSES },
};
_Static_assert(sizeof(meanings) / sizeof(meanings[0]) == N_MEANINGS, "validate.h says how many");

/* Returns true if the requests are of the same event, in any mode and on any counter. */
static bool is_same(const struct perfctr_pmu_info *info, const struct perfctr_request *known,
		    const struct perfctr_request *request)
{
	uint64_t modes = info->evntsel_user | info->evntsel_kernel | info->evntsel_required;
	uint64_t modes2 = info->evntsel2_user | info->evntsel2_kernel;

	if (is_software(known) || is_software(request))
		return known->counter == request->counter;
	if (!known->general || !request->general)
		return !known->general && !request->general && known->fixed == request->fixed;
	return !((known->evntsel ^ request->evntsel) & ~modes) &&
	       !((known->evntsel2 ^ request->evntsel2) & ~modes2) &&
	       known->p4_pebs_enable == request->p4_pebs_enable &&
	       known->p4_pebs_matrix_vert == request->p4_pebs_matrix_vert &&
	       (!known->kinds || known->kinds == request->kinds);
}

size_t meanings_of_machine(struct perfctr_events *events, struct known_event known[N_MEANINGS])
{
	char error[256];
	size_t n = 0;

	for (size_t i = 0; i < N_MEANINGS; i++) {
		struct known_event *next = &known[n];

		if ((meanings[i].pmu && !perfctr_events_is_pmu(events, meanings[i].pmu)) ||
		    perfctr_events_parse(events, meanings[i].event, PERFCTR_MODE_USER,
					 &next->request, error, sizeof(error)) < 0)
			continue;
		next->quantity = meanings[i].quantity;
		n++;
	}
	return n;
}

const struct known_event *meaning_find(const struct known_event *known, size_t n,
				       const struct perfctr_pmu_info *info,
				       const struct perfctr_request *request)
{
	for (size_t i = 0; i < n; i++)
		if (is_same(info, &known[i].request, request))
			return &known[i];
	return NULL;
}
