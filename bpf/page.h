/* SPDX-License-Identifier: GPL-2.0-only */
/* The state page of a context, which its thread reads in user mode. */
#ifndef PERFCTR_BPF_PAGE_H
#define PERFCTR_BPF_PAGE_H

static __always_inline void page_sums(struct perfctr_bpf_slot *slot)
{
	struct perfctr_page *page = &slot->page;
	__u32 zero = 0;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);

	if (!i)
		return;
	page->seq++;
	page->tsc.sum = perfctr_bpf_ticks(&i->rate, slot->own[PERFCTR_BPF_TIME]);
	page->switches = slot->own[PERFCTR_BPF_PUT];
	page->migrations = slot->own[PERFCTR_BPF_MOVED];
	page->seq++;
}

/* Ends live reads of the page: its thread is switched away, or is not counted any more. */
static __always_inline void page_off(struct perfctr_bpf_slot *slot)
{
	slot->page.tsc.recheck = ~slot->page.tsc.ticket;
	page_sums(slot);
}

/*
 * Begins live reads of the page.  Its thread is the caller, or is about to run on this CPU.  own[]
 * has all that the thread has counted until now.
 */
static __always_inline void page_on(struct perfctr_bpf_slot *slot, __u64 now)
{
	struct perfctr_page_counter *tsc = &slot->page.tsc;
	__u32 zero = 0;
	struct perfctr_bpf_info *i = bpf_map_lookup_elem(&info, &zero);
	struct perfctr_bpf_clock *clock;

	page_off(slot);
	if (!i || !i->live || !is_started(slot))
		return;
	clock = i->current & 1 ? &i->clock[1] : &i->clock[0];
	if (now - clock->ns > PERFCTR_BPF_CLOCK_NS)
		return;
	slot->page.cpu = bpf_get_smp_processor_id();
	tsc->bias = tsc->sum - clock->ticks - perfctr_bpf_ticks(&clock->rate, now - clock->ns);
	tsc->ticket += 1ull << 32;
	tsc->recheck = tsc->ticket;
}

#endif
