// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: who may count. perf_events' rules, and ptrace's; what decides in the kernel is not
 * exported. Security modules are not asked: what they would refuse by a rule of their own for
 * perf_events, or for ptrace, is not refused here.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include "compat-module.h"
#include "hooks.h"
#include "owner.h"

int perfctr_may_count(void)
{
#ifdef PERFCTR_PARANOID_ANY
	/* Debian's level 3. */
	if (perfctr_paranoid() > 2 && !capable(CAP_SYS_ADMIN))
		return -EACCES;
#endif
	return 0;
}

int perfctr_may_count_kernel(void)
{
	return perfctr_may_count() || (perfctr_paranoid() > 1 && !perfmon_capable()) ? -EACCES : 0;
}

int perfctr_may_count_cpus(void)
{
	return perfctr_may_count() || (perfctr_paranoid() > 0 && !perfmon_capable()) ? -EACCES : 0;
}

int perfctr_label(struct perfctr_owner *owner)
{
	return 0;
}

void perfctr_unlabel(struct perfctr_owner *owner)
{
}

int perfctr_may_read(const struct perfctr_owner *owner)
{
	return 0;
}

int perfctr_may_change(const struct perfctr_owner *owner)
{
	return 0;
}

/* Its credentials and capabilities are no more than the caller's. */
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
	/* The parents of who has been reaped may be gone. */
	for (pos = task; pid_alive(task) && pos->pid && !found;
	     pos = rcu_dereference(pos->real_parent))
		found = same_thread_group(pos, current);
	rcu_read_unlock();
	return found;
}

/*
 * Without the security modules, and therefore as if Yama's scope were 1 at least: only below the
 * caller.
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
