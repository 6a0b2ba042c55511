// SPDX-License-Identifier: GPL-2.0-only
/* Calls a function while a thread cannot be switched. */
#include <linux/irqflags.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include "../machine/percpu.h"
#include "../kernel/hooks.h"
#include "cpu.h"

struct call {
	perfctr_task_fn fn;
	struct task_struct *task;
	void *arg;
	bool done;
	int result;
};

static void call_task_fn(struct call *call, bool live)
{
	lockdep_assert_irqs_disabled();
	call->result = call->fn(call->task, live && !perfctr_cpu_paused(), call->arg);
	call->done = true;
}

static void call_stopped_task(void *arg)
{
	call_task_fn(arg, false);
}

static void call_running_task(void *arg)
{
	struct call *call = arg;

	if (current == call->task)
		call_task_fn(call, true);
}

int perfctr_call_task(struct task_struct *task, perfctr_task_fn fn, void *arg)
{
	struct call call = { .task = task, .fn = fn, .arg = arg };
	unsigned long flags;
	int cpu;

	if (task == current) {
		local_irq_save(flags);
		call_task_fn(&call, true);
		local_irq_restore(flags);
		return call.result;
	}
	while (!call.done) {
		cpu = perfctr_call_still(task, call_stopped_task, &call);
		if (cpu >= 0)
			smp_call_function_single(cpu, call_running_task, &call, true);
	}
	return call.result;
}
