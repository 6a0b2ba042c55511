/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module: a thread with a context or a mark has an entry in a table. While the driver has
 * neither entries nor descriptors, it registers no probes: see hooks.c.
 */
#ifndef _PERFCTR_HOOKS_MODULE_H
#define _PERFCTR_HOOKS_MODULE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include "rdpmc.h"
#include "threads.h"

#define PERFCTR_PORT_FEATURES	PERFCTR_FEATURE_MODULE
#define PERFCTR_ASKING_DISTURBS	true
#define PERFCTR_TELLS_TO_THE_END	false
#define PERFCTR_EXCHANGE	__always_inline
#define PERFCTR_SWITCH_FINDS_THREADS	/* the probe passes them to perfctr_switch_threads() */

/* hooks.c */

/* The number of started sessions. */
extern atomic_t perfctr_n_gated;

static __always_inline bool perfctr_is_gated(void)
{
	return unlikely(atomic_read(&perfctr_n_gated));
}

bool perfctr_user_rdpmc(void);
atomic_t *perfctr_rdpmc_pages(struct mm_struct *mm);

/* The kernel handles the other flags itself: the probe does not replace __switch_to_xtra(). */
static __always_inline bool perfctr_switch_has_more(struct task_struct *prev,
						    struct task_struct *next)
{
	return false;
}

static inline bool perfctr_switch_is_ours(struct task_struct *prev, struct task_struct *next)
{
	return true;
}

static inline void perfctr_switch_rest(struct task_struct *prev, struct task_struct *next)
{
}

static inline void perfctr_code_get(void)
{
	__module_get(THIS_MODULE);
}

static inline void perfctr_code_put(void)
{
	module_put(THIS_MODULE);
}

/* Functions of upper rooms, which entry/module/events.c passes to this room at init. */
struct perfctr_events {
	int (*begin)(void);	/* registers the probes; 0 or an error */
	void (*end)(void);	/* unregisters the probes */
	bool (*may_rdpmc)(struct mm_struct *mm);	/* this and the next two: interrupts off */
	void (*rdpmc_enabled)(struct mm_struct *mm);
	bool (*cpu_is_taken)(void);
};

void perfctr_set_events(const struct perfctr_events *told);
void perfctr_hooks_hold(void);	/* adds a user while there is another one; does not sleep */
bool perfctr_hooks_in_use(void);
void perfctr_hooks_flush(void);	/* unregisters the probes at once if there are no users */
bool perfctr_may_rdpmc_now(struct mm_struct *mm);
void perfctr_tell_rdpmc(struct mm_struct *mm);	/* CR4.PCE is about to be set for mm */
bool perfctr_cpu_is_not_perfs(void);	/* the driver has taken this CPU's counters */
DECLARE_PER_CPU(bool, perfctr_idle_watched);

/*
 * vector.c: between begin and end the driver handles the counters' interrupts. begin returns 0 or
 * an error. On a machine without such interrupts both do nothing, and begin returns 0.
 */
int perfctr_vector_begin(void);
void perfctr_vector_end(void);

/* settings.c: the administrator's settings. */
void perfctr_settings_open(void);
void perfctr_settings_close(void);
int perfctr_paranoid(void);		/* perf_event_paranoid */
int perfctr_ptrace_scope(void);		/* of Yama; 0 without Yama */
extern const struct cred *perfctr_kernel_cred;	/* for reading files; NULL: there was no memory */

/*
 * May the caller access task? Asks perfctr_may_access(), and then the security modules. Sleeps, and
 * must not be called under task's exec_update_lock: asking the security modules takes that lock. 0
 * or an error.
 */
int perfctr_ask_access(struct task_struct *task, unsigned int mode);

/* security.c */
void perfctr_security_open(void);
void perfctr_security_close(void);
bool perfctr_has_selinux(void);		/* SELinux was enabled at boot */
/*
 * Do the kernel and its security modules let the caller read a thread of another process, or attach
 * to it? Sleeps, and takes the thread's exec_update_lock. 0; -EACCES; -ESRCH: the thread has
 * exited; another error: the question was not answered.
 */
int perfctr_ask_security(struct task_struct *task, bool attach);

#endif
