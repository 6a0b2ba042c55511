/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which process has taken each slot.  How many slots a user has is found by looking at all of
 * them: no second count can come to differ.  taken_slots is the exception, as each context switch
 * reads it.
 */
#ifndef PERFCTR_BPF_HOLDER_H
#define PERFCTR_BPF_HOLDER_H

/*
 * Who claims a slot is known from that moment on: where programs can be preempted it can be long
 * until the rest is written, by one at a time.
 */
struct holder {
	__u64 claim;   /* CLAIM, flags, and the uid that the slot is charged to; 0: never taken */
	__u32 process; /* global number */
	__u32 uid;     /* of the process: the user for whom threads are counted */
	__u64 signal;  /* the process's struct signal_struct: there for as long as a task of it */
	__u64 program; /* self_exec_id: what it executes later owns nothing */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024); /* as many as slots */
	__type(key, __u32);
	__type(value, struct holder);
} holders SEC(".maps");

/*
 * Slots of the processes whose numbers are the same modulo its size: of most that exit there are
 * none, and nothing is to be looked for.
 */
#define PROCESSES 16384

#define NO_PROGRAM (~0ull)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROCESSES);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

static __u64 last_generation;
static __u32 next_slot;
/*
 * take_slot() adds a slot here before it gives it a generation, and release_slot() subtracts it
 * after it has taken the generation away.  A switch that reads 0 while another CPU takes the first
 * slot began before any thread could be attached to that slot.
 */
static __u32 taken_slots;

static __always_inline bool is_any_taken(void)
{
	return *(const volatile __u32 *)&taken_slots;
}

static __always_inline __u32 this_user(void)
{
	return bpf_get_current_uid_gid();
}

/*
 * The uid that the caller's slots are charged to, as in the driver.  All ids of a user namespace
 * are charged to the user who created it.  Of nested namespaces the outermost counts that root
 * did not create; without one, each id is charged itself.
 */
static __noinline __u32 user_who_pays(struct task_struct *self)
{
	const struct user_namespace *ns = self->cred->user_ns;
	__u32 uid = this_user(), owner;

	for (int i = 0; i < MAX_LEVELS && BPF_CORE_READ(ns, level); i++) {
		owner = BPF_CORE_READ(ns, owner.val);
		if (owner)
			uid = owner;
		ns = BPF_CORE_READ(ns, parent);
	}
	return uid;
}

static __always_inline bool is_owner(__u32 index, struct task_struct *task)
{
	struct holder *holder = bpf_map_lookup_elem(&holders, &index);

	return holder && holder->process == (__u32)task->tgid &&
	       holder->signal == (__u64)task->signal && holder->program == task->self_exec_id;
}

static __always_inline void count_process(__u32 process, int difference)
{
	__u32 key = process % PROCESSES, *n = bpf_map_lookup_elem(&processes, &key);

	if (n)
		__sync_fetch_and_add(n, difference);
}

#define CLAIM (1ull << 32)
/* The slot may be taken when no program writes it any more; until then it is its last user's. */
#define RELEASED (1ull << 33)
/* Its user may have no share left.  Such claims have numbers, in the bits above. */
#define TENTATIVE (1ull << 34)
#define CLAIM_NUMBER 35
#define CLAIM_OF (CLAIM | 0xffffffff)

static __always_inline __u64 claim_of(const struct holder *holder)
{
	return *(const volatile __u64 *)&holder->claim;
}

static __always_inline bool is_busy(struct perfctr_bpf_slot *slot)
{
	return __sync_fetch_and_add(&slot->busy, 0);
}

struct census {
	__u32 uid;
	__u32 slots;
};

static long look_at_holder(__u32 index, struct census *census)
{
	struct holder *holder = bpf_map_lookup_elem(&holders, &index);
	struct perfctr_bpf_slot *slot = slot_at(index);
	__u64 claim;

	if (!slot || !holder)
		return 1;
	claim = claim_of(holder);
	census->slots += (claim & CLAIM_OF) == (CLAIM | census->uid) &&
			 (!(claim & RELEASED) || is_busy(slot));
	return 0;
}

static __always_inline bool has_more_than(const struct perfctr_bpf_info *i, __u32 uid, __u32 slots)
{
	struct census census = { .uid = uid };

	if (!uid)
		return false;
	bpf_loop(i->slots, look_at_holder, &census, 0);
	return census.slots > slots;
}

static __always_inline bool exchange_claim(struct holder *holder, __u64 old, __u64 claim)
{
	return __sync_val_compare_and_swap(&holder->claim, old, claim) == old;
}

struct taking {
	const struct perfctr_bpf_info *info;
	__u64 claim;
	__u32 first; /* slot, and number, of those that are looked at */
	__u32 slots;
	__u32 from;
	__u32 looks; /* at whether tentative claims are void, that are left */
	__s32 taken;
};

#define LOOKS 16
#define ROUNDS 8

/* A claim beyond its user's share, whose program has not come to give it back. */
static __always_inline bool is_void(struct taking *taking, __u64 claim)
{
	return claim & TENTATIVE && taking->looks && taking->looks-- &&
	       has_more_than(taking->info, (__u32)claim, taking->info->user_slots);
}

/* Who is still about to write it for its last owner keeps it from being taken. */
static long take_if_free(__u32 i, struct taking *taking)
{
	__u32 index = taking->first + (taking->from + i) % (taking->slots ?: 1);
	struct holder *holder = bpf_map_lookup_elem(&holders, &index);
	struct perfctr_bpf_slot *slot = slot_at(index);
	__u64 claim;

	if (!slot || !holder)
		return 1;
	claim = claim_of(holder);
	if (claim && !(claim & RELEASED) && !is_void(taking, claim))
		return 0;
	if (is_busy(slot) || !exchange_claim(holder, claim, taking->claim))
		return 0;
	/* Nobody begins to write it now, but may have before it was claimed. */
	if (is_busy(slot)) {
		exchange_claim(holder, taking->claim, claim & RELEASED ? claim : 0);
		return 0;
	}
	taking->taken = index;
	return 1;
}

/* In turn: a slot that was released is used again as late as possible. */
static __always_inline bool take_any(struct taking *taking, __u32 first, __u32 slots)
{
	taking->first = first;
	taking->slots = slots;
	bpf_loop(slots, take_if_free, taking, 0);
	return taking->taken >= 0;
}

/*
 * The last quarter is root's: others do not even look at it, as who is refused has had a slot for
 * a moment, and that can be long where programs can be preempted.
 */
static __always_inline struct taking take_for(const struct perfctr_bpf_info *info, __u32 uid)
{
	__u32 everybodys = info->slots - info->slots / 4;
	struct taking taking = { .info = info, .taken = -1 };

	taking.from = __sync_fetch_and_add(&next_slot, 1);
	taking.claim = (__u64)taking.from << CLAIM_NUMBER | TENTATIVE | CLAIM | uid;
	if (!uid && take_any(&taking, everybodys, info->slots - everybodys))
		return taking;
	/* Behind a look's back slots may be given back, and others be claimed instead. */
	for (int i = 0; i < ROUNDS && !take_any(&taking, 0, everybodys); i++) {
		if (i && taking.looks == LOOKS)
			break;
		taking.looks = LOOKS;
	}
	return taking;
}

static __always_inline void prepare_slot(struct perfctr_bpf_slot *slot, __u32 kind)
{
	clear_slot(slot);
	clear_members(slot);
	slot->n_events = 0;
	slot->flags = 0;
	slot->page.size = sizeof(slot->page);
	slot->page.abi_version = PERFCTR_ABI_VERSION;
	slot->page.flags = 0;
	set_started(slot, kind == PERFCTR_BPF_GROUP);
	slot->page.n_counters = 0;
	slot->page.cpu = 0;
	page_off(slot);
}

/*
 * A user's share is looked at before, so that who has it takes nothing from others by trying on,
 * and with the slot: of two that take the last one at a time both may be refused; never do both get
 * it.  What it has too much meanwhile others may take from it.
 */
static __always_inline int take_slot(struct task_struct *self, __u32 kind)
{
	__u32 zero = 0, payer = user_who_pays(self), index;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);
	struct perfctr_bpf_slot *slot;
	struct taking taking;
	struct holder *holder;

	if (!i || kind < PERFCTR_BPF_CONTEXT || kind > PERFCTR_BPF_GROUP)
		return -EINVAL;
	if (has_more_than(i, payer, i->user_slots - 1))
		return -EDQUOT;
	taking = take_for(i, payer);
	if (taking.taken < 0)
		return -ENOSPC;
	index = taking.taken;
	slot = slot_at(index);
	holder = bpf_map_lookup_elem(&holders, &index);
	if (!slot || !holder)
		return -EINVAL;
	if (has_more_than(i, payer, i->user_slots) ||
	    !exchange_claim(holder, taking.claim, CLAIM | payer)) {
		exchange_claim(holder, taking.claim, 0);
		return -EDQUOT;
	}
	holder->uid = this_user();
	holder->signal = (__u64)self->signal;
	holder->program = self->self_exec_id;
	holder->process = self->tgid;
	prepare_slot(slot, kind);
	count_process(holder->process, 1);
	slot->kind = kind;
	__sync_fetch_and_add(&taken_slots, 1);
	slot->generation = __sync_fetch_and_add(&last_generation, 1) + 1;
	return index;
}

/* Of those that release it at a time one does. */
static __always_inline int release_slot(__u32 index, __u64 generation)
{
	struct perfctr_bpf_slot *slot = slot_at(index);
	struct holder *holder = bpf_map_lookup_elem(&holders, &index);

	if (!slot || !holder || !generation)
		return -EINVAL;
	if (__sync_val_compare_and_swap(&slot->generation, generation, 0) != generation)
		return -EINVAL;
	slot->kind = PERFCTR_BPF_FREE;
	forget_counts(slot);
	count_process(holder->process, -1);
	holder->process = 0;
	__sync_fetch_and_add(&taken_slots, -1);
	__sync_fetch_and_or(&holder->claim, RELEASED);
	return 0;
}

struct ending {
	__u64 signal;
	__u64 but; /* those of this program */
};

/* The generation is read first: what is released is what the holder belongs to. */
static long release_if_owned(__u32 index, struct ending *ending)
{
	const volatile struct perfctr_bpf_slot *slot = slot_at(index);
	const volatile struct holder *holder = bpf_map_lookup_elem(&holders, &index);
	__u64 generation;

	if (!slot || !holder)
		return 1;
	generation = slot->generation;
	if (holder->process && holder->signal == ending->signal && holder->program != ending->but)
		release_slot(index, generation);
	return 0;
}

/* The process's handles are gone: it exits, or executes another program, which has but. */
static __noinline void release_owned(struct task_struct *task, __u64 but)
{
	__u32 zero = 0, key = (__u32)task->tgid % PROCESSES;
	__u32 *n = bpf_map_lookup_elem(&processes, &key);
	struct ending ending = { .signal = (__u64)task->signal, .but = but };
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);

	if (i && n && *n)
		bpf_loop(i->slots, release_if_owned, &ending, 0);
}

static __always_inline void release_if_last(struct task_struct *task)
{
	if (task->signal->live.counter == 0)
		release_owned(task, NO_PROGRAM);
}

#endif
