/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room session/: sessions, which count on CPUs, and marks.
 *
 * session.c	the descriptors of sessions
 * started.c	started sessions: their places, and their gates on each CPU
 * mark.c	threads that bear the same mark
 *
 * ../cpu/gate.h has the objects, and internal.h the interfaces between the files of this room.
 */
#ifndef _PERFCTR_SESSION_H
#define _PERFCTR_SESSION_H

#include "../cpu/gate.h"

/* session.c */
long perfctr_ioctl_session(void __user *user);

/* started.c: a CPU comes online or goes offline. Called in the CPU's own hotplug thread. */
void perfctr_sessions_online(unsigned int cpu);
void perfctr_sessions_offline(unsigned int cpu);
/* started.c: called where the caller may sleep. */
void perfctr_revoke_sessions(void);
typedef int (*perfctr_holder_fn)(const struct perfctr_holder *holder, void *arg);
int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg);
void perfctr_sessions_exit(void);	/* no session is left */

/* mark.c */
long perfctr_ioctl_open_mark(void __user *user);
long perfctr_ioctl_mark(void __user *user);
/* Gives child the mark of current. thread is child's, or NULL if there was no memory for it. */
void perfctr_mark_join(struct task_struct *child, struct perfctr_thread *thread);
void perfctr_mark_forget(struct task_struct *task);	/* removes a dead mark */
void perfctr_mark_drop(struct perfctr_thread *thread, bool exec);	/* current's mark */

#endif
