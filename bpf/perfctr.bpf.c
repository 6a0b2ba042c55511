// SPDX-License-Identifier: GPL-2.0-only
/* Per-thread counts on a kernel without the patch. */
#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/perfctr.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "layout.h"
#include "kernel.h"
#include "slot.h"
#include "page.h"
#include "holder.h"
#include "context.h"
#include "count.h"
#include "member.h"
#include "request.h"
#include "call.h"
#include "walk.h"
#include "keep.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline struct context *context_of(struct task_struct *task)
{
	return bpf_task_storage_get(&contexts, task, NULL, 0);
}

static __always_inline void switched_away(struct context *c, struct task_struct *task)
{
	struct perfctr_bpf_slot *slot;

	if (c->dead)
		return;
	if (!c->running)
		count_missed(c, 1);
	expect_switches(c, task, 1);
	c->running = 0;
	count_put(c, task, true);
	count_events(c, true);
	fold_context(c, task, task->se.sum_exec_runtime);
	slot = enter_account(&c->account[OWN]);
	if (slot) {
		page_off(slot);
		leave_slot(slot);
	}
	if (task->__state == TASK_DEAD)
		finish_member(c);
}

static __always_inline void put_on_cpu(struct context *c, struct task_struct *task)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct perfctr_bpf_slot *slot;

	expect_switches(c, task, 0);
	count_put(c, task, false);
	c->moved += c->cpu != cpu && c->cpu != NOWHERE;
	c->cpu = cpu;
	resume_member(c, task);
	count_events(c, false);
	slot = enter_account(&c->account[OWN]);
	if (!slot)
		return;
	fold_context(c, task, task->se.sum_exec_runtime);
	page_on(slot, c->resumed);
	leave_slot(slot);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct context *c;

	/* This runs at all switches on the machine.  Most of its cost are the lookups below. */
	if (!is_any_taken())
		return 0;
	c = prev->pid ? context_of(prev) : NULL;
	if (c)
		switched_away(c, prev);
	c = next->pid ? context_of(next) : NULL;
	if (c)
		put_on_cpu(c, next);
	return 0;
}

/*
 * Only one of the two programs is loaded.  Since Linux 7 a program at a tracepoint can be
 * preempted, and is not called on its CPU meanwhile.  When a thread is woken for the first time,
 * interrupts are off; but in Linux 6.1 no memory can be allocated there.
 */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct context *c = context_of(parent);

	if (c)
		inherit_context(c, child);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_first_wakeup, struct task_struct *child)
{
	struct context *c = context_of(bpf_get_current_task_btf());

	/* The kernel's own threads in a process are never members. */
	if (c && !(child->flags & (PF_IO_WORKER | PF_USER_WORKER)))
		inherit_context(c, child);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	struct context *c = context_of(task);

	release_owned(task, task->self_exec_id);
	if (!c)
		return 0;
	if (BPF_CORE_READ_BITFIELD(bprm, secureexec) ||
	    bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP ||
	    task->self_exec_id - c->program > 1)
		drop_member(c, task);
	c->program = task->self_exec_id;
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	struct context *c = context_of(task);

	if (c && !c->exiting) {
		count_events(c, true);
		fold_context(c, task, task_time(c, task));
		begin_exit(c);
	}
	release_if_last(task);
	return 0;
}

/* For the thread whose exit or last switch was missed. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *task)
{
	struct context *c = context_of(task);

	release_if_last(task);
	if (!c || c->dead)
		return 0;
	count_missed(c, 1);
	count_put(c, task, true);
	fold_context(c, task, task->se.sum_exec_runtime);
	finish_member(c);
	return 0;
}

/* A program of this type cannot be attached to anything, and runs only in the caller. */
SEC("syscall")
int call(struct perfctr_bpf_arguments *arguments)
{
	return answer_call(arguments);
}

/* For the service alone. */
SEC("syscall")
int keep(struct perfctr_bpf_kept *to)
{
	return keep_info(to);
}

/* For root, in an interrupt on each CPU.  Nobody else may have it, because it can be attached. */
SEC("raw_tp")
int count(void *nothing)
{
	count_self(bpf_get_current_task_btf());
	return 0;
}

/* Runs once for each read of the file: it iterates over a map of one element. */
SEC("iter/bpf_map_elem")
int self(struct bpf_iter__bpf_map_elem *at)
{
	return at->key ? read_self(at->meta->seq) : 0;
}

SEC("iter/task")
int walk(struct bpf_iter__task *at)
{
	return visit_thread(at->meta->seq, at->task);
}
