// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel NetBurst: Pentium 4, Pentium D and their Xeons (SDM volume 3, 20.6.3). An ESCR (evntsel2)
 * detects an event, and the CCCR of a counter (evntsel) selects which of the detected events are
 * counted. Slots are the numbers of the counters.
 */
#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event_p4.h>
#include <asm/processor.h>
#include "../pmu.h"
#include "p4-tables.h"

#define P4_ESCR_RINGS		(P4_ESCR_T0_USR | P4_ESCR_T0_OS)
#define P4_UOP_TYPE		0x02	/* event of RAT_ESCR that tags uops for front_end_event */
#define P4_LAST_MODEL_WITH_IQ	2	/* later models lack IQ_ESCR0 and 1 */

struct p4_registers {
	unsigned long running;	/* slots */
	u32 cccr[P4_N_COUNTERS];	/* with ENABLE set, whether or not the counter runs */
	u32 escr[P4_ESCR_SPAN];		/* indexed by MSR - P4_FIRST_ESCR */
	DECLARE_BITMAP(tagging, P4_ESCR_SPAN);	/* ESCRs that tag uops for other events */
	u64 pebs_enable;
	u64 pebs_matrix_vert;
};

/*
 * The current values of a CPU's registers, so that only differences are written, and the values
 * that the registers had before this driver took them.
 */
static DEFINE_PER_CPU(struct p4_registers, registers);
static DEFINE_PER_CPU(struct p4_registers, before);
static DECLARE_BITMAP(escrs, P4_ESCR_SPAN);	/* ESCRs of this model */

/*
 * Returns the ESCR that feeds the counter, as an offset from P4_FIRST_ESCR, or -1 if there is none.
 */
static int p4_route(u32 slot, u64 cccr)
{
	u32 row = p4_row[array_index_nospec(slot, P4_N_COUNTERS)];
	int escr = p4_escrs[row][(cccr & P4_CCCR_ESCR_SELECT_MASK) >>
				 P4_CCCR_ESCR_SELECT_SHIFT] - P4_FIRST_ESCR;

	return escr >= 0 && test_bit(escr, escrs) ? escr : -1;
}

static int event_route(const struct perfctr_event_control *e)
{
	return p4_route(e->counter & ~PERFCTR_FAST, e->evntsel);
}

/*
 * With COMPLEMENT the counter counts the cycles in which the ESCR detects too few events. In a ring
 * that is not selected the ESCR detects nothing, so all cycles of that ring are counted.
 */
static bool is_counting_all_rings(const struct perfctr_event_control *e)
{
	return e->evntsel & P4_CCCR_COMPARE && e->evntsel & P4_CCCR_COMPLEMENT;
}

static u32 p4_check(const struct perfctr_control *control, u32 i)
{
	const struct perfctr_event_control *e = &control->event[i];
	int escr = event_route(e);
	u32 j;

	if (escr < 0)
		return PERFCTR_BAD_ROUTE;
	if (is_counting_all_rings(e) && ~e->evntsel2 & P4_ESCR_RINGS)
		return PERFCTR_BAD_MODE;
	for (j = 0; j < i; j++)
		if (event_route(&control->event[j]) == escr &&
		    control->event[j].evntsel2 != e->evntsel2)
			return PERFCTR_BAD_CONFLICT;
	return 0;
}

static bool p4_tags(unsigned int msr, u32 value)
{
	bool rat = msr == MSR_P4_RAT_ESCR0 || msr == MSR_P4_RAT_ESCR1;

	return value & P4_ESCR_TAG_ENABLE ||
	       (rat && (value & P4_ESCR_EVENT_MASK) == P4_ESCR_EVENT(P4_UOP_TYPE));
}

static bool p4_marks_uops(const struct perfctr_event_control *e)
{
	return p4_tags(P4_FIRST_ESCR + event_route(e), e->evntsel2);
}

/*
 * A detector has one event at a time, so a session has its detectors to itself. Bit n is the nth
 * detector of this model; there are fewer than 64.
 */
static u64 p4_shared(const struct perfctr_hw_event *e)
{
	return BIT_ULL(bitmap_weight(escrs, p4_route(e->slot, e->evntsel)));
}

/* extra[] has IA32_PEBS_ENABLE and MSR_PEBS_MATRIX_VERT. */
static void p4_compile(struct perfctr_hw_control *hw, const struct perfctr_control *control)
{
	hw->extra[0] = control->p4_pebs_enable;
	hw->extra[1] = control->p4_pebs_matrix_vert;
}

static void p4_tell(const struct perfctr_hw_control *hw, struct perfctr_control *control)
{
	control->p4_pebs_enable = hw->extra[0];
	control->p4_pebs_matrix_vert = hw->extra[1];
}

/* The logical processors of a core share all counters and detectors. */
static bool has_sibling(unsigned int cpu)
{
	return cpumask_weight(topology_sibling_cpumask(cpu)) > 1;
}

static bool has_online_siblings(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (has_sibling(cpu))
			return true;
	return false;
}

/*
 * A CPU with a sibling stays mute. The sibling may be counting, or may begin before
 * has_online_siblings() sees this CPU.
 */
static bool p4_may_count(unsigned int cpu)
{
	return !has_sibling(cpu);
}

/* Claims the counters and not the CCCRs, which the kernel does not manage on NetBurst. */
static int p4_reserve(void)
{
	if (has_online_siblings())
		return -EBUSY;
	return perfctr_reserve_counters(MSR_P4_BPU_PERFCTR0, P4_N_COUNTERS);
}

static void p4_release(void)
{
	perfctr_release_counters(MSR_P4_BPU_PERFCTR0, P4_N_COUNTERS);
}

/* Writes twice: on some models the first write of a counter may get lost (erratum N15). */
static void p4_clear(u64 slots)
{
	unsigned long mask = slots;
	unsigned int n;

	for_each_set_bit(n, &mask, P4_N_COUNTERS) {
		wrmsrl(MSR_P4_BPU_PERFCTR0 + n, 0);
		wrmsrl(MSR_P4_BPU_PERFCTR0 + n, 0);
	}
}

/* Writes twice, like p4_clear(). */
static bool p4_preset(const struct perfctr_hw_event *e, u64 value)
{
	wrmsrl(MSR_P4_BPU_PERFCTR0 + e->slot, value);
	wrmsrl(MSR_P4_BPU_PERFCTR0 + e->slot, value);
	return true;
}

/*
 * Stops all counters, selects no event, and sets the counters to 0, so that no counts of others are
 * left to read.
 */
static void p4_silence(struct p4_registers *regs)
{
	unsigned int n;

	for (n = 0; n < P4_N_COUNTERS; n++)
		wrmsrl(MSR_P4_BPU_CCCR0 + n, 0);
	for_each_set_bit(n, escrs, P4_ESCR_SPAN)
		wrmsrl(P4_FIRST_ESCR + n, 0);
	wrmsrl(MSR_IA32_PEBS_ENABLE, 0);
	wrmsrl(MSR_P4_PEBS_MATRIX_VERT, 0);
	p4_clear(~0ull);
	memset(regs, 0, sizeof(*regs));
}

static void p4_save(struct p4_registers *regs)
{
	unsigned int n;
	u64 value;

	for (n = 0; n < P4_N_COUNTERS; n++) {
		rdmsrl(MSR_P4_BPU_CCCR0 + n, value);
		regs->cccr[n] = value;
	}
	for_each_set_bit(n, escrs, P4_ESCR_SPAN) {
		rdmsrl(P4_FIRST_ESCR + n, value);
		regs->escr[n] = value;
	}
	rdmsrl(MSR_IA32_PEBS_ENABLE, regs->pebs_enable);
	rdmsrl(MSR_P4_PEBS_MATRIX_VERT, regs->pebs_matrix_vert);
}

static void p4_take_cpu(bool first)
{
	if (first)
		p4_save(this_cpu_ptr(&before));
	p4_silence(this_cpu_ptr(&registers));
}

/* Restores the detectors before the counters that they feed. */
static void p4_give_cpu(void)
{
	const struct p4_registers *regs = this_cpu_ptr(&before);
	unsigned int n;

	p4_silence(this_cpu_ptr(&registers));
	wrmsrl(MSR_IA32_PEBS_ENABLE, regs->pebs_enable);
	wrmsrl(MSR_P4_PEBS_MATRIX_VERT, regs->pebs_matrix_vert);
	for_each_set_bit(n, escrs, P4_ESCR_SPAN)
		wrmsrl(P4_FIRST_ESCR + n, regs->escr[n]);
	for (n = 0; n < P4_N_COUNTERS; n++)
		wrmsrl(MSR_P4_BPU_CCCR0 + n, regs->cccr[n]);
}

static void write_escr(struct p4_registers *regs, unsigned int n, u32 value)
{
	if (regs->escr[n] == value)
		return;
	regs->escr[n] = value;
	__assign_bit(n, regs->tagging, p4_tags(P4_FIRST_ESCR + n, value));
	wrmsrl(P4_FIRST_ESCR + n, value);
}

static void load_escrs(struct p4_registers *regs, const struct perfctr_hw_control *hw)
{
	DECLARE_BITMAP(foreign, P4_ESCR_SPAN);
	unsigned int n;
	u32 i;

	bitmap_copy(foreign, regs->tagging, P4_ESCR_SPAN);
	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];
		int escr = p4_route(e->slot, e->evntsel);

		__clear_bit(escr, foreign);
		write_escr(regs, escr, e->evntsel2);
	}
	/* A session tags nothing, and leaves the tags to the context that may be counting now. */
	if (hw->session)
		return;
	/* This control must not count uops that another one tags. */
	for_each_set_bit(n, foreign, P4_ESCR_SPAN)
		write_escr(regs, n, 0);
}

static void load_pebs(struct p4_registers *regs, const struct perfctr_hw_control *hw)
{
	if (regs->pebs_enable != hw->extra[0]) {
		regs->pebs_enable = hw->extra[0];
		wrmsrl(MSR_IA32_PEBS_ENABLE, regs->pebs_enable);
	}
	if (regs->pebs_matrix_vert != hw->extra[1]) {
		regs->pebs_matrix_vert = hw->extra[1];
		wrmsrl(MSR_P4_PEBS_MATRIX_VERT, regs->pebs_matrix_vert);
	}
}

/*
 * Writes a CCCR only if its counter is running. p4_enable() writes the other CCCRs when it starts
 * their counters.
 */
static void p4_load(const struct perfctr_hw_control *hw)
{
	struct p4_registers *regs = this_cpu_ptr(&registers);
	u32 i;

	load_escrs(regs, hw);
	if (!hw->session)
		load_pebs(regs, hw);
	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];

		if (regs->cccr[e->slot] == e->evntsel)
			continue;
		regs->cccr[e->slot] = e->evntsel;
		if (test_bit(e->slot, &regs->running))
			wrmsrl(MSR_P4_BPU_CCCR0 + e->slot, e->evntsel);
	}
}

/*
 * No register starts or stops more than one counter. The overflow bit of a CCCR demands an
 * interrupt until it is cleared, and every write here clears it.
 */
static void p4_enable(u64 slots)
{
	struct p4_registers *regs = this_cpu_ptr(&registers);
	unsigned long stop = regs->running & ~(unsigned long)slots;
	unsigned long start = (unsigned long)slots & ~regs->running;
	unsigned int n;

	for_each_set_bit(n, &stop, P4_N_COUNTERS)
		wrmsrl(MSR_P4_BPU_CCCR0 + n, regs->cccr[n] & ~P4_CCCR_ENABLE);
	for_each_set_bit(n, &start, P4_N_COUNTERS)
		wrmsrl(MSR_P4_BPU_CCCR0 + n, regs->cccr[n]);
	regs->running = slots;
}

/* The overflow bit is in the same register as the selection, and is ignored here. */
static bool is_cccr_intact(const struct p4_registers *regs, unsigned int n)
{
	u64 cccr;

	rdmsrl(MSR_P4_BPU_CCCR0 + n, cccr);
	if ((cccr & ~(u64)P4_CCCR_OVF) == regs->cccr[n])
		return true;
	wrmsrl(MSR_P4_BPU_CCCR0 + n, regs->cccr[n]);
	return false;
}

/* Checks and restores the detector that feeds counter n. */
static bool is_escr_intact(const struct p4_registers *regs, unsigned int n)
{
	int escr = p4_route(n, regs->cccr[n]);
	u64 value;

	rdmsrl(P4_FIRST_ESCR + escr, value);
	if (value == regs->escr[escr])
		return true;
	wrmsrl(P4_FIRST_ESCR + escr, regs->escr[escr]);
	return false;
}

static bool p4_intact(u64 slots)
{
	const struct p4_registers *regs = this_cpu_ptr(&registers);
	unsigned long running = slots;
	bool intact = true;
	unsigned int n;

	for_each_set_bit(n, &running, P4_N_COUNTERS) {
		intact &= is_escr_intact(regs, n);
		intact &= is_cccr_intact(regs, n);
	}
	return intact;
}

static u32 p4_msr_of(u32 slot)
{
	return slot < P4_N_COUNTERS ? MSR_P4_BPU_PERFCTR0 + slot : 0;
}

static struct perfctr_pmu p4_pmu = {
	.pmu = PERFCTR_PMU_P4,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_FAST_RDPMC,
	.n_general = P4_N_COUNTERS,
	.general_bits = ARCH_P4_CNTRVAL_BITS,
	.evntsel_allowed = P4_CCCR_ALLOWED,
	.evntsel_required = P4_CCCR_REQUIRED,
	.evntsel2_allowed = P4_ESCR_ALLOWED,
	.evntsel2_user = P4_ESCR_T0_USR,
	.evntsel2_kernel = P4_ESCR_T0_OS,
	.marks_uops = p4_marks_uops,
	.p4_pebs_enable_allowed = P4_PEBS_ENABLE_ALLOWED,
	.p4_pebs_matrix_vert_allowed = P4_PEBS_MATRIX_VERT_ALLOWED,
	.counter_msr = MSR_P4_BPU_PERFCTR0,
	.msr_of = p4_msr_of,
	.may_count = p4_may_count,
	.reserve = p4_reserve,
	.release = p4_release,
	.check = p4_check,
	.shared = p4_shared,
	.compile = p4_compile,
	.tell = p4_tell,
	.take_cpu = p4_take_cpu,
	.give_cpu = p4_give_cpu,
	.load = p4_load,
	.enable = p4_enable,
	.clear = p4_clear,
	.evntsel_interrupt = P4_CCCR_OVF_PMI_T0,
	.preset = p4_preset,
	.max_distance = BIT_ULL(ARCH_P4_CNTRVAL_BITS - 1),
	.interrupts_after = 1,
	.intact = p4_intact,
};

static struct perfctr_pmu p4_unusable = {
	.family = "Intel NetBurst: boot with nosmt",
	.pmu = PERFCTR_PMU_NONE,
};

static void __init find_escrs(void)
{
	unsigned int row, select;

	for (row = 0; row < ARRAY_SIZE(p4_escrs); row++)
		for (select = 0; select < ARRAY_SIZE(p4_escrs[row]); select++)
			if (p4_escrs[row][select])
				__set_bit(p4_escrs[row][select] - P4_FIRST_ESCR, escrs);
	if (boot_cpu_data.x86_model > P4_LAST_MODEL_WITH_IQ) {
		__clear_bit(MSR_P4_IQ_ESCR0 - P4_FIRST_ESCR, escrs);
		__clear_bit(MSR_P4_IQ_ESCR1 - P4_FIRST_ESCR, escrs);
	}
}

const struct perfctr_pmu *__init perfctr_p4_probe(void)
{
	u64 misc;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.x86 != 15)
		return NULL;
	if (rdmsrl_safe(MSR_IA32_MISC_ENABLE, &misc) || !(misc & MSR_IA32_MISC_ENABLE_EMON))
		return NULL;
	if (has_online_siblings())
		return &p4_unusable;

	snprintf(p4_pmu.family, sizeof(p4_pmu.family), "Intel NetBurst, model %d",
		 boot_cpu_data.x86_model);
	find_escrs();
	return &p4_pmu;
}
