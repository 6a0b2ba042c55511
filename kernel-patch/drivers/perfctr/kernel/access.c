// SPDX-License-Identifier: GPL-2.0-only
/* Permission to access a thread, and the lock that keeps it valid. */
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "hooks.h"
#include "owner.h"

int perfctr_lock_access(struct task_struct *task, unsigned int mode)
{
	u64 image;
	int err;

	/* If task executes a file between the question and the lock, the question is repeated. */
	for (;;) {
		image = READ_ONCE(task->self_exec_id);
		err = perfctr_ask_access(task, mode);
		if (err)
			return err;
		if (down_read_killable(&task->signal->exec_update_lock))
			return -EINTR;
		if (READ_ONCE(task->self_exec_id) == image)
			break;
		perfctr_unlock_access(task);
	}
	if (task == current || perfmon_capable() || perfctr_may_access(task, mode))
		return 0;
	perfctr_unlock_access(task);
	return -EACCES;
}

void perfctr_unlock_access(struct task_struct *task)
{
	up_read(&task->signal->exec_update_lock);
}
