// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUs with an event select register for each counter: see evntsel.h. Slots are the registers'
 * numbers.
 */
#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <asm/msr.h>
#include "evntsel.h"

#define EN		ARCH_PERFMON_EVENTSEL_ENABLE
#define MAX_COUNTERS	16
#define FREEZE_PMCS	BIT_ULL(12)	/* in MSR_IA32_DEBUGCTLMSR, also on AMD */

struct evntsel_cpu {
	u64 held[MAX_COUNTERS];		/* current values of the registers */
	u64 selected[MAX_COUNTERS];	/* their values while their counters run */
	u64 running;			/* slots */
	u64 before[MAX_COUNTERS];	/* their values before they were taken */
	u64 global_ctl_before;
};

static DEFINE_PER_CPU(struct evntsel_cpu, evntsel_cpu);
static struct perfctr_evntsel_layout layout;

static u32 evntsel_msr(u32 n)
{
	return layout.evntsel + n * layout.step;
}

static u32 counter_msr(u32 n)
{
	return layout.counter + n * layout.step;
}

static void evntsel_release_first(u32 n)
{
	while (n--)
		perfctr_release_evntsels(evntsel_msr(n), 1);
}

static void evntsel_release(void)
{
	evntsel_release_first(layout.n);
}

static int evntsel_reserve(void)
{
	u32 n;
	int err;

	for (n = 0; n < layout.n; n++) {
		err = perfctr_reserve_evntsels(evntsel_msr(n), 1);
		if (err) {
			evntsel_release_first(n);
			return err;
		}
	}
	return 0;
}

static void evntsel_write(struct evntsel_cpu *cpu, u32 n, u64 value)
{
	if (cpu->held[n] == value)
		return;
	cpu->held[n] = value;
	wrmsrl(evntsel_msr(n), value);
}

/*
 * The register of a counter that stands still is written only to stop it: another event may be
 * selected before the counter runs again.
 */
static void apply_each_evntsel(struct evntsel_cpu *cpu)
{
	u32 n;

	for (n = 0; n < layout.n; n++) {
		if (cpu->running & BIT_ULL(n))
			evntsel_write(cpu, n, cpu->selected[n]);
		else
			evntsel_write(cpu, n, cpu->held[n] & ~EN);
	}
}

/*
 * Register 0 stops and starts all counters, so the other registers must be right before it is
 * written.
 */
static void apply_single_enable(struct evntsel_cpu *cpu)
{
	u32 n;

	if (!cpu->running) {
		evntsel_write(cpu, 0, cpu->held[0] & ~EN);
		return;
	}
	for (n = layout.n - 1; n > 0; n--)
		evntsel_write(cpu, n, cpu->running & BIT_ULL(n) ? cpu->selected[n] : 0);
	evntsel_write(cpu, 0, cpu->running & BIT_ULL(0) ? cpu->selected[0] : EN);
}

static void evntsel_apply(struct evntsel_cpu *cpu)
{
	if (layout.single_enable)
		apply_single_enable(cpu);
	else
		apply_each_evntsel(cpu);
}

static void evntsel_enable(u64 slots)
{
	struct evntsel_cpu *cpu = this_cpu_ptr(&evntsel_cpu);

	cpu->running = slots;
	if (layout.global_ctl)
		perfctr_wrmsr(layout.global_ctl, slots);
	else
		evntsel_apply(cpu);
}

static void evntsel_load(const struct perfctr_hw_control *hw)
{
	struct evntsel_cpu *cpu = this_cpu_ptr(&evntsel_cpu);
	u32 i;

	for (i = 0; i < hw->n_events; i++) {
		const struct perfctr_hw_event *e = &hw->event[i];

		cpu->selected[e->slot] = e->evntsel;
		if (layout.global_ctl)
			evntsel_write(cpu, e->slot, e->evntsel);
	}
	if (!layout.global_ctl && cpu->running)
		evntsel_apply(cpu);
}

static void evntsel_clear(u64 slots)
{
	u32 n;

	for (n = 0; n < layout.n; n++)
		if (slots & BIT_ULL(n))
			wrmsrl(counter_msr(n), 0);
}

/* A write to one of Intel's counters copies bit 31 to all bits above it. */
static bool evntsel_preset(const struct perfctr_hw_event *e, u64 value)
{
	wrmsrl(counter_msr(e->slot), layout.full_width ? value : (u64)(s32)value);
	return true;
}

/* Leaves out slots beyond the counters: writing a reserved bit would fault. */
static void evntsel_acknowledge(u64 slots)
{
	wrmsrl(layout.global_status_clear, slots & (BIT_ULL(layout.n) - 1));
}

/* Register 0 may stop all counters, even if its own counter is not in use. */
static bool is_evntsel_in_use(u64 slots, u32 n)
{
	return slots & BIT_ULL(n) || (layout.single_enable && n == 0);
}

static bool evntsel_intact(u64 slots)
{
	struct evntsel_cpu *cpu = this_cpu_ptr(&evntsel_cpu);
	bool intact = true;
	u64 value;
	u32 n;

	if (layout.global_ctl) {
		rdmsrl(layout.global_ctl, value);
		intact = value == slots;
		if (!intact)
			wrmsrl(layout.global_ctl, slots);
	}
	for (n = 0; n < layout.n; n++) {
		if (!is_evntsel_in_use(slots, n))
			continue;
		rdmsrl(evntsel_msr(n), value);
		if (value == cpu->held[n])
			continue;
		intact = false;
		wrmsrl(evntsel_msr(n), cpu->held[n]);
	}
	return intact;
}

/*
 * Clears the status bits that are set, as perf_events does. Bits left by other code could freeze
 * this driver's counters, and bits left by this driver would make perf_events wait.
 */
static void evntsel_clear_status(void)
{
	u64 status;

	rdmsrl(layout.global_status, status);
	if (status)
		wrmsrl(layout.global_status_clear, status);
}

static void evntsel_silence(struct evntsel_cpu *cpu)
{
	u32 n;

	if (layout.global_ctl)
		wrmsrl(layout.global_ctl, 0);
	for (n = 0; n < layout.n; n++) {
		wrmsrl(evntsel_msr(n), 0);
		cpu->held[n] = 0;
		cpu->selected[n] = 0;
	}
	cpu->running = 0;
	evntsel_clear(~0ull);
	if (layout.global_status)
		evntsel_clear_status();
}

/* Clears FREEZE_PMCS if other code has left it set: an overflow would stop all counters. */
void perfctr_evntsel_thaw(void)
{
	u64 debugctl;

	if (!rdmsrl_safe(MSR_IA32_DEBUGCTLMSR, &debugctl) && debugctl & FREEZE_PMCS)
		wrmsrl(MSR_IA32_DEBUGCTLMSR, debugctl & ~FREEZE_PMCS);
}

static void evntsel_take_cpu(bool first)
{
	struct evntsel_cpu *cpu = this_cpu_ptr(&evntsel_cpu);
	u32 n;

	if (first) {
		for (n = 0; n < layout.n; n++)
			rdmsrl(evntsel_msr(n), cpu->before[n]);
		if (layout.global_ctl)
			rdmsrl(layout.global_ctl, cpu->global_ctl_before);
	}
	evntsel_silence(cpu);
	if (layout.global_status)
		perfctr_evntsel_thaw();
}

/*
 * Restores the saved values, because perf_events does not write a register if it believes that the
 * register has the value already.
 */
static void evntsel_give_cpu(void)
{
	struct evntsel_cpu *cpu = this_cpu_ptr(&evntsel_cpu);
	u32 n = layout.n;

	evntsel_silence(cpu);
	while (n--)
		wrmsrl(evntsel_msr(n), cpu->before[n]);
	if (layout.global_ctl)
		wrmsrl(layout.global_ctl, cpu->global_ctl_before);
}

static u32 evntsel_msr_of(u32 slot)
{
	return slot < layout.n ? counter_msr(slot) : 0;
}

void __init perfctr_evntsel_init(struct perfctr_pmu *pmu, const struct perfctr_evntsel_layout *l)
{
	layout = *l;
	layout.n = min_t(u32, layout.n, MAX_COUNTERS);
	pmu->n_general = layout.n;
	pmu->counter_msr = layout.counter;
	pmu->reserve = evntsel_reserve;
	pmu->release = evntsel_release;
	pmu->take_cpu = evntsel_take_cpu;
	pmu->give_cpu = evntsel_give_cpu;
	pmu->load = evntsel_load;
	pmu->enable = evntsel_enable;
	pmu->clear = evntsel_clear;
	pmu->intact = evntsel_intact;
	pmu->evntsel_interrupt = ARCH_PERFMON_EVENTSEL_INT;
	pmu->preset = evntsel_preset;
	pmu->max_distance = layout.full_width ? BIT_ULL(pmu->general_bits - 1) : S32_MAX;
	pmu->acknowledge = layout.global_status_clear ? evntsel_acknowledge : NULL;
	pmu->msr_of = evntsel_msr_of;
}
