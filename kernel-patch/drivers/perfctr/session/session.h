/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room session/: sessions, which count on CPUs, and groups of marked threads.
 *
 * session.c	the descriptors of sessions
 * started.c	sessions that are started: their places, their gates on each CPU
 * group.c	threads that bear the same mark
 *
 * ../cpu/gate.h has the objects, internal.h what the files of the room share.
 */
#ifndef _PERFCTR_SESSION_H
#define _PERFCTR_SESSION_H

#include "../cpu/gate.h"

/* session.c */
long perfctr_ioctl_session(void __user *user);

/* started.c: the CPU comes, the CPU goes; from its own hotplug thread */
void perfctr_sessions_online(unsigned int cpu);
void perfctr_sessions_offline(unsigned int cpu);
/* started.c: anywhere that may sleep */
void perfctr_revoke_sessions(void);
typedef int (*perfctr_holder_fn)(const struct perfctr_holder *holder, void *arg);
int perfctr_walk_session_holders(perfctr_holder_fn fn, void *arg);
void perfctr_sessions_exit(void);	/* none is left */

/* group.c */
long perfctr_ioctl_group(void __user *user);
long perfctr_ioctl_mark(void __user *user);
/* The child gets current's mark. thread: NULL, there was no memory for one. */
void perfctr_group_join(struct task_struct *child, struct perfctr_thread *thread);
void perfctr_group_forget(struct task_struct *task);	/* a dead one */
void perfctr_group_drop(struct perfctr_thread *thread, bool exec);	/* current's */

#endif
