/* SPDX-License-Identifier: GPL-2.0-only */
/* State pages: page.c; and their sums over the CPUs: sums.c. */
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

/* The upper half of a page counter's ticket makes each one new. */
#define PERFCTR_NEXT_TICKET	BIT_ULL(32)

/* Readers in other threads retry while seq is odd or has changed. */
static inline void perfctr_page_begin(struct perfctr_page *page)
{
	WRITE_ONCE(page->seq, page->seq + 1);
	smp_wmb();	/* seq before what it guards */
}

static inline void perfctr_page_end(struct perfctr_page *page)
{
	smp_wmb();	/* what seq guards before seq */
	WRITE_ONCE(page->seq, page->seq + 1);
}

/*
 * page.c: how many bytes of a page the machine's counters need. learn is called once, when the PMU
 * is known.
 */
size_t perfctr_learn_state_bytes(void);
size_t perfctr_state_bytes(void);

/*
 * page.c: nobody else changes page meanwhile. init: state_bytes of page, stopped, nothing counted
 * yet; hw: NULL if there is no control. blank: forbids fast reads of all counters of a page that
 * has been zeroes. move: such a page gets the state of from, which is stopped. clear: a new
 * control, stopped, nothing counted. forbid_reads: of the counters that have events.
 */
void perfctr_page_init(struct perfctr_page *page, const struct perfctr_hw_control *hw);
void perfctr_page_blank(struct perfctr_page *page);
void perfctr_page_move(struct perfctr_page *page, const struct perfctr_page *from);
void perfctr_page_clear(struct perfctr_page *page, const struct perfctr_hw_control *hw);
void perfctr_page_forbid_reads(struct perfctr_page *page);

/* page.c: adds page's sums, which do not change meanwhile. copy: of one moment; they may change. */
void perfctr_page_add(const struct perfctr_page *page, struct perfctr_counts *counts);
void perfctr_page_copy(const struct perfctr_page *page, struct perfctr_counts *copy);
void perfctr_add_counts(struct perfctr_counts *sum, const struct perfctr_counts *counts);

/* From the state page of one CPU to the next where users map them. */
#define PERFCTR_MAPPED_PAGE_BYTES	ALIGN(sizeof(struct perfctr_page), SMP_CACHE_BYTES)

/* What a CPU has told a reader: it is of one instruction, whatever changes the page next. */
struct perfctr_told {
	bool fresh;
	struct perfctr_counts counts;
};

/* The state pages of an owner that has one for each CPU. */
struct perfctr_cpu_pages {
	struct perfctr_page __percpu *percpu;	/* NULL: users map them */
	void *mapped;
	/*
	 * The reader's, who has the owner's lock. NULL: no CPU has to tell, because nothing but
	 * fold reads counters that run.
	 */
	struct perfctr_told __percpu *told;
	void *owner;
	/*
	 * On the CPU, with interrupts off, while its page is PERFCTR_PAGE_COUNTING: brings the sums
	 * up to date, all counters as of one instruction. True: the current thread is counted.
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
 * sums.c: adds up the pages of cpus. at_once: of one instant, by stopping the machine; CPUs have to
 * tell. True: all sums are of one instant, because nothing but the caller was counted meanwhile.
 * May sleep. The caller keeps the pages.
 */
bool perfctr_sum_cpus(const struct perfctr_cpu_pages *pages, const struct cpumask *cpus,
		      bool at_once, struct perfctr_counts *counts);

#endif
