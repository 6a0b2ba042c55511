/* SPDX-License-Identifier: GPL-2.0-only */
/* As ../compat.h, for interfaces that the module alone uses. */
#ifndef _PERFCTR_COMPAT_MODULE_H
#define _PERFCTR_COMPAT_MODULE_H

#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0) &&		\
	(LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0) ||	\
	 LINUX_VERSION_CODE >= KERNEL_VERSION(7, 4, 0))
#error "perfctr: the module is for Linux 6.1 to 6.12, and 7.3"
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#include <linux/rcupdate.h>
#include <linux/sched/exec_state.h>

#define system_wq		system_percpu_wq

/* The parameters of the probes of sched_process_exit and hrtimer_expire_entry. */
#define PERFCTR_EXIT_TELLS	struct task_struct *task, bool group_dead
#define PERFCTR_EXPIRY_TELLS	struct hrtimer *timer, ktime_t now

/* task has an address space. The caller makes sure that it keeps it meanwhile. */
static inline bool perfctr_is_dumpable(struct task_struct *task)
{
	bool dumpable;

	rcu_read_lock();
	dumpable = READ_ONCE(rcu_dereference(task->exec_state)->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return dumpable;
}
#else
#define PERFCTR_EXIT_TELLS	struct task_struct *task
#define PERFCTR_EXPIRY_TELLS	struct hrtimer *timer, ktime_t *now

static inline bool perfctr_is_dumpable(struct task_struct *task)
{
	return __get_dumpable(task->mm->flags) == SUID_DUMP_USER;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
struct dentry;
struct path;
struct vfsmount;

/* The kernel exports this function, but declares it for its own file systems alone. */
int vfs_path_lookup(struct dentry *root, struct vfsmount *mount, const char *name,
		    unsigned int flags, struct path *path);
#endif

/*
 * May the caller count kernel mode, or CPUs? perf_event_paranoid and the security modules decide. 0
 * or an error; always 0 where the kernel exports no function that asks them.
 */
static inline int perfctr_ask_of_kernel(void)
{
#if defined(PERFCTR_ALLOW_BY_ATTR)
	/* If a BPF program decides, it may look at these attributes. */
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .size = sizeof(attr) };

	return perf_allow_kernel(&attr);
#elif defined(PERFCTR_ALLOW_KERNEL)
	return perf_allow_kernel();
#else
	return 0;
#endif
}

static inline int perfctr_ask_of_cpus(void)
{
#ifdef PERFCTR_ALLOW_CPU
	return perf_allow_cpu();
#else
	return 0;
#endif
}

#endif
