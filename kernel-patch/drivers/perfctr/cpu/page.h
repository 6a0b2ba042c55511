/* SPDX-License-Identifier: GPL-2.0-only */
/* State pages (page.c), and their sums over the CPUs (sums.c). */
#ifndef _PERFCTR_PAGE_H
#define _PERFCTR_PAGE_H

#include <linux/align.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/perfctr.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct cpumask;
struct perfctr_hw_control;

/* The upper half of a counter's ticket is a sequence number, which makes each ticket unique. */
#define PERFCTR_NEXT_TICKET	BIT_ULL(32)

/*
 * The page changes between begin and end, on one CPU at a time. Readers on other CPUs retry while
 * seq is odd or has changed.
 */
static inline void perfctr_page_begin(struct perfctr_page *page)
{
	WRITE_ONCE(page->seq, page->seq + 1);
	smp_wmb();	/* seq before the data */
}

static inline void perfctr_page_end(struct perfctr_page *page)
{
	smp_wmb();	/* the data before seq */
	WRITE_ONCE(page->seq, page->seq + 1);
}

/*
 * page.c: the number of bytes of a page that the machine's counters need.
 * perfctr_learn_state_bytes() is called once, when the PMU is known.
 */
size_t perfctr_learn_state_bytes(void);
size_t perfctr_state_bytes(void);

/*
 * page.c: the caller makes sure that nobody else changes the page meanwhile.
 *
 * init: initializes perfctr_state_bytes() of page as stopped with nothing counted; hw is NULL if
 * there is no control. blank: forbids fast reads of all counters of a page that is otherwise zero.
 * move: copies the state of from, which is stopped, but not its biases, into a blank page. clear:
 * prepares a stopped page for a new control, with nothing counted. forbid_reads: forbids fast reads
 * of the time stamp and of the counters that have events, and clears the biases of these counters.
 */
void perfctr_page_init(struct perfctr_page *page, const struct perfctr_hw_control *hw);
void perfctr_page_blank(struct perfctr_page *page);
void perfctr_page_move(struct perfctr_page *page, const struct perfctr_page *from);
void perfctr_page_clear(struct perfctr_page *page, const struct perfctr_hw_control *hw);
void perfctr_page_forbid_reads(struct perfctr_page *page);

/*
 * page.c: perfctr_page_add() adds the sums of a page that does not change meanwhile.
 * perfctr_page_copy() copies the sums of one moment from a page that may change meanwhile; it spins
 * while seq is odd. perfctr_add_counts() adds counts to sum.
 */
void perfctr_page_add(const struct perfctr_page *page, struct perfctr_counts *counts);
void perfctr_page_copy(const struct perfctr_page *page, struct perfctr_counts *copy);
void perfctr_add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts);

/* Distance between the state pages of two CPUs in memory that users map. */
#define PERFCTR_MAPPED_PAGE_BYTES	ALIGN(sizeof(struct perfctr_page), SMP_CACHE_BYTES)

/*
 * The counts that a CPU has reported to a reader: a copy of its page as of one instruction, which
 * later changes of the page do not affect.
 */
struct perfctr_told {
	bool fresh;		/* reported for the present read */
	struct perfctr_counts counts;
};

/* The state pages of an owner that has one for each CPU: a session, or a tree counted by totals. */
struct perfctr_cpu_pages {
	struct perfctr_page __percpu *percpu;	/* NULL: users map the pages */
	void *mapped;
	/*
	 * Used by the reader, under the owner's lock. NULL: CPUs need not report. A context's
	 * counters stand still when a switch reads them, so its pages are always consistent.
	 */
	struct perfctr_told __percpu *told;
	void *owner;
	/*
	 * Called with interrupts off, on a CPU that counts into its page (PERFCTR_PAGE_COUNTING).
	 * Brings the sums up to date, with all counters as of one instruction. Returns whether the
	 * current thread is counted.
	 */
	bool (*fold)(void *owner);
};

static inline struct perfctr_page *perfctr_page_of_cpu(const struct perfctr_cpu_pages *pages,
						       unsigned int cpu)
{
	return pages->percpu ? per_cpu_ptr(pages->percpu, cpu) :
			       pages->mapped + cpu * PERFCTR_MAPPED_PAGE_BYTES;
}

/*
 * sums.c: adds the pages of cpus to counts. Interrupts each CPU that counts; at_once: stops the
 * machine instead, for sums of one instant, and pages->told must not be NULL. Returns whether all
 * sums are of one instant; without at_once they are if only the caller was counted meanwhile. May
 * sleep. The caller keeps the pages allocated.
 */
bool perfctr_sum_cpus(const struct perfctr_cpu_pages *pages, const struct cpumask *cpus,
		      bool at_once, struct perfctr_counts *counts);

#endif
