/* SPDX-License-Identifier: GPL-2.0-only */
/* Attaches threads to slots, and detaches them. */
#ifndef PERFCTR_BPF_MEMBER_H
#define PERFCTR_BPF_MEMBER_H

/*
 * n switches were missed.  The events may have counted another thread meanwhile, so that their
 * counts cannot be used.
 */
static __noinline void count_missed(struct context *c, __u64 n)
{
	if (n_events) {
		c->counting = 0;
		c->uncounted += n;
	}
	for (int i = 0; i < ACCOUNTS; i++) {
		struct perfctr_bpf_slot *slot = enter_account(&c->account[i]);

		if (!slot)
			continue;
		__sync_fetch_and_add(&slot->missed, n);
		leave_slot(slot);
	}
}

/*
 * The task must have been switched away n times since the last switch of which the programs were
 * told.  All further switches were missed.
 */
static __always_inline void expect_switches(struct context *c, struct task_struct *task, __u64 n)
{
	__u64 switches = task_switches(task);

	if (switches != c->seen_switches + n)
		count_missed(c, switches - c->seen_switches - n);
	c->seen_switches = switches;
}

/* Counts how often the task was put on a CPU.  It is on a CPU, or (away) has just left it. */
static __always_inline void count_put(struct context *c, struct task_struct *task, bool away)
{
	c->put = task_switches(task) - away - c->first_switches + c->first_put;
}

static __always_inline void resume_member(struct context *c, struct task_struct *task)
{
	c->resumed = bpf_ktime_get_ns();
	c->resumed_time = task->se.sum_exec_runtime;
	c->running = 1;
}

static __noinline void finish_member(struct context *c)
{
	for (int i = 0; i < ACCOUNTS; i++)
		close_account(c, i, 0);
	c->dead = 1;
}

static __noinline void begin_exit(struct context *c)
{
	c->exiting = 1;
	for (int i = 0; i < ACCOUNTS; i++) {
		struct perfctr_bpf_slot *slot = enter_account(&c->account[i]);

		if (!slot)
			continue;
		if (i == OWN)
			slot->flags |= PERFCTR_BPF_EXITING;
		else
			__sync_fetch_and_add(&slot->exiting, 1);
		leave_slot(slot);
	}
}

/* The caller has claimed the account, or is the only one to know c.  It has entered the slot. */
static __always_inline void open_account(struct context *c, int which, __u32 index,
					 struct perfctr_bpf_slot *slot)
{
	struct account *account = &c->account[which];

	__builtin_memset(account->sum, 0, sizeof(account->sum));
	account->slot = index;
	if (which != OWN) {
		__sync_fetch_and_add(&slot->created, 1);
		__sync_fetch_and_add(&slot->members, 1);
		if (c->exiting)
			__sync_fetch_and_add(&slot->exiting, 1);
	}
	account->generation = slot->generation;
}

static __always_inline int claim_account(struct context *c, int which, __u32 index)
{
	struct account *account = &c->account[which];
	__u64 old = generation_of(account);

	if (old == CLAIMED)
		return -EBUSY;
	if (is_taken(account, old))
		return account->slot == index ? 0 : which == OWN ? -EEXIST : -EBUSY;
	if (__sync_val_compare_and_swap(&account->generation, old, CLAIMED) == old)
		return 1;
	/*
	 * The slot was not taken any more, and another CPU may have cleared the account meanwhile.
	 */
	return __sync_val_compare_and_swap(&account->generation, 0, CLAIMED) ? -EBUSY : 1;
}

static __always_inline bool is_counted(const struct context *c)
{
	for (int i = 0; i < ACCOUNTS; i++)
		if (is_taken(&c->account[i], generation_of(&c->account[i])))
			return true;
	return false;
}

/*
 * Begins the context, also if the thread was counted before: on_switch looks at no thread while no
 * slot is taken.
 */
static __always_inline void begin_context(struct context *c, struct task_struct *task)
{
	read_fields(c, task, task->se.sum_exec_runtime, c->last);
	c->program = task->self_exec_id;
	c->seen_switches = task_switches(task);
	c->first_switches = c->seen_switches - c->put;
	c->first_put = !is_on_cpu(task);
	c->cpu = task == bpf_get_current_task_btf() ? bpf_get_smp_processor_id() : NOWHERE;
	c->counting = 0;
	c->running = 0;
	if (is_on_cpu(task))
		resume_member(c, task);
}

/*
 * Lets task count into the slot, which the caller has entered, from now on.  1, 0 if it did before,
 * or a negative errno.
 */
static __noinline int attach_member(struct task_struct *task, struct perfctr_bpf_slot *slot,
				    __u32 index)
{
	struct context *c =
		bpf_task_storage_get(&contexts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	bool own = slot->kind == PERFCTR_BPF_CONTEXT;
	int claimed;

	if (!c)
		return -ENOMEM;
	if (c->dead || c->exiting)
		return -ESRCH;
	claimed = own ? claim_account(c, OWN, index) : claim_account(c, MARKED, index);
	if (claimed <= 0)
		return claimed;
	if (is_counted(c)) {
		fold_context(c, task, task_time(c, task));
		see_program(c, task);
	} else {
		begin_context(c, task);
	}
	if (own)
		open_account(c, OWN, index, slot);
	else
		open_account(c, MARKED, index, slot);
	return 1;
}

static __always_inline int detach_member(struct context *c, struct task_struct *task, int which)
{
	if (!is_taken(&c->account[which], generation_of(&c->account[which])))
		return 0;
	fold_context(c, task, task_time(c, task));
	return close_account(c, which, 0);
}

/* The caller creates child.  All counts of child are still 0. */
static __always_inline void inherit_context(struct context *parent, struct task_struct *child)
{
	struct account *mark_of = &parent->account[MARKED], *tree_of = &parent->account[OWN];
	struct perfctr_bpf_slot *mark, *tree;
	struct context *c = NULL;

	see_program(parent, bpf_get_current_task_btf());
	mark = enter_account(mark_of);
	tree = enter_account(tree_of);
	if (tree && !(tree->flags & PERFCTR_BPF_INHERIT)) {
		leave_slot(tree);
		tree = NULL;
	}
	if (!tree) {
		tree_of = &parent->account[TREE];
		tree = enter_account(tree_of);
	}
	if (tree || mark)
		c = bpf_task_storage_get(&contexts, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (c) {
		c->program = parent->program;
		c->first_put = 1;
		c->cpu = NOWHERE;
	}
	if (tree) {
		if (c)
			open_account(c, TREE, tree_of->slot, tree);
		else
			__sync_fetch_and_add(&tree->lost, 1);
		leave_slot(tree);
	}
	if (mark) {
		if (c)
			open_account(c, MARKED, mark_of->slot, mark);
		else
			__sync_fetch_and_add(&mark->lost, 1);
		leave_slot(mark);
	}
}

/* The thread executes a program that users may not watch.  Closes all accounts but root's. */
static __noinline void drop_member(struct context *c, struct task_struct *task)
{
	count_events(c, true);
	fold_context(c, task, task_time(c, task));
	for (int i = 0; i < ACCOUNTS; i++) {
		__u32 index = c->account[i].slot;
		struct holder *holder = bpf_map_lookup_elem(&holders, &index);

		if (holder && holder->uid)
			close_account(c, i, PERFCTR_BPF_DROPPED);
	}
}

#endif
