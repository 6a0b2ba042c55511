/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room kernel/: the driver's interface to the kernel, and to the thread that calls the driver.
 *
 * owner.c	each user's account of memory and session counters; openers, reported as holders
 * access.c	permission to access a thread
 * threads.c	a walk over all threads of the machine
 * user.c	structs of user space, copied in and out
 * compat.h	interfaces that kernels before or after 6.12 name differently
 *
 * This header and owner.h are the same for the patch and the module, which implement them
 * differently. The patch has hooks in the kernel's own code:
 *
 * patch/hooks.c	all of this header
 * patch/may.c	permission to count: owner.h
 *
 * The module uses the kernel's tracepoints and exported functions:
 *
 * module/hooks.c	when the probes are registered; reserved registers
 * module/threads.c	a table of the threads with a context or a mark
 * module/vector.c	the interrupt of the counters
 * module/rdpmc.c	permission to RDPMC; module/cr4.c writes CR4
 * module/may.c	permission to count, and to access a thread: owner.h
 * module/settings.c	the administrator's settings, read from files
 * module/security.c	questions to security modules about threads
 * module/compat.h	as compat.h, for interfaces that only the module uses
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
 * Each port's hooks.h also defines the following, mostly inline:
 *
 * struct perfctr_thread
 *	The context and the mark of a thread.
 * struct perfctr_thread *perfctr_thread(const struct task_struct *task)
 *	Under RCU, or with interrupts off. Never returns NULL. If the thread has neither context nor
 *	mark, both members are NULL, and the struct must not be written.
 * bool perfctr_is_gated(void)
 *	Is any session started?
 * void perfctr_watch(struct task_struct *task, bool watch)
 *	From now on the driver is notified, or no longer notified, of the thread's switches and
 *	ticks. It may be notified of other threads' as well. The caller makes sure that the thread
 *	cannot be switched meanwhile.
 * bool perfctr_user_rdpmc(void)
 *	Can the thread that this CPU runs, or is about to switch to, execute RDPMC in user mode?
 *	Interrupts off.
 * bool perfctr_next_may_rdpmc(const struct task_struct *prev, const struct task_struct *next)
 *	As perfctr_user_rdpmc(), during the switch from prev to next.
 * void perfctr_switch_begins(const struct task_struct *next)
 * void perfctr_switch_ends(struct perfctr_thread *from)
 *	Between these two a switch may call perfctr_user_rdpmc() and perfctr_update_pce(). from
 *	belongs to the thread that the CPU leaves.
 * void perfctr_thread_left(struct perfctr_thread *from)
 *	Ends a switch that has not called perfctr_switch_begins(). from belongs to a thread whose
 *	switches the driver is notified of.
 * atomic_t *perfctr_rdpmc_pages(struct mm_struct *mm)
 *	The number of pages of contexts with events that are mapped in mm. Read with interrupts off,
 *	or between perfctr_space_get() and perfctr_space_put(); written only between these two.
 * bool perfctr_switch_has_more(struct task_struct *prev, struct task_struct *next)
 *	The patch calls the driver in place of __switch_to_xtra(). Does prev or next have another
 *	flag that __switch_to_xtra() handles?
 * bool perfctr_switch_is_ours(struct task_struct *prev, struct task_struct *next)
 *	If it does: does prev or next also have TIF_PERFCTR?
 * void perfctr_switch_rest(struct task_struct *prev, struct task_struct *next)
 *	Handles the other flags.
 * void perfctr_code_get(void), perfctr_code_put(void)
 *	The module cannot be unloaded between these two: for a function that a thread will call
 *	later. The caller of perfctr_code_get() makes sure that a descriptor is open.
 * PERFCTR_PORT_FEATURES
 *	PERFCTR_FEATURE_* of this port.
 * PERFCTR_ASKING_DISTURBS
 *	Do perfctr_evntsel_is_reserved() and perfctr_counter_is_reserved() reserve the register for
 *	a moment? Another user of the counters may then fail to reserve it.
 * PERFCTR_TELLS_TO_THE_END
 *	Is the driver notified of the last switch away from a watched thread that exits, even after
 *	the thread has dropped its context?
 * PERFCTR_EXCHANGE
 *	How exchange_threads() of cpu/switch.c is compiled: noinline, or __always_inline where its
 *	callers only pass pairs of threads that may exchange their counters.
 */

/*
 * A caller changes a thread's context or mark only between perfctr_thread_make() or
 * perfctr_thread_pin(), and perfctr_thread_put(). It holds a reference to the task until put has
 * returned. make may sleep, and returns NULL if there is no memory. pin does not sleep, and may
 * return NULL if the thread has neither context nor mark. put accepts NULL.
 */
struct perfctr_thread *perfctr_thread_make(struct task_struct *task);
struct perfctr_thread *perfctr_thread_pin(struct task_struct *task);
void perfctr_thread_put(struct perfctr_thread *thread);

/*
 * If task does not run, calls fn(arg) with interrupts off, keeps task from running meanwhile, and
 * returns -1. Otherwise returns the CPU that runs task, or ran it a moment ago. The module also
 * calls fn for a running thread that has no entry: its switches have nothing to change, and it gets
 * no entry before fn returns.
 */
int perfctr_call_still(struct task_struct *task, void (*fn)(void *arg), void *arg);

/*
 * Makes and pins the entry of child, which has not run yet. Interrupts off. NULL: no memory. With
 * the module, another thread may already have given child a context or a mark, and
 * perfctr_call_still() for child waits until perfctr_thread_ready(). perfctr_thread_ready() accepts
 * NULL.
 */
struct perfctr_thread *perfctr_thread_add_child(struct task_struct *child);
void perfctr_thread_ready(struct perfctr_thread *thread);

/*
 * Between get and put the driver is notified of switches, births and exits. get may sleep. It
 * returns 0; -EINTR: the caller is being killed; or another error if the driver cannot be notified.
 * put does not sleep.
 */
int perfctr_hooks_get(void);
void perfctr_hooks_put(void);

/* Reads the administrator's settings again. May sleep. */
void perfctr_learn_settings(void);

/* As perfctr_watch(), for the idle thread of this CPU. */
void perfctr_watch_idle(bool watch);

/* Counts one more started session, or one less. Under cpus_read_lock(). */
void perfctr_set_gated(bool gated);

/*
 * Does cpu run a thread whose mark or context is "of"? May also return true for a thread that has
 * just left cpu. If cpu later switches to such a thread, that switch sees everything that the
 * caller wrote before this call.
 */
bool perfctr_cpu_runs(unsigned int cpu, const void *of);

/* Sets or clears CR4.PCE of this CPU, by perfctr_may_rdpmc() or perf_events. Interrupts off. */
void perfctr_update_pce(void);
bool perfctr_rdpmc_is_off(void);	/* by the administrator, for all processes */

/*
 * Counts one more mapped page of mm, or one less. While mm has any, the driver handles the faults
 * of RDPMC in mm. get may sleep. It returns 0 or -ENOMEM.
 */
int perfctr_space_get(struct mm_struct *mm);
void perfctr_space_put(struct mm_struct *mm);

#define PERFCTR_MAX_INSN	15	/* bytes of the longest instruction */
/*
 * Copies the user's code at regs->ip to insn, which has room for PERFCTR_MAX_INSN bytes. Returns
 * the number of bytes copied, or an error below 0. The patch may sleep here; the module does not.
 */
int perfctr_fetch_insn(struct pt_regs *regs, unsigned char *insn);

#define PERFCTR_RDPMC_BYTES	2

static inline bool perfctr_insn_is_rdpmc(const unsigned char *insn)
{
	return insn[0] == 0x0f && insn[1] == 0x33;
}

/* From this call on, perf_events does not write the counters of this CPU. Interrupts off. */
void perfctr_settle_perf(void);

/*
 * perfctr_vector_init(), called once, makes the counters' interrupt call fn with interrupts off.
 * False: the kernel has no vector for it, or the machine has no such interrupt. fn may also be
 * called for other interrupts of that vector. perfctr_route_interrupts() gives the interrupt of
 * this CPU's counters to the driver, or back to perf_events.
 */
bool perfctr_vector_init(void (*fn)(void));
bool perfctr_has_vector(void);
void perfctr_route_interrupts(bool ours);	/* on the CPU; unmasks the interrupt, too */
/* A local APIC has an LVT entry for the counters if its highest LVT entry is at least this one. */
#define PERFCTR_APIC_LVTS_WITH_PC	4

/* Has the rest of the kernel reserved the register? */
bool perfctr_evntsel_is_reserved(unsigned int msr);
bool perfctr_counter_is_reserved(unsigned int msr);
/* Do reservations keep perf_events from using the addresses of PerfMon version 6, too? */
bool perfctr_excludes_v6(void);

/*
 * Strangers are users of the counters, or of their interrupt, that reserve no register.
 * perfctr_exclude_strangers() keeps them out until perfctr_admit_strangers(). While there are some,
 * it returns false and does nothing. The module cannot keep them out: it only reports what
 * perfctr_learn_settings() has found.
 */
bool perfctr_exclude_strangers(void);
void perfctr_admit_strangers(void);
bool perfctr_has_strangers(void);

/*
 * May the caller access task? ptrace_may_access(), or a check that refuses at least as much.
 * Permission to attach includes permission to read, which perf_events requires. Under
 * exec_update_lock. The module asks no security module here: see perfctr_ask_access().
 */
bool perfctr_may_access(struct task_struct *task, unsigned int mode);
/* tid is in the caller's namespace. Returns a reference, or NULL. */
struct task_struct *perfctr_find_task(pid_t tid);
int perfctr_pid_max(void);	/* no more than an estimate: a thread's number may be higher */

#endif
