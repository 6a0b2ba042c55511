// SPDX-License-Identifier: GPL-2.0-only
/* The patch: births, exits and exec, called from the hooks in the kernel's code. */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/perfctr_hooks.h>
#include <linux/sched.h>
#include "../entry.h"
#include "../../tree/tree.h"
#include "../../cpu/context.h"

int perfctr_events_init(void)
{
	return 0;
}

void perfctr_events_exit(void)
{
}

/*
 * current, which has a context, is creating task. Does everything that can fail or sleep, and
 * leaves the child's context in task. 0 or -ENOMEM.
 */
int perfctr_prepare_child_task(struct task_struct *task)
{
	struct perfctr_context *ctx = perfctr_tree_prepare_child(GFP_KERNEL);

	if (IS_ERR(ctx))
		return PTR_ERR(ctx);
	task->thread.perfctr.context = ctx;
	return 0;
}

/* The creation of task cannot fail any more. The caller holds locks, so nothing here may sleep. */
void perfctr_add_child_task(struct task_struct *task)
{
	struct perfctr_context *ctx = task->thread.perfctr.context;

	task->thread.perfctr.context = NULL;
	perfctr_tree_add_child(task, ctx);
}

void perfctr_exec_task(bool follows)
{
	if (follows)
		perfctr_executes();
	else
		perfctr_leave();
}

/* task is current, which exits, or a thread whose creation has failed after it was prepared. */
void perfctr_detach_task(struct task_struct *task)
{
	if (task == current) {
		perfctr_leave();
		return;
	}
	perfctr_put(task->thread.perfctr.context);
	task->thread.perfctr.context = NULL;
}
