/* SPDX-License-Identifier: GPL-2.0-only */
/* Permission to count, accounts that pay for it, and openers that are named as holders. */
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
	struct perf_event *label;	/* by which security modules know the opener's domain */
};

/*
 * The checks that perf_event_open(2) makes of its caller, by the same functions where the kernel
 * exports them: for any counts, for counts of kernel mode, for counts of all threads that a CPU
 * runs. 0 or -EACCES.
 */
int perfctr_may_count(void);
int perfctr_may_count_kernel(void);
int perfctr_may_count_cpus(void);
/* The checks of read(2) and mmap(2), and of ioctl(2), for descriptors of perf_events. */
int perfctr_may_read(const struct perfctr_owner *owner);
int perfctr_may_change(const struct perfctr_owner *owner);

/*
 * Takes the thread's exec_update_lock, under which the caller may access the thread. Permission is
 * checked against the credentials and the image that are counted under the lock, not against those
 * that an exec has replaced. A thread may access itself, and a caller with CAP_PERFMON every
 * thread. mode: as for ptrace_may_access(). Sleeps. 0, -EACCES or -EINTR; the module also -ESRCH
 * and other errors of perfctr_ask_access().
 */
int perfctr_lock_access(struct task_struct *task, unsigned int mode);
void perfctr_unlock_access(struct task_struct *task);

/* Gives owner the label for perfctr_may_read() and perfctr_may_change(). 0 or an error. */
int perfctr_label(struct perfctr_owner *owner);
void perfctr_unlabel(struct perfctr_owner *owner);

/*
 * Makes the caller the owner of an object of so many bytes of memory, and lets the kernel tell the
 * driver of threads until perfctr_owner_free(). May sleep. 0; -EMFILE: a user without CAP_PERFMON
 * can have no more than the parameter user_kb for each CPU; -ENOMEM; an error of
 * perfctr_hooks_get().
 */
int perfctr_owner_init(struct perfctr_owner *owner, size_t bytes);
void perfctr_owner_free(struct perfctr_owner *owner);	/* also if init has failed */

/* Charge more to an owner, or less. The caller keeps other threads from doing so meanwhile. */
int perfctr_charge(struct perfctr_owner *owner, size_t bytes);
void perfctr_uncharge(struct perfctr_owner *owner, size_t bytes);

/* Charges n counters to an unprivileged session, in place of those that it had. 0 or -EMFILE. */
int perfctr_take_session_counters(struct perfctr_owner *owner, u32 n);
u32 perfctr_user_session_counters(void);	/* that a user may have */

/* Takes a place among the started sessions. False: the user has n, and no CAP_PERFMON. */
bool perfctr_take_session_place(struct perfctr_owner *owner, unsigned int n);
void perfctr_give_session_place(struct perfctr_owner *owner);

/* The process that made a tree or a session. */
struct perfctr_opener {
	struct pid *pid;	/* of the process */
	kuid_t uid;
	char comm[TASK_COMM_LEN];
};

void perfctr_opener_init(struct perfctr_opener *opener);	/* current */
void perfctr_opener_free(struct perfctr_opener *opener);
bool perfctr_opener_is_seen(const struct perfctr_opener *opener);	/* by the caller */
/* Fills in the holder's process and user as seen from the caller's namespaces. */
void perfctr_opener_describe(const struct perfctr_opener *opener, struct perfctr_holder *holder);

#endif
