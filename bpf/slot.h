/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots: the counts of a context, a tree or a mark, which the library maps. */
#ifndef PERFCTR_BPF_SLOT_H
#define PERFCTR_BPF_SLOT_H

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1024);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, PERFCTR_PAGE_SIZE);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct perfctr_bpf_info);
} info SEC(".maps");

static __always_inline struct perfctr_bpf_slot *slot_at(__u32 index)
{
	return bpf_map_lookup_elem(&slots, &index);
}

/*
 * Returns the slot if it is still the one that was taken under this generation.  It is not taken
 * again before leave_slot(), so that the caller never writes to another user's slot.
 */
static __always_inline struct perfctr_bpf_slot *enter_slot(__u32 index, __u64 generation)
{
	struct perfctr_bpf_slot *slot = slot_at(index);

	if (!slot || !generation)
		return NULL;
	__sync_fetch_and_add(&slot->busy, 1);
	if (slot->generation == generation)
		return slot;
	__sync_fetch_and_add(&slot->busy, -1);
	return NULL;
}

static __always_inline void clear_slot(struct perfctr_bpf_slot *slot)
{
	__builtin_memset(slot->own, 0, sizeof(slot->own));
	__builtin_memset(slot->below, 0, sizeof(slot->below));
	__builtin_memset(slot->exited, 0, sizeof(slot->exited));
	slot->lost = 0;
	slot->dropped = 0;
	slot->missed = 0;
}

/* Clears the numbers of present and of all members. */
static __always_inline void clear_members(struct perfctr_bpf_slot *slot)
{
	slot->members = 0;
	slot->exiting = 0;
	slot->created = 0;
}

/* Clears all counts of a released slot, which any user can read until it is taken again. */
static __noinline void forget_counts(struct perfctr_bpf_slot *slot)
{
	clear_slot(slot);
	clear_members(slot);
	slot->page.cpu = 0;
	slot->page.tsc.bias = 0;
	slot->page.tsc.sum = 0;
	slot->page.switches = 0;
	slot->page.migrations = 0;
	slot->page.flags = 0;
	slot->page.tsc.recheck = ~slot->page.tsc.ticket;
}

/*
 * If another CPU has released the slot meanwhile, counts that were added since are cleared here.
 * The atomic read of the generation follows all writes to the slot; busy keeps the slot from
 * being taken again until they are cleared.
 */
static __always_inline void leave_slot(struct perfctr_bpf_slot *slot)
{
	if (!__sync_fetch_and_add(&slot->generation, 0))
		forget_counts(slot);
	__sync_fetch_and_add(&slot->busy, -1);
}

static __always_inline bool is_started(const struct perfctr_bpf_slot *slot)
{
	return slot->started;
}

static __always_inline void set_started(struct perfctr_bpf_slot *slot, bool started)
{
	slot->started = started;
	if (started)
		slot->page.flags |= PERFCTR_PAGE_STARTED;
	else
		slot->page.flags &= ~PERFCTR_PAGE_STARTED;
}

#endif
