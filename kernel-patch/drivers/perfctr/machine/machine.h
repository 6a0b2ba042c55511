/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room machine/: the counters of the machine and of each CPU, and the controls that fit them.
 *
 * probe.c	finds the PMU, and checks that it works as the processor says
 * pmu.c	the PMU of this machine; pmu/ has one file for each family
 * kinds.c	kinds of cores, and how long a thread has run on each
 * control.c	validates a control
 * reserve.c	the machine's counters, shared with the rest of the kernel
 * claim.c	claims registers as perf_events and the NMI watchdog do
 * percpu.c	one CPU's counters: which owner's counts they hold, and which of them run
 * uncore.c	counters outside the cores that RDPMC also shows
 * cost.c	the cost of the instructions that access counters
 *
 * pmu.h is the contract of the families; percpu.h has the state of a CPU.
 */
#ifndef _PERFCTR_MACHINE_H
#define _PERFCTR_MACHINE_H

#include <linux/jump_label.h>
#include <linux/perfctr.h>
#include <linux/smp.h>
#include <linux/types.h>
#include "pmu.h"

/*
 * control.c: returns a reference to the validated control, or ERR_PTR() of -EINVAL, -EACCES,
 * -ENODEV or -ENOMEM. If one event is at fault, control->bad_event and bad_reason name it. May
 * sleep.
 */
struct perfctr_hw_control *perfctr_compile(struct perfctr_control *control);
/*
 * Fills in a control, which the caller has set to 0, with all of hw. Leaves control->flags alone.
 */
void perfctr_tell_control(const struct perfctr_hw_control *hw, struct perfctr_control *control);
size_t perfctr_hw_most_bytes(void);		/* of the largest control */
void perfctr_hw_get(struct perfctr_hw_control *hw);
void perfctr_hw_put(struct perfctr_hw_control *hw);	/* NULL is fine */
/*
 * Name the first event that counts kernel mode, or that has a signal, in control->bad_event and
 * bad_reason.
 */
void perfctr_blame_kernel(struct perfctr_control *control);
void perfctr_blame_signal(struct perfctr_control *control);

/* The policy of a session: what it excludes, and what it may count. */
struct perfctr_policy {
	u32 exclude;		/* PERFCTR_EXCLUDE_*, for events without their own policy */
	bool privileged;	/* false: each event's policy must be harmless */
};

#define PERFCTR_EXCLUDE_MASK							\
	(PERFCTR_EXCLUDE_ALL | PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER |	\
	 PERFCTR_EXCLUDE_MARKED | PERFCTR_EXCLUDE_UNMARKED | PERFCTR_EXCLUDE_IDLE)

/* Returns whether the policy counts only marked threads in user mode. */
static inline bool perfctr_policy_is_harmless(u32 policy)
{
	return policy & PERFCTR_EXCLUDE_KERNEL && policy & PERFCTR_EXCLUDE_UNMARKED;
}

/*
 * Like perfctr_compile(), for one session. The result is not reference-counted, and the session
 * frees it with kfree().
 */
struct perfctr_hw_control *perfctr_compile_session(struct perfctr_control *control,
						   const struct perfctr_policy *policy);
/* Returns the PERFCTR_EXCLUDE_* of the event: its own, or policy if it has none. */
u32 perfctr_event_policy(const struct perfctr_event_control *e, u32 policy);

/* Registers in use: masks as in struct perfctr_hw_control. */
struct perfctr_use {
	u64 slots;
	u64 shared;
};

static inline bool perfctr_in_use(const struct perfctr_hw_control *hw,
				  const struct perfctr_use *use)
{
	return hw->slots & use->slots || hw->shared & use->shared;
}

/*
 * control.c: reserves the registers of hw. met: for a session, the registers that other sessions
 * have on its CPUs; NULL for a context. Returns 0, or an error of perfctr_reserve() with -EBUSY
 * instead of -EADDRINUSE. If another user of this driver has a register of hw, control names the
 * event that needs it, unless control is NULL.
 */
int perfctr_reserve_for(struct perfctr_control *control, const struct perfctr_hw_control *hw,
			const struct perfctr_use *met);

/* reserve.c; called with interrupts on, because some of these functions call other CPUs. */
int perfctr_reserve(const struct perfctr_hw_control *hw);
void perfctr_release(const struct perfctr_hw_control *hw);	/* undoes a perfctr_reserve() */
/* Stores the registers that contexts have reserved, and those that sessions have on any CPU. */
void perfctr_get_use(struct perfctr_use *contexts, struct perfctr_use *sessions);
u32 perfctr_holder(void);		/* PERFCTR_HOLDER_* */
void perfctr_refuse(bool refuse);
bool perfctr_refuses(void);
void perfctr_try_at_boot(void);	/* unless other code has the counters */
bool perfctr_may_interrupt(void);
void perfctr_on_all_cpus(smp_call_func_t fn);	/* takes cpus_read_lock() */
/* reserve.c, for this CPU, with interrupts off: */
void perfctr_cpu_take(void);
void perfctr_cpu_give(void);
bool perfctr_cpu_is_ours(void);
bool perfctr_cpu_is_taken(void);

/* probe.c */
void perfctr_probe(void);
int perfctr_try_pmu(void);

/* kinds.c; the key is enabled if there are kinds. */
DECLARE_STATIC_KEY_FALSE(perfctr_kinds);
void perfctr_kinds_init(void);
bool perfctr_kind_online(unsigned int cpu);
/* kinds: a mask of kinds, bit k for kind k. */
bool perfctr_kinds_exist(const struct perfctr_pmu *pmu, u32 kinds);
/* Return the counters, and the bits of event selects, that all kinds of the mask have. */
u64 perfctr_kinds_counters(const struct perfctr_pmu *pmu, u32 kinds);
u64 perfctr_kinds_evntsel(const struct perfctr_pmu *pmu, u32 kinds);
/* counter: an index for RDPMC. Returns whether some kind has it. */
bool perfctr_some_kind_has(const struct perfctr_pmu *pmu, u32 counter);
/* Returns whether some kind lacks a counter of slots. */
bool perfctr_kinds_lack(const struct perfctr_pmu *pmu, u64 slots);
/*
 * For a page on this CPU, with interrupts off: time from now on belongs to the CPU's kind, or to
 * none while the thread runs on a mute CPU. The page's sums are up to date.
 */
void perfctr_kind_enter(struct perfctr_page *page);
void perfctr_kind_mute(struct perfctr_page *page, bool begins);
/* Stores the time stamp ticks on each of PERFCTR_MAX_KINDS kinds. */
void perfctr_kind_times(const struct perfctr_page *page, u64 *time);
void perfctr_kind_add(u64 *sum, const u64 *time);
u32 perfctr_kind_of_cpu(unsigned int cpu);
void perfctr_kinds_tell(struct perfctr_pmu_info *info);	/* fills in n_kinds and kind[] */
long perfctr_ioctl_kind_cpus(void __user *user);

/*
 * uncore.c; the key is enabled if RDPMC shows such counters. All but perfctr_uncore_init() act on
 * this CPU, and are called with interrupts off.
 */
DECLARE_STATIC_KEY_FALSE(perfctr_shows_uncore);
bool perfctr_uncore_counts(void);
void perfctr_tick_uncore(void);
void perfctr_uncore_init(void);

/* cost.c: the cost of each instruction in time stamp ticks; 0: unknown. */
struct perfctr_costs {
	u32 rdtsc;
	u32 rdpmc;
	u32 rdmsr;
	u32 wrmsr;
};

extern struct perfctr_costs perfctr_costs;
void perfctr_measure_rdtsc(void);
/* Measures the others on this CPU, with interrupts off. The counters are reserved, not taken. */
void perfctr_measure_costs(void);

#endif
