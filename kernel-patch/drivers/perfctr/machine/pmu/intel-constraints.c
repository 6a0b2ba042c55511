// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that certain models of Intel's processors cannot count, or do not count correctly.
 * Sources: SDM volume 3, the tables of events in chapter 19 (since 2021 the lists at
 * perfmon-events.intel.com, field "Counter"), and the processors' specification updates. Errata
 * have the numbers of these updates.
 */
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include "intel-constraints.h"

#define CORE2		BIT(0)
#define NEHALEM		BIT(1)
#define WESTMERE	BIT(2)
#define SANDY_BRIDGE	BIT(3)
#define IVY_BRIDGE	BIT(4)
#define HASWELL		BIT(5)
#define BROADWELL	BIT(6)
#define SKYLAKE		BIT(7)
#define V3		BIT(8)	/* any model with this version of PerfMon, or a later one */
#define V4		BIT(9)
#define V5		BIT(10)
#define GOLDEN_COVE	BIT(11)	/* the P-cores of these models */
#define P_CORE		BIT(12)	/* P-cores of any model that has E-cores, too */
#define E_CORE		BIT(13)

#define SNB_TO_HSW	(SANDY_BRIDGE | IVY_BRIDGE | HASWELL)
#define SNB_TO_SKL	(SNB_TO_HSW | BROADWELL | SKYLAKE)

struct model {
	u8 number;		/* of family 6 */
	u16 kind;
};

static const struct model models[] __initconst = {
	{ 0x0f, CORE2 }, { 0x16, CORE2 }, { 0x17, CORE2 }, { 0x1d, CORE2 },
	{ 0x1a, NEHALEM }, { 0x1e, NEHALEM }, { 0x1f, NEHALEM }, { 0x2e, NEHALEM },
	{ 0x25, WESTMERE }, { 0x2c, WESTMERE }, { 0x2f, WESTMERE },
	{ 0x2a, SANDY_BRIDGE }, { 0x2d, SANDY_BRIDGE },
	{ 0x3a, IVY_BRIDGE }, { 0x3e, IVY_BRIDGE },
	{ 0x3c, HASWELL }, { 0x3f, HASWELL }, { 0x45, HASWELL }, { 0x46, HASWELL },
	{ 0x3d, BROADWELL }, { 0x47, BROADWELL }, { 0x4f, BROADWELL }, { 0x56, BROADWELL },
	{ 0x4e, SKYLAKE }, { 0x5e, SKYLAKE }, { 0x55, SKYLAKE }, { 0x8e, SKYLAKE },
	{ 0x9e, SKYLAKE }, { 0xa5, SKYLAKE }, { 0xa6, SKYLAKE },
	{ 0x97, GOLDEN_COVE }, { 0x9a, GOLDEN_COVE }, { 0xb7, GOLDEN_COVE },
	{ 0xba, GOLDEN_COVE }, { 0xbf, GOLDEN_COVE },
};

#define TYPE_ATOM	0x20	/* CPUID leaf 1AH, EAX bits 31:24 */
#define TYPE_CORE	0x40

#define ANY_UNIT	0x00ff	/* mask of the code: the event with any unit mask */
#define THIS_UNIT	0xffff

/*
 * The events that some counters cannot count. The first row that matches an event decides.
 *
 * Some events depend on an MSR that this driver does not set. Load latency and stalls of the front
 * end depend on a threshold; requests to other cores and to memory depend on a description. Such
 * events are refused, because they would count by a value that other code has left in the MSR.
 */
static const struct constraint {
	u16 kinds, code, mask;
	u8 counters;		/* mask of counters that can count it */
	u8 reason;
} constraints[] = {
	{ CORE2, 0x10, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* FP_COMP_OPS_EXE */
	{ CORE2, 0x11, ANY_UNIT, 0x02, PERFCTR_BAD_ROUTE },	/* FP_ASSIST */
	{ CORE2, 0x12, ANY_UNIT, 0x02, PERFCTR_BAD_ROUTE },	/* MUL */
	{ CORE2, 0x13, ANY_UNIT, 0x02, PERFCTR_BAD_ROUTE },	/* DIV */
	{ CORE2, 0x14, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* CYCLES_DIV_BUSY */
	{ CORE2, 0x18, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* IDLE_DURING_DIV */
	{ CORE2, 0x19, ANY_UNIT, 0x02, PERFCTR_BAD_ROUTE },	/* DELAYED_BYPASS */
	{ CORE2, 0xa1, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* RS_UOPS_DISPATCHED port */
	{ CORE2, 0xcb, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* MEM_LOAD_RETIRED */

	{ NEHALEM, 0x40, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D_CACHE_LD */
	{ NEHALEM, 0x41, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D_CACHE_ST */
	{ NEHALEM, 0x42, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D_CACHE_LOCK */
	{ NEHALEM, 0x43, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D_ALL_REF */
	{ NEHALEM, 0x48, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D_PEND_MISS */
	{ NEHALEM, 0x4e, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D_PREFETCH */
	{ NEHALEM | WESTMERE, 0x51, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE },	/* L1D */
	{ NEHALEM | WESTMERE, 0x63, ANY_UNIT, 0x03, PERFCTR_BAD_ROUTE }, /* CACHE_LOCK_CYCLES */
	{ WESTMERE, 0x60, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* OFFCORE_REQUESTS_OUTSTANDING */
	{ WESTMERE, 0xb3, ANY_UNIT, 0x01, PERFCTR_BAD_ROUTE },	/* SNOOPQ_REQUESTS_OUTSTANDING */

	{ SNB_TO_HSW | BROADWELL, 0x48, ANY_UNIT, 0x04, PERFCTR_BAD_ROUTE }, /* L1D_PEND_MISS */
	{ SNB_TO_SKL, 0x01c0, THIS_UNIT, 0x02, PERFCTR_BAD_ROUTE },	/* INST_RETIRED.PREC_DIST */
	/* CYCLE_ACTIVITY with misses of the first cache */
	{ SANDY_BRIDGE, 0x02a3, THIS_UNIT, 0x04, PERFCTR_BAD_ROUTE },
	{ SANDY_BRIDGE, 0x06a3, THIS_UNIT, 0x04, PERFCTR_BAD_ROUTE },
	{ IVY_BRIDGE | HASWELL | BROADWELL, 0x08a3, THIS_UNIT, 0x04, PERFCTR_BAD_ROUTE },
	{ IVY_BRIDGE | HASWELL | BROADWELL, 0x0ca3, THIS_UNIT, 0x04, PERFCTR_BAD_ROUTE },
	/* MEM_UOPS_RETIRED, and MEM_LOAD_UOPS_RETIRED in its three kinds */
	{ SNB_TO_SKL, 0xd0, ANY_UNIT, 0x0f, PERFCTR_BAD_ROUTE },
	{ SNB_TO_SKL, 0xd1, ANY_UNIT, 0x0f, PERFCTR_BAD_ROUTE },
	{ SNB_TO_SKL, 0xd2, ANY_UNIT, 0x0f, PERFCTR_BAD_ROUTE },
	{ SNB_TO_SKL, 0xd3, ANY_UNIT, 0x0f, PERFCTR_BAD_ROUTE },

	/* Only counters 0 to 3 count memory events and codes below 90H, except 2EH and 3CH. */
	{ GOLDEN_COVE, 0x2e, ANY_UNIT, 0xff, PERFCTR_BAD_ROUTE },
	{ GOLDEN_COVE, 0x3c, ANY_UNIT, 0xff, PERFCTR_BAD_ROUTE },
	{ V5, 0x012a, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },	/* OCR: 1A6H, 1A7H */
	{ V5, 0x012b, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	{ GOLDEN_COVE, 0x00, 0x0080, 0x0f, PERFCTR_BAD_ROUTE },
	{ GOLDEN_COVE, 0x80, 0x00f0, 0x0f, PERFCTR_BAD_ROUTE },
	{ GOLDEN_COVE, 0xd0, 0x00f0, 0x0f, PERFCTR_BAD_ROUTE },

	{ V3, 0x01b7, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },	/* OFFCORE_RESPONSE_0: 1A6H */
	{ V3, 0x02b7, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },	/* ... _1 of Atoms: 1A7H */
	{ V3, 0x01bb, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },	/* OFFCORE_RESPONSE_1: 1A7H */
	/* Latency of loads: PEBS_LD_LAT_THRESHOLD */
	{ NEHALEM | WESTMERE, 0x100b, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	{ V3, 0x01cd, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	{ E_CORE, 0x05d0, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	{ V4, 0x01c6, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },	/* FRONTEND_RETIRED: 3F7H */
	{ P_CORE, 0x02c6, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	{ P_CORE, 0x03c6, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	/* INT_MISC.UNKNOWN_BRANCH_CYCLES, UOPS_RETIRED.MS: 3F7H */
	{ P_CORE, 0x40ad, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
	{ P_CORE, 0x04c2, THIS_UNIT, 0, PERFCTR_BAD_REGISTER },
};

static bool cleanse __ro_after_init;

static u16 __init kinds_of_model(void)
{
	u16 kinds = 0;
	u32 i;

	if (boot_cpu_data.x86 != 6)
		return 0;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].number == boot_cpu_data.x86_model)
			kinds |= models[i].kind;
	return kinds;
}

u16 __init perfctr_intel_constraints(u32 version, u32 type)
{
	u16 kinds = kinds_of_model();

	if (type == TYPE_ATOM)
		kinds = E_CORE;
	else if (type == TYPE_CORE || kinds & GOLDEN_COVE)
		kinds |= P_CORE;
	kinds |= (version >= 3 ? V3 : 0) | (version >= 4 ? V4 : 0) | (version >= 5 ? V5 : 0);
	/* These models have version 3, even if a hypervisor shows less. */
	if (kinds & (NEHALEM | WESTMERE | SNB_TO_SKL))
		kinds |= V3;
	/*
	 * AAK100, AAP92, BD53 and others: a counter may count cycles, or nothing, unless the
	 * counters are cleansed before another event is selected. Hypervisors do this themselves.
	 */
	cleanse = kinds & (NEHALEM | WESTMERE) && !boot_cpu_has(X86_FEATURE_HYPERVISOR);
	return kinds;
}

bool perfctr_intel_cleanse(void)
{
	return cleanse;
}

/*
 * BJ122, BV98, HSD29 and similar errata: while one logical processor of a core counts these events,
 * counters of the other one are corrupted. Without SMT there is no other one.
 */
static bool may_corrupt_sibling(u16 kinds, u16 code)
{
	u16 event = code & ANY_UNIT;

	return kinds & SNB_TO_HSW && event >= 0xd0 && event <= 0xd3 &&
	       cpu_smt_possible();
}

u32 perfctr_intel_constraint(u16 kinds, u64 evntsel, u32 counter)
{
	u16 code = evntsel;
	u32 i;

	if (may_corrupt_sibling(kinds, code))
		return PERFCTR_BAD_ERRATUM;
	/* Intel 604224, TSX memory ordering: the microcode uses counter 3 for transactions. */
	if (counter == 3 && boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT))
		return PERFCTR_BAD_ERRATUM;
	for (i = 0; i < ARRAY_SIZE(constraints); i++) {
		const struct constraint *c = &constraints[i];

		if (kinds & c->kinds && (code & c->mask) == c->code)
			return counter < 8 && c->counters & BIT(counter) ? 0 : c->reason;
	}
	return 0;
}

#define PREC_DIST	0x01c0	/* which perf_events calls INST_RETIRED.ALL */

/*
 * HSW11, BDM11 and BDM55 apply to PREC_DIST alone, and not to other codes that count instructions.
 * perf_events also knows that Nehalem and Haswell cannot cope with a distance below 32.
 */
void perfctr_intel_limit_distance(u16 kinds, const struct perfctr_hw_event *e,
				  struct perfctr_hw_period *p)
{
	if (kinds & (NEHALEM | HASWELL))
		p->least = 32;
	if ((u16)e->evntsel != PREC_DIST)
		return;
	if (kinds & (HASWELL | BROADWELL))
		p->least = 128;
	if (kinds & BROADWELL)
		p->grain = 64;
}
