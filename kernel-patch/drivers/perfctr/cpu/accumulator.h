/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An accumulator: a state page, and the control whose events are counted into it. A thread's
 * context has one; a tree that is counted as one, and a session, have one for each CPU. What is
 * done with it is the same for all, and stands here and in accumulator.c.
 *
 * A virtual counter is bias + hardware value while the accumulator counts and the page's sum while
 * it does not; a session's is both, as nobody else uses its counters. Counters are never set to a
 * sum: entering computes a new bias from what the hardware holds, so the cheapest switch writes one
 * MSR to stop and one to start. They are set to 0 only where user space could otherwise read what
 * another one counted, and before they wrap.
 *
 * All on the CPU that counts into the page, with interrupts off. cpu->value[] has what the
 * counters of hw held when they were last read. A loop that a switch executes copies its bound to a
 * local, because the compiler assumes that stores to the page may change it.
 */
#ifndef _PERFCTR_ACCUMULATOR_H
#define _PERFCTR_ACCUMULATOR_H

#include "../machine/percpu.h"
#include "page.h"

static inline void clear_slots(struct perfctr_cpu *cpu, u64 slots)
{
	perfctr_pmu->clear(slots);
	cpu->clears++;
}

/* What the counters held has become sums. They stand still, or count user mode alone. */
static inline void clear_counters(struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw,
				  u64 slots)
{
	u32 i;

	clear_slots(cpu, slots);
	for (i = 0; i < hw->n_events; i++)
		if (slots & BIT_ULL(hw->event[i].slot))
			cpu->value[i] = 0;
}

static inline void set_bias(struct perfctr_page_counter *c, u64 value)
{
	c->bias = c->sum - value;
	c->ticket += PERFCTR_NEXT_TICKET;
	c->recheck = c->ticket;
}

static __always_inline void fold_counters(const struct perfctr_cpu *cpu, struct perfctr_page *page,
					  const struct perfctr_hw_control *hw)
{
	struct perfctr_page_counter *c = page->counter;
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		c[i].sum = c[i].bias + cpu->value[i];
}

/*
 * False: a counter has gone back. Others have written it, and what it lost stays lost: its sum is
 * as it was, and the caller sets a new bias.
 */
static inline bool fold_counters_forward(const struct perfctr_cpu *cpu, struct perfctr_page *page,
					 const struct perfctr_hw_control *hw)
{
	struct perfctr_page_counter *c = page->counter;
	u32 n = hw->n_events;
	bool forward = true;
	u32 i;

	for (i = 0; i < n; i++) {
		u64 sum = c[i].bias + cpu->value[i];

		if (likely((s64)(sum - c[i].sum) >= 0))
			c[i].sum = sum;
		else
			forward = false;
	}
	return forward;
}

/* A hardware counter must not wrap while a bias is in use: bias + value would jump back. */
static __always_inline void prevent_wrap_of(struct perfctr_cpu *cpu,
					    const struct perfctr_hw_event *e, u64 *value)
{
	if (likely(*value <= e->most))
		return;
	clear_slots(cpu, BIT_ULL(e->slot));
	*value = 0;
}

static __always_inline void prevent_wrap(struct perfctr_cpu *cpu,
					 const struct perfctr_hw_control *hw)
{
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		prevent_wrap_of(cpu, &hw->event[i], &cpu->value[i]);
}

static __always_inline void set_biases(const struct perfctr_cpu *cpu, struct perfctr_page *page,
				       const struct perfctr_hw_control *hw)
{
	struct perfctr_page_counter *c = page->counter;
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		set_bias(&c[i], cpu->value[i]);
}

/* What the thread would read itself is not its count. It has to take the sum. */
static inline void forbid_fast_reads(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

/* While its thread waits, others may use the counters: only the sums are its counts. */
static inline void set_waiting_biases(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		set_bias(&page->counter[i], 0);
}

/* Also forbids fast reads, unless the page is PERFCTR_PAGE_STARTED. */
static inline void renew_biases(const struct perfctr_cpu *cpu, struct perfctr_page *page,
				const struct perfctr_hw_control *hw)
{
	set_biases(cpu, page, hw);
	if (!(page->flags & PERFCTR_PAGE_STARTED))
		forbid_fast_reads(page);
}

/*
 * accumulator.c: sums of a page, whether its counters run or stand still. The caller is between
 * perfctr_page_begin() and _end(). fold: false, and PERFCTR_PAGE_DISTURBED, if a counter has been
 * written by others. fold_at_once: all counters as of one instruction. fold_and_clear: slots are 0
 * then, and nothing that hw counts is lost between reading and clearing.
 */
bool perfctr_fold(struct perfctr_cpu *cpu, struct perfctr_page *page,
		  const struct perfctr_hw_control *hw);
void perfctr_fold_at_once(struct perfctr_cpu *cpu, struct perfctr_page *page,
			  const struct perfctr_hw_control *hw);
void perfctr_fold_and_clear(struct perfctr_cpu *cpu, struct perfctr_page *page,
			    const struct perfctr_hw_control *hw, u64 slots);

#endif
