/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An accumulator: a state page and the control whose events are counted into it. A thread's context
 * has one. A session, and a tree that is counted by totals, have one for each CPU. The operations
 * on accumulators are the same for all of them; they are here and in accumulator.c.
 *
 * A virtual counter is bias + hardware value while the accumulator counts, and the page's sum while
 * the accumulator does not count. A session's counter is bias + hardware value in both cases,
 * because nobody else uses its hardware counter.
 *
 * A hardware counter is never set to a sum: entering an accumulator computes a new bias from the
 * value that the counter holds. A switch writes one MSR to stop the counters and one to start them,
 * and none between threads that count user mode by the same control. Running counters are set to 0
 * only before they wrap, and where user space could otherwise read counts of other threads.
 *
 * All functions run on the CPU that counts into the page, with interrupts off. cpu->value[] holds
 * the values that the counters of hw had when they were last read. A loop on the path of a switch
 * copies its bound to a local, because the compiler assumes that stores to the page may change it.
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

/* The caller has folded the counters. They are stopped, or count user mode only. */
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
 * Returns false if a counter has gone backwards, which means that other code has written it. The
 * lost events stay lost: the sum keeps its value, and the caller sets a new bias.
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

/* A hardware counter must not wrap while its bias is in use: bias + value would jump back. */
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

/*
 * Forces the thread onto the slow path, which reads the sum: bias + RDPMC would not be the count.
 */
static inline void forbid_fast_reads(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		page->counter[i].recheck = ~page->counter[i].ticket;
}

/*
 * Makes each bias equal to its sum. Sessions and other threads may use the counters while the
 * context's thread waits for RESUME or runs on a mute CPU.
 */
static inline void set_waiting_biases(struct perfctr_page *page)
{
	u32 i;

	for (i = 0; i < page->n_counters; i++)
		set_bias(&page->counter[i], 0);
}

/* Also forbids fast reads, unless the page has PERFCTR_PAGE_STARTED. */
static inline void renew_biases(const struct perfctr_cpu *cpu, struct perfctr_page *page,
				const struct perfctr_hw_control *hw)
{
	set_biases(cpu, page, hw);
	if (!(page->flags & PERFCTR_PAGE_STARTED))
		forbid_fast_reads(page);
}

/*
 * accumulator.c: bring the sums of a page up to date, whether its counters run or stand still. The
 * caller is between perfctr_page_begin() and perfctr_page_end().
 *
 * perfctr_fold: returns false, and sets PERFCTR_PAGE_DISTURBED, if other code has written a
 * counter. perfctr_fold_at_once: the same; if the PMU has a global enable, all sums are as of one
 * instruction. perfctr_fold_and_clear: also sets the counters of slots to 0. It loses no event that
 * hw counts between the read and the clear.
 */
bool perfctr_fold(struct perfctr_cpu *cpu, struct perfctr_page *page,
		  const struct perfctr_hw_control *hw);
bool perfctr_fold_at_once(struct perfctr_cpu *cpu, struct perfctr_page *page,
			  const struct perfctr_hw_control *hw);
void perfctr_fold_and_clear(struct perfctr_cpu *cpu, struct perfctr_page *page,
			    const struct perfctr_hw_control *hw, u64 slots);

#endif
