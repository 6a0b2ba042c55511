/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept of a counted thread, and how its counts get into slots.
 *
 * Everything derives from fields that the kernel keeps in the task.  A fold exchanges the value
 * that was added last by the present one and adds the difference to the slots: a switch that the
 * programs are not told of loses nothing, and when two CPUs fold the same thread at a time the
 * differences still add up.
 */
#ifndef PERFCTR_BPF_CONTEXT_H
#define PERFCTR_BPF_CONTEXT_H

#define FIELDS PERFCTR_BPF_FIELDS
/*
 * Of the processor; constant when the programs are loaded, so that without any they cost nothing.
 */
const volatile __u32 n_events;

#define NOWHERE 0xffffffff /* has not been on a CPU */

#define CLAIMED (~0ull)

/* A slot that a thread counts into. */
enum { OWN, TREE, GROUP, ACCOUNTS };

struct account {
	__u32 slot;
	__u64 generation;  /* 0: none; CLAIMED: about to be another one */
	__u64 sum[FIELDS]; /* what the thread added to it */
};

struct context {
	__u64 last[FIELDS]; /* of what was folded */
	__u64 put;	    /* times put on a CPU */
	__u64 moved;
	__u64 uncounted;
	__u64 event[PERFCTR_BPF_EVENTS]; /* counted, and ... */
	__u64 from[PERFCTR_BPF_EVENTS];	 /* ... where its CPU's stood then */
	__u64 first_switches;		 /* of the task when this began ... */
	__u32 first_put;		 /* ... and whether it is yet to be put on a CPU for it */
	__u32 cpu;
	__u64 seen_switches; /* of the task at the last switch that programs were told of */
	__u64 resumed;	     /* when it was put on the CPU, CLOCK_MONOTONIC in ns ... */
	__u64 resumed_time;  /* ... and its CPU time then */
	__u32 running;
	__u32 exiting;
	__u32 dead;
	__u32 counting; /* from is of this time on a CPU */
	__u64 program;	/* of the task, its self_exec_id, that the accounts may count */
	struct account account[ACCOUNTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct context);
} contexts SEC(".maps");

/* At this moment; a switch may forget it in the next. */
static __always_inline __u64 generation_of(const struct account *account)
{
	return *(const volatile __u64 *)&account->generation;
}

static __always_inline struct perfctr_bpf_slot *enter_account(const struct account *account)
{
	return enter_slot(account->slot, generation_of(account));
}

/* Still the one that generation_of() told? */
static __always_inline bool is_taken(const struct account *account, __u64 generation)
{
	struct perfctr_bpf_slot *slot = generation ? slot_at(account->slot) : NULL;

	return slot && slot->generation == generation;
}

static __always_inline __u64 task_switches(struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/*
 * The scheduler brings sum_exec_runtime up to date at switches and ticks; of a thread that runs the
 * rest is what the clock says.  What this estimate has too much the next fold takes back.  Where it
 * has too little, because resumed_time was old, it goes on from what the scheduler says: otherwise
 * the time would stand still until the estimate has come up.
 */
static __always_inline __u64 task_time(struct context *c, struct task_struct *task)
{
	__u64 time = task->se.sum_exec_runtime, before, estimate;

	if (!c->running || !is_on_cpu(task))
		return time;
	before = c->resumed_time;
	estimate = before + bpf_ktime_get_ns() - c->resumed;
	if (estimate >= time)
		return estimate;
	/* It may be on another CPU, which resumes it meanwhile. */
	__sync_val_compare_and_swap(&c->resumed_time, before, before + time - estimate);
	return time;
}

static __always_inline void add_to_account(struct account *account, int which,
					   const __u64 *difference)
{
	__u64 generation = generation_of(account);
	struct perfctr_bpf_slot *slot = enter_slot(account->slot, generation);
	__u64 *sums;

	if (!slot) {
		if (generation != CLAIMED)
			__sync_val_compare_and_swap(&account->generation, generation, 0);
		return;
	}
	sums = which == OWN ? slot->own : slot->below;
	if (is_started(slot)) {
		__sync_fetch_and_add(&slot->begun, 1);
		for (int i = 0; i < FIELDS; i++) {
			if (!difference[i])
				continue;
			__sync_fetch_and_add(&sums[i], difference[i]);
			__sync_fetch_and_add(&account->sum[i], difference[i]);
		}
		__sync_fetch_and_add(&slot->ended, 1);
	}
	leave_slot(slot);
}

static __always_inline void read_fields(struct context *c, struct task_struct *task, __u64 time,
					__u64 *now)
{
	now[PERFCTR_BPF_TIME] = time;
	now[PERFCTR_BPF_PUT] = c->put;
	now[PERFCTR_BPF_MOVED] = c->moved;
	now[PERFCTR_BPF_SWITCHES] = task_switches(task);
	now[PERFCTR_BPF_MIGRATIONS] = task->se.nr_migrations;
	now[PERFCTR_BPF_MINOR] = task->min_flt;
	now[PERFCTR_BPF_MAJOR] = task->maj_flt;
	now[PERFCTR_BPF_UNCOUNTED] = c->uncounted;
	for (int i = 0; i < PERFCTR_BPF_EVENTS; i++)
		now[PERFCTR_BPF_EVENT + i] = c->event[i];
}

static __noinline void fold_accounts(struct context *c, const __u64 *difference)
{
	for (int i = 0; i < ACCOUNTS; i++)
		if (c->account[i].generation)
			add_to_account(&c->account[i], i, difference);
}

/* What the account's thread added to its slot is final. */
static __always_inline void settle_account(struct context *c, int which,
					   struct perfctr_bpf_slot *slot)
{
	const struct account *account = &c->account[which];

	__sync_fetch_and_add(&slot->begun, 1);
	for (int i = 0; which != OWN && i < FIELDS; i++)
		__sync_fetch_and_add(&slot->exited[i], account->sum[i]);
	if (which != OWN) {
		__sync_fetch_and_add(&slot->members, -1);
		if (c->exiting)
			__sync_fetch_and_add(&slot->exiting, -1);
	} else {
		slot->flags &= ~PERFCTR_BPF_EXITING;
		slot->flags |= PERFCTR_BPF_EXITED;
		slot->page.flags &= ~PERFCTR_PAGE_STARTED;
		page_off(slot);
	}
	__sync_fetch_and_add(&slot->ended, 1);
}

/* One of those that close an account at a time does it; true for that one. */
static __always_inline bool close_account(struct context *c, int which, __u32 flags)
{
	struct account *account = &c->account[which];
	__u64 generation = generation_of(account);
	struct perfctr_bpf_slot *slot = enter_slot(account->slot, generation);
	bool closed = false;

	if (!slot)
		return false;
	if (__sync_val_compare_and_swap(&account->generation, generation, CLAIMED) == generation) {
		slot->flags |= which == OWN ? flags : 0;
		if (flags & PERFCTR_BPF_DROPPED)
			__sync_fetch_and_add(&slot->dropped, 1);
		settle_account(c, which, slot);
		account->generation = 0;
		closed = true;
	}
	leave_slot(slot);
	return closed;
}

/*
 * Since Linux 7 the kernel does not call on_exec for an exec on a CPU where another task is
 * preempted inside on_exec.  After one such exec the accounts of users who may not watch the new
 * program are closed, after several those of all users but root: their counts since then are
 * dropped.  While the thread is inside the first exec, on_exec may still be called.
 */
static __noinline void close_hidden(struct context *c, struct task_struct *task)
{
	bool several = task->self_exec_id - c->program > 1;

	if (!several && BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
		return;
	for (int i = 0; i < ACCOUNTS; i++) {
		__u32 index = c->account[i].slot;
		struct holder *holder = bpf_map_lookup_elem(&holders, &index);

		if (holder && holder->uid && (several || !is_open_to(task, holder->uid)))
			close_account(c, i, PERFCTR_BPF_DROPPED);
	}
	c->program = task->self_exec_id;
}

static __always_inline void see_program(struct context *c, struct task_struct *task)
{
	if (c->program != task->self_exec_id)
		close_hidden(c, task);
}

static __always_inline void fold_context(struct context *c, struct task_struct *task, __u64 time)
{
	__u64 difference[FIELDS], any = 0;

	read_fields(c, task, time, difference);
#pragma unroll
	for (int i = 0; i < FIELDS; i++) {
		if (difference[i] == c->last[i])
			difference[i] = 0;
		else
			difference[i] -= __sync_lock_test_and_set(&c->last[i], difference[i]);
		any |= difference[i];
	}
	if (!any)
		return;
	see_program(c, task);
	fold_accounts(c, difference);
}

#endif
