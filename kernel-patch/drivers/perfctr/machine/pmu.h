/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the driver core, which knows no processor, and the PMU families, one file each in pmu/.
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
#include <asm/msr.h>

#define PERFCTR_FIXED_SLOT	32

/* One event of a validated control. */
struct perfctr_hw_event {
	u32 rdpmc;		/* what RDPMC takes in ECX */
	u32 slot;
	u32 most;		/* values beyond it are set to 0 at a switch or tick */
	u32 kinds;		/* of cores that it counts on, bit k for kind k; 0: all */
	u64 evntsel;
	u64 evntsel2;
};

/* Of an event with a period: its counter interrupts. */
struct perfctr_hw_period {
	u64 period;		/* 0: it has none */
	u32 bits;		/* of its counter */
	u32 least;		/* distance to an interrupt, and ... */
	u32 grain;		/* power of two of which it is a multiple */
	u32 kernel;		/* 1: it counts kernel mode, too */
	u32 signal;		/* at its end; 0: none */
	u32 stop;		/* 1: its thread counts nothing then until RESUME */
};

/* A validated control, as the hardware takes it. Never changed once it is in use, and shared. */
struct perfctr_hw_control {
	struct hlist_node node;
	refcount_t refs;
	atomic_t holders;	/* contexts that are started, see tree/hold.c */
	u64 id;			/* equal ids: equal events; never 0, never used twice */
	u64 slots;		/* mask of the counters in use */
	u64 shared;		/* mask of the registers beside them that its events set */
	bool session;		/* of a session: its counters are taken from everybody else */
	u64 extra[2];		/* family's own: values of registers that several counters share */
	bool counts_kernel;	/* some event counts kernel mode */
	bool interrupts;	/* some event has a period: those of all are behind event[] */
	bool special;		/* one of these: its counters are stopped at each switch */
	bool notifies;		/* some event has a signal, or stops its thread */
	bool signals;		/* some event has a signal */
	bool partial;		/* some counter is not there on each kind of core */
	u32 n_events;
	struct perfctr_hw_event event[];
};

static inline struct perfctr_hw_period *perfctr_hw_periods(const struct perfctr_hw_control *hw)
{
	return (struct perfctr_hw_period *)&hw->event[hw->n_events];
}

/*
 * A family. Functions marked (cpu) act on this CPU and are called with interrupts off, from the
 * context switch too: they must not sleep, lock or print.
 */
struct perfctr_pmu {
	char family[32];
	u32 pmu;		/* PERFCTR_PMU_*; _NONE: unusable, family says why, no more set */
	u32 features;		/* PERFCTR_FEATURE_* beyond the time stamp */
	u32 n_general;
	u32 n_fixed;
	u32 general_bits;
	u32 fixed_bits;
	u64 evntsel_allowed;
	u64 evntsel_required;
	u64 evntsel_user;	/* bits that ask for user and kernel mode; 0: see evntsel2 */
	u64 evntsel_kernel;
	u64 fixed_allowed;
	u64 evntsel_interrupt;	/* bit that lets a general counter interrupt when it overflows */
	u64 evntsel2_allowed;
	u64 evntsel2_user;	/* likewise; all 0: everything counts in both modes */
	u64 evntsel2_kernel;
	u64 p4_pebs_enable_allowed;
	u64 p4_pebs_matrix_vert_allowed;
	u32 counter_msr;	/* of general counter 0 */
	bool hides;		/* counters of sessions from RDPMC in user mode */
	/*
	 * NULL: all CPUs are alike. Else the above is what all kinds have; slots that a kind has
	 * not are ignored on its CPUs, and read 0.
	 */
	const struct perfctr_kind *kinds;
	u32 n_kinds;
	int (*kind)(void);	/* (cpu) Its number, -1: none of them. */
	/* Of an event that happens all the time in the kernel, to try the counters; 0: none. */
	u64 probe_evntsel;
	u64 probe_enable;	/* beyond evntsel_required, of counter 0 alone */

	/*
	 * (cpu) Does one of the counters count that RDPMC shows beside the CPU's own? NULL: it
	 * shows none.
	 */
	bool (*uncore_counts)(void);

	/* (cpu) The MSR of the counter of a slot, 0: there is no such counter. */
	u32 (*msr_of)(u32 slot);

	/* A CPU comes, on itself: are its counters to be used? May sleep. NULL: those of any. */
	bool (*may_count)(unsigned int cpu);

	/* Claims all counters from the rest of the kernel. -EBUSY. NULL: nobody else knows them. */
	int (*reserve)(void);
	void (*release)(void);
	/*
	 * What the limits above cannot say of event i: PERFCTR_BAD_*, or 0. It fits them, and so do
	 * the events before it, which have passed. NULL: they say everything.
	 */
	u32 (*check)(const struct perfctr_control *control, u32 i);
	/* Does it change what other counters count? Not for sessions. NULL: no event does. */
	bool (*marks_uops)(const struct perfctr_event_control *e);
	/*
	 * The registers beside its counter that the event sets, bits of perfctr_hw_control.shared:
	 * of a session they are nobody else's. NULL: there are none.
	 */
	u64 (*shared)(const struct perfctr_hw_event *e);
	/* Fills in what of hw the core cannot. NULL: nothing. */
	void (*compile)(struct perfctr_hw_control *hw, const struct perfctr_control *control);
	/* The other way, into a control that has the rest. NULL: nothing. */
	void (*tell)(const struct perfctr_hw_control *hw, struct perfctr_control *control);

	/*
	 * (cpu) Takes over: everything stopped, cleared, nothing selected; the first time what was
	 * selected before is remembered. Gives back: cleared, and selected what was before.
	 */
	void (*take_cpu)(bool first);
	void (*give_cpu)(void);
	/*
	 * (cpu) hw's events are what its counters count from now on; other counters keep theirs.
	 * Writes only what differs. A counter of hw that runs meanwhile, with the event that it had
	 * and with the one that it gets, counts user mode only.
	 */
	void (*load)(const struct perfctr_hw_control *hw);
	/* (cpu) From now on the counters of these slots run, and no others. All are loaded. */
	void (*enable)(u64 slots);
	/* (cpu) The raw values of hw's counters, in the order of its events. NULL: by RDPMC. */
	void (*read)(const struct perfctr_hw_control *hw, u64 *value);
	/* (cpu) Sets to 0. */
	void (*clear)(u64 slots);
	/*
	 * (cpu) The event's counter, stopped, to a value whose highest bit is set and that is at
	 * most max_distance before its overflow, with which it interrupts, or so many events
	 * later. False: this CPU has not that counter. NULL: it cannot.
	 */
	bool (*preset)(const struct perfctr_hw_event *e, u64 value);
	u64 max_distance;
	u32 interrupts_after;
	/* Changes an event's least and grain where they are too small. NULL: never. */
	void (*limit_distance)(const struct perfctr_hw_event *e, struct perfctr_hw_period *p);
	/*
	 * (cpu) Interrupts of stopped counters, or of such that are not there, have been dealt
	 * with. NULL: no register shows them.
	 */
	void (*acknowledge)(u64 slots);
	/*
	 * (cpu) These slots run, and no others: do the registers that say so, and what they count,
	 * hold what they were given? If not, they are given it again.
	 */
	bool (*intact)(u64 slots);
};

/* Inline: a switch reads all counters. */
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
		rdpmcl(hw->event[i].rdpmc, value[i]);
}

/* pmu.c */
extern const struct perfctr_pmu *perfctr_pmu;	/* NULL: the time stamp alone */
extern const char *perfctr_family;		/* of perfctr_pmu, or why there is none */
/* Nothing is counted by it from now on; perfctr_pmu itself stays, others may be using it. */
void perfctr_refuse_pmu(const char *fault);
const struct perfctr_pmu *perfctr_usable_pmu(void);	/* perfctr_pmu, or NULL: none, or refused */
u32 perfctr_features(void);			/* PERFCTR_FEATURE_* */

/*
 * For reserve and release: perf_events and the NMI watchdog claim each event select register, and
 * each counter, by its number. All n from first on, or none: -EBUSY.
 */
int perfctr_reserve_evntsels(u32 first, u32 n);
void perfctr_release_evntsels(u32 first, u32 n);
int perfctr_reserve_counters(u32 first, u32 n);
void perfctr_release_counters(u32 first, u32 n);
void perfctr_only_ask(bool asking);	/* from now on they take nothing, or do again */

/* Each probe returns its family when this machine has it, otherwise NULL. */
#define PERFCTR_FAMILY(name) const struct perfctr_pmu *perfctr_##name##_probe(void);
#include "pmu/families.h"
#undef PERFCTR_FAMILY

#endif
