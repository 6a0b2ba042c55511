/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room machine/: the counters of the machine and of each CPU, and the controls that fit them.
 *
 * probe.c	which PMU there is, and whether it is what the processor calls itself
 * pmu.c	the PMU that the machine has; pmu/ has one file for each family
 * kinds.c	kinds of cores, and how long a thread ran on which
 * control.c	validation of a control
 * reserve.c	the machine's counters, shared with the rest of the kernel
 * claim.c	registers, as perf_events and the NMI watchdog claim them
 * percpu.c	one CPU's counters: whose counts they hold, which of them run
 * uncore.c	counters beside the CPU's own, which RDPMC shows, too
 * cost.c	what instructions of the counters cost
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
 * control.c: a reference to the validated control, or an error. If one event is at fault
 * control->bad_event and bad_reason name it.
 */
struct perfctr_hw_control *perfctr_compile(struct perfctr_control *control);
void perfctr_tell_control(const struct perfctr_hw_control *hw, struct perfctr_control *control);
void perfctr_hw_get(struct perfctr_hw_control *hw);
void perfctr_hw_put(struct perfctr_hw_control *hw);	/* NULL is fine */
void perfctr_blame_kernel(struct perfctr_control *control);
void perfctr_blame_signal(struct perfctr_control *control);

/* What a session may count. */
struct perfctr_policy {
	u32 exclude;		/* PERFCTR_EXCLUDE_*, of events that have no policy of their own */
	bool privileged;
};

#define PERFCTR_EXCLUDE_MASK							\
	(PERFCTR_EXCLUDE_ALL | PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_USER |	\
	 PERFCTR_EXCLUDE_MARKED | PERFCTR_EXCLUDE_UNMARKED | PERFCTR_EXCLUDE_IDLE)

/* The policy counts nothing but marked threads in user mode. */
static inline bool perfctr_policy_is_harmless(u32 policy)
{
	return policy & PERFCTR_EXCLUDE_KERNEL && policy & PERFCTR_EXCLUDE_UNMARKED;
}

/* For one session: no reference. Its owner frees it by kfree(). */
struct perfctr_hw_control *perfctr_compile_session(struct perfctr_control *control,
						   const struct perfctr_policy *policy);
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
 * control.c: reserves what hw wants. met: what other sessions have on a session's CPUs; NULL for a
 * context. -EBUSY: some of it is taken; control, if it is not NULL, names the event.
 */
int perfctr_reserve_for(struct perfctr_control *control, const struct perfctr_hw_control *hw,
			const struct perfctr_use *met);

/* reserve.c */
int perfctr_reserve(const struct perfctr_hw_control *hw);
void perfctr_release(const struct perfctr_hw_control *hw);
void perfctr_get_use(struct perfctr_use *contexts, struct perfctr_use *sessions);
u32 perfctr_holder(void);		/* PERFCTR_HOLDER_* */
void perfctr_refuse(bool refuse);
bool perfctr_refuses(void);
void perfctr_try_at_boot(void);
bool perfctr_may_interrupt(void);
void perfctr_on_all_cpus(smp_call_func_t fn);
/* ... this CPU's, interrupts off: */
void perfctr_cpu_take(void);
void perfctr_cpu_give(void);
bool perfctr_cpu_is_ours(void);
bool perfctr_cpu_is_taken(void);

/* probe.c */
void perfctr_probe(void);
int perfctr_try_pmu(void);

/* kinds.c; the key: there are some */
DECLARE_STATIC_KEY_FALSE(perfctr_kinds);
void perfctr_kinds_init(void);
bool perfctr_kind_online(unsigned int cpu);
bool perfctr_kinds_exist(const struct perfctr_pmu *pmu, u32 kinds);
u64 perfctr_kinds_counters(const struct perfctr_pmu *pmu, u32 kinds);
u64 perfctr_kinds_evntsel(const struct perfctr_pmu *pmu, u32 kinds);
bool perfctr_some_kind_has(const struct perfctr_pmu *pmu, u32 counter);
bool perfctr_kinds_lack(const struct perfctr_pmu *pmu, u64 slots);
void perfctr_kind_enter(struct perfctr_page *page);
void perfctr_kind_mute(struct perfctr_page *page, bool begins);
void perfctr_kind_times(const struct perfctr_page *page, u64 *time);
void perfctr_kind_add(u64 *sum, const u64 *time);
u32 perfctr_kind_of_cpu(unsigned int cpu);
void perfctr_kinds_tell(struct perfctr_pmu_info *info);
long perfctr_ioctl_kind_cpus(void __user *user);

/* uncore.c; the key: RDPMC shows such counters. On this CPU, interrupts off, but for init. */
DECLARE_STATIC_KEY_FALSE(perfctr_shows_uncore);
bool perfctr_uncore_counts(void);
void perfctr_tick_uncore(void);
void perfctr_uncore_init(void);

/* cost.c: time stamp ticks of each instruction, 0: unknown */
struct perfctr_costs {
	u32 rdtsc;
	u32 rdpmc;
	u32 rdmsr;
	u32 wrmsr;
};

extern struct perfctr_costs perfctr_costs;
void perfctr_measure_rdtsc(void);
void perfctr_measure_costs(void); /* the rest, here; the counters are reserved, and not taken */

#endif
