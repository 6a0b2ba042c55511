/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room kernel/: what the driver asks of the kernel and of its caller.
 *
 * owner.c	who pays for memory and counters, who is named as a holder of them
 * access.c	permission to access a thread
 * threads.c	the threads of the machine, looked through
 * user.c	structs of user space, in and out
 * compat.h	what kernels before and after 6.12 call otherwise
 *
 * Where the patch and the module ask the kernel differently, this header and owner.h are the
 * interface of both. The patch stands in the kernel's own code:
 *
 * patch/hooks.c	all of this header
 * patch/may.c	who may count: owner.h
 *
 * The module has the kernel's tracepoints and what the kernel exports:
 *
 * module/hooks.c	when the kernel tells; reserved registers
 * module/threads.c	a table of the threads with a context or a mark
 * module/rdpmc.c	who may RDPMC; module/cr4.c writes CR4
 * module/may.c	who may count: owner.h; who may access a thread
 * module/settings.c	what the administrator has set, read from files
 * module/security.c	security modules, asked about threads
 * module/compat.h	as compat.h, for the module alone
 */
#ifndef _PERFCTR_HOOKS_H
#define _PERFCTR_HOOKS_H

#include <linux/sched.h>
#include <linux/types.h>

struct mm_struct;
struct perfctr_context;
struct perfctr_group;
struct perfctr_owner;
struct pt_regs;

#ifdef MODULE
#include "module/hooks.h"
#else
#include "patch/hooks.h"
#endif

/*
 * Both headers have, inline:
 *
 * struct perfctr_thread
 *	context and mark of a thread.
 * struct perfctr_thread *perfctr_thread(const struct task_struct *task)
 *	Under RCU, or interrupts off. Of a thread that has neither: NULLs, not to be written.
 * bool perfctr_is_gated(void)
 *	Some session is started.
 * void perfctr_watch(struct task_struct *task, bool watch)
 *	Switches and ticks of this thread are told from now on, or not any more; of other threads
 *	they may be told. Where the thread cannot be switched.
 * bool perfctr_user_rdpmc(void)
 *	May what this CPU returns to, or is about to switch to, execute RDPMC? Interrupts off.
 * atomic_t *perfctr_rdpmc_pages(struct mm_struct *mm)
 *	How many pages of contexts with events are mapped there. Interrupts off or under
 *	perfctr_space_get(), and to be written under that alone.
 * bool perfctr_switch_has_more(), perfctr_switch_is_ours(), void perfctr_switch_rest()
 *	(struct task_struct *prev, struct task_struct *next): what the kernel does at a switch in
 *	our place, if it does.
 * PERFCTR_PORT_FEATURES, PERFCTR_ASKING_DISTURBS, PERFCTR_TELLS_TO_THE_END
 *	PERFCTR_FEATURE_* of this port. Is what perfctr_evntsel_is_reserved() asks taken for a
 *	moment, so that others find it taken? Is the last switch from a thread that exits told if
 *	it was watched, though it has no context any more?
 */

/*
 * What changes a thread's context or mark does so between these. make: NULL, there is no memory;
 * it can sleep. pin: NULL, the thread has neither. put: NULL is fine.
 */
struct perfctr_thread *perfctr_thread_make(struct task_struct *task);
struct perfctr_thread *perfctr_thread_pin(struct task_struct *task);
void perfctr_thread_put(struct perfctr_thread *thread);

/*
 * Calls fn(arg), interrupts off, while task does not run and is kept from it: -1. Or the CPU that
 * runs it, or has until now.
 */
int perfctr_call_still(struct task_struct *task, void (*fn)(void *arg), void *arg);

/*
 * Of a thread that has not run yet, interrupts off. NULL: no memory. Nobody's perfctr_call_task()
 * calls for it until it is ready. Somebody may have given it a context or a mark before.
 */
struct perfctr_thread *perfctr_thread_add_child(struct task_struct *child);
void perfctr_thread_ready(struct perfctr_thread *thread);

/* Between these the kernel tells. Error: it cannot. get can sleep. */
int perfctr_hooks_get(void);
void perfctr_hooks_put(void);

/* What the administrator has set is looked at anew. Can sleep. */
void perfctr_learn_settings(void);

/* The idle thread of this CPU, as perfctr_watch(). */
void perfctr_watch_idle(bool watch);

/* Under cpus_read_lock(): one more session is started, or one less. */
void perfctr_set_gated(bool gated);

/*
 * Does that CPU run a thread with this mark, or this context? One that it has not come to yet sees
 * what was written before.
 */
bool perfctr_cpu_runs(unsigned int cpu, const void *of);

/* Interrupts off: CR4.PCE of this CPU as perfctr_may_rdpmc() says now, or others who may set it. */
void perfctr_update_pce(void);
bool perfctr_rdpmc_is_off(void);	/* by the administrator, for everybody */

/* An address space has one page more, or less: faults of its RDPMC are told. */
int perfctr_space_get(struct mm_struct *mm);
void perfctr_space_put(struct mm_struct *mm);

/* The next bytes of user mode's code, in no more than this: their number, or less than 0. */
#define PERFCTR_MAX_INSN	15	/* what an instruction can have */
int perfctr_fetch_insn(struct pt_regs *regs, unsigned char *insn);

#define PERFCTR_RDPMC_BYTES	2

static inline bool perfctr_insn_is_rdpmc(const unsigned char *insn)
{
	return insn[0] == 0x0f && insn[1] == 0x33;
}

/* Interrupts off: perf_events does not write the counters of this CPU any more. */
void perfctr_settle_perf(void);

/*
 * The interrupt of this CPU's counters calls fn, interrupts off, from now on, or is perf_events'
 * again. False: this port has no vector for it, or the machine no such interrupt; asked at boot.
 */
bool perfctr_vector_init(void (*fn)(void));
bool perfctr_has_vector(void);
void perfctr_route_interrupts(bool ours);	/* (cpu) unmasked, too */

/* Has the rest of the kernel reserved the register? */
bool perfctr_evntsel_is_reserved(unsigned int msr);
bool perfctr_counter_is_reserved(unsigned int msr);
/* Do reservations keep perf_events out where it uses the addresses of PerfMon version 6? */
bool perfctr_excludes_v6(void);

/*
 * Strangers use the counters, or their interrupt, and reserve no register. exclude keeps them out
 * until they are admitted again; it returns false, and does nothing, while there are some. The
 * module keeps nobody out: it knows what perfctr_learn_settings() has found.
 */
bool perfctr_exclude_strangers(void);
void perfctr_admit_strangers(void);
bool perfctr_has_strangers(void);

/*
 * ptrace_may_access(), or a check that refuses at least as much. Permission to attach includes
 * permission to read, which perf_events asks for. Under exec_update_lock. The module asks no
 * security module here: see perfctr_ask_access().
 */
bool perfctr_may_access(struct task_struct *task, unsigned int mode);
/* In the caller's namespace, with a reference. */
struct task_struct *perfctr_find_task(pid_t tid);
int perfctr_pid_max(void);	/* a good guess is enough */

#endif
