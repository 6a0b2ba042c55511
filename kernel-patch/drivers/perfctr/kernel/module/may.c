// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: permission to count, by the rules of perf_events, and to access a thread, by those of
 * ptrace. The kernel does not export the functions that decide. The module asks security modules
 * through functions that the kernel does export, see security.c. docs/security.md lists the
 * questions that cannot be asked.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>
#include "../hooks.h"
#include "../owner.h"
#include "compat.h"

/*
 * No exported function asks SELinux whether the caller may open a descriptor of perf_events. So the
 * module asks whether the caller may count kernel mode: no policy allows this without allowing the
 * caller to open a descriptor. The question is asked with CAP_PERFMON: otherwise
 * perf_event_paranoid could decide.
 */
static int ask_selinux(void)
{
	unsigned int used = current->flags & PF_SUPERPRIV;
	const struct cred *caller;
	struct cred *able;
	int err;

	if (!perfctr_has_selinux())
		return 0;
	able = prepare_creds();
	if (!able)
		return -ENOMEM;
	put_user_ns(able->user_ns);
	able->user_ns = get_user_ns(&init_user_ns);
	cap_raise(able->cap_effective, CAP_PERFMON);
	caller = override_creds(able);
	err = perfctr_ask_of_kernel();
	revert_creds(caller);
	put_cred(able);
	current->flags = (current->flags & ~PF_SUPERPRIV) | used;
	return err ? -EACCES : 0;
}

int perfctr_may_count(void)
{
#ifdef PERFCTR_PARANOID_ANY
	/* Debian's level 3. */
	if (perfctr_paranoid() > 2 && !capable(CAP_SYS_ADMIN))
		return -EACCES;
#endif
	return ask_selinux();
}

int perfctr_may_count_kernel(void)
{
	if (perfctr_may_count() || (perfctr_paranoid() > 1 && !perfmon_capable()))
		return -EACCES;
	return perfctr_ask_of_kernel() ? -EACCES : 0;
}

int perfctr_may_count_cpus(void)
{
	if (perfctr_may_count() || (perfctr_paranoid() > 0 && !perfmon_capable()))
		return -EACCES;
	return perfctr_ask_of_cpus() ? -EACCES : 0;
}

/* No exported function labels a descriptor: SELinux is asked about the caller's domain instead. */
int perfctr_label(struct perfctr_owner *owner)
{
	return 0;
}

void perfctr_unlabel(struct perfctr_owner *owner)
{
}

int perfctr_may_read(const struct perfctr_owner *owner)
{
	return ask_selinux();
}

int perfctr_may_change(const struct perfctr_owner *owner)
{
	return ask_selinux();
}

/* Has task the caller's ids and user namespace, and no capability that the caller lacks? */
static bool is_no_more_than_caller(struct task_struct *task)
{
	const struct cred *cred = current_cred(), *other;
	bool no_more;

	rcu_read_lock();
	other = __task_cred(task);
	no_more = uid_eq(cred->uid, other->euid) && uid_eq(cred->uid, other->suid) &&
		  uid_eq(cred->uid, other->uid) && gid_eq(cred->gid, other->egid) &&
		  gid_eq(cred->gid, other->sgid) && gid_eq(cred->gid, other->gid) &&
		  cred->user_ns == other->user_ns &&
		  cap_issubset(other->cap_permitted, cred->cap_permitted);
	rcu_read_unlock();
	return no_more;
}

static bool is_dumpable(struct task_struct *task)
{
	bool dumpable;

	task_lock(task);
	dumpable = task->mm && perfctr_is_dumpable(task);
	task_unlock(task);
	return dumpable;
}

static bool is_descendant(struct task_struct *task)
{
	struct task_struct *pos;
	bool found = false;

	rcu_read_lock();
	/* real_parent of a thread that has been reaped may be a dangling pointer. */
	for (pos = task; pid_alive(task) && pos->pid && !found;
	     pos = rcu_dereference(pos->real_parent))
		found = same_thread_group(pos, current);
	rcu_read_unlock();
	return found;
}

/*
 * Asks no security module, and so answers as if Yama's scope were at least 1: without
 * CAP_SYS_PTRACE the caller may only access its descendants.
 */
bool perfctr_may_access(struct task_struct *task, unsigned int mode)
{
	int scope = perfctr_ptrace_scope();

	if (same_thread_group(task, current))
		return true;
	if (scope > 2)
		return false;
	if (capable(CAP_SYS_PTRACE))
		return true;
	return scope < 2 && is_dumpable(task) && is_no_more_than_caller(task) &&
	       is_descendant(task);
}

int perfctr_ask_access(struct task_struct *task, unsigned int mode)
{
	if (task == current || perfmon_capable() || same_thread_group(task, current))
		return 0;
	if (!perfctr_may_access(task, mode))
		return -EACCES;
	return perfctr_ask_security(task, mode & PTRACE_MODE_ATTACH);
}

struct task_struct *perfctr_find_task(pid_t tid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_vpid(tid), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}
