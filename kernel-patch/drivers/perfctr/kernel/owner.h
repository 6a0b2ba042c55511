/* SPDX-License-Identifier: GPL-2.0-only */
/* Who may count, who pays for it, who is named as a holder of counters. */
#ifndef _PERFCTR_OWNER_H
#define _PERFCTR_OWNER_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct perf_event;
struct perfctr_account;
struct perfctr_holder;
struct pid;

/* Of a descriptor: who opened it. */
struct perfctr_owner {
	struct perfctr_account *account;
	size_t bytes;			/* charged to it */
	u32 session_counters;		/* likewise */
	bool privileged;		/* had CAP_PERFMON: no limit */
	struct perf_event *label;	/* that security modules know the opener's domain by */
};

/*
 * What perf_event_open(2) asks of its caller, by the same functions: of everybody, for counts of
 * kernel mode, for counts of whatever a CPU runs. 0 or -EACCES.
 */
int perfctr_may_count(void);
int perfctr_may_count_kernel(void);
int perfctr_may_count_cpus(void);
/* ... and what read(2) or mmap(2), and ioctl(2), ask of who has a descriptor of perf_events. */
int perfctr_may_read(const struct perfctr_owner *owner);
int perfctr_may_change(const struct perfctr_owner *owner);

/*
 * Takes the thread's exec_update_lock, under which the caller may access the thread: permission is
 * checked against the credentials and the image that are counted then, not against those of before
 * an exec. A thread may access itself, and a caller with CAP_PERFMON every thread. mode: as of
 * ptrace_may_access(). 0 or an error.
 */
int perfctr_lock_access(struct task_struct *task, unsigned int mode);
void perfctr_unlock_access(struct task_struct *task);

/* For these two the owner bears a mark of who it is. 0 or an error. */
int perfctr_label(struct perfctr_owner *owner);
void perfctr_unlabel(struct perfctr_owner *owner);

/*
 * The caller owns what takes so many bytes of the kernel, which tells of threads from now on until
 * it is disowned. -EMFILE: without CAP_PERFMON nobody has
 * more than the parameter user_kb for each CPU.
 */
int perfctr_owner_init(struct perfctr_owner *owner, size_t bytes);
void perfctr_owner_free(struct perfctr_owner *owner);	/* one that was not made, too */

/* Charges more to an owner. Its user makes sure that nobody else does so meanwhile. */
int perfctr_charge(struct perfctr_owner *owner, size_t bytes);
void perfctr_uncharge(struct perfctr_owner *owner, size_t bytes);

/* For a session without privilege: n counters instead of what it has, or -EMFILE. */
int perfctr_take_session_counters(struct perfctr_owner *owner, u32 n);
u32 perfctr_user_session_counters(void);	/* that a user may have */

/* A place among started sessions. False: without CAP_PERFMON nobody has more than n. */
bool perfctr_take_session_place(struct perfctr_owner *owner, unsigned int n);
void perfctr_give_session_place(struct perfctr_owner *owner);

/* Who made a tree or a session. */
struct perfctr_opener {
	struct pid *pid;	/* of the process */
	kuid_t uid;
	char comm[TASK_COMM_LEN];
};

void perfctr_opener_init(struct perfctr_opener *opener);	/* current */
void perfctr_opener_free(struct perfctr_opener *opener);
bool perfctr_opener_is_seen(const struct perfctr_opener *opener);	/* by the caller */
/* As seen from the caller's namespaces. */
void perfctr_opener_describe(const struct perfctr_opener *opener, struct perfctr_holder *holder);

#endif
