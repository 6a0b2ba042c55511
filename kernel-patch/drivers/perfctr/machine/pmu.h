/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contract between the core of the driver, which knows no processor, and the PMU families, each
 * of which is one file in pmu/.
 *
 * A slot is the number of a hardware counter as a bit in a 64-bit mask: n for general counter n,
 * PERFCTR_FIXED_SLOT + n for fixed counter n.
 */
#ifndef _PERFCTR_PMU_H
#define _PERFCTR_PMU_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/perfctr.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include "../kernel/compat.h"
#include <asm/cpufeature.h>
#include <asm/msr.h>

#define PERFCTR_FIXED_SLOT	32

/* One event of a validated control. */
struct perfctr_hw_event {
	u32 rdpmc;		/* index of the counter that RDPMC takes in ECX */
	u32 slot;
	u32 most;		/* a switch or tick clears a counter with a larger value */
	u32 kinds;		/* kinds of cores to count on; bit k: kind k; 0: all */
	u64 evntsel;
	u64 evntsel2;
};

/* The period of an event. The event's counter interrupts when a period is over. */
struct perfctr_hw_period {
	u64 period;		/* in events; 0: no period */
	u32 bits;		/* width of its counter */
	u32 least;		/* least number of events to an interrupt, and ... */
	u32 grain;		/* ... a power of two that the number is a multiple of */
	u32 kernel;		/* 1: the event counts kernel mode */
	u32 signal;		/* sent at its end; 0: none */
	u32 stop;		/* 1: at its end the thread stops counting until RESUME */
};

/*
 * A validated control, as the hardware takes it. Contexts may share it. It never changes once it is
 * in use.
 */
struct perfctr_hw_control {
	struct hlist_node node;
	refcount_t refs;
	atomic_t holders;	/* started contexts, see tree/hold.c */
	u64 id;			/* equal ids: equal events; never 0, never reused */
	u64 slots;		/* mask of the counters used */
	u64 shared;		/* mask of other registers that the events set */
	bool session;		/* of a session, which has its counters to itself */
	u64 extra[2];		/* for the family: values of registers that counters share */
	bool counts_kernel;	/* some event counts kernel mode */
	bool interrupts;	/* some event has a period; all periods are after event[] */
	bool special;		/* one of these two is true: its counters stop at each switch */
	bool notifies;		/* some event has a signal, or stops its thread */
	bool signals;		/* some event has a signal */
	bool partial;		/* some kind of core lacks one of the counters */
	u32 n_events;
	struct perfctr_hw_event event[];
};

static inline struct perfctr_hw_period *perfctr_hw_periods(const struct perfctr_hw_control *hw)
{
	return (struct perfctr_hw_period *)&hw->event[hw->n_events];
}

/*
 * A family of PMUs. Functions marked (cpu) act on this CPU. They are called with interrupts off,
 * and also by the context switch: they must not sleep, take locks or print.
 */
struct perfctr_pmu {
	char family[32];
	u32 pmu;		/* PERFCTR_PMU_*; _NONE: unusable, only family is set */
	u32 features;		/* PERFCTR_FEATURE_* beyond the time stamp */
	u32 n_general;
	u32 n_fixed;
	u32 general_bits;
	u32 fixed_bits;
	u64 evntsel_allowed;
	u64 evntsel_required;
	u64 evntsel_user;	/* bits that select user and kernel mode; 0: see evntsel2 */
	u64 evntsel_kernel;
	u64 fixed_allowed;
	u64 evntsel_interrupt;	/* bit that makes a general counter interrupt on overflow */
	u64 evntsel2_allowed;
	u64 evntsel2_user;	/* like evntsel_*; all 0: events count in both modes */
	u64 evntsel2_kernel;
	u64 p4_pebs_enable_allowed;
	u64 p4_pebs_matrix_vert_allowed;
	u32 counter_msr;	/* of the first general counter */
	bool hides;		/* can hide counters of sessions from RDPMC in user mode */
	/*
	 * NULL: all CPUs are alike. Otherwise the members above have what is common to all kinds. A
	 * CPU ignores slots that its kind lacks; such slots read 0.
	 */
	const struct perfctr_kind *kinds;
	u32 n_kinds;
	int (*kind)(void);	/* (cpu) the number of the CPU's kind; -1: unknown */
	/* An event that happens all the time in the kernel, to try the counters; 0: none. */
	u64 probe_evntsel;
	u64 probe_enable;	/* further bits of this event on counter 0 */

	/*
	 * (cpu) RDPMC may show counters besides the CPU's own. Returns whether one of these others
	 * is counting. NULL: RDPMC shows no others.
	 */
	bool (*uncore_counts)(void);

	/* (cpu) Returns the MSR of the counter of a slot, or 0 if there is no such counter. */
	u32 (*msr_of)(u32 slot);

	/*
	 * Called on a CPU that comes online. Returns whether its counters may be used. May sleep.
	 * NULL: the counters of all CPUs may be used.
	 */
	bool (*may_count)(unsigned int cpu);

	/*
	 * Claims all counters from the rest of the kernel, under reserve_lock. Returns 0 or -EBUSY.
	 * NULL: no other part of the kernel uses them.
	 */
	int (*reserve)(void);
	void (*release)(void);
	/*
	 * Checks event i for limits that the members above cannot express. The event is within the
	 * limits of those members, and the events before it have passed this check. Returns 0 or
	 * PERFCTR_BAD_*. NULL: there are no further limits.
	 */
	u32 (*check)(const struct perfctr_control *control, u32 i);
	/*
	 * Returns whether the event changes what other counters count. Sessions may not use such an
	 * event. NULL: no event does.
	 */
	bool (*marks_uops)(const struct perfctr_event_control *e);
	/*
	 * Returns the registers besides its counter that the event sets, as bits of
	 * perfctr_hw_control.shared. A session has such registers to itself. NULL: there are none.
	 */
	u64 (*shared)(const struct perfctr_hw_event *e);
	/* Fills in the members of hw that the core does not know. NULL: there are none. */
	void (*compile)(struct perfctr_hw_control *hw, const struct perfctr_control *control);
	/*
	 * The reverse of compile(). The core has filled in the other members of control. NULL:
	 * nothing to do.
	 */
	void (*tell)(const struct perfctr_hw_control *hw, struct perfctr_control *control);

	/*
	 * (cpu) take_cpu() takes the registers over: it stops and clears all counters, and selects
	 * no event. If first is true, it also saves the selection that was there before. give_cpu()
	 * gives the registers back: it clears the counters and restores the saved selection.
	 */
	void (*take_cpu)(bool first);
	void (*give_cpu)(void);
	/*
	 * (cpu) Selects hw's events for its counters; other counters keep their events. Writes only
	 * registers that differ. If a counter of hw is running meanwhile, its old and its new event
	 * count only user mode.
	 */
	void (*load)(const struct perfctr_hw_control *hw);
	/* (cpu) Runs the counters of these slots, all of which are loaded, and stops all others. */
	void (*enable)(u64 slots);
	/*
	 * (cpu) Reads the raw values of hw's counters, in the order of its events. NULL: use RDPMC.
	 */
	void (*read)(const struct perfctr_hw_control *hw, u64 *value);
	/* (cpu) Sets counters to 0. */
	void (*clear)(u64 slots);
	/*
	 * (cpu) Sets the event's counter, which is stopped, to value. The highest bit of value is
	 * set, and the overflow is at most max_distance events away. The counter interrupts
	 * interrupts_after events after the overflow. Returns false if this CPU lacks the counter.
	 * NULL: counters cannot interrupt.
	 */
	bool (*preset)(const struct perfctr_hw_event *e, u64 value);
	u64 max_distance;
	u32 interrupts_after;
	/* Raises p->least and p->grain if they are too small for the event. NULL: never needed. */
	void (*limit_distance)(const struct perfctr_hw_event *e, struct perfctr_hw_period *p);
	/*
	 * (cpu) Clears the overflow status of slots that are stopped, and ignores those that this
	 * CPU lacks. Their interrupts have been handled. NULL: no register has such a status.
	 */
	void (*acknowledge)(u64 slots);
	/*
	 * (cpu) Called while these slots run, and no others. Returns whether the registers that
	 * enable the counters and select their events still have the values that were written.
	 * Restores the registers if not.
	 */
	bool (*intact)(u64 slots);
};

/*
 * Reads a counter. With CONFIG_PARAVIRT the kernel's rdpmcl() calls a function, in case the kernel
 * is a Xen guest that must ask the hypervisor. This function executes the instruction itself:
 * probe.c has found that it works.
 */
static __always_inline u64 perfctr_rdpmc(u32 counter)
{
#ifdef CONFIG_PARAVIRT
	u32 low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	return low | (u64)high << 32;
#else
	u64 value;

	rdpmcl(counter, value);
	return value;
#endif
}

/*
 * Writes the register that starts and stops counters at a switch. Only a Xen PV guest pays for the
 * call of CONFIG_PARAVIRT.
 */
static __always_inline void perfctr_wrmsr(u32 msr, u64 value)
{
#ifdef CONFIG_PARAVIRT
	if (likely(!cpu_feature_enabled(X86_FEATURE_XENPV))) {
		native_wrmsrl(msr, value);
		return;
	}
#endif
	wrmsrl(msr, value);
}

/* Reads hw's counters, in the order of its events. Inline, because a switch reads all counters. */
static __always_inline void perfctr_read_counters(const struct perfctr_pmu *pmu,
						  const struct perfctr_hw_control *hw, u64 *value)
{
	u32 n = hw->n_events;
	u32 i;

	if (unlikely(pmu->read)) {
		pmu->read(hw, value);
		return;
	}
	for (i = 0; i < n; i++)
		value[i] = perfctr_rdpmc(hw->event[i].rdpmc);
}

/* pmu.c */
extern const struct perfctr_pmu *perfctr_pmu;	/* NULL: only the time stamp */
extern const char *perfctr_family;		/* name of perfctr_pmu, or why there is none */
/*
 * Refuses perfctr_pmu for good, and logs the fault: nothing is counted with it from now on.
 * perfctr_pmu stays set, because other CPUs may be using it. Called under reserve_lock.
 */
void perfctr_refuse_pmu(const char *fault);
const struct perfctr_pmu *perfctr_usable_pmu(void);	/* NULL: there is none, or refused */
u32 perfctr_features(void);			/* PERFCTR_FEATURE_* */

/*
 * Returns the number of counters of a CPU, which is also the largest number of events in a control.
 * Counts those of a refused PMU, too.
 */
static inline u32 perfctr_n_counters(void)
{
	return perfctr_pmu ? perfctr_pmu->n_general + perfctr_pmu->n_fixed : 0;
}

/*
 * For reserve() and release(), under reserve_lock. perf_events and the NMI watchdog claim each
 * event select register, and each counter, by its MSR. These functions claim all n registers from
 * MSR first on and return 0, or claim none and return -EBUSY.
 */
int perfctr_reserve_evntsels(u32 first, u32 n);
void perfctr_release_evntsels(u32 first, u32 n);
int perfctr_reserve_counters(u32 first, u32 n);
void perfctr_release_counters(u32 first, u32 n);
void perfctr_only_ask(bool asking);	/* true: claims are checked and not made, until false */

/* Each probe returns its family if this machine has it, otherwise NULL. */
#define PERFCTR_FAMILY(name) const struct perfctr_pmu *perfctr_##name##_probe(void);
#include "pmu/families.h"
#undef PERFCTR_FAMILY

#endif
