// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tries whether the PMU works as the processor says. Hypervisors and emulators announce registers
 * that fault or read as zero, an RDPMC that they do not carry out, and counters that never count.
 * Such a PMU is refused with the reason, because its zeros would be taken for counts. If other code
 * has the counters at boot, the PMU is tried when the counters are first reserved.
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

/* Long enough for a counter of reference cycles, which some processors advance in large steps. */
#define LOOPS 10000

static bool tried;	/* under reserve_lock */

static u32 rdpmc_index(u32 slot)
{
	return slot < PERFCTR_FIXED_SLOT ? slot : PERFCTR_FIXED + slot - PERFCTR_FIXED_SLOT;
}

/* Returns an error if the instruction faults, which rdpmc() would report as a bug of the kernel. */
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

/* The PMU to try on a CPU, and the result. */
struct probe {
	const struct perfctr_pmu *pmu;
	struct perfctr_hw_control *hw;
	const char *fault;
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

/* The counters are stopped. */
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

/* The fixed counters after the third count events that need not happen in a short loop. */
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

/* Makes each counter count events of the kernel, in the order of slots. */
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
 * CPUs of one kind are assumed to be alike. If there are several kinds, each CPU is tried: such
 * machines have few. The registers of a mute CPU must not be written. A CPU that cannot be called
 * has gone offline.
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
 * Tries the PMU, the first time that this is called. The caller holds reserve_lock, and has
 * reserved the counters and not taken them. Returns 0, -ENOMEM, or -ENODEV if the PMU is refused.
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

/* Finds the first family that has this machine's PMU. */
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
