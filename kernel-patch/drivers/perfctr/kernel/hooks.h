/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room kernel/: what the driver asks of the kernel and of its caller.
 *
 * owner.c	each user's account of memory and session counters; openers, named as holders
 * access.c	permission to access a thread
 * threads.c	a walk over all threads of the machine
 * user.c	structs of user space, copied in and out
 * compat.h	interfaces that kernels before or after 6.12 name differently
 *
 * Where the patch and the module ask the kernel differently, this header and owner.h are the
 * interface of both. The patch has hooks in the kernel's own code:
 *
 * patch/hooks.c	all of this header
 * patch/may.c	permission to count: owner.h
 *
 * The module uses the kernel's tracepoints and exported functions:
 *
 * module/hooks.c	when the tracepoints are registered; reserved registers
 * module/threads.c	a table of the threads with a context or a mark
 * module/vector.c	the interrupt of the counters
 * module/rdpmc.c	permission to RDPMC; module/cr4.c writes CR4
 * module/may.c	permission to count, and to access a thread: owner.h
 * module/settings.c	the administrator's settings, read from files
 * module/security.c	security modules, asked about threads
 * module/compat.h	as compat.h, for the module alone
 */
#ifndef _PERFCTR_HOOKS_H
#define _PERFCTR_HOOKS_H

#include <linux/sched.h>
#include <linux/types.h>

struct mm_struct;
struct perfctr_context;
struct perfctr_mark;
struct perfctr_owner;
struct pt_regs;

#ifdef MODULE
#include "module/hooks.h"
#else
#include "patch/hooks.h"
#endif

/*
 * Each port's hooks.h also has, mostly inline:
 *
 * struct perfctr_thread
 *	context and mark of a thread.
 * struct perfctr_thread *perfctr_thread(const struct task_struct *task)
 *	Under RCU, or with interrupts off. For a thread that has neither context nor mark both are
 *	NULL; the struct must not be written then.
 * bool perfctr_is_gated(void)
 *	Some session is started.
 * void perfctr_watch(struct task_struct *task, bool watch)
 *	From now on the driver is told, or no longer told, of the switches and ticks of this thread.
 *	It may be told of other threads' as well. The caller makes sure that the thread cannot be
 *	switched.
 * bool perfctr_user_rdpmc(void)
 *	May the thread to which this CPU returns, or is about to switch, execute RDPMC in user mode?
 *	Interrupts off.
 * bool perfctr_next_may_rdpmc(const struct task_struct *prev, const struct task_struct *next)
 *	The same during the switch from prev to next.
 * void perfctr_switch_begins(const struct task_struct *next)
 * void perfctr_switch_ends(struct perfctr_thread *from)
 *	Between these two a switch may call perfctr_user_rdpmc() and perfctr_update_pce().
 * void perfctr_thread_left(struct perfctr_thread *from)
 *	As perfctr_switch_ends(), for a switch that has not begun in this sense. from is told.
 * atomic_t *perfctr_rdpmc_pages(struct mm_struct *mm)
 *	How many pages of contexts with events are mapped in mm. Read with interrupts off, or
 *	between perfctr_space_get() and _put(); written between these alone.
 * bool perfctr_switch_has_more(), perfctr_switch_is_ours(), void perfctr_switch_rest()
 *	(struct task_struct *prev, struct task_struct *next): the patch's hook takes the place of
 *	__switch_to_xtra(). Has one of the threads another flag of that function? Then: has one
 *	TIF_PERFCTR, too? Do what the other flags require.
 * void perfctr_code_get(void), perfctr_code_put(void)
 *	The driver's code stays between them: for a function that a thread is to call at a later
 *	time. For get there is a descriptor.
 * PERFCTR_PORT_FEATURES
 *	PERFCTR_FEATURE_* of this port.
 * PERFCTR_ASKING_DISTURBS
 *	Does perfctr_evntsel_is_reserved() reserve the register for a moment, so that other callers
 *	find it reserved?
 * PERFCTR_TELLS_TO_THE_END
 *	Is the driver told of the last switch from a watched thread that exits, even when the thread
 *	has no context any more?
 * PERFCTR_EXCHANGE
 *	noinline, or __always_inline where the callers of the switch have sorted out the threads
 *	that do not exchange their counters.
 */

/*
 * A caller that changes a thread's context or mark does so between make or pin, and put, and has a
 * reference to the task until put has returned. make may sleep, and returns NULL if there is no
 * memory. pin may return NULL if the thread has neither. put accepts NULL.
 */
struct perfctr_thread *perfctr_thread_make(struct task_struct *task);
struct perfctr_thread *perfctr_thread_pin(struct task_struct *task);
void perfctr_thread_put(struct perfctr_thread *thread);

/*
 * If task does not run, calls fn(arg) with interrupts off, keeps task from running meanwhile, and
 * returns -1. Otherwise returns the CPU that runs task, or has run it until now.
 */
int perfctr_call_still(struct task_struct *task, void (*fn)(void *arg), void *arg);

/*
 * Makes the entry of child, which has not run yet, with interrupts off. NULL: no memory. Another
 * thread may have given child a context or a mark before. perfctr_call_task() calls no function for
 * child until perfctr_thread_ready().
 */
struct perfctr_thread *perfctr_thread_add_child(struct task_struct *child);
void perfctr_thread_ready(struct perfctr_thread *thread);

/*
 * Between get and put the driver is told of switches, births and exits. get may sleep. It returns
 * 0, or an error if the driver cannot be told.
 */
int perfctr_hooks_get(void);
void perfctr_hooks_put(void);

/* Reads the administrator's settings again. May sleep. */
void perfctr_learn_settings(void);

/* As perfctr_watch(), for the idle thread of this CPU. */
void perfctr_watch_idle(bool watch);

/* Under cpus_read_lock(): one more session is started, or one less. */
void perfctr_set_gated(bool gated);

/*
 * Does that CPU run a thread with this mark, or this context? If it switches to such a thread
 * later, that switch sees everything that the caller wrote before this call.
 */
bool perfctr_cpu_runs(unsigned int cpu, const void *of);

/* Interrupts off. Sets CR4.PCE of this CPU as perfctr_may_rdpmc() or perf_events requires now. */
void perfctr_update_pce(void);
bool perfctr_rdpmc_is_off(void);	/* by the administrator, for all processes */

/* mm has one more mapped page, or one less. While it has any, faults of its RDPMC are handled. */
int perfctr_space_get(struct mm_struct *mm);
void perfctr_space_put(struct mm_struct *mm);

/* Copies the user's next bytes of code to insn: how many, at most this, or less than 0. */
#define PERFCTR_MAX_INSN	15	/* bytes of the longest instruction */
int perfctr_fetch_insn(struct pt_regs *regs, unsigned char *insn);

#define PERFCTR_RDPMC_BYTES	2

static inline bool perfctr_insn_is_rdpmc(const unsigned char *insn)
{
	return insn[0] == 0x0f && insn[1] == 0x33;
}

/* Interrupts off. perf_events does not write the counters of this CPU any more afterwards. */
void perfctr_settle_perf(void);

/*
 * perfctr_vector_init(), at boot, lets the counters' interrupt call fn with interrupts off. False:
 * the kernel has no vector for it, or the machine has no such interrupt. fn may be called for
 * interrupts of others, too. perfctr_route_interrupts() gives the interrupt of this CPU's counters
 * to the driver, or back to perf_events.
 */
bool perfctr_vector_init(void (*fn)(void));
bool perfctr_has_vector(void);
void perfctr_route_interrupts(bool ours);	/* on the CPU; unmasks the interrupt, too */
/* A local APIC has an entry for the counters if its last entry is at least this one. */
#define PERFCTR_APIC_LVTS_WITH_PC	4

/* Has the rest of the kernel reserved the register? */
bool perfctr_evntsel_is_reserved(unsigned int msr);
bool perfctr_counter_is_reserved(unsigned int msr);
/* Do reservations keep perf_events out where it uses the addresses of PerfMon version 6? */
bool perfctr_excludes_v6(void);

/*
 * Strangers are users of the counters, or of their interrupt, that reserve no register.
 * perfctr_exclude_strangers() keeps them out until they are admitted again. It returns false, and
 * does nothing, while there are some. The module cannot keep them out: it only answers as
 * perfctr_learn_settings() has found.
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
/* tid is in the caller's namespace. Returns a reference, or NULL. */
struct task_struct *perfctr_find_task(pid_t tid);
int perfctr_pid_max(void);	/* a good guess is enough */

#endif
