/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that has taken each slot.  The number of a user's slots is found by looking at all
 * slots, so that there is no second count that could differ.  taken_slots is the exception, as each
 * context switch reads it.
 */
#ifndef PERFCTR_BPF_HOLDER_H
#define PERFCTR_BPF_HOLDER_H

/*
 * claim names the user from the moment when the slot is claimed.  The other fields are written
 * later, by one program at a time.  Where programs can be preempted, that can be much later.
 */
struct holder {
	__u64 claim;   /* CLAIM, flags, and the uid that the slot is charged to; 0: never taken */
	__u32 process; /* global number */
	__u32 uid;     /* of the process: threads are counted for this user */
	__u64 signal;  /* the process's struct signal_struct, which exists as long as its tasks */
	__u64 program; /* self_exec_id: a program that is executed later owns nothing */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024); /* as many as slots */
	__type(key, __u32);
	__type(value, struct holder);
} holders SEC(".maps");

/*
 * Numbers of slots of the processes with the same number modulo PROCESSES.  For most processes that
 * exit the number is 0, and they need not look for their slots.
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
 * Returns the uid to which the caller's slots are charged.  The driver uses the same rule.  Outside
 * of user namespaces, a uid pays for itself.  Inside, the creator of the namespace pays for all of
 * its uids.  If namespaces are nested, the creator of the outermost one pays.  Namespaces that root
 * created do not count.
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
/*
 * The slot was released.  It may be taken when no program writes it any more.  Until then it counts
 * for its last user.
 */
#define RELEASED (1ull << 33)
/* The claim may exceed its user's share.  Such claims have numbers, in the bits above. */
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
	__u32 first; /* slots first .. first + slots - 1 are looked at */
	__u32 slots;
	__u32 from;
	__u32 looks; /* checks of tentative claims that are left */
	__s32 taken;
};

#define LOOKS 16
#define ROUNDS 8

/* Does the claim exceed its user's share?  Then its program has not given it back yet. */
static __always_inline bool is_void(struct taking *taking, __u64 claim)
{
	return claim & TENTATIVE && taking->looks && taking->looks-- &&
	       has_more_than(taking->info, (__u32)claim, taking->info->user_slots);
}

/*
 * Takes the slot if it is free.  A program that may still write it for its last owner prevents
 * that.
 */
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
	/* No program begins to write it now, but one may have begun before it was claimed. */
	if (is_busy(slot)) {
		exchange_claim(holder, taking->claim, claim & RELEASED ? claim : 0);
		return 0;
	}
	taking->taken = index;
	return 1;
}

/* Takes slots in turn, so that a released slot is used again as late as possible. */
static __always_inline bool take_any(struct taking *taking, __u32 first, __u32 slots)
{
	taking->first = first;
	taking->slots = slots;
	bpf_loop(slots, take_if_free, taking, 0);
	return taking->taken >= 0;
}

/*
 * Only root takes slots of the last quarter.  A claim of another user occupies a slot for a moment
 * even if it is refused, and for longer if the claiming thread is preempted.
 */
static __always_inline struct taking take_for(const struct perfctr_bpf_info *info, __u32 uid)
{
	__u32 everybodys = info->slots - info->slots / 4;
	struct taking taking = { .info = info, .taken = -1 };

	taking.from = __sync_fetch_and_add(&next_slot, 1);
	taking.claim = (__u64)taking.from << CLAIM_NUMBER | TENTATIVE | CLAIM | uid;
	if (!uid && take_any(&taking, everybodys, info->slots - everybodys))
		return taking;
	/*
	 * While this looks at slots, some that it has passed may be given back, and others be
	 * claimed instead.
	 */
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
	set_started(slot, kind == PERFCTR_BPF_MARKED);
	slot->page.n_counters = 0;
	slot->page.cpu = 0;
	page_off(slot);
}

/*
 * Checks the share of the caller's user twice.  The check before the claim keeps a user whose share
 * is used up from occupying slots by repeated attempts.  The check after the claim is for two
 * processes that claim the last slot of a share at the same time: both may be refused, but never
 * both get it.  Until the second check, other users may take over a slot beyond the share.
 */
static __always_inline int take_slot(struct task_struct *self, __u32 kind)
{
	__u32 zero = 0, payer = user_who_pays(self), index;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);
	struct perfctr_bpf_slot *slot;
	struct taking taking;
	struct holder *holder;

	if (!i || kind < PERFCTR_BPF_CONTEXT || kind > PERFCTR_BPF_MARKED)
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

/* Releases the slot.  If several programs do this at the same time, only one succeeds. */
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
	__u64 but; /* do not release those of this program */
};

/*
 * Reads the generation before the holder, so that it does not release a slot that was taken since.
 */
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

/*
 * Releases the slots of a process that exits, or that has executed another program, which has but.
 */
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
