// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel architectural PerfMon (SDM volume 3, 20.2). Slots are the bits of IA32_PERF_GLOBAL_CTRL,
 * which version 1 lacks. On a hybrid processor, each operation first looks up what the CPU's kind
 * of core has; on other processors all CPUs have the same.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#include "../../kernel/hooks.h"
#include "arch.h"
#include "evntsel.h"
#include "intel-constraints.h"

#define FIXED_CTRL_MASK		GENMASK(ARCH_FIXED_CTRL_BITS - 1, 0)
#define FIXED_CTRL_OS		BIT(0)
#define FIXED_CTRL_USR		BIT(1)
#define FIXED_CTRL_PMI		BIT(3)
#define FULL_WIDTH_WRITE	BIT_ULL(13)	/* IA32_PERF_CAPABILITIES */

#define FIXED_ALLOWED		(ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS |		\
				 ARCH_PERFMON_EVENTSEL_ENABLE)

struct arch_registers {
	u64 evntsel[ARCH_MAX_GENERAL];
	u64 fixed_ctrl;
	u64 global_ctrl;		/* saved in `before` only */
};

/*
 * The current values of a CPU's registers, so that only differences are written, and the values
 * that the registers had before this driver took them.
 */
static DEFINE_PER_CPU(struct arch_registers, registers);
static DEFINE_PER_CPU(struct arch_registers, before);
static struct perfctr_pmu arch_pmu;

/*
 * If all CPUs are alike, the first entry is for all of them. On a hybrid processor, each CPU has
 * one of the first n_kinds entries.
 */
static struct arch_kind kinds[PERFCTR_MAX_KINDS] __ro_after_init;
static struct perfctr_kind told_kinds[PERFCTR_MAX_KINDS] __ro_after_init;
static u16 constraints_of[PERFCTR_MAX_KINDS] __ro_after_init;
static DEFINE_PER_CPU(u32, kind_number);
static bool full_width __ro_after_init;	/* the IA32_A_PMCx registers exist */

static const struct arch_kind *this_kind(void)
{
	return &kinds[arch_pmu.n_kinds ? __this_cpu_read(kind_number) : 0];
}

static u32 fixed_number(const struct perfctr_hw_event *e)
{
	return e->rdpmc & ~PERFCTR_FIXED;
}

static bool is_fixed_event(const struct perfctr_hw_event *e)
{
	return e->rdpmc & PERFCTR_FIXED;
}

static u32 most_general_counters(void)
{
	u32 k, n = kinds[0].n_general;

	for (k = 1; k < arch_pmu.n_kinds; k++)
		n = max(n, kinds[k].n_general);
	return n;
}

static int arch_reserve(void)
{
	return perfctr_reserve_evntsels(MSR_ARCH_PERFMON_EVENTSEL0, most_general_counters());
}

static void arch_release(void)
{
	perfctr_release_evntsels(MSR_ARCH_PERFMON_EVENTSEL0, most_general_counters());
}

/* The numbers of fixed counters need not be contiguous. */
static u32 arch_check(const struct perfctr_control *control, u32 i)
{
	u32 counter = control->event[i].counter;

	if (counter & PERFCTR_FIXED)
		return kinds[0].fixed & BIT(counter & ~PERFCTR_FIXED) ? 0 : PERFCTR_BAD_COUNTER;
	return perfctr_intel_constraint(constraints_of[0], control->event[i].evntsel, counter);
}

/*
 * Checks the event for one of its kinds. An event for all kinds must be the same event on all of
 * them. The core of the driver has checked that each kind has the event's general counter.
 */
static u32 check_kind(const struct perfctr_event_control *e, u32 k)
{
	if (e->counter & PERFCTR_FIXED)
		return kinds[k].fixed & BIT(e->counter & ~PERFCTR_FIXED) ? 0 :
									   PERFCTR_BAD_COUNTER;
	if (!e->kinds && !arch_kind_has_event(&kinds[k], e->evntsel))
		return PERFCTR_BAD_KIND;
	return perfctr_intel_constraint(constraints_of[k], e->evntsel, e->counter);
}

static u32 hybrid_check(const struct perfctr_control *control, u32 i)
{
	const struct perfctr_event_control *e = &control->event[i];
	u32 k, bad = 0;

	for (k = 0; k < arch_pmu.n_kinds && !bad; k++)
		if (!e->kinds || e->kinds & BIT(k))
			bad = check_kind(e, k);
	return bad;
}

static u64 fixed_modes(const struct perfctr_hw_event *e)
{
	u64 bits = 0;

	if (e->evntsel & ARCH_PERFMON_EVENTSEL_OS)
		bits |= FIXED_CTRL_OS;
	if (e->evntsel & ARCH_PERFMON_EVENTSEL_USR)
		bits |= FIXED_CTRL_USR;
	if (e->evntsel & ARCH_PERFMON_EVENTSEL_INT)
		bits |= FIXED_CTRL_PMI;
	return arch_fixed_bits(bits, fixed_number(e));
}

/* extra[0] has the bits of IA32_FIXED_CTR_CTRL. */
static void arch_compile(struct perfctr_hw_control *hw, const struct perfctr_control *control)
{
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		if (is_fixed_event(&hw->event[i]))
			hw->extra[0] |= fixed_modes(&hw->event[i]);
}

static __always_inline void clear_kind_counters(const struct arch_kind *kind, u64 slots)
{
	u32 n;

	for (n = 0; n < kind->n_general; n++)
		if (slots & BIT_ULL(n))
			wrmsrl(MSR_ARCH_PERFMON_PERFCTR0 + n, 0);
	for_each_set_bit(n, &kind->fixed, ARCH_MAX_FIXED)
		if (slots & BIT_ULL(PERFCTR_FIXED_SLOT + n))
			wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR0 + n, 0);
}

static void arch_clear(u64 slots)
{
	clear_kind_counters(&kinds[0], slots);
}

static bool arch_preset(const struct perfctr_hw_event *e, u64 value)
{
	if (is_fixed_event(e))
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR0 + fixed_number(e), value);
	else if (full_width)
		wrmsrl(MSR_IA32_PMC0 + e->slot, value);
	else
		wrmsrl(MSR_ARCH_PERFMON_PERFCTR0 + e->slot, (u64)(s32)value);
	return true;
}

static bool hybrid_preset(const struct perfctr_hw_event *e, u64 value)
{
	return this_kind()->counters & BIT_ULL(e->slot) && arch_preset(e, value);
}

/* Leaves out slots that this CPU lacks: writing a reserved bit would fault. */
static void arch_acknowledge(u64 slots)
{
	wrmsrl(MSR_CORE_PERF_GLOBAL_OVF_CTRL, slots & this_kind()->counters);
}

/* None of the models with limits is hybrid. */
static void arch_limit_distance(const struct perfctr_hw_event *e, struct perfctr_hw_period *p)
{
	perfctr_intel_limit_distance(constraints_of[0], e, p);
}

static void hybrid_clear(u64 slots)
{
	clear_kind_counters(this_kind(), slots);
}

static void arch_enable(u64 slots)
{
	perfctr_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, slots);
}

static void hybrid_enable(u64 slots)
{
	perfctr_wrmsr(MSR_CORE_PERF_GLOBAL_CTRL, slots & this_kind()->counters);
}

/*
 * Clears the status bits that are set, as perf_events does. Bits left by other code would freeze
 * this driver's counters, and bits left by this driver would make perf_events wait.
 */
static void arch_clear_status(void)
{
	u64 status;

	rdmsrl(MSR_CORE_PERF_GLOBAL_STATUS, status);
	if (status)
		wrmsrl(MSR_CORE_PERF_GLOBAL_OVF_CTRL, status);
}

/*
 * Stops all counters, selects no event, and sets the counters to 0, so that no counts of others are
 * left to read.
 */
static void arch_silence(const struct arch_kind *kind, struct arch_registers *regs)
{
	u32 n;

	arch_enable(0);
	for (n = 0; n < kind->n_general; n++) {
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, kind->evntsel_hidden);
		regs->evntsel[n] = kind->evntsel_hidden;
	}
	if (kind->fixed)
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, kind->fixed_hidden);
	regs->fixed_ctrl = kind->fixed_hidden;
	clear_kind_counters(kind, ~0ull);
	arch_clear_status();
}

static void arch_save(const struct arch_kind *kind, struct arch_registers *regs)
{
	u32 n;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, regs->global_ctrl);
	for (n = 0; n < kind->n_general; n++)
		rdmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	if (kind->fixed)
		rdmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
}

static void arch_take_cpu(bool first)
{
	const struct arch_kind *kind = this_kind();

	if (first)
		arch_save(kind, this_cpu_ptr(&before));
	arch_silence(kind, this_cpu_ptr(&registers));
	perfctr_evntsel_thaw();
}

/*
 * Restores the saved values, because perf_events does not write a register if it believes that the
 * register has the value already.
 */
static void arch_give_cpu(void)
{
	const struct arch_registers *regs = this_cpu_ptr(&before);
	const struct arch_kind *kind = this_kind();
	u32 n;

	arch_silence(kind, this_cpu_ptr(&registers));
	for (n = 0; n < kind->n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	if (kind->fixed)
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, regs->global_ctrl);
}

static void arch_write_evntsel(struct arch_registers *regs, u32 n, u64 value)
{
	if (regs->evntsel[n] == value)
		return;
	regs->evntsel[n] = value;
	wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, value);
}

static void write_fixed_ctrl(struct arch_registers *regs, u64 value)
{
	if (regs->fixed_ctrl == value)
		return;
	regs->fixed_ctrl = value;
	wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, value);
}

static __always_inline u64 hidden_fixed_bits(const struct arch_kind *kind, u64 slots)
{
	u64 bits = 0;
	u32 n;

	for_each_set_bit(n, &kind->fixed, ARCH_MAX_FIXED)
		if (slots & BIT_ULL(PERFCTR_FIXED_SLOT + n))
			bits |= arch_fixed_bits(ARCH_FIXED_USER_DISABLE, n);
	return bits & kind->fixed_hidden;
}

static __always_inline void hide_general_counters(const struct arch_kind *kind,
						  struct arch_registers *regs, u64 slots)
{
	u32 n;

	for (n = 0; n < kind->n_general; n++)
		if (slots & BIT_ULL(n))
			arch_write_evntsel(regs, n, regs->evntsel[n] | kind->evntsel_hidden);
}

/* Returns whether the event may count on this CPU of a hybrid processor. */
static bool is_event_here(const struct perfctr_hw_event *e)
{
	return !e->kinds || e->kinds & BIT(__this_cpu_read(kind_number));
}

static bool has_other_event_selected(const struct arch_registers *regs,
				     const struct perfctr_hw_control *hw)
{
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		if (!is_fixed_event(&hw->event[i]) &&
		    regs->evntsel[hw->event[i].slot] != hw->event[i].evntsel)
			return true;
	return false;
}

/*
 * Works around errata of Nehalem and Westmere: see perfctr_intel_constraints(). Selects three
 * events without any unit mask, so that nothing is counted, enables the counters, and restores the
 * selection. Returns the slots that ran; all are stopped afterwards. No hybrid processor needs
 * this.
 */
static u64 arch_cleanse(const struct arch_kind *kind, const struct arch_registers *regs)
{
	static const u32 events[] = { 0x4300b5, 0x4300d2, 0x4300b1 };
	u64 running;
	u32 n;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, running);
	arch_enable(0);
	for (n = 0; n < kind->n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, events[n % ARRAY_SIZE(events)]);
	arch_enable(BIT_ULL(kind->n_general) - 1);
	arch_enable(0);
	for (n = 0; n < kind->n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	return running;
}

/*
 * If counters can be hidden from user mode, all are hidden except those of the context that was
 * loaded last. Sessions are loaded beside that context, and hide only their own counters. A counter
 * whose event is not for this kind of core stands still.
 */
static __always_inline void load_events(const struct arch_kind *kind,
					const struct perfctr_hw_control *hw, bool hybrid)
{
	struct arch_registers *regs = this_cpu_ptr(&registers);
	u64 hidden = hw->session ? kind->evntsel_hidden : 0;
	bool cleansed = !hybrid && perfctr_intel_cleanse() && has_other_event_selected(regs, hw);
	u64 running = cleansed ? arch_cleanse(kind, regs) : 0;
	u64 fixed_ctrl = regs->fixed_ctrl;
	u32 i;

	if (!hw->session)
		fixed_ctrl |= kind->fixed_hidden;
	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];
		u32 n = fixed_number(e);

		if (hybrid && !(kind->counters & BIT_ULL(e->slot)))
			continue;
		if (is_fixed_event(e))
			fixed_ctrl &= ~arch_fixed_bits(FIXED_CTRL_MASK | ARCH_FIXED_USER_DISABLE,
						       n);
		else
			arch_write_evntsel(regs, e->slot,
					   (!hybrid || is_event_here(e) ? e->evntsel : 0) | hidden);
		if (hybrid && is_fixed_event(e) && is_event_here(e))
			fixed_ctrl |= fixed_modes(e);
	}
	if (!hybrid)
		fixed_ctrl |= hw->extra[0];
	if (hw->session)
		fixed_ctrl |= hidden_fixed_bits(kind, hw->slots);
	write_fixed_ctrl(regs, fixed_ctrl);
	if (kind->evntsel_hidden && !hw->session)
		hide_general_counters(kind, regs, ~hw->slots);
	if (cleansed && running)
		arch_enable(running);
}

static void arch_load(const struct perfctr_hw_control *hw)
{
	load_events(&kinds[0], hw, false);
}

static void hybrid_load(const struct perfctr_hw_control *hw)
{
	load_events(this_kind(), hw, true);
}

/*
 * Restores the registers that differ, and stops all counters before it does. Returns false if one
 * differed.
 */
static bool restore_evntsels(const struct arch_kind *kind, const struct arch_registers *regs,
			     u64 slots)
{
	bool intact = true;
	u64 value;
	u32 n;

	for (n = 0; n < kind->n_general; n++) {
		if (!(slots & BIT_ULL(n)))
			continue;
		rdmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, value);
		if (value == regs->evntsel[n])
			continue;
		intact = false;
		arch_enable(0);
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	}
	if (!intact && perfctr_intel_cleanse())
		arch_cleanse(kind, regs);
	return intact;
}

static bool restore_fixed_ctrl(const struct arch_registers *regs, u64 slots)
{
	u64 value;

	if (!(slots >> PERFCTR_FIXED_SLOT))
		return true;
	rdmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, value);
	if (value == regs->fixed_ctrl)
		return true;
	arch_enable(0);
	wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
	return false;
}

/* Slots that this kind of core lacks are not expected to run. */
static bool arch_intact(u64 slots)
{
	const struct arch_registers *regs = this_cpu_ptr(&registers);
	const struct arch_kind *kind = this_kind();
	bool intact;
	u64 value;

	slots &= kind->counters;
	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, value);
	intact = restore_evntsels(kind, regs, slots);
	intact &= restore_fixed_ctrl(regs, slots);
	intact &= value == slots;
	if (!intact)
		arch_enable(slots);
	return intact;
}

static void hybrid_read(const struct perfctr_hw_control *hw, u64 *value)
{
	u64 counters = this_kind()->counters;
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		value[i] = counters & BIT_ULL(hw->event[i].slot) ?
			   perfctr_rdpmc(hw->event[i].rdpmc) : 0;
}

static u32 arch_msr_of(u32 slot)
{
	if (!(this_kind()->counters & BIT_ULL(slot)))
		return 0;
	return slot < PERFCTR_FIXED_SLOT ? MSR_ARCH_PERFMON_PERFCTR0 + slot :
		MSR_ARCH_PERFMON_FIXED_CTR0 + slot - PERFCTR_FIXED_SLOT;
}

static struct perfctr_pmu arch_pmu = {
	.pmu = PERFCTR_PMU_ARCH,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_GLOBAL_ENABLE,
	.evntsel_allowed = PERFCTR_EVNTSEL_ALLOWED,
	.evntsel_required = ARCH_PERFMON_EVENTSEL_ENABLE,
	.evntsel_user = ARCH_PERFMON_EVENTSEL_USR,
	.evntsel_kernel = ARCH_PERFMON_EVENTSEL_OS,
	.fixed_allowed = FIXED_ALLOWED,
	.counter_msr = MSR_ARCH_PERFMON_PERFCTR0,
	.msr_of = arch_msr_of,
	.reserve = arch_reserve,
	.release = arch_release,
	.check = arch_check,
	.compile = arch_compile,
	.take_cpu = arch_take_cpu,
	.give_cpu = arch_give_cpu,
	.load = arch_load,
	.enable = arch_enable,
	.clear = arch_clear,
	.intact = arch_intact,
	.evntsel_interrupt = ARCH_PERFMON_EVENTSEL_INT,
	.preset = arch_preset,
	.max_distance = S32_MAX,
	.limit_distance = arch_limit_distance,
	.acknowledge = arch_acknowledge,
};

static const struct perfctr_evntsel_layout v1_layout __initconst = {
	.evntsel = MSR_ARCH_PERFMON_EVENTSEL0,
	.counter = MSR_ARCH_PERFMON_PERFCTR0,
	.step = 1,
};

/* Version 1 has only event select registers. */
static const struct perfctr_pmu *__init init_v1(u32 n)
{
	struct perfctr_evntsel_layout layout = v1_layout;

	layout.n = n;
	arch_pmu.features &= ~PERFCTR_FEATURE_GLOBAL_ENABLE;
	perfctr_evntsel_init(&arch_pmu, &layout);
	return &arch_pmu;
}

static int find_kind(const struct arch_kind *kind, u32 n)
{
	u32 k;

	for (k = 0; k < n; k++)
		if (!memcmp(&kinds[k], kind, sizeof(*kind)))
			return k;
	return -1;
}

static int hybrid_kind(void)
{
	struct arch_kind kind;
	int k = -1;

	if (arch_kind_read(&kind))
		k = find_kind(&kind, arch_pmu.n_kinds);
	if (k >= 0)
		__this_cpu_write(kind_number, k);
	return k;
}

static void read_kind(void *kind)
{
	arch_kind_read(kind);
}

/* Names the kind after its type of core. Further kinds of the same type get a number. */
static void __init tell_kind(u32 k)
{
	static const char type_of[][8] __initconst = { "kind", "atom", "core" };
	const struct arch_kind *kind = &kinds[k];
	struct perfctr_kind *told = &told_kinds[k];
	u32 type = min(kind->leaf_1a >> 29, 2u), before, same = 1;

	for (before = 0; before < k; before++)
		same += min(kinds[before].leaf_1a >> 29, 2u) == type;
	if (same == 1)
		strscpy(told->name, type_of[type], sizeof(told->name));
	else
		snprintf(told->name, sizeof(told->name), "%s%u", type_of[type], same);
	told->leaf_1a = kind->leaf_1a;
	told->counters = kind->counters;
	told->evntsel_allowed = kind->evntsel_allowed;
}

static void __init add_kind(const struct arch_kind *kind)
{
	u32 k = arch_pmu.n_kinds++;

	kinds[k] = *kind;
	constraints_of[k] = perfctr_intel_constraints(kind->version, kind->leaf_1a >> 24);
	tell_kind(k);
}

/*
 * Such a PMU would be shared with perf_events, and nothing would keep perf_events from writing the
 * same counters.
 */
#define SHARED	"PerfMon v6: perf not kept out"

static bool __init is_kind_shared(const struct arch_kind *kind)
{
	return kind->version >= 6 && !perfctr_excludes_v6();
}

/* Collects the kinds of all CPUs. Returns NULL, or why the CPUs cannot be used. */
static const char *__init find_kinds(void)
{
	struct arch_kind kind;
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (smp_call_function_single(cpu, read_kind, &kind, true))
			continue;	/* the CPU has gone offline */
		if (kind.version < 2)
			return "hybrid: a core without PerfMon";
		if (is_kind_shared(&kind))
			return SHARED;
		if (find_kind(&kind, arch_pmu.n_kinds) >= 0)
			continue;
		if (arch_pmu.n_kinds == PERFCTR_MAX_KINDS)
			return "hybrid: too many kinds of cores";
		add_kind(&kind);
	}
	arch_pmu.kinds = told_kinds;
	return NULL;
}

static void __init use_hybrid(void)
{
	arch_pmu.kind = hybrid_kind;
	arch_pmu.check = hybrid_check;
	arch_pmu.load = hybrid_load;
	arch_pmu.enable = hybrid_enable;
	arch_pmu.read = hybrid_read;
	arch_pmu.clear = hybrid_clear;
	arch_pmu.preset = hybrid_preset;
}

static const char *__init init_hybrid(void)
{
	const char *fault;

	/* A CPU that comes online later could have less than the present ones. */
	if (num_online_cpus() < num_present_cpus())
		return "hybrid: boot with all CPUs";
	fault = find_kinds();
	if (!fault)
		use_hybrid();
	return fault;
}

static const struct perfctr_pmu *__init refuse_machine(const char *why)
{
	strscpy(arch_pmu.family, why, sizeof(arch_pmu.family));
	arch_pmu.pmu = PERFCTR_PMU_NONE;
	return &arch_pmu;
}

/*
 * A hybrid processor does without the IA32_A_PMCx registers, because other kinds of core may lack
 * them.
 */
static void __init init_width(const struct arch_kind *kind)
{
	u64 capabilities = 0;
	u32 bits = kind->general_bits;

	if (boot_cpu_has(X86_FEATURE_PDCM) && !arch_pmu.n_kinds)
		rdmsrl(MSR_IA32_PERF_CAPABILITIES, capabilities);
	full_width = capabilities & FULL_WIDTH_WRITE;
	if (kind->fixed)
		bits = min(bits, kind->fixed_bits);
	if (full_width)
		arch_pmu.max_distance = BIT_ULL(bits - 1);
}

/* Initializes arch_pmu with what all cores have in common. */
static const struct perfctr_pmu *__init init_common(const struct arch_kind *kind)
{
	snprintf(arch_pmu.family, sizeof(arch_pmu.family), "Intel architectural PerfMon v%u",
		 kind->version);
	arch_pmu.general_bits = kind->general_bits;
	arch_pmu.probe_evntsel = arch_kind_probe_event(kind) | ARCH_PERFMON_EVENTSEL_OS;
	if (kind->version == 1)
		return init_v1(kind->n_general);
	init_width(kind);
	arch_pmu.n_general = kind->n_general;
	arch_pmu.n_fixed = fls(kind->fixed);
	arch_pmu.fixed_bits = kind->fixed_bits;
	arch_pmu.evntsel_allowed = kind->evntsel_allowed;
	arch_pmu.hides = kind->evntsel_hidden;
	return &arch_pmu;
}

const struct perfctr_pmu *__init perfctr_arch_probe(void)
{
	struct arch_kind kind;
	const char *fault;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.cpuid_level < 0xa)
		return NULL;
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU)) {
		fault = init_hybrid();
		if (fault)
			return refuse_machine(fault);
		kind = arch_kind_common(kinds, arch_pmu.n_kinds);
		return init_common(&kind);
	}
	if (!arch_kind_read(&kinds[0]))
		return NULL;
	if (is_kind_shared(&kinds[0]))
		return refuse_machine(SHARED);
	constraints_of[0] = perfctr_intel_constraints(kinds[0].version, 0);
	return init_common(&kinds[0]);
}
