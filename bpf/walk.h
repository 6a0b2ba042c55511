/* SPDX-License-Identifier: GPL-2.0-only */
/* The iterator "walk": executes a thread's request for each thread that the request means. */
#ifndef PERFCTR_BPF_WALK_H
#define PERFCTR_BPF_WALK_H

#define MAX_GENERATIONS 64 /* ancestors that are looked at */

struct ancestry {
	struct task_struct *task;
	int process;
	int below;
};

static long is_ancestor(__u32 i, struct ancestry *a)
{
	struct task_struct *task = a->task;
	int process = BPF_CORE_READ(task, tgid);

	if (process == a->process) {
		a->below = 1;
		return 1;
	}
	a->task = BPF_CORE_READ(task, real_parent);
	return process <= 1;
}

/* r->tid is a thread with the scope THREAD, otherwise a process. */
static __always_inline bool is_meant(const struct request *r, struct task_struct *task)
{
	struct ancestry a = { .task = task, .process = r->tid };

	if (r->scope == PERFCTR_MARK_THREAD)
		return task->pid == r->tid;
	if (task->tgid == r->tid)
		return true;
	if (r->scope != PERFCTR_MARK_TREE)
		return false;
	bpf_loop(MAX_GENERATIONS, is_ancestor, &a, 0);
	return a.below;
}

static __always_inline __u64 capabilities_of(const void *set)
{
	__u64 capabilities = 0;

	bpf_probe_read_kernel(&capabilities, sizeof(capabilities), set);
	return capabilities;
}

/*
 * Does the caller have all capabilities of the other thread?  If they are in different user
 * namespaces, this cannot be told, and the caller must be in the outer one.
 */
static __always_inline bool may_as_much(const struct cred *mine, const struct cred *theirs)
{
	if (mine->user_ns != theirs->user_ns)
		return mine->user_ns->level < theirs->user_ns->level;
	return !(capabilities_of(&theirs->cap_permitted) & ~capabilities_of(&mine->cap_effective));
}

/*
 * Roughly the rules of ptrace(2).  The caller is privileged outside of all user namespaces, or owns
 * a process with equal ids that has nothing to hide.  Other threads are not shown to the caller.
 * For those shown, it needs proofs as well.
 */
static __always_inline bool may_trace(struct task_struct *self, struct task_struct *task)
{
	const struct cred *mine = self->cred, *theirs = task->cred;
	unsigned int uid = mine->uid.val, gid = mine->gid.val;

	if (capabilities_of(&mine->cap_effective) & 1u << CAP_SYS_PTRACE &&
	    mine->user_ns->level == 0)
		return true;
	return is_open_to(task, uid) && gid == theirs->gid.val && gid == theirs->egid.val &&
	       gid == theirs->sgid.val && may_as_much(mine, theirs);
}

static __always_inline void count_change(struct perfctr_bpf_reply *reply, int result)
{
	if (result > 0)
		reply->changed++;
	else if (result < 0 && !reply->error)
		reply->error = -result;
}

static __always_inline bool counts_into(struct context *c, const struct request *r)
{
	for (int i = 0; i < ACCOUNTS; i++)
		if (c->account[i].generation == r->generation && c->account[i].slot == r->slot)
			return true;
	return false;
}

/* Another process may have taken the slot since the request was made. */
static __always_inline int mark_thread(struct request *r, struct task_struct *self,
				       struct task_struct *task)
{
	struct perfctr_bpf_slot *slot = enter_slot(r->slot, r->generation);
	int result = -EINVAL;

	if (!slot)
		return result;
	if (is_owner(r->slot, self))
		result = attach_member(task, slot, r->slot);
	leave_slot(slot);
	return result;
}

static __always_inline int unmark_thread(struct request *r, struct task_struct *task,
					 struct context *c)
{
	return c && (!r->generation || counts_into(c, r)) ? detach_member(c, task, MARKED) : 0;
}

static __always_inline void tell_thread(struct perfctr_bpf_reply *reply, struct context *c,
					int which)
{
	__u64 generation = c ? generation_of(&c->account[which]) : 0;

	if (c && is_taken(&c->account[which], generation))
		reply->id = perfctr_bpf_id(c->account[which].slot, generation);
}

/* False: the buffer is full.  The thread is visited again when the buffer has been read. */
static __always_inline bool give_number(struct seq_file *seq, struct task_struct *task)
{
	int number = task->pid;

	return !bpf_seq_write(seq, &number, sizeof(number));
}

static __always_inline int visit_members(struct request *r, struct seq_file *seq,
					 struct task_struct *self, struct task_struct *task)
{
	struct context *c = bpf_task_storage_get(&contexts, task, NULL, 0);

	if (!c || c->dead || !counts_into(c, r))
		return 0;
	if (r->action == PERFCTR_BPF_WALK_MEMBERS && !give_number(seq, task))
		return 0;
	r->reply.found++;
	r->reply.exiting += c->exiting;
	if (r->action == PERFCTR_BPF_WALK_MEMBERS)
		return 0;
	if (task == self)
		r->reply.folded = 1;
	else if (c->running && is_on_cpu(task))
		r->reply.running++;
	fold_context(c, task, task_time(c, task));
	return 0;
}

static __always_inline bool has_nothing_to_do(struct request *r, struct context *c)
{
	if (r->action == PERFCTR_BPF_WALK_MARK)
		return c && counts_into(c, r);
	return r->action == PERFCTR_BPF_WALK_UNMARK &&
	       (!c || (r->generation && !counts_into(c, r)));
}

/* Is the thread the caller's own, or has the caller proven that it may trace the thread? */
static __always_inline bool is_allowed(struct request *r, struct task_struct *self,
				       struct task_struct *task)
{
	return task->tgid == self->tgid || is_proven(self, r, task);
}

/* Tells the caller for which thread a proof is missing. */
static __always_inline void refuse_unproven(struct request *r, struct seq_file *seq,
					    struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		count_change(&r->reply, -EACCES);
	else if (give_number(seq, task))
		r->reply.unproven++;
	else
		return;
	r->reply.found++;
}

/*
 * May the caller know of the thread?  It may if the thread is of its own process, if it may trace
 * the thread, or if it sets a mark that the thread bears already.
 */
static __always_inline bool is_shown(const struct request *r, struct context *c,
				     struct task_struct *self, struct task_struct *task)
{
	return task->tgid == self->tgid || may_trace(self, task) ||
	       (r->action == PERFCTR_BPF_WALK_MARK && c && counts_into(c, r));
}

/*
 * About a thread that is not shown, the caller learns only that it may not trace it, and not even
 * whether it is counted.
 */
static __always_inline void visit_meant(struct request *r, struct seq_file *seq,
					struct task_struct *self, struct task_struct *task)
{
	struct context *c = bpf_task_storage_get(&contexts, task, NULL, 0);

	if (!is_shown(r, c, self, task)) {
		count_change(&r->reply, -EACCES);
		return;
	}
	if (!has_nothing_to_do(r, c) && !is_allowed(r, self, task)) {
		refuse_unproven(r, seq, task);
		return;
	}
	r->reply.found++;
	if (has_nothing_to_do(r, c))
		return;
	if (r->action == PERFCTR_BPF_WALK_MARK)
		count_change(&r->reply, mark_thread(r, self, task));
	else if (r->action == PERFCTR_BPF_WALK_UNMARK)
		count_change(&r->reply, unmark_thread(r, task, c));
	else if (r->action == PERFCTR_BPF_WALK_GET)
		tell_thread(&r->reply, c, MARKED);
	else
		tell_thread(&r->reply, c, OWN);
}

static __always_inline int visit_thread(struct seq_file *seq, struct task_struct *task)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct request *r = request_of(self);

	if (!r || !r->action || r->action == PERFCTR_BPF_WALK_DEFERRED)
		return 0;
	if (!task) {
		if (!bpf_seq_write(seq, &r->reply, sizeof(r->reply)))
			r->action = 0;
		return 0;
	}
	if (r->action == PERFCTR_BPF_WALK_FOLD || r->action == PERFCTR_BPF_WALK_MEMBERS)
		return visit_members(r, seq, self, task);
	if (is_meant(r, task))
		visit_meant(r, seq, self, task);
	return 0;
}

#endif
