/* SPDX-License-Identifier: GPL-2.0-only */
/* How threads come to count into slots, and cease to. */
#ifndef PERFCTR_BPF_MEMBER_H
#define PERFCTR_BPF_MEMBER_H

/* Processes that own slots: by number, how many. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} owners SEC(".maps");

static __u32 unprivileged_slots; /* taken by users other than root */

static __always_inline struct perfctr_bpf_slot *account_slot(const struct account *account)
{
	return account->generation ? slot_of(account->slot, account->generation) : NULL;
}

static __always_inline struct perfctr_bpf_slot *own_slot(struct context *c)
{
	return account_slot(&c->account[OWN]);
}

/* What events counted meanwhile may be another thread's. */
static __noinline void count_missed(struct context *c, __u64 n)
{
	if (n_events) {
		c->counting = 0;
		c->uncounted += n;
	}
	for (int i = 0; i < ACCOUNTS; i++) {
		struct perfctr_bpf_slot *slot = account_slot(&c->account[i]);

		if (slot)
			__sync_fetch_and_add(&slot->missed, n);
	}
}

/* The task has been switched away so many times since the last switch that this was told of. */
static __always_inline void expect_switches(struct context *c, struct task_struct *task, __u64 n)
{
	__u64 switches = task_switches(task);

	if (switches != c->seen_switches + n)
		count_missed(c, switches - c->seen_switches - n);
	c->seen_switches = switches;
}

/* Of a task that is on a CPU, or has just been switched away from it. */
static __always_inline void count_put(struct context *c, struct task_struct *task, bool away)
{
	c->put = task_switches(task) - away - c->first_switches + c->first_put;
}

static __always_inline void resume(struct context *c, struct task_struct *task)
{
	c->resumed = bpf_ktime_get_ns();
	c->resumed_time = task->se.sum_exec_runtime;
	c->running = 1;
}

/* What the account's thread added to it is final. */
static __always_inline void close_account(struct context *c, int which)
{
	struct account *account = &c->account[which];
	struct perfctr_bpf_slot *slot = account_slot(account);

	if (!slot)
		return;
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
	account->generation = 0;
}

static __noinline void finish(struct context *c)
{
	for (int i = 0; i < ACCOUNTS; i++)
		close_account(c, i);
	c->dead = 1;
}

static __noinline void begin_exit(struct context *c)
{
	c->exiting = 1;
	for (int i = 0; i < ACCOUNTS; i++) {
		struct perfctr_bpf_slot *slot = account_slot(&c->account[i]);

		if (!slot)
			continue;
		if (i == OWN)
			slot->flags |= PERFCTR_BPF_EXITING;
		else
			__sync_fetch_and_add(&slot->exiting, 1);
	}
}

static __always_inline void open_account(struct context *c, int which, __u32 index,
					 struct perfctr_bpf_slot *slot)
{
	struct account *account = &c->account[which];

	__builtin_memset(account->sum, 0, sizeof(account->sum));
	account->slot = index;
	account->generation = slot->generation;
	if (which == OWN)
		return;
	__sync_fetch_and_add(&slot->created, 1);
	__sync_fetch_and_add(&slot->members, 1);
	if (c->exiting)
		__sync_fetch_and_add(&slot->exiting, 1);
}

/* Let task count into the slot from now on; a negative errno. */
static __noinline int attach(struct task_struct *task, int which, __u32 index)
{
	struct context *c =
		bpf_task_storage_get(&contexts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct perfctr_bpf_slot *slot = slot_at(index);
	struct account *account;

	if (!c)
		return -ENOMEM;
	if (!slot)
		return -EINVAL;
	if (c->dead || c->exiting)
		return -ESRCH;
	account = which == OWN ? &c->account[OWN] : &c->account[GROUP];
	if (account_slot(account))
		return account->slot == index ? 0 : which == OWN ? -EEXIST : -EBUSY;
	if (c->known) {
		fold(c, task, task_time(c, task));
	} else {
		read_fields(c, task, task->se.sum_exec_runtime, c->last);
		c->first_switches = task_switches(task);
		c->seen_switches = c->first_switches;
		c->first_put = !task->on_cpu;
		c->cpu = task == bpf_get_current_task_btf() ? bpf_get_smp_processor_id() : NOWHERE;
		if (task->on_cpu)
			resume(c, task);
		c->known = 1;
	}
	if (which == OWN)
		open_account(c, OWN, index, slot);
	else
		open_account(c, GROUP, index, slot);
	return 1;
}

static __always_inline int detach(struct context *c, struct task_struct *task, int which)
{
	if (!account_slot(&c->account[which]))
		return 0;
	fold(c, task, task_time(c, task));
	close_account(c, which);
	return 1;
}

/* A thread is born: all its counts are 0 yet. */
static __always_inline void inherit(struct context *parent, struct task_struct *child)
{
	struct perfctr_bpf_slot *group = account_slot(&parent->account[GROUP]);
	struct perfctr_bpf_slot *tree = own_slot(parent);
	struct account *account = &parent->account[OWN];
	struct context *c;

	if (!tree || !(tree->flags & PERFCTR_BPF_INHERIT)) {
		account = &parent->account[TREE];
		tree = account_slot(account);
	}
	if (!tree && !group)
		return;
	c = bpf_task_storage_get(&contexts, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		if (tree)
			__sync_fetch_and_add(&tree->lost, 1);
		if (group)
			__sync_fetch_and_add(&group->lost, 1);
		return;
	}
	c->first_put = 1;
	c->cpu = NOWHERE;
	c->known = 1;
	if (tree)
		open_account(c, TREE, account->slot, tree);
	if (group)
		open_account(c, GROUP, parent->account[GROUP].slot, group);
}

/* The thread executes a program that its accounts' owners may not watch, but for root. */
static __noinline void drop(struct context *c, struct task_struct *task)
{
	count_events(c, true);
	fold(c, task, task_time(c, task));
	for (int i = 0; i < ACCOUNTS; i++) {
		struct perfctr_bpf_slot *slot = account_slot(&c->account[i]);

		if (!slot || !slot->owner_uid)
			continue;
		__sync_fetch_and_add(&slot->dropped, 1);
		if (i == OWN)
			slot->flags |= PERFCTR_BPF_DROPPED;
		close_account(c, i);
	}
}

static __always_inline void release(struct perfctr_bpf_slot *slot)
{
	__u32 *owned = bpf_map_lookup_elem(&owners, &slot->owner);

	if (owned)
		__sync_fetch_and_add(owned, -1);
	if (slot->owner_uid)
		__sync_fetch_and_add(&unprivileged_slots, -1);
	slot->generation = 0;
	slot->page.flags = 0;
	slot->page.tsc.recheck = ~slot->page.tsc.ticket;
	slot->owner = 0;
	slot->kind = PERFCTR_BPF_FREE;
}

static long release_if_owned(__u32 index, __u32 *owner)
{
	struct perfctr_bpf_slot *slot = slot_at(index);

	if (!slot)
		return 1;
	if (slot->kind != PERFCTR_BPF_FREE && slot->owner == *owner)
		release(slot);
	return 0;
}

/* The process's handles are gone: it exits, or executes another program. */
static __noinline void release_owned(__u32 owner)
{
	__u32 zero = 0;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);

	if (!i || !bpf_map_lookup_elem(&owners, &owner))
		return;
	bpf_loop(i->slots, release_if_owned, &owner, 0);
	bpf_map_delete_elem(&owners, &owner);
}

#endif
