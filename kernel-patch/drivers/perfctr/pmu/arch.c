// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel architectural PerfMon, by CPUID leaf 0xA, and what 0x23 adds to it, alone (SDM volume 3,
 * 20.2). Slots are the bits of IA32_PERF_GLOBAL_CTRL, which version 1 has not.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#include "evntsel.h"
#include "intel-rules.h"

#define FIXED_CTRL_BITS		4	/* of IA32_FIXED_CTR_CTRL for each counter */
#define FIXED_CTRL_MASK		GENMASK(FIXED_CTRL_BITS - 1, 0)
#define FIXED_CTRL_OS		BIT(0)
#define FIXED_CTRL_USR		BIT(1)
#define MAX_GENERAL		32	/* bits of GLOBAL_CTRL below the fixed ones */
#define MAX_FIXED		16

#define HAS_EXT			BIT(8)		/* CPUID leaf 7, subleaf 1, EAX */
/* CPUID leaf 0x23, and the bits of the event select register that it tells of */
#define EXT_UMASK2		BIT(0)
#define EXT_EQ			BIT(1)
#define EXT_USER_DISABLE	BIT(2)
#define EVNTSEL_UMASK2		GENMASK_ULL(47, 40)
#define EVNTSEL_EQ		BIT_ULL(36)
/* RDPMC in user mode reads 0; of a fixed counter in FIXED_CTR_CTRL, above the nibbles. */
#define EVNTSEL_USER_DISABLE	BIT_ULL(37)
#define FIXED_USER_DISABLE	BIT_ULL(33)

#define FIXED_ALLOWED		(ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS |		\
				 ARCH_PERFMON_EVENTSEL_ENABLE)

struct arch_registers {
	u64 evntsel[MAX_GENERAL];
	u64 fixed_ctrl;
	u64 global_ctrl;		/* of before alone */
};

/* What the registers of a CPU hold, so that only differences are written; what they held before. */
static DEFINE_PER_CPU(struct arch_registers, registers);
static DEFINE_PER_CPU(struct arch_registers, before);
static struct perfctr_pmu arch_pmu;

static unsigned long fixed_mask;	/* of the fixed counters that exist */
/* What hides counters from RDPMC in user mode, 0 where there is no such thing. */
static u64 evntsel_hidden;
static u64 fixed_hidden;		/* all of them */

static u32 fixed_number(const struct perfctr_hw_event *e)
{
	return e->rdpmc & ~PERFCTR_FIXED;
}

static bool is_fixed(const struct perfctr_hw_event *e)
{
	return e->rdpmc & PERFCTR_FIXED;
}

/* Of a counter's bits in FIXED_CTR_CTRL, those of counter 0 given. */
static u64 fixed_bits(u64 bits, u32 n)
{
	return bits << (n * FIXED_CTRL_BITS);
}

static int arch_reserve(void)
{
	return perfctr_reserve_evntsels(MSR_ARCH_PERFMON_EVENTSEL0, arch_pmu.n_general);
}

static void arch_release(void)
{
	perfctr_release_evntsels(MSR_ARCH_PERFMON_EVENTSEL0, arch_pmu.n_general);
}

/* Fixed counters need not be in sequence. */
static u32 arch_check(const struct perfctr_control *control, u32 i)
{
	u32 counter = control->event[i].counter;

	if (counter & PERFCTR_FIXED)
		return fixed_mask & BIT(counter & ~PERFCTR_FIXED) ? 0 : PERFCTR_BAD_COUNTER;
	return perfctr_intel_rule(control->event[i].evntsel, counter);
}

/* extra[0] is IA32_FIXED_CTR_CTRL. */
static void arch_compile(struct perfctr_hw_control *hw, const struct perfctr_control *control)
{
	u32 i;

	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];
		u64 bits = 0;

		if (!is_fixed(e))
			continue;
		if (e->evntsel & ARCH_PERFMON_EVENTSEL_OS)
			bits |= FIXED_CTRL_OS;
		if (e->evntsel & ARCH_PERFMON_EVENTSEL_USR)
			bits |= FIXED_CTRL_USR;
		hw->extra[0] |= fixed_bits(bits, fixed_number(e));
	}
}

static void arch_clear(u64 slots)
{
	u32 n;

	for (n = 0; n < arch_pmu.n_general; n++)
		if (slots & BIT_ULL(n))
			wrmsrl(MSR_ARCH_PERFMON_PERFCTR0 + n, 0);
	for_each_set_bit(n, &fixed_mask, MAX_FIXED)
		if (slots & BIT_ULL(PERFCTR_FIXED_SLOT + n))
			wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR0 + n, 0);
}

static void arch_enable(u64 slots)
{
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, slots);
}

/* Everything stopped, nothing selected, no counts of others left to read. */
static void silence(struct arch_registers *regs)
{
	u32 n;

	arch_enable(0);
	for (n = 0; n < arch_pmu.n_general; n++) {
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, evntsel_hidden);
		regs->evntsel[n] = evntsel_hidden;
	}
	if (fixed_mask)
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, fixed_hidden);
	regs->fixed_ctrl = fixed_hidden;
	arch_clear(~0ull);
}

static void save(struct arch_registers *regs)
{
	u32 n;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, regs->global_ctrl);
	for (n = 0; n < arch_pmu.n_general; n++)
		rdmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	if (fixed_mask)
		rdmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
}

/* What counters left there would freeze ours: what is set is cleared, as perf_events does it. */
static void clear_status(void)
{
	u64 status;

	rdmsrl(MSR_CORE_PERF_GLOBAL_STATUS, status);
	if (status)
		wrmsrl(MSR_CORE_PERF_GLOBAL_OVF_CTRL, status);
}

static void arch_take_cpu(bool first)
{
	if (first)
		save(this_cpu_ptr(&before));
	silence(this_cpu_ptr(&registers));
	clear_status();
}

/* perf_events does not write what it believes to be there already. */
static void arch_give_cpu(void)
{
	const struct arch_registers *regs = this_cpu_ptr(&before);
	u32 n;

	silence(this_cpu_ptr(&registers));
	for (n = 0; n < arch_pmu.n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	if (fixed_mask)
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, regs->global_ctrl);
}

static void write_evntsel(struct arch_registers *regs, u32 n, u64 value)
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

static u64 fixed_hidden_of(u64 slots)
{
	u64 bits = 0;
	u32 n;

	for_each_set_bit(n, &fixed_mask, MAX_FIXED)
		if (slots & BIT_ULL(PERFCTR_FIXED_SLOT + n))
			bits |= fixed_bits(FIXED_USER_DISABLE, n);
	return bits & fixed_hidden;
}

static void hide_general(struct arch_registers *regs, u64 slots)
{
	u32 n;

	for (n = 0; n < arch_pmu.n_general; n++)
		if (slots & BIT_ULL(n))
			write_evntsel(regs, n, regs->evntsel[n] | evntsel_hidden);
}

static bool selects_another(const struct arch_registers *regs, const struct perfctr_hw_control *hw)
{
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		if (!is_fixed(&hw->event[i]) &&
		    regs->evntsel[hw->event[i].slot] != hw->event[i].evntsel)
			return true;
	return false;
}

/*
 * Selects three events of which no unit mask is chosen, so that nothing is counted, enables them,
 * and selects what was selected before. Returns what ran; everything is stopped.
 */
static u64 cleanse(const struct arch_registers *regs)
{
	static const u32 events[] = { 0x4300b5, 0x4300d2, 0x4300b1 };
	u64 running;
	u32 n;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, running);
	arch_enable(0);
	for (n = 0; n < arch_pmu.n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, events[n % ARRAY_SIZE(events)]);
	arch_enable(BIT_ULL(arch_pmu.n_general) - 1);
	arch_enable(0);
	for (n = 0; n < arch_pmu.n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	return running;
}

/*
 * Where counters can be hidden from user mode, all are but those of the last context. Sessions come
 * and go beside it, and hide their own.
 */
static void arch_load(const struct perfctr_hw_control *hw)
{
	struct arch_registers *regs = this_cpu_ptr(&registers);
	u64 hidden = hw->session ? evntsel_hidden : 0;
	bool cleansed = perfctr_intel_cleanse() && selects_another(regs, hw);
	u64 running = cleansed ? cleanse(regs) : 0;
	u64 fixed_ctrl = regs->fixed_ctrl;
	u32 i;

	if (!hw->session)
		fixed_ctrl |= fixed_hidden;
	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];
		u32 n = fixed_number(e);

		if (is_fixed(e))
			fixed_ctrl &= ~fixed_bits(FIXED_CTRL_MASK | FIXED_USER_DISABLE, n);
		else
			write_evntsel(regs, e->slot, e->evntsel | hidden);
	}
	fixed_ctrl |= hw->extra[0];
	if (hw->session)
		fixed_ctrl |= fixed_hidden_of(hw->slots);
	write_fixed_ctrl(regs, fixed_ctrl);
	if (evntsel_hidden && !hw->session)
		hide_general(regs, ~hw->slots);
	if (cleansed && running)
		arch_enable(running);
}

/* Counters that differ are stopped before they are put right. */
static bool restore_evntsels(const struct arch_registers *regs, u64 slots)
{
	bool intact = true;
	u64 value;
	u32 n;

	for (n = 0; n < arch_pmu.n_general; n++) {
		if (!(slots & BIT_ULL(n)))
			continue;
		rdmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, value);
		if (value == regs->evntsel[n])
			continue;
		intact = false;
		arch_enable(0);
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	}
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

static bool arch_intact(u64 slots)
{
	const struct arch_registers *regs = this_cpu_ptr(&registers);
	bool intact;
	u64 value;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, value);
	intact = restore_evntsels(regs, slots);
	intact &= restore_fixed_ctrl(regs, slots);
	intact &= value == slots;
	if (!intact)
		arch_enable(slots);
	return intact;
}

static void arch_read(const struct perfctr_hw_control *hw, u64 *value)
{
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		rdpmcl(hw->event[i].rdpmc, value[i]);
}

static u32 arch_msr_of(u32 slot)
{
	if (slot < arch_pmu.n_general)
		return MSR_ARCH_PERFMON_PERFCTR0 + slot;
	if (slot >= PERFCTR_FIXED_SLOT && slot < PERFCTR_FIXED_SLOT + MAX_FIXED &&
	    fixed_mask & BIT(slot - PERFCTR_FIXED_SLOT))
		return MSR_ARCH_PERFMON_FIXED_CTR0 + slot - PERFCTR_FIXED_SLOT;
	return 0;
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
	.read = arch_read,
	.clear = arch_clear,
	.intact = arch_intact,
};

static const struct perfctr_evntsel_layout v1_layout __initconst = {
	.evntsel = MSR_ARCH_PERFMON_EVENTSEL0,
	.counter = MSR_ARCH_PERFMON_PERFCTR0,
	.step = 1,
};

/* Version 1 has event select registers and nothing else. */
static const struct perfctr_pmu *__init init_v1(u32 n)
{
	struct perfctr_evntsel_layout layout = v1_layout;

	layout.n = n;
	arch_pmu.features &= ~PERFCTR_FEATURE_GLOBAL_ENABLE;
	perfctr_evntsel_init(&arch_pmu, &layout);
	return &arch_pmu;
}

/* EBX of leaf 0x23, which leaf 7 announces; older kernels do not know of either. */
static u32 __init extensions(void)
{
	u32 eax, ebx, ecx, edx;

	if (boot_cpu_data.cpuid_level < 0x23 || cpuid_eax(7) < 1)
		return 0;
	cpuid_count(7, 1, &eax, &ebx, &ecx, &edx);
	if (!(eax & HAS_EXT))
		return 0;
	cpuid_count(0x23, 0, &eax, &ebx, &ecx, &edx);
	return ebx;
}

/* The bits that do not depend on the version. */
static void __init init_extensions(void)
{
	u32 ebx = extensions(), n;

	if (ebx & EXT_UMASK2)
		arch_pmu.evntsel_allowed |= EVNTSEL_UMASK2;
	if (ebx & EXT_EQ)
		arch_pmu.evntsel_allowed |= EVNTSEL_EQ;
	if (!(ebx & EXT_USER_DISABLE))
		return;
	arch_pmu.hides = true;
	evntsel_hidden = EVNTSEL_USER_DISABLE;
	for_each_set_bit(n, &fixed_mask, MAX_FIXED)
		fixed_hidden |= fixed_bits(FIXED_USER_DISABLE, n);
}

static void __init init_fixed(u32 version, u32 mask, union cpuid10_edx edx)
{
	u32 n = min_t(u32, edx.split.num_counters_fixed, MAX_FIXED);

	fixed_mask = n ? GENMASK(n - 1, 0) : 0;
	if (version >= 5)
		fixed_mask |= mask & GENMASK(MAX_FIXED - 1, 0);
	arch_pmu.n_fixed = fls(fixed_mask);
	arch_pmu.fixed_bits = edx.split.bit_width_fixed;
}

/* Instructions, or cycles where CPUID says that there is no such event. */
static u64 __init probe_event(union cpuid10_ebx ebx)
{
	return ebx.split.no_instructions_retired ? 0x3c : 0xc0;
}

const struct perfctr_pmu *__init perfctr_arch_probe(void)
{
	union cpuid10_eax eax;
	union cpuid10_edx edx;
	union cpuid10_ebx ebx;
	unsigned int ecx;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.cpuid_level < 0xa)
		return NULL;
	cpuid(0xa, &eax.full, &ebx.full, &ecx, &edx.full);
	if (!eax.split.version_id)
		return NULL;
	/* Leaf 0xA tells of this CPU alone: a counter of one kind of core faults on the other. */
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU)) {
		strscpy(arch_pmu.family, "hybrid processor: not supported",
			sizeof(arch_pmu.family));
		arch_pmu.pmu = PERFCTR_PMU_NONE;
		return &arch_pmu;
	}

	snprintf(arch_pmu.family, sizeof(arch_pmu.family), "Intel architectural PerfMon v%d",
		 eax.split.version_id);
	arch_pmu.general_bits = eax.split.bit_width;
	arch_pmu.probe_evntsel = probe_event(ebx) | ARCH_PERFMON_EVENTSEL_OS;
	if (eax.split.version_id == 1)
		return init_v1(eax.split.num_counters);
	arch_pmu.n_general = min_t(u32, eax.split.num_counters, MAX_GENERAL);
	perfctr_intel_rules_init(eax.split.version_id);
	init_fixed(eax.split.version_id, ecx, edx);
	init_extensions();
	return &arch_pmu;
}
