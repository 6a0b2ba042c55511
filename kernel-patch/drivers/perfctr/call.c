// SPDX-License-Identifier: GPL-2.0-only
/* Calls of a function where a thread cannot be switched. */
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include "cpu.h"

struct call {
	struct task_struct *task;
	perfctr_task_fn fn;
	void *arg;
	int cpu;		/* that runs the thread, -1: fn was called */
	int result;
};

static void call_fn(struct call *call, bool live)
{
	lockdep_assert_irqs_disabled();
	call->result = call->fn(call->task, live && !perfctr_cpu_paused(), call->arg);
	call->cpu = -1;
}

/* The scheduler holds its locks: the thread neither starts nor stops running meanwhile. */
static int call_pinned(struct task_struct *task, void *arg)
{
	struct call *call = arg;

	if (task_curr(task))
		call->cpu = task_cpu(task);
	else
		call_fn(call, false);
	return 0;
}

static void call_on_cpu(void *arg)
{
	struct call *call = arg;

	if (current == call->task)
		call_fn(call, true);
}

int perfctr_call_task(struct task_struct *task, perfctr_task_fn fn, void *arg)
{
	struct call call = { .task = task, .fn = fn, .arg = arg };
	unsigned long flags;

	if (task == current) {
		local_irq_save(flags);
		call_fn(&call, true);
		local_irq_restore(flags);
		return call.result;
	}
	do {
		task_call_func(task, call_pinned, &call);
		if (call.cpu >= 0)
			smp_call_function_single(call.cpu, call_on_cpu, &call, true);
	} while (call.cpu >= 0);
	return call.result;
}
