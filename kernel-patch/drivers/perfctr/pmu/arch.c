// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel architectural PerfMon, version 2 and later, by CPUID leaf 0xA alone (SDM volume 3, 20.2).
 * Slots are the bits of IA32_PERF_GLOBAL_CTRL.
 */
#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#include "../pmu.h"

#define FIXED_CTRL_BITS		4	/* of IA32_FIXED_CTR_CTRL for each counter */
#define FIXED_CTRL_MASK		GENMASK(FIXED_CTRL_BITS - 1, 0)
#define FIXED_CTRL_OS		BIT(0)
#define FIXED_CTRL_USR		BIT(1)
#define MAX_GENERAL		32	/* bits of GLOBAL_CTRL below the fixed ones */
#define MAX_FIXED		16

/*
 * What may be asked for. Not PC (19), which drives a pin, not INT (20): no interrupts yet, and not
 * ANY (21), which counts what the sibling logical processor does.
 */
#define EVNTSEL_ALLOWED		(ARCH_PERFMON_EVENTSEL_EVENT | ARCH_PERFMON_EVENTSEL_UMASK |	\
				 ARCH_PERFMON_EVENTSEL_USR | ARCH_PERFMON_EVENTSEL_OS |		\
				 ARCH_PERFMON_EVENTSEL_EDGE | ARCH_PERFMON_EVENTSEL_ENABLE |	\
				 ARCH_PERFMON_EVENTSEL_INV | ARCH_PERFMON_EVENTSEL_CMASK)
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

static u32 fixed_number(const struct perfctr_hw_event *e)
{
	return e->rdpmc & ~PERFCTR_FIXED;
}

static bool is_fixed(const struct perfctr_hw_event *e)
{
	return e->rdpmc & PERFCTR_FIXED;
}

static u64 fixed_nibble(u64 bits, u32 n)
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
		hw->extra[0] |= fixed_nibble(bits, fixed_number(e));
	}
}

static void arch_clear(u64 slots)
{
	u32 n;

	for (n = 0; n < arch_pmu.n_general; n++)
		if (slots & BIT_ULL(n))
			wrmsrl(MSR_ARCH_PERFMON_PERFCTR0 + n, 0);
	for (n = 0; n < arch_pmu.n_fixed; n++)
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
	for (n = 0; n < arch_pmu.n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, 0);
	if (arch_pmu.n_fixed)
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, 0);
	arch_clear(~0ull);
	memset(regs->evntsel, 0, sizeof(regs->evntsel));
	regs->fixed_ctrl = 0;
}

static void save(struct arch_registers *regs)
{
	u32 n;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, regs->global_ctrl);
	for (n = 0; n < arch_pmu.n_general; n++)
		rdmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	if (arch_pmu.n_fixed)
		rdmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
}

static void arch_take_cpu(bool first)
{
	if (first)
		save(this_cpu_ptr(&before));
	silence(this_cpu_ptr(&registers));
}

/* perf_events does not write what it believes to be there already. */
static void arch_give_cpu(void)
{
	const struct arch_registers *regs = this_cpu_ptr(&before);
	u32 n;

	silence(this_cpu_ptr(&registers));
	for (n = 0; n < arch_pmu.n_general; n++)
		wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + n, regs->evntsel[n]);
	if (arch_pmu.n_fixed)
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
	wrmsrl(MSR_CORE_PERF_GLOBAL_CTRL, regs->global_ctrl);
}

static void arch_load(const struct perfctr_hw_control *hw)
{
	struct arch_registers *regs = this_cpu_ptr(&registers);
	u64 fixed_mask = 0;
	u32 i;

	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];

		if (is_fixed(e)) {
			fixed_mask |= fixed_nibble(FIXED_CTRL_MASK, fixed_number(e));
		} else if (regs->evntsel[e->slot] != e->evntsel) {
			regs->evntsel[e->slot] = e->evntsel;
			wrmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + e->slot, e->evntsel);
		}
	}
	if ((regs->fixed_ctrl ^ hw->extra[0]) & fixed_mask) {
		regs->fixed_ctrl = (regs->fixed_ctrl & ~fixed_mask) | hw->extra[0];
		wrmsrl(MSR_ARCH_PERFMON_FIXED_CTR_CTRL, regs->fixed_ctrl);
	}
}

static void arch_read(const struct perfctr_hw_control *hw, u64 *value)
{
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		rdpmcl(hw->event[i].rdpmc, value[i]);
}

static struct perfctr_pmu arch_pmu = {
	.pmu = PERFCTR_PMU_ARCH,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_GLOBAL_ENABLE,
	.evntsel_allowed = EVNTSEL_ALLOWED,
	.evntsel_required = ARCH_PERFMON_EVENTSEL_ENABLE,
	.evntsel_user = ARCH_PERFMON_EVENTSEL_USR,
	.evntsel_kernel = ARCH_PERFMON_EVENTSEL_OS,
	.fixed_allowed = FIXED_ALLOWED,
	.counter_msr = MSR_ARCH_PERFMON_PERFCTR0,
	.reserve = arch_reserve,
	.release = arch_release,
	.compile = arch_compile,
	.take_cpu = arch_take_cpu,
	.give_cpu = arch_give_cpu,
	.load = arch_load,
	.enable = arch_enable,
	.read = arch_read,
	.clear = arch_clear,
};

const struct perfctr_pmu *__init perfctr_arch_probe(void)
{
	union cpuid10_eax eax;
	union cpuid10_edx edx;
	unsigned int ebx, ecx;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || boot_cpu_data.cpuid_level < 0xa)
		return NULL;
	cpuid(0xa, &eax.full, &ebx, &ecx, &edx.full);
	/*
	 * Version 1 lacks GLOBAL_CTRL. On a hybrid machine leaf 0xA tells of this CPU alone, and
	 * a counter of one kind of core faults on the other.
	 */
	if (eax.split.version_id < 2 || boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return NULL;

	snprintf(arch_pmu.family, sizeof(arch_pmu.family), "Intel architectural PerfMon v%d",
		 eax.split.version_id);
	arch_pmu.n_general = min_t(u32, eax.split.num_counters, MAX_GENERAL);
	arch_pmu.general_bits = eax.split.bit_width;
	arch_pmu.n_fixed = min_t(u32, edx.split.num_counters_fixed, MAX_FIXED);
	arch_pmu.fixed_bits = edx.split.bit_width_fixed;
	return &arch_pmu;
}
