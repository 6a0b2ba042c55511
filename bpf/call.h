/* SPDX-License-Identifier: GPL-2.0-only */
/* The program "call": what a thread does for itself, and for slots that its process owns. */
#ifndef PERFCTR_BPF_CALL_H
#define PERFCTR_BPF_CALL_H

/* What a thread wants of its next walk, by its global number. */
struct request {
	__u32 action; /* enum perfctr_bpf_walk */
	__u32 slot;
	__u32 generation;
	__s32 tid;
	__u32 scope; /* PERFCTR_MARK_* */
	__u32 kind;  /* of the slot */
	struct perfctr_bpf_reply reply;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct request);
} requests SEC(".maps");

static __u32 next_slot;
static __u32 next_generation;

static __always_inline __u32 this_process(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static __always_inline __u32 this_user(void)
{
	return bpf_get_current_uid_gid();
}

struct taking {
	__u32 slots;
	__u32 from;
	__u32 kind;
	__s32 taken;
};

static long take_if_free(__u32 i, struct taking *taking)
{
	__u32 index = (taking->from + i) % (taking->slots ?: 1);
	struct perfctr_bpf_slot *slot = slot_at(index);

	if (!slot)
		return 1;
	if (__sync_val_compare_and_swap(&slot->kind, PERFCTR_BPF_FREE, taking->kind) !=
	    PERFCTR_BPF_FREE)
		return 0;
	taking->taken = index;
	return 1;
}

static __always_inline void clear(struct perfctr_bpf_slot *slot)
{
	__builtin_memset(slot->own, 0, sizeof(slot->own));
	__builtin_memset(slot->below, 0, sizeof(slot->below));
	__builtin_memset(slot->exited, 0, sizeof(slot->exited));
	slot->lost = 0;
	slot->dropped = 0;
	slot->missed = 0;
}

static __always_inline int own_one_more(__u32 owner)
{
	__u32 one = 1, *owned = bpf_map_lookup_elem(&owners, &owner);

	if (!owned)
		return bpf_map_update_elem(&owners, &owner, &one, BPF_NOEXIST);
	__sync_fetch_and_add(owned, 1);
	return 0;
}

/*
 * Slots are taken in turn: one that was released is used again as late as possible.  The last
 * quarter is root's.
 */
static __always_inline int take(__u32 kind)
{
	__u32 zero = 0;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);
	struct taking taking = { .kind = kind, .taken = -1 };
	struct perfctr_bpf_slot *slot;

	if (!i || kind < PERFCTR_BPF_CONTEXT || kind > PERFCTR_BPF_GROUP)
		return -EINVAL;
	if (this_user() && unprivileged_slots >= i->slots / 4 * 3)
		return -ENOSPC;
	taking.slots = i->slots;
	taking.from = __sync_fetch_and_add(&next_slot, 1);
	bpf_loop(i->slots, take_if_free, &taking, 0);
	if (taking.taken < 0)
		return -ENOSPC;
	slot = slot_at(taking.taken);
	if (!slot)
		return -EINVAL;
	if (own_one_more(this_process())) {
		slot->kind = PERFCTR_BPF_FREE;
		return -ENOSPC;
	}
	clear(slot);
	slot->members = 0;
	slot->exiting = 0;
	slot->created = 0;
	slot->n_events = 0;
	slot->flags = 0;
	slot->owner = this_process();
	slot->owner_uid = this_user();
	if (slot->owner_uid)
		__sync_fetch_and_add(&unprivileged_slots, 1);
	slot->page.size = sizeof(slot->page);
	slot->page.abi_version = PERFCTR_ABI_VERSION;
	slot->page.flags = kind == PERFCTR_BPF_GROUP ? PERFCTR_PAGE_STARTED : 0;
	slot->page.n_counters = 0;
	page_off(slot);
	slot->generation = __sync_fetch_and_add(&next_generation, 1) + 1;
	return taking.taken;
}

/* The caller's own context, with all that it counted folded. */
static __always_inline struct context *fold_self(struct task_struct *self)
{
	struct context *c = bpf_task_storage_get(&contexts, self, NULL, 0);

	if (!c || c->dead)
		return NULL;
	if (!c->running) {
		count_missed(c, 1);
		resume(c, self);
	}
	count_put(c, self, false);
	count_events(c, true);
	fold(c, self, task_time(c, self));
	return c;
}

/* The page of the caller, whose virtual time goes on from here. */
static __always_inline void renew_page(struct context *c, struct task_struct *self)
{
	struct perfctr_bpf_slot *slot = own_slot(c);

	if (!slot)
		return;
	if (is_started(slot)) {
		page_on(slot, bpf_ktime_get_ns());
	} else {
		page_off(slot);
	}
}

static __always_inline void control(struct perfctr_bpf_slot *slot, const __u64 *args)
{
	__u64 events[2] = { args[5], args[6] };

	clear(slot);
	slot->n_events = args[4];
	for (int i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		slot->event[i] = events[i / 16] >> i % 16 * 4 & 15;
	slot->flags = (slot->flags & ~PERFCTR_BPF_INHERIT) | (args[3] & PERFCTR_BPF_INHERIT);
	page_sums(slot);
}

static __always_inline int request(__u32 index, __u32 generation, const __u64 *args)
{
	struct request r = { .action = args[3],
			     .slot = index,
			     .generation = generation,
			     .tid = args[4],
			     .scope = args[5] };
	struct perfctr_bpf_slot *slot = slot_of(index, generation);
	struct task_struct *self = bpf_get_current_task_btf();
	__u32 key = self->pid;

	/* Numbers of threads mean something else there. */
	if (r.action != PERFCTR_BPF_WALK_FOLD && BPF_CORE_READ(self, thread_pid, level))
		return -EOPNOTSUPP;
	if (slot)
		r.kind = slot->kind;
	else if (r.action == PERFCTR_BPF_WALK_MARK || generation)
		return -EINVAL;
	if (r.action == PERFCTR_BPF_WALK_MARK && slot && slot->owner != this_process())
		return -EPERM;
	return bpf_map_update_elem(&requests, &key, &r, BPF_ANY);
}

static __noinline int on_slot(struct perfctr_bpf_slot *slot, __u32 index, const __u64 *args)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct context *c = fold_self(self);
	int which = slot->kind == PERFCTR_BPF_CONTEXT ? OWN : GROUP, result;

	switch (args[0]) {
	case PERFCTR_BPF_RELEASE:
		release(slot);
		break;
	case PERFCTR_BPF_CONTROL:
		if (slot->flags & (PERFCTR_BPF_EXITED | PERFCTR_BPF_DROPPED))
			return -ESRCH;
		control(slot, args);
		slot->page.flags &= ~PERFCTR_PAGE_STARTED;
		break;
	case PERFCTR_BPF_START:
		if (slot->flags & (PERFCTR_BPF_EXITED | PERFCTR_BPF_DROPPED))
			return -ESRCH;
		slot->page.flags |= PERFCTR_PAGE_STARTED;
		break;
	case PERFCTR_BPF_STOP:
		slot->page.flags &= ~PERFCTR_PAGE_STARTED;
		break;
	case PERFCTR_BPF_MARK:
		result = attach(self, which, index);
		if (!c)
			count_self(self);
		return result;
	case PERFCTR_BPF_UNMARK:
		if (!c || c->account[GROUP].slot != index)
			return 0;
		return detach(c, self, GROUP);
	default:
		return -EINVAL;
	}
	page_off(slot);
	if (c)
		renew_page(c, self);
	return 0;
}

static __always_inline int answer(const __u64 *arguments)
{
	struct task_struct *self = bpf_get_current_task_btf();
	struct perfctr_bpf_slot *slot;
	__u64 args[7];
	__u32 index;

	for (int i = 0; i < 7; i++)
		args[i] = arguments[i];
	index = args[1];
	if (args[0] == PERFCTR_BPF_TAKE)
		return take(args[3]);
	if (args[0] == PERFCTR_BPF_COUNT) {
		count_self(self);
		return 0;
	}
	if (args[0] == PERFCTR_BPF_REQUEST)
		return request(index, args[2], args);
	if (args[0] == PERFCTR_BPF_FOLD) {
		struct context *c = fold_self(self);

		if (!c)
			return -ESRCH;
		renew_page(c, self);
		return 0;
	}
	slot = slot_of(index, args[2]);
	if (!slot)
		return -EINVAL;
	if (slot->owner != this_process())
		return -EPERM;
	return on_slot(slot, index, args);
}

#endif
