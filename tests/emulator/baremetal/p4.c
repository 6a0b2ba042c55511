/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PMU of NetBurst, on a model with IQ_ESCR0 and 1 and on one without them. */
#include "code.h"

#define MISC_ENABLE	0x1a0
#define COUNTER(n)	(0x300 + (n))
#define CCCR(n)		(0x360 + (n))
#define FIRST_ESCR	0x3a0
#define LAST_ESCR	0x3e1
#define PEBS_ENABLE	0x3f1
#define PEBS_VERT	0x3f2
#define NB_COUNTERS	18
#define MAX_COUNT	0xffffffffffull

#define FSB_ESCR0	0x3a2
#define FIRM_ESCR0	0x3a4
#define CRU_ESCR0	0x3b8
#define IQ_ESCR0	0x3ba
#define RAT_ESCR0	0x3bc
#define TBPU_ESCR0	0x3c2
#define CRU_ESCR2	0x3cc

/* CCCR */
#define EXTENDED	0x00000800
#define ENABLE		0x00001000
#define SELECT(n)	((n) << 13)
#define ANY_THREAD	0x00030000
#define COMPARE		0x00040000
#define COMPLEMENT	0x00080000
#define THRESHOLD(n)	((n) << 20)
#define CCCR_EDGE	0x01000000
#define FORCE_OVF	0x02000000
#define OVF_PMI		0x04000000
#define CASCADE		0x40000000
#define OVF		0x80000000
#define RUN(select)	(ENABLE | ANY_THREAD | SELECT(select))

/* ESCR, without the ring */
#define USER		0x4
#define KERNEL		0x8
#define INSTR_RETIRED	0x04000200
#define UOPS_RETIRED	0x02000200
#define POWER_EVENTS	0x26000200
#define BRANCH_TYPES	0x08003c00
#define BRANCHES_ALL	0x0c001e00
#define BRANCHES_TAKEN	0x0c001800
#define BRANCHES_NOT	0x0c000600
#define UOP_LOADS	0x04000400
#define UOP_STORES	0x04000800
#define X87_UOPS	0x09000000
#define FRONT_END	0x10000200
#define REPLAY		0x12000200
#define EXECUTION	0x18000000
#define NBOGUS(n)	(0x200 << (n))
#define TAG(value)	(0x10 | (value) << 5)

static bool has_iq;
static bool cascades_interrupt;	/* SDM volume 3, 18.15.5.7: not on all models and steppings */

void user_x87(void);
/* 6 instructions, 4 of the x87 */
asm("user_x87:\n\t"
    "fldz\n\t"
    "fld1\n\t"
    "faddp\n\t"
    "nop\n\t"
    "fstp %st\n\t"
    "int $0x80");

static void cpuid(uint32_t leaf, uint32_t *eax)
{
	uint32_t ebx, ecx = 0, edx;

	*eax = leaf;
	asm volatile("cpuid" : "+a"(*eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
}

static bool is_escr(uint32_t msr)
{
	return (msr >= 0x3a0 && msr <= 0x3b9) || (has_iq && (msr == 0x3ba || msr == 0x3bb)) ||
	       (msr >= 0x3bc && msr <= 0x3be) || (msr >= 0x3c0 && msr <= 0x3c5) ||
	       (msr >= 0x3c8 && msr <= 0x3cd) || msr == 0x3e0 || msr == 0x3e1;
}

static void reset(void)
{
	for (unsigned n = 0; n < NB_COUNTERS; n++)
		wrmsr(CCCR(n), 0);
	for (unsigned n = 0; n < NB_COUNTERS; n++)
		wrmsr(COUNTER(n), 0);
	for (uint32_t msr = FIRST_ESCR; msr <= LAST_ESCR; msr++)
		if (is_escr(msr))
			wrmsr(msr, 0);
	wrmsr(PEBS_ENABLE, 0);
	wrmsr(PEBS_VERT, 0);
}

/*
 * The counters that each detector feeds. Only this detector is programmed, and all counters select
 * its number.
 */
static void test_routes(void)
{
	static const struct {
		uint32_t escr, select, event, counters, expected;
	} routes[] = {
		{ FSB_ESCR0, 6, POWER_EVENTS, 0x00003, 2004 },
		{ FSB_ESCR0 + 1, 6, POWER_EVENTS, 0x0000c, 2004 },
		{ TBPU_ESCR0, 2, BRANCH_TYPES, 0x00030, 1001 },
		{ TBPU_ESCR0 + 1, 2, BRANCH_TYPES, 0x000c0, 1001 },
		{ CRU_ESCR0, 4, INSTR_RETIRED, 0x13000, 2004 },
		{ CRU_ESCR0 + 1, 4, INSTR_RETIRED, 0x2c000, 2004 },
		{ CRU_ESCR0, 4, UOPS_RETIRED, 0x13000, 2004 },
		{ CRU_ESCR2, 5, BRANCHES_ALL, 0x13000, 1001 },
		{ CRU_ESCR2 + 1, 5, BRANCHES_ALL, 0x2c000, 1001 },
		{ CRU_ESCR2, 5, BRANCHES_TAKEN, 0x13000, 999 },
		{ CRU_ESCR2, 5, BRANCHES_NOT, 0x13000, 2 },
		/* the right number, with events of other detectors */
		{ CRU_ESCR2, 5, INSTR_RETIRED, 0, 0 },
		{ TBPU_ESCR0, 2, BRANCHES_ALL, 0, 0 },
		/* the wrong number */
		{ CRU_ESCR0, 5, INSTR_RETIRED, 0, 0 },
		{ FSB_ESCR0, 7, POWER_EVENTS, 0, 0 },
	};

	for (unsigned i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		reset();
		wrmsr(routes[i].escr, routes[i].event | USER);
		for (unsigned n = 0; n < NB_COUNTERS; n++)
			wrmsr(CCCR(n), RUN(routes[i].select));
		run_user(user_loop);
		for (unsigned n = 0; n < NB_COUNTERS; n++)
			check("route", routes[i].counters >> n & 1 ? routes[i].expected : 0,
			      rdpmc(n));
	}
}

static uint64_t count_loop_by(uint32_t msr, uint32_t escr, uint32_t cccr)
{
	uint64_t count;

	reset();
	wrmsr(msr, escr);
	wrmsr(CCCR(12), cccr);
	run_user(user_loop);
	count = rdpmc(12);
	wrmsr(CCCR(12), 0);
	return count;
}

static uint64_t count_loop(uint32_t escr, uint32_t cccr)
{
	return count_loop_by(CRU_ESCR0, escr, cccr);
}

static void test_rings(void)
{
	uint64_t kernel = count_loop(INSTR_RETIRED | KERNEL, RUN(4));

	check("rings.none", 0, count_loop(INSTR_RETIRED, RUN(4)));
	check("rings.user", 2004, count_loop(INSTR_RETIRED | USER, RUN(4)));
	check("rings.kernel_counts", 1, kernel > 10 && kernel < 1000);
	check("rings.both", 2004 + kernel, count_loop(INSTR_RETIRED | USER | KERNEL, RUN(4)));
	check("enable.off", 0, count_loop(INSTR_RETIRED | USER, RUN(4) & ~ENABLE));
	check("enable.no_thread", 0, count_loop(INSTR_RETIRED | USER, ENABLE | SELECT(4)));
}

/* WRMSR, 10 NOPs and XOR in ring 0 */
static uint64_t count_nops(uint32_t escr, uint32_t cccr)
{
	reset();
	wrmsr(CRU_ESCR0, escr);
	enable_disable(CCCR(12), cccr);
	return rdpmc(12);
}

static void test_compare(void)
{
	uint32_t user = INSTR_RETIRED | USER, kernel = INSTR_RETIRED | KERNEL;
	uint64_t others = count_loop(kernel, RUN(4));

	check("compare.above_0", 2004, count_loop(user, RUN(4) | COMPARE));
	check("compare.above_1", 0, count_loop(user, RUN(4) | COMPARE | THRESHOLD(1)));
	check("compare.ignored", 2004, count_loop(user, RUN(4) | COMPLEMENT | THRESHOLD(9)));
	check("compare.edge", 0, count_loop(user, RUN(4) | COMPARE | CCCR_EDGE));
	check("edge.ignored", 2004, count_loop(user, RUN(4) | CCCR_EDGE));
	check("nops", 12, count_nops(kernel, RUN(4)));
	check("nops.user", 0, count_nops(user, RUN(4)));
	check("complement.0", 0, count_nops(kernel, RUN(4) | COMPARE | COMPLEMENT));
	check("complement.1", 12, count_nops(kernel, RUN(4) | COMPARE | COMPLEMENT | THRESHOLD(1)));
	/* In ring 0 the ESCR detects no instruction of ring 3: all cycles are without one. */
	check("complement.blind", 12, count_nops(user, RUN(4) | COMPARE | COMPLEMENT));
	check("complement.branches", 1003 + others,
	      count_loop_by(CRU_ESCR2, BRANCHES_ALL | USER, RUN(5) | COMPARE | COMPLEMENT));
}

static void test_overflow(void)
{
	reset();
	wrmsr(CRU_ESCR0, INSTR_RETIRED | USER);
	wrmsr(COUNTER(12), MAX_COUNT - 4);
	wrmsr(CCCR(12), RUN(4));
	check("overflow.before", RUN(4), rdmsr(CCCR(12)));
	run_user(user_nops);	/* 21 instructions */
	check("overflow.flag", RUN(4) | OVF, rdmsr(CCCR(12)));
	check("overflow.value", 16, rdmsr(COUNTER(12)));
	wrmsr(CCCR(12), RUN(4));
	check("overflow.cleared", RUN(4), rdmsr(CCCR(12)));

	wrmsr(COUNTER(12), 0);
	wrmsr(CCCR(12), RUN(4) | FORCE_OVF);
	run_user(user_nops);
	check("force.flag", 1, rdmsr(CCCR(12)) >> 31);
	check("force.value", 21, rdmsr(COUNTER(12)));
}

static void unmask(void)
{
	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
}

static void check_nops(const char *name, uint32_t eip)
{
	check(name, eip, pmi_frame.eip - (uint32_t)user_nops);
}

/*
 * Counter 12 must overflow with the @period-th of 21 instructions, and interrupt with the next one.
 */
static void run_nops(uint32_t period, uint32_t more)
{
	unmask();
	wrmsr(COUNTER(12), MAX_COUNT + 1 - period);
	wrmsr(CCCR(12), RUN(4) | OVF_PMI | more);
	run_user(user_nops);
}

static void test_interrupt(void)
{
	reset();
	wrmsr(CRU_ESCR0, INSTR_RETIRED | USER);
	run_nops(5, 0);
	check("pmi.count", 1, pmi_count);
	check_nops("pmi.eip", 5 + 1);
	check("pmi.masked", PMI_VECTOR | LVT_MASKED, apic_read(APIC_LVTPC));
	check("pmi.value", 16, rdmsr(COUNTER(12)));

	/* Without another event there is no interrupt. */
	run_nops(21, 0);
	check("next.none", 0, pmi_count);
	check("next.flag", 1, rdmsr(CCCR(12)) >> 31);
	run_user(user_nops);
	check("next.count", 1, pmi_count);
	check_nops("next.eip", 1);

	/* OVF has not been cleared. */
	unmask();
	run_user(user_nops);
	check("again.count", 1, pmi_count);
	check_nops("again.eip", 1);
	unmask();
	wrmsr(CCCR(12), RUN(4) | OVF_PMI);
	run_user(user_nops);
	check("cleared.count", 0, pmi_count);

	run_nops(1000, FORCE_OVF);
	check("force.count", 1, pmi_count);
	check_nops("force.eip", 2);
	apic_write(APIC_LVTPC, LVT_MASKED);
}

/* An instruction of one byte has 7 loads. The @period-th load overflows the counter. */
static uint32_t popa_eip(uint32_t period)
{
	reset();
	unmask();
	wrmsr(RAT_ESCR0 + 1, UOP_LOADS | USER);
	wrmsr(CRU_ESCR2 + 1, FRONT_END | USER);
	wrmsr(COUNTER(15), MAX_COUNT + 1 - period);
	wrmsr(CCCR(15), RUN(5) | OVF_PMI);
	run_user(user_popa);
	check("popa.count", 1, pmi_count);
	apic_write(APIC_LVTPC, LVT_MASKED);
	return pmi_frame.eip - (uint32_t)user_popa;
}

static void test_several_events(void)
{
	check("popa.6", 6 + 1, popa_eip(6));
	check("popa.7", 6 + 2, popa_eip(7));
	check("popa.8", 6 + 2, popa_eip(8));
}

/* The source overflows with the 5th of 21 instructions: the other counter counts 16. */
static uint64_t cascade(unsigned source, unsigned target, uint32_t how)
{
	unsigned select = source < 4 ? 6 : 4;

	reset();
	wrmsr(FSB_ESCR0, POWER_EVENTS | USER);
	wrmsr(FSB_ESCR0 + 1, POWER_EVENTS | USER);
	wrmsr(CRU_ESCR0, INSTR_RETIRED | USER);
	wrmsr(CRU_ESCR0 + 1, INSTR_RETIRED | USER);
	wrmsr(COUNTER(source), MAX_COUNT - 4);
	wrmsr(CCCR(target), (RUN(select) & ~ENABLE) | how);
	wrmsr(CCCR(source), RUN(select));
	run_user(user_nops);
	return rdpmc(target);
}

static void cascade_block(unsigned first, unsigned last, uint32_t how, const int8_t *source_of)
{
	for (unsigned target = first; target <= last; target++)
		for (unsigned source = first; source <= last; source++)
			if (source != target && (how != EXTENDED || source_of[target] >= 0))
				check("cascade", source_of[target] == (int)source ? 16 : 0,
				      cascade(source, target, how));
}

static void test_cascades(void)
{
	static const int8_t pairs[NB_COUNTERS] = {
		2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 14, 15,
	};
	static const int8_t extended[NB_COUNTERS] = {
		[12] = 16, [13] = -1, [14] = -1, [15] = 17, [16] = 17, [17] = 16,
	};

	cascade_block(0, 3, CASCADE, pairs);
	cascade_block(12, 17, CASCADE, pairs);
	cascade_block(12, 17, EXTENDED, extended);
	check("cascade.neither", 0, cascade(12, 14, 0));
}

/*
 * The source overflows with the 5th instruction. The counter that begins then overflows with the
 * 10th: it shows this, but does not interrupt on all processors.
 */
static void check_cascade_interrupt(unsigned source, unsigned target, uint32_t how)
{
	unmask();
	reset();
	wrmsr(CRU_ESCR0, INSTR_RETIRED | USER);
	wrmsr(CRU_ESCR0 + 1, INSTR_RETIRED | USER);
	wrmsr(COUNTER(source), MAX_COUNT - 4);
	wrmsr(COUNTER(target), MAX_COUNT - 4);
	wrmsr(CCCR(target), (RUN(4) & ~ENABLE) | OVF_PMI | how);
	wrmsr(CCCR(source), RUN(4));
	run_user(user_nops);
	check("cascade.overflow", 1, rdmsr(CCCR(target)) >> 31);
	check("cascade.interrupts", cascades_interrupt, pmi_count);
	if (pmi_count)
		check_nops("cascade.eip", 10 + 1);
	apic_write(APIC_LVTPC, LVT_MASKED);
}

static void test_cascade_interrupts(void)
{
	check_cascade_interrupt(12, 14, CASCADE);
	check_cascade_interrupt(14, 16, CASCADE);
	check_cascade_interrupt(17, 16, EXTENDED);
}

/* user_rep() has 1000 loads and 1000 stores, user_x87() 4 instructions of the x87. */
static uint64_t count_tagged(void (*code)(void), uint32_t upstream, uint32_t event,
			     uint32_t downstream)
{
	if (upstream)
		wrmsr(upstream, event);
	wrmsr(CRU_ESCR2 + 1, downstream);
	wrmsr(CCCR(15), RUN(5));
	run_user(code);
	return rdpmc(15);
}

static uint64_t front_end(uint32_t event, uint32_t mode)
{
	reset();
	return count_tagged(user_rep, RAT_ESCR0 + 1, event, FRONT_END | mode);
}

/* Caches and TLBs are empty at the beginning. They are only modelled while an event needs them. */
static uint64_t replay(uint64_t enable, uint64_t vert)
{
	reset();
	wrmsr(PEBS_ENABLE, enable);
	wrmsr(PEBS_VERT, vert);
	wrmsr(CRU_ESCR2 + 1, REPLAY | USER);
	wrmsr(CCCR(15), RUN(5));
	asm volatile("wbinvd\n\t"
		     "mov %%cr3, %%eax\n\t"
		     "mov %%eax, %%cr3" : : : "eax", "memory");
	run_user(user_rep);
	return rdpmc(15);
}

static uint64_t execution(uint32_t escr, uint32_t event, uint32_t downstream)
{
	reset();
	return count_tagged(user_x87, escr, event, EXECUTION | downstream);
}

static void test_tagging(void)
{
	check("front_end.none", 0, front_end(0, USER));
	check("front_end.loads", 1000, front_end(UOP_LOADS | USER, USER));
	check("front_end.stores", 1000, front_end(UOP_STORES | USER, USER));
	check("front_end.both", 2000, front_end(UOP_LOADS | UOP_STORES | USER, USER));
	check("front_end.other_ring", 0, front_end(UOP_LOADS | KERNEL, USER));
	check("front_end.not_tagged", 0, front_end(UOP_LOADS | USER, KERNEL));

	/*
	 * Bytes 0 to 999 are loaded, 1000 to 1999 are stored to, in turn. Lines 0 to 14 are loaded
	 * first, lines 15 to 31 are stored to first. All are in one page, from which the first
	 * access loads.
	 */
	check("replay.l1_loads", 15, replay(0x01000001, 1));
	check("replay.l1_stores", 17, replay(0x01000001, 2));
	check("replay.l1_all", 32, replay(0x01000001, 3));
	check("replay.l2_loads", 15, replay(0x01000002, 1));
	check("replay.dtlb_loads", 1, replay(0x01000004, 1));
	check("replay.dtlb_stores", 0, replay(0x01000004, 2));
	check("replay.dtlb_all", 1, replay(0x01000004, 3));
	check("replay.not_enabled", 0, replay(0x00000001, 1));
	check("replay.nothing", 0, replay(0x01000001, 0));
	check("replay.mob", 0, replay(0x01000200, 1));
	check("replay.two_reasons", 0, replay(0x01000003, 1));

	check("execution.tag_0", 4,
	      execution(FIRM_ESCR0, X87_UOPS | TAG(1) | USER, NBOGUS(0) | USER));
	check("execution.tag_3", 4,
	      execution(FIRM_ESCR0 + 1, X87_UOPS | TAG(8) | USER, NBOGUS(3) | USER));
	check("execution.other_tag", 0,
	      execution(FIRM_ESCR0, X87_UOPS | TAG(1) | USER, NBOGUS(1) | USER));
	check("execution.one_of_two", 4,
	      execution(FIRM_ESCR0, X87_UOPS | TAG(2) | USER, NBOGUS(0) | NBOGUS(1) | USER));
	check("execution.no_tag", 0, execution(FIRM_ESCR0, X87_UOPS | USER, NBOGUS(0) | USER));

	reset();
	wrmsr(FIRM_ESCR0, X87_UOPS | USER);
	wrmsr(CCCR(8), RUN(1));
	run_user(user_x87);
	check("x87", 4, rdpmc(8));
}

static void refuse(const char *name, uint32_t msr, uint64_t value)
{
	uint64_t before = rdmsr(msr);

	check(name, GP, wrmsr_safe(msr, value));
	check("  unchanged", before, rdmsr(msr));
}

static bool cccr_bit(unsigned n, unsigned bit)
{
	if (bit == 11)
		return n == 12 || n >= 15;
	return bit >= 12 && bit <= 31 && (bit < 27 || bit > 29);
}

static void test_strict(void)
{
	static const uint32_t absent[] = { 0x11,  0xc1,  0x186, 0x345,      0x38d,
					   0x38f, 0x3f0, 0x4c1, 0xc0010000, 0xc0010200 };
	uint64_t value;

	reset();
	for (unsigned n = 0; n < NB_COUNTERS; n++) {
		for (unsigned bit = 0; bit < 64; bit++) {
			if (cccr_bit(n, bit))
				check("cccr.allowed", NO_FAULT, wrmsr_safe(CCCR(n), 1ull << bit));
			else
				refuse("cccr.reserved", CCCR(n), 1ull << bit);
		}
		wrmsr(CCCR(n), 0);
	}
	for (uint32_t msr = FIRST_ESCR; msr < 0x3f0; msr++) {
		if (!is_escr(msr)) {
			check("escr.absent", GP, rdmsr_safe(msr, &value));
			check("escr.absent", GP, wrmsr_safe(msr, 0));
			continue;
		}
		check("escr.allowed", NO_FAULT, wrmsr_safe(msr, 0x7ffffffc));
		check("escr.kept", 0x7ffffffc, rdmsr(msr));
		refuse("escr.thread_1", msr, 1);
		refuse("escr.thread_1", msr, 2);
		refuse("escr.bit_31", msr, 1u << 31);
		refuse("escr.bit_32", msr, 1ull << 32);
	}
	reset();
	refuse("pebs_enable.bit_26", PEBS_ENABLE, 1 << 26);
	refuse("pebs_vert.bit_13", PEBS_VERT, 1 << 13);
	check("counter.widest", NO_FAULT, wrmsr_safe(COUNTER(17), MAX_COUNT));
	check("rdpmc", MAX_COUNT, rdpmc(17));
	check("rdpmc.fast", 0xffffffff, rdpmc(0x80000011));
	refuse("counter.bit_40", COUNTER(17), MAX_COUNT + 1);
	check("rdpmc.bad", GP, rdpmc_safe(18, &value));
	check("rdpmc.fast_bad", GP, rdpmc_safe(0x80000012, &value));
	check("rdpmc.fixed", GP, rdpmc_safe(0x40000000, &value));
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check("absent.read", GP, rdmsr_safe(absent[i], &value));
		check("absent.write", GP, wrmsr_safe(absent[i], 0));
	}
}

void second_test(void)
{
}

void test(void)
{
	uint32_t eax, model;

	cpuid(1, &eax);
	model = (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
	has_iq = model <= 2;
	cascades_interrupt = model > 2 || (model < 2 && (eax & 0xf) <= 9);
	check("misc_enable.pmu", 1, rdmsr(MISC_ENABLE) >> 7 & 1);
	cpuid(0, &eax);
	if (eax >= 0xa) {
		cpuid(0xa, &eax);
		check("cpuid.no_architectural", 0, eax);
	}
	test_routes();
	test_rings();
	test_compare();
	test_overflow();
	test_interrupt();
	test_several_events();
	test_cascades();
	test_cascade_interrupts();
	test_tagging();
	test_strict();
}
