/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room session/: sessions, which count on CPUs, and marks.
 *
 * session.c	the descriptors of sessions
 * started.c	started sessions: their places, and their gates on each CPU
 * mark.c	threads that bear the same mark
 *
 * ../cpu/gate.h defines the objects, and internal.h the interfaces between the files of this room.
 */
#ifndef _PERFCTR_SESSION_H
#define _PERFCTR_SESSION_H

#include "../cpu/gate.h"

/*
 * session.c: opens a session as user's struct perfctr_session_args says, and fills in the results
 * there. Returns the descriptor or an errno. May sleep.
 */
long perfctr_ioctl_session(void __user *user);

/*
 * started.c: adds started sessions to a CPU that comes online, and removes them from a CPU that
 * goes offline. Called in the CPU's own hotplug thread. May sleep.
 */
void perfctr_sessions_online(unsigned int cpu);
void perfctr_sessions_offline(unsigned int cpu);
/*
 * started.c. May sleep. revoke stops all sessions that hold counters. walk calls fn for each
 * session that holds counters and that the caller may see, under sessions_lock; it stops at the
 * first result of fn that is not 0, and returns this result.
 */
void perfctr_revoke_sessions(void);
typedef int (*perfctr_holder_fn)(const struct perfctr_holder *holder, void *arg);
int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg);
void perfctr_sessions_exit(void);	/* no session is left */

/*
 * mark.c: open_mark returns the descriptor of a new mark, or an errno. perfctr_ioctl_mark() sets,
 * removes or shows the marks of threads, and returns 0 or an errno. Both may sleep.
 */
long perfctr_ioctl_open_mark(void __user *user);
long perfctr_ioctl_mark(void __user *user);
/*
 * Gives child, which has not run yet, the mark of current, with interrupts off. thread is child's,
 * or NULL if there was no memory for it; the mark is then incomplete.
 */
void perfctr_mark_join(struct task_struct *child, struct perfctr_thread *thread);
void perfctr_mark_forget(struct task_struct *task);	/* removes a dead mark; may sleep */
/* Removes the mark of current. exec: unless the mark was made with CAP_PERFMON. */
void perfctr_mark_drop(struct perfctr_thread *thread, bool exec);

#endif
