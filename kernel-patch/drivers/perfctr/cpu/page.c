// SPDX-License-Identifier: GPL-2.0-only
/* State pages: makes them, prepares them for a new control, and adds up their sums. */
#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/processor.h>
#include <linux/string.h>
#include "../machine/machine.h"
#include "page.h"

static size_t state_bytes __ro_after_init;

/* Enough for every control: it has at most as many events as the machine has counters. */
size_t __init perfctr_learn_state_bytes(void)
{
	u32 n = perfctr_n_counters();

	state_bytes = offsetof(struct perfctr_page, counter[min_t(u32, n, PERFCTR_MAX_COUNTERS)]);
	if (static_branch_unlikely(&perfctr_kinds))	/* the kinds are at the end */
		state_bytes = sizeof(struct perfctr_page);
	return state_bytes;
}

size_t perfctr_state_bytes(void)
{
	return state_bytes;
}

/*
 * A thread's own read must not combine a bias with a hardware counter that counts for others. The
 * biases are cleared because they are no longer needed, and would reveal counts of this control
 * under the next one.
 */
void perfctr_page_forbid_reads(struct perfctr_page *page)
{
	u32 i;

	page->tsc.recheck = ~page->tsc.ticket;
	for (i = 0; i < page->n_counters; i++) {
		page->counter[i].recheck = ~page->counter[i].ticket;
		page->counter[i].bias = 0;
	}
}

static bool is_rdpmc_allowed(const struct perfctr_hw_control *hw)
{
	return !(hw && (hw->partial || hw->interrupts || hw->session)) &&
	       perfctr_features() & PERFCTR_FEATURE_RDPMC;
}

void perfctr_page_init(struct perfctr_page *page, const struct perfctr_hw_control *hw)
{
	u32 i;

	memset64((u64 *)page, 0, state_bytes / sizeof(u64));
	page->size = sizeof(*page);
	page->abi_version = PERFCTR_ABI_VERSION;
	page->cpu = U32_MAX;
	page->flags = is_rdpmc_allowed(hw) ? PERFCTR_PAGE_RDPMC : 0;
	page->n_counters = hw ? hw->n_events : 0;
	for (i = 0; i < page->n_counters; i++)
		page->counter[i].ticket = hw->event[i].rdpmc;
	perfctr_page_forbid_reads(page);
}

void perfctr_page_blank(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

/*
 * Biases are not copied: they were computed while no process had mapped the page, and may reveal
 * counts that other threads have left in the counters.
 */
void perfctr_page_move(struct perfctr_page *page, const struct perfctr_page *from)
{
	u32 i;

	memcpy(page, from, offsetof(struct perfctr_page, counter[from->n_counters]));
	for (i = 0; i < page->n_counters; i++)
		page->counter[i].bias = 0;
	if (static_branch_unlikely(&perfctr_kinds)) {
		page->kind = from->kind;
		memcpy(page->kind_tsc, from->kind_tsc, sizeof(page->kind_tsc));
	}
}

/*
 * Fast reads of counters that lose their event are forbidden already, because the page is stopped,
 * and stay forbidden.
 */
void perfctr_page_clear(struct perfctr_page *page, const struct perfctr_hw_control *hw)
{
	u32 i;

	perfctr_page_begin(page);
	page->flags &= ~(PERFCTR_PAGE_DISTURBED | PERFCTR_PAGE_RDPMC);
	if (is_rdpmc_allowed(hw))
		page->flags |= PERFCTR_PAGE_RDPMC;
	page->tsc.sum = 0;
	for (i = hw->n_events; i < page->n_counters; i++)
		page->counter[i].sum = 0;
	for (i = 0; i < hw->n_events; i++) {
		struct perfctr_page_counter *c = &page->counter[i];

		c->sum = 0;
		c->ticket = (c->ticket & ~(u64)U32_MAX) + PERFCTR_NEXT_TICKET;
		c->ticket |= hw->event[i].rdpmc;
	}
	if (static_branch_unlikely(&perfctr_kinds))
		memset(page->kind_tsc, 0, sizeof(page->kind_tsc));
	page->n_counters = hw->n_events;
	page->switches = 0;
	page->migrations = 0;
	page->cpu = U32_MAX;
	perfctr_page_forbid_reads(page);
	perfctr_page_end(page);
}

static void add_kind_times(const struct perfctr_page *page, struct perfctr_counts *counts)
{
	u64 time[PERFCTR_MAX_KINDS];

	perfctr_kind_times(page, time);
	perfctr_kind_add(counts->kind_tsc, time);
}

void perfctr_page_add(const struct perfctr_page *page, struct perfctr_counts *counts)
{
	u32 i;

	if (page->flags & PERFCTR_PAGE_DISTURBED)
		counts->flags |= PERFCTR_COUNTS_DISTURBED;
	counts->n_counters = max(counts->n_counters, page->n_counters);
	counts->tsc += page->tsc.sum;
	counts->switches += page->switches;
	counts->migrations += page->migrations;
	for (i = 0; i < page->n_counters; i++)
		counts->counter[i] += page->counter[i].sum;
	if (static_branch_unlikely(&perfctr_kinds))
		add_kind_times(page, counts);
}

void perfctr_page_copy(const struct perfctr_page *page, struct perfctr_counts *copy)
{
	u32 seq;

	do {
		memset(copy, 0, sizeof(*copy));
		/* Pairs with perfctr_page_end(). */
		while ((seq = smp_load_acquire(&page->seq)) & 1)
			cpu_relax();
		perfctr_page_add(page, copy);
		smp_rmb();	/* the data before seq */
	} while (READ_ONCE(page->seq) != seq);
}

void perfctr_add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts)
{
	u32 i;

	sum->flags |= counts->flags & PERFCTR_COUNTS_DISTURBED;
	sum->n_counters = max(sum->n_counters, counts->n_counters);
	sum->tsc += counts->tsc;
	sum->switches += counts->switches;
	sum->migrations += counts->migrations;
	for (i = 0; i < counts->n_counters; i++)
		sum->counter[i] += counts->counter[i];
	if (static_branch_unlikely(&perfctr_kinds))
		perfctr_kind_add(sum->kind_tsc, counts->kind_tsc);
}
