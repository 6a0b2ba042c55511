/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context of a counted thread, and the way of its counts into slots.
 *
 * All counts, apart from those of the processor's events, derive from fields that the kernel keeps
 * in the task.  A fold replaces the value that was folded last by the present one, and adds the
 * difference to the slots.  So missing a switch loses no counts.  If two CPUs fold the same thread
 * at the same time, their differences still add up.
 */
#ifndef PERFCTR_BPF_CONTEXT_H
#define PERFCTR_BPF_CONTEXT_H

#define FIELDS PERFCTR_BPF_FIELDS
/*
 * The number of the processor's events.  It is constant when the programs are loaded: without
 * events, the code for them costs nothing.
 */
const volatile __u32 n_events;

#define NOWHERE 0xffffffff /* has not been on a CPU */

#define CLAIMED (~0ull)

/* A slot into which a thread counts. */
enum { OWN, TREE, MARKED, ACCOUNTS };

struct account {
	__u32 slot;
	__u64 generation;  /* 0: none; CLAIMED: about to change */
	__u64 sum[FIELDS]; /* what the thread has added to the slot */
};

struct context {
	__u64 last[FIELDS]; /* the values that were folded last */
	__u64 put;	    /* times put on a CPU */
	__u64 moved;
	__u64 uncounted;
	__u64 event[PERFCTR_BPF_EVENTS]; /* what the thread has counted, and ... */
	__u64 from[PERFCTR_BPF_EVENTS];	 /* ... the values of its CPU's events then */
	__u64 first_switches;		 /* of the task when the context began ... */
	__u32 first_put;		 /* ... and whether the task was on no CPU then */
	__u32 cpu;
	__u64 seen_switches; /* of the task at the last switch of which the programs were told */
	__u64 resumed;	     /* when it was put on the CPU, CLOCK_MONOTONIC in ns ... */
	__u64 resumed_time;  /* ... and its CPU time then */
	__u32 running;
	__u32 exiting;
	__u32 dead;
	__u32 counting; /* from[] is of the present time on a CPU */
	__u64 program;	/* self_exec_id of the program that the accounts may count */
	struct account account[ACCOUNTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct context);
} contexts SEC(".maps");

/* The present generation.  A switch may clear it at any moment. */
static __always_inline __u64 generation_of(const struct account *account)
{
	return *(const volatile __u64 *)&account->generation;
}

static __always_inline struct perfctr_bpf_slot *enter_account(const struct account *account)
{
	return enter_slot(account->slot, generation_of(account));
}

/* Is the slot still the one that was taken under this generation? */
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
 * The scheduler brings sum_exec_runtime up to date only at switches and ticks.  For a running
 * thread, the time since then is estimated by the clock.  If the estimate is too high, the next
 * fold takes the excess back.  If it is too low, because resumed_time was old, it continues from
 * the scheduler's value.  Otherwise the time would stand still until the estimate has caught up.
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
	/* The thread may be on another CPU, which may resume it meanwhile. */
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

/* The counts of the account's thread are final. */
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

/*
 * Closes the account.  If several CPUs do this at the same time, only one succeeds, and gets true.
 */
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
