/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the driver core, which knows no processor, and the PMU families, one file each in pmu/.
 *
 * A slot is the number of a hardware counter as a bit in a 64-bit mask. The family chooses the
 * numbers; the core only stores, compares and hands back masks.
 */
#ifndef _PERFCTR_PMU_H
#define _PERFCTR_PMU_H

#include <linux/list.h>
#include <linux/perfctr.h>
#include <linux/refcount.h>
#include <linux/types.h>

/* One event of a validated control. */
struct perfctr_hw_event {
	u32 rdpmc;		/* what RDPMC takes in ECX */
	u32 slot;
	u64 evntsel;
	u64 evntsel2;
};

/* A validated control, as the hardware takes it. Never changed once it is in use, and shared. */
struct perfctr_hw_control {
	struct list_head list;
	refcount_t refs;
	u64 id;			/* equal ids: equal events; never 0, never used twice */
	u64 slots;		/* mask of the counters in use */
	u64 fixed_ctrl;		/* family's own: control register shared by several counters */
	bool counts_kernel;	/* some event counts kernel mode */
	u32 n_events;
	struct perfctr_hw_event event[] __counted_by(n_events);
};

/*
 * A family. Functions marked (cpu) act on this CPU and are called with interrupts off, from the
 * context switch too: they must not sleep, lock or print.
 */
struct perfctr_pmu {
	char family[40];
	u32 features;		/* PERFCTR_FEATURE_* beyond the time stamp */
	u32 n_general;
	u32 n_fixed;
	u32 general_bits;
	u32 fixed_bits;
	u64 evntsel_allowed;
	u64 evntsel_required;
	u64 evntsel_user;	/* bits that ask for user and kernel mode */
	u64 evntsel_kernel;
	u64 fixed_allowed;
	u64 evntsel2_allowed;
	u32 counter_msr;	/* of general counter 0 */

	/* Claims all counters from the rest of the kernel. -EBUSY. */
	int (*reserve)(void);
	void (*release)(void);
	/* Fills in what of hw the events imply. Every event fits the limits above. */
	void (*compile)(struct perfctr_hw_control *hw);

	/*
	 * (cpu) Takes over: everything stopped, cleared, nothing selected; the first time what was
	 * selected before is remembered. Gives back: cleared, and selected what was before.
	 */
	void (*take_cpu)(bool first);
	void (*give_cpu)(void);
	/*
	 * (cpu) Writes the event registers that differ from hw's. The counters are stopped, or all
	 * that run count user mode only.
	 */
	void (*load)(const struct perfctr_hw_control *hw);
	/* (cpu) From now on hw's counters run, and no others. */
	void (*start)(const struct perfctr_hw_control *hw);
	void (*stop)(void);
	/* (cpu) The raw values of hw's counters, in the order of its events. */
	void (*read)(const struct perfctr_hw_control *hw, u64 *value);
	/* (cpu) Sets to 0. */
	void (*clear)(u64 slots);
};

/* Width in bits of the counter in a slot's event. */
static inline u32 perfctr_counter_bits(const struct perfctr_pmu *pmu, u32 rdpmc)
{
	return rdpmc & PERFCTR_FIXED ? pmu->fixed_bits : pmu->general_bits;
}

/* Each returns its family when this machine has it, otherwise NULL. */
const struct perfctr_pmu *perfctr_arch_probe(void);

#endif
