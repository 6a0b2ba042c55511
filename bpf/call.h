/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls by which a thread acts on itself, and on slots that its process owns: the program "call",
 * and "self" for deferred calls.
 */
#ifndef PERFCTR_BPF_CALL_H
#define PERFCTR_BPF_CALL_H

/*
 * Folds all that the caller has counted, and returns its context.  NULL: the caller is not counted.
 * events: also counts the events of the processor.
 */
static __always_inline struct context *fold_self(struct task_struct *self, bool events)
{
	struct context *c = bpf_task_storage_get(&contexts, self, NULL, 0);

	if (!c || c->dead)
		return NULL;
	if (!c->running) {
		count_missed(c, 1);
		resume_member(c, self);
	}
	count_put(c, self, false);
	if (events)
		count_events(c, true);
	fold_context(c, self, task_time(c, self));
	return c;
}

/* Brings the caller's page up to date: its virtual time continues from now. */
static __always_inline void renew_page(struct context *c)
{
	struct perfctr_bpf_slot *slot = enter_account(&c->account[OWN]);

	if (!slot)
		return;
	if (is_started(slot))
		page_on(slot, bpf_ktime_get_ns());
	else
		page_off(slot);
	leave_slot(slot);
}

static __always_inline void control_slot(struct perfctr_bpf_slot *slot, const __u64 *args)
{
	__u64 events[2] = { args[5], args[6] };

	clear_slot(slot);
	slot->n_events = args[4] < PERFCTR_MAX_COUNTERS ? args[4] : PERFCTR_MAX_COUNTERS;
	for (int i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		slot->event[i] = events[i / 16] >> i % 16 * 4 & 15;
	slot->flags = (slot->flags & ~PERFCTR_BPF_INHERIT) | (args[3] & PERFCTR_BPF_INHERIT);
	page_sums(slot);
}

static __always_inline bool needs_slot(__u32 action)
{
	return action == PERFCTR_BPF_WALK_MARK || action == PERFCTR_BPF_WALK_MEMBERS;
}

static __always_inline int note_request(struct task_struct *self, const __u64 *args,
					const struct perfctr_bpf_proofs *proofs)
{
	struct perfctr_bpf_slot *slot = slot_at(args[1]);
	__u32 action = args[3];
	struct request *r;

	if (action < PERFCTR_BPF_WALK_MARK || action > PERFCTR_BPF_WALK_FIND)
		return -EINVAL;
	/* In another pid namespace, threads have other numbers. */
	if (action != PERFCTR_BPF_WALK_FOLD && BPF_CORE_READ(self, thread_pid, level))
		return -EXDEV;
	if ((args[2] || needs_slot(action)) && (!slot || slot->generation != args[2]))
		return -EINVAL;
	/* Every counted thread has unused accounts, which have generation 0. */
	if (action == PERFCTR_BPF_WALK_FOLD && !args[2])
		return -EINVAL;
	if (needs_slot(action) && !is_owner(args[1], self))
		return -EPERM;
	/* The page of a context is that of one thread. */
	if (action == PERFCTR_BPF_WALK_MARK && slot && slot->kind == PERFCTR_BPF_CONTEXT &&
	    args[5] != PERFCTR_MARK_THREAD)
		return -EINVAL;
	r = make_request(self);
	if (!r)
		return -ENOBUFS;
	r->slot = args[1];
	r->generation = args[2];
	r->tid = args[4];
	r->scope = args[5];
	if (args[6])
		read_proofs(self, r, proofs);
	r->action = action;
	return 0;
}

static __always_inline int defer_call(struct task_struct *self, const __u64 *args)
{
	struct request *r = make_request(self);

	if (!r)
		return -ENOBUFS;
	for (int i = 0; i < PERFCTR_BPF_ARGUMENTS; i++)
		r->call[i] = args[i];
	r->call[0] &= ~(__u64)PERFCTR_BPF_DEFER;
	r->action = PERFCTR_BPF_WALK_DEFERRED;
	return 0;
}

static __always_inline int unmark_self(struct context *c, struct task_struct *self,
				       const __u64 *args)
{
	const struct account *account;

	if (!c)
		return 0;
	account = &c->account[MARKED];
	if (account->slot != args[1] || account->generation != args[2])
		return 0;
	return detach_member(c, self, MARKED);
}

/* The caller owns the slot, and has entered it. */
static __always_inline int on_slot(struct perfctr_bpf_slot *slot, const __u64 *args, bool events)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct context *c = fold_self(self, events);
	bool gone = slot->flags & (PERFCTR_BPF_EXITED | PERFCTR_BPF_DROPPED);
	int result;

	switch (args[0]) {
	case PERFCTR_BPF_RELEASE:
		result = release_slot(args[1], args[2]);
		if (result < 0)
			return result;
		break;
	case PERFCTR_BPF_CONTROL:
		if (gone)
			return -ESRCH;
		control_slot(slot, args);
		set_started(slot, false);
		break;
	case PERFCTR_BPF_START:
		if (gone)
			return -ESRCH;
		set_started(slot, true);
		break;
	case PERFCTR_BPF_STOP:
		set_started(slot, false);
		break;
	case PERFCTR_BPF_MARK:
		/* A context must not be allocated here: see make_room(). */
		if (!events && !bpf_task_storage_get(&contexts, self, NULL, 0))
			return -EAGAIN;
		result = attach_member(self, slot, args[1]);
		if (events)
			count_self(self);
		return result;
	case PERFCTR_BPF_UNMARK:
		return unmark_self(c, self, args);
	default:
		return -EINVAL;
	}
	page_off(slot);
	if (c)
		renew_page(c);
	return 0;
}

static __always_inline int fold_caller(struct task_struct *self, bool events)
{
	struct context *c = fold_self(self, events);

	if (!c)
		return -ESRCH;
	renew_page(c);
	return 0;
}

static __always_inline int on_own_slot(const __u64 *args, bool events)
{
	struct perfctr_bpf_slot *slot = enter_slot(args[1], args[2]);
	int result = -EPERM;

	if (!slot)
		return -EINVAL;
	if (is_owner(args[1], bpf_get_current_task_btf()))
		result = on_slot(slot, args, events);
	leave_slot(slot);
	return result;
}

static __always_inline int answer_call(const struct perfctr_bpf_arguments *arguments)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct perfctr_bpf_proofs proofs;
	__u64 args[PERFCTR_BPF_ARGUMENTS];

	for (int i = 0; i < PERFCTR_BPF_ARGUMENTS; i++)
		args[i] = arguments->value[i];
	if (has_ended())
		return -ENODEV;
	if (args[0] & PERFCTR_BPF_DEFER)
		return defer_call(self, args);
	switch (args[0]) {
	case PERFCTR_BPF_TAKE:
		return take_slot(self, args[3]);
	case PERFCTR_BPF_REQUEST:
		/* The verifier allows only constant offsets into a program's context. */
#pragma unroll
		for (int i = 0; i < PERFCTR_BPF_PROOFS; i++)
			proofs.fd[i] = arguments->proofs.fd[i];
		return note_request(self, args, &proofs);
	case PERFCTR_BPF_LEARN:
		return learn_owner(self, args[3]);
	case PERFCTR_BPF_FOLD:
		return fold_caller(self, false);
	case PERFCTR_BPF_COUNT:
		return -EINVAL;
	default:
		return on_own_slot(args, false);
	}
}

/* Executes the call that the reader of "self" has deferred. */
static __always_inline int answer_deferred(struct request *r)
{
	struct task_struct *self = bpf_get_current_task_btf();
	__u64 args[PERFCTR_BPF_ARGUMENTS];

	for (int i = 0; i < PERFCTR_BPF_ARGUMENTS; i++)
		args[i] = r->call[i];
	r->action = 0;
	if (args[0] == PERFCTR_BPF_FOLD)
		return fold_caller(self, true);
	if (args[0] != PERFCTR_BPF_COUNT)
		return on_own_slot(args, true);
	count_self(self);
	return 0;
}

static __always_inline int read_self(struct seq_file *seq)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct request *r = request_of(self);
	__s32 result;

	if (!r || r->action != PERFCTR_BPF_WALK_DEFERRED) {
		if (!has_ended())
			make_room(self);
		return 0;
	}
	result = answer_deferred(r);
	bpf_seq_write(seq, &result, sizeof(result));
	return 0;
}

#endif
