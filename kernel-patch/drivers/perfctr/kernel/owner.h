/* SPDX-License-Identifier: GPL-2.0-only */
/* Permission to count, accounts that objects are charged to, and openers, reported as holders. */
#ifndef _PERFCTR_OWNER_H
#define _PERFCTR_OWNER_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct perf_event;
struct perfctr_account;
struct perfctr_holder;
struct pid;

/* The owner of a descriptor: the user who opened it. */
struct perfctr_owner {
	struct perfctr_account *account;
	size_t bytes;			/* charged to the account */
	u32 session_counters;		/* charged to the account */
	bool privileged;		/* had CAP_PERFMON: no limit */
	struct perf_event *label;	/* the opener's domain, for security modules; or NULL */
};

/*
 * May the caller count at all, count kernel mode, count all threads that a CPU runs? These are the
 * checks that perf_event_open(2) makes, by the same functions where the kernel exports them. May
 * sleep. 0 or -EACCES.
 */
int perfctr_may_count(void);
int perfctr_may_count_kernel(void);
int perfctr_may_count_cpus(void);
/*
 * May the caller read what owner counts, or change it? The checks that descriptors of
 * perf_events make for read(2) and mmap(2), and for ioctl(2). May sleep. 0 or -EACCES.
 */
int perfctr_may_read(const struct perfctr_owner *owner);
int perfctr_may_change(const struct perfctr_owner *owner);

/*
 * Takes the thread's exec_update_lock if the caller may access the thread. Permission is checked
 * against the credentials and the image that the thread keeps under the lock, not against those
 * that an exec has replaced. A thread may access itself, and a caller with CAP_PERFMON may access
 * every thread. mode: as for ptrace_may_access(). May sleep. 0; -EACCES; -EINTR: the caller is
 * being killed; with the module also -ESRCH and other errors of perfctr_ask_access(). After an
 * error the lock is not held.
 */
int perfctr_lock_access(struct task_struct *task, unsigned int mode);
void perfctr_unlock_access(struct task_struct *task);

/* Gives owner its label, for perfctr_may_read() and perfctr_may_change(). 0 or an error. */
int perfctr_label(struct perfctr_owner *owner);
void perfctr_unlabel(struct perfctr_owner *owner);

/*
 * Makes the caller the owner of an object of so many bytes of memory. Calls perfctr_hooks_get(),
 * and perfctr_owner_free() calls perfctr_hooks_put(). May sleep. 0; -EMFILE: the user has no
 * CAP_PERFMON, and would exceed the parameter user_kb times the number of online CPUs; -ENOMEM; an
 * error of perfctr_hooks_get() or perfctr_label().
 */
int perfctr_owner_init(struct perfctr_owner *owner, size_t bytes);
void perfctr_owner_free(struct perfctr_owner *owner);	/* also if init has failed */

/* Charge bytes to owner, or give them back. The caller serializes these calls. 0 or -EMFILE. */
int perfctr_charge(struct perfctr_owner *owner, size_t bytes);
void perfctr_uncharge(struct perfctr_owner *owner, size_t bytes);

/*
 * Charges n counters to an unprivileged session, in place of those charged to it before. 0;
 * -EMFILE: the user's sessions would have more than perfctr_user_session_counters().
 */
int perfctr_take_session_counters(struct perfctr_owner *owner, u32 n);
u32 perfctr_user_session_counters(void);	/* the most that one user may have */

/*
 * Takes one of the user's n places for started sessions. False: all are taken, and the owner has no
 * CAP_PERFMON.
 */
bool perfctr_take_session_place(struct perfctr_owner *owner, unsigned int n);
void perfctr_give_session_place(struct perfctr_owner *owner);

/* The process that made a tree or a session. */
struct perfctr_opener {
	struct pid *pid;	/* of the thread group; a reference */
	kuid_t uid;
	char comm[TASK_COMM_LEN];
};

void perfctr_opener_init(struct perfctr_opener *opener);	/* current */
void perfctr_opener_free(struct perfctr_opener *opener);
/* May the caller see the opener? It has CAP_PERFMON, or is the same user. */
bool perfctr_opener_is_seen(const struct perfctr_opener *opener);
/* Fills in the holder's process and user, as the caller's namespaces number them. */
void perfctr_opener_describe(const struct perfctr_opener *opener, struct perfctr_holder *holder);

#endif
