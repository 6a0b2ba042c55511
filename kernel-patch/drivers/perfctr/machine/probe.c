// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the PMU of this machine, and checks that it works as the processor says. Some hypervisors
 * and emulators announce registers that fault or read as zero, an RDPMC that they do not implement,
 * or counters that never count. The driver refuses such a PMU and reports the reason, because users
 * would take its zeros for counts. If other code has the counters at boot, the driver tries the PMU
 * when it first reserves the counters.
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <asm/asm.h>
#include <asm/msr.h>
#include "../kernel/compat.h"
#include "machine.h"
#include "percpu.h"

/*
 * Iterations of the loop that is counted: enough for a counter of reference cycles, which some
 * processors advance in large steps.
 */
#define LOOPS 10000

static bool tried;	/* protected by reserve_lock */

static u32 rdpmc_index(u32 slot)
{
	return slot < PERFCTR_FIXED_SLOT ? slot : PERFCTR_FIXED + slot - PERFCTR_FIXED_SLOT;
}

/*
 * Executes RDPMC. Returns -EFAULT if the instruction faults; the kernel would report a fault in
 * rdpmc() as a bug.
 */
static int rdpmc_safe(u32 index, u64 *value)
{
	u32 low = 0, high = 0;
	int err = -EFAULT;

	asm volatile("1: rdpmc\n"
		     "xor %[err], %[err]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+a" (low), "+d" (high), [err] "+r" (err) : "c" (index));
	*value = (u64)high << 32 | low;
	return err;
}

/* The PMU to try on a CPU, memory for a control, and the result. */
struct probe {
	const struct perfctr_pmu *pmu;
	struct perfctr_hw_control *hw;
	const char *fault;	/* NULL: none was found */
};

static const struct perfctr_control none;

static const char *check_access(const struct perfctr_pmu *pmu, u64 slots)
{
	u64 value;
	u32 slot;

	for (slot = 0; slot < 64; slot++)
		if (slots & BIT_ULL(slot) && rdmsrl_safe(pmu->msr_of(slot), &value))
			return "counters fault";
	return NULL;
}

static const char *check_counter(const struct perfctr_pmu *pmu, u32 slot)
{
	u64 written = 0x12345600 + slot, value;
	u32 msr = pmu->msr_of(slot);

	if (wrmsrl_safe(msr, written) || rdmsrl_safe(msr, &value))
		return "counters fault";
	if (value != written)
		return "counters forget";
	if (!(pmu->features & PERFCTR_FEATURE_RDPMC))
		return NULL;
	if (rdpmc_safe(rdpmc_index(slot), &value))
		return "RDPMC faults";
	return value == written ? NULL : "RDPMC is wrong";
}

/* The counters are stopped, and are 0 afterwards. */
static const char *check_counters(const struct perfctr_pmu *pmu, u64 slots)
{
	const char *fault = NULL;
	u32 slot;

	for (slot = 0; slot < 64 && !fault; slot++)
		if (slots & BIT_ULL(slot))
			fault = check_counter(pmu, slot);
	pmu->clear(~0ull);
	return fault;
}

/*
 * Returns whether the counter must count in the loop. The fixed counters after the third count
 * events that need not happen in a short loop.
 */
static bool is_slot_to_count(const struct perfctr_pmu *pmu, u64 slots, u32 slot)
{
	if (!(slots & BIT_ULL(slot)) || slot > PERFCTR_FIXED_SLOT + 2)
		return false;
	return slot >= PERFCTR_FIXED_SLOT || pmu->probe_evntsel;
}

static u64 probe_evntsel(const struct perfctr_pmu *pmu, u32 slot)
{
	if (slot >= PERFCTR_FIXED_SLOT)
		return (pmu->evntsel_kernel | pmu->evntsel_required) & pmu->fixed_allowed;
	return pmu->probe_evntsel | pmu->evntsel_required | (slot ? 0 : pmu->probe_enable);
}

/*
 * Fills in a control of events that happen in kernel mode: one for each counter that must count in
 * the loop, in the order of slots.
 */
static void fill_probe_control(struct perfctr_hw_control *hw, const struct perfctr_pmu *pmu,
			       u64 slots)
{
	u32 slot;

	memset(hw, 0, struct_size(hw, event, PERFCTR_MAX_COUNTERS));
	for (slot = 0; slot < 64 && hw->n_events < PERFCTR_MAX_COUNTERS; slot++) {
		struct perfctr_hw_event *e;

		if (!is_slot_to_count(pmu, slots, slot))
			continue;
		e = &hw->event[hw->n_events++];
		e->rdpmc = rdpmc_index(slot);
		e->slot = slot;
		e->evntsel = probe_evntsel(pmu, slot);
		hw->slots |= BIT_ULL(slot);
	}
	if (hw->n_events && pmu->compile)
		pmu->compile(hw, &none);
}

static const char *check_counting(const struct perfctr_pmu *pmu,
				  const struct perfctr_hw_control *hw)
{
	u64 value[PERFCTR_MAX_COUNTERS];
	u32 i;

	if (!hw->n_events)
		return NULL;
	pmu->load(hw);
	pmu->enable(hw->slots);
	for (i = 0; i < LOOPS; i++)
		barrier();
	pmu->enable(0);
	perfctr_read_counters(pmu, hw, value);
	for (i = 0; i < hw->n_events; i++)
		if (!value[i])
			return "counters stand still";
	return NULL;
}

static u64 slots_of_pmu(const struct perfctr_pmu *pmu)
{
	u64 slots = 0;
	u32 slot;

	for (slot = 0; slot < 64; slot++)
		if (pmu->msr_of(slot))
			slots |= BIT_ULL(slot);
	return slots;
}

static const char *check_pmu_here(const struct perfctr_pmu *pmu, struct perfctr_hw_control *hw)
{
	u64 slots = slots_of_pmu(pmu);
	const char *fault = check_access(pmu, slots);

	if (fault)
		return fault;
	fill_probe_control(hw, pmu, slots);
	pmu->take_cpu(true);
	fault = check_counters(pmu, slots) ?: check_counting(pmu, hw);
	pmu->give_cpu();
	return fault;
}

static void check_cpu(void *arg)
{
	struct probe *probe = arg;

	if (probe->pmu->kind && probe->pmu->kind() < 0)
		probe->fault = "CPUID is not the same twice";
	else
		probe->fault = check_pmu_here(probe->pmu, probe->hw);
	if (!probe->fault)
		perfctr_measure_costs();
}

/*
 * Tries one CPU if all are alike. On a machine with kinds, tries each CPU; such machines have few
 * CPUs. Skips mute CPUs, because their registers must not be written, and CPUs that cannot be
 * called, because they have gone offline.
 */
static void check_cpus(struct probe *probe)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (perfctr_cpu_is_mute(cpu) ||
		    smp_call_function_single(cpu, check_cpu, probe, true))
			continue;
		if (probe->fault || !probe->pmu->n_kinds)
			break;
	}
}

/*
 * Tries the PMU once. The caller holds reserve_lock, and has reserved the counters and not taken
 * them. Interrupts are on, because CPUs are called. Returns 0, -ENODEV if the PMU is refused, or
 * -ENOMEM; then the next call tries the PMU.
 */
int perfctr_try_pmu(void)
{
	struct probe probe = { .pmu = perfctr_pmu };

	if (!tried) {
		probe.hw = kzalloc(struct_size(probe.hw, event, PERFCTR_MAX_COUNTERS), GFP_ATOMIC);
		if (!probe.hw)
			return -ENOMEM;
		check_cpus(&probe);
		kfree(probe.hw);
		tried = true;
		if (probe.fault)
			perfctr_refuse_pmu(probe.fault);
	}
	return perfctr_usable_pmu() ? 0 : -ENODEV;
}

/*
 * Finds the first family that recognises this machine's PMU. Sets perfctr_family, and perfctr_pmu
 * if the PMU can be used.
 */
void __init perfctr_probe(void)
{
	static const struct perfctr_pmu *(*const probes[])(void) __initconst = {
#define PERFCTR_FAMILY(name) perfctr_##name##_probe,
#include "pmu/families.h"
#undef PERFCTR_FAMILY
	};
	const struct perfctr_pmu *pmu = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes) && !pmu; i++)
		pmu = probes[i]();
	if (!pmu)
		return;
	perfctr_family = pmu->family;
	if (pmu->pmu != PERFCTR_PMU_NONE)
		perfctr_pmu = pmu;
}
