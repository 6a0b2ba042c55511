/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: regions, named pieces of a program with counted passes.
 *
 *	perfctr_regions_open()		names a program's regions, and the events counted in them
 *	perfctr_regions_thread()	a thread takes part: its array has one element per region
 *	perfctr_region_enter(), _exit()	around the piece: inline, no system call, no allocation
 *	perfctr_regions_write()		writes the counts, as text, CSV or JSON
 *
 * A region may be entered any number of times, and regions may lie in each other or overlap: each
 * is counted by itself.  Entering a region that was not left starts it again, so that in a
 * recursion the innermost pass counts.  Leaving a region that was not entered counts nothing.  Both
 * show as a difference between entries and exits.
 *
 * Each thread has its own array and must not touch another thread's.  A signal handler may enter
 * and leave regions that the interrupted code does not use.  In a forked child enter and exit do
 * nothing, and the calls of this file fail with EPERM: the child opens its own regions.
 */
#ifndef PERFCTR_REGIONS_H
#define PERFCTR_REGIONS_H

#include <stdio.h>
#include <perfctr.h>
#include <perfctr_events.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The regions of a program.  A program may have several, which are independent. */
struct perfctr_regions;
struct perfctr_region_thread;

/* The counts of the passes through a region, of one event or in ticks. */
struct perfctr_region_sum {
	uint64_t start;		/* count at the last entry */
	uint64_t total;		/* of all passes */
	uint64_t min;		/* smallest pass */
	uint64_t span;		/* largest pass less the smallest */
};

/*
 * A region of one thread.  It is private to this header and the library; programs read it by
 * perfctr_regions_read().
 */
struct perfctr_region {
	const struct perfctr_page *page;
	int32_t state;		/* PERFCTR_REGION_*, for the inline functions */
	int32_t state_by_call;	/* the state if page is NULL, and system calls read the counts */
	uint64_t passes;
	uint64_t missed_exits;
	uint64_t stray_exits;
	uint64_t retried;	/* times that the counts were read again at an exit */
	struct perfctr_region_thread *thread;	/* NULL: in a forked child */
	struct perfctr_region_sum tsc, counter[PERFCTR_MAX_COUNTERS];
};

/*
 * A forked process finds its copy full of zeros.  Entering and leaving change the sign of the
 * state, by one instruction that also shows whether the region was left or entered before.
 */
#define PERFCTR_REGION_OUTSIDE	(-1)
#define PERFCTR_REGION_UNUSABLE	0
#define PERFCTR_REGION_INSIDE	1

/*
 * perfctr_regions_read() and perfctr_regions_write(): subtract the counts of an empty pass, for
 * threads that called perfctr_regions_calibrate().  Corrected results say so.
 */
#define PERFCTR_REGIONS_CORRECTED	(1u << 0)

enum perfctr_regions_format {
	PERFCTR_REGIONS_TEXT,	/* a table for people */
	PERFCTR_REGIONS_CSV,	/* RFC 4180, with a header line */
	PERFCTR_REGIONS_JSON,	/* schema "perfctr-regions", version 3 */
};

/* The counts of the passes through a region, of one event or in ticks. */
struct perfctr_region_count {
	uint64_t total;
	uint64_t min;		/* of one pass; 0 if there was none */
	uint64_t max;
};

struct perfctr_region_result {
	const char *name;	/* valid until perfctr_regions_close() */
	pid_t tid;		/* of the thread */
	uint32_t n_counters;	/* valid entries of counter[] */
	uint32_t flags;		/* PERFCTR_REGIONS_CORRECTED: the result is corrected */
	uint64_t entries;
	uint64_t exits;
	uint64_t passes;	/* entries with their exit: the passes that were counted */
	uint64_t retried;	/*
				 * times that the thread was switched while it read the counts at
				 * the end of a pass, and read them again: the pass includes the
				 * first read, at most 100 instructions each time with two events
				 */
	uint64_t reserved[8];	/* 0 */
	struct perfctr_region_count tsc, counter[PERFCTR_MAX_COUNTERS];
};

/*
 * perfctr_regions_open - name the regions, and the events that every thread counts in them.
 * control: the control that the threads' contexts get.  events: the requests from which the control
 * was made, for their names and modes.  If events is NULL, the register values are the names, and
 * show the modes as on the architectural PMU, P6 and AMD.  regions[n_regions]: the names of the
 * regions, in the character set of the output (JSON: UTF-8).  The call copies everything.
 * Errors: EINVAL (no region), ENOMEM.  No system call on the counters.
 */
struct perfctr_regions *perfctr_regions_open(const struct perfctr_control *control,
					     const struct perfctr_request *events,
					     const char *const regions[], unsigned int n_regions);

/*
 * perfctr_regions_thread - let the calling thread take part.  Returns an array with an element for
 * each region, in their order, valid until perfctr_regions_close().  p: a handle of the thread's
 * own context, with the control installed.  It must stay open as long as the thread measures.  A
 * thread that calls again with the same p gets the same array.  Errors: EINVAL (the context has
 * another number of events), EPERM (not the thread's own context; a forked child), ENOMEM.
 */
struct perfctr_region *perfctr_regions_thread(struct perfctr_regions *r, const struct perfctr *p);

/*
 * perfctr_regions_read - get the counts of thread number `thread` in region number `region`.
 * Threads have the order of their calls of perfctr_regions_thread().  It may be called at any time.
 * If the thread goes through the region meanwhile, single numbers may be one pass apart.  flags:
 * PERFCTR_REGIONS_CORRECTED or 0.  Errors: ENOENT (no such thread, yet), EINVAL (no such region or
 * flag), EPERM.  No system call.
 */
int perfctr_regions_read(struct perfctr_regions *r, unsigned int thread, unsigned int region,
			 unsigned int flags, struct perfctr_region_result *result);

/*
 * perfctr_regions_write - write the counts of all threads.  flags: as for perfctr_regions_read().
 * Errors: EINVAL (format, flags), ENOMEM, EPERM, or those of write(2).
 */
int perfctr_regions_write(struct perfctr_regions *r, FILE *file, enum perfctr_regions_format format,
			  unsigned int flags);

/*
 * perfctr_regions_save_at_exit - write the results to a file at exit(3) or return from main().
 * Nothing is written at death by a signal, at _exit(2), or when a forked child exits.  The call
 * opens and empties the file, and the exit empties it again: if several processes use one file, it
 * has the complete results of the last one.  The file is empty if they cannot be written, or if the
 * program has closed the library's descriptor, as by closefrom(3).  The last call decides.
 * Errors: those of open(2), EINVAL (flags, format), EPERM, ENOMEM.
 */
int perfctr_regions_save_at_exit(struct perfctr_regions *r, const char *path,
				 enum perfctr_regions_format format, unsigned int flags);

/*
 * perfctr_regions_close - release everything, the threads' arrays too; r may be NULL.  Saves
 * nothing.  errno stays as it was.
 */
void perfctr_regions_close(struct perfctr_regions *r);

/*
 * perfctr_region_begin, perfctr_region_end - a pass through the region of this name; a program has
 * at most 256.  The environment says what is counted there, as perfex --regions sets it:
 *	PERFCTR_REGIONS		the file that exit(3) writes, as JSON; "%p" is the process, "%r"
 *				the MPI rank
 *	PERFCTR_REGIONS_EVENTS	a list as of perfctr_count(); default: instructions,cycles
 * Without the first variable the functions do nothing.  Each thread counts for itself, in a context
 * of its own or, if another program counts the thread by these events, in its context.  If the
 * program cannot count, the file says why.  In a forked child the functions do nothing if the
 * process had passed a region before; children that were forked earlier count for themselves, into
 * files of their own by "%p".  No errors, errno stays as it was.
 */
void perfctr_region_begin(const char *name) __attribute__((nothrow));
void perfctr_region_end(const char *name) __attribute__((nothrow));

/* The slow paths.  1: the caller reads the counts, or reads them again. */
int perfctr_region_enter_slow(struct perfctr_region *region) __attribute__((nothrow));
int perfctr_region_exit_slow(struct perfctr_region *region) __attribute__((nothrow));
/* A new smallest or largest pass; start has the pass less the smallest pass so far. */
void perfctr_region_extreme(struct perfctr_region *region, unsigned int n) __attribute__((nothrow));

/*
 * Regions of the same thread that measure the cost of a region: PERFCTR_REGION_FIRST of them for
 * one pass each, with memory that is not in the cache, and one more for repeated passes.
 */
#define PERFCTR_REGION_FIRST		4
#define PERFCTR_REGION_REPETITIONS	64
struct perfctr_region *perfctr_region_empty(struct perfctr_region *region, unsigned int number)
	__attribute__((nothrow));

#if defined(__x86_64__) || defined(__i386__)
#define PERFCTR_REGION_INLINE static inline __attribute__((always_inline))

/*
 * perfctr_region_enter, perfctr_region_exit - the beginning and the end of a pass.
 * n: the number of events of the control; a constant makes them fast.  On x86-64, compiled by GCC
 * with -O2, both together execute 40 instructions with one event, 52 with two, 79 with four, once a
 * region has seen its smallest and largest pass.  No errors, errno stays as it was.
 */
PERFCTR_REGION_INLINE void perfctr_region_enter(struct perfctr_region *region, unsigned int n)
{
	const struct perfctr_page_counter *guard;
	const struct perfctr_page *page;
	uint64_t ticket;
	int inside;

	__asm__ volatile("negl %0" : "+m"(region->state), "=@ccle"(inside) : : "memory");
	if (__builtin_expect(inside, 0))
		goto slow;
again:
	page = region->page;
	guard = perfctr_guard(page, n);
	ticket = guard->ticket;
	region->tsc.start = perfctr_sum_tsc(&page->tsc);
#pragma GCC unroll 8
	for (unsigned int i = 0; i < n; i++)
		region->counter[i].start =
			perfctr_sum_pmc(&page->counter[i], page->counter[i].ticket);
	if (__builtin_expect(perfctr_recheck(guard, ticket), 1))
		return;
slow:
	if (perfctr_region_enter_slow(region))
		goto again;
}

PERFCTR_REGION_INLINE void perfctr_region_exit(struct perfctr_region *region, unsigned int n)
{
	const struct perfctr_page_counter *guard;
	uint64_t ticket, tsc, counter[PERFCTR_MAX_COUNTERS];
	const struct perfctr_page *page;
	int outside;

	__asm__ volatile("negl %0" : "+m"(region->state), "=@ccge"(outside) : : "memory");
	if (__builtin_expect(outside, 0))
		goto slow;
again:
	page = region->page;
	guard = perfctr_guard(page, n);
	ticket = guard->ticket;
	tsc = perfctr_sum_tsc(&page->tsc) - region->tsc.start;
#pragma GCC unroll 8
	for (unsigned int i = 0; i < n; i++)
		counter[i] = perfctr_sum_pmc(&page->counter[i], page->counter[i].ticket) -
			     region->counter[i].start;
	if (!__builtin_expect(perfctr_recheck(guard, ticket), 1))
		goto slow;

	region->passes++;
	region->tsc.total += tsc;
	tsc -= region->tsc.min;
#pragma GCC unroll 8
	for (unsigned int i = 0; i < n; i++) {
		region->counter[i].total += counter[i];
		counter[i] -= region->counter[i].min;
	}
#pragma GCC unroll 8
	for (unsigned int i = 0; i < n; i++)
		if (__builtin_expect(counter[i] > region->counter[i].span, 0))
			goto extreme;
	if (__builtin_expect(tsc <= region->tsc.span, 1))
		return;
extreme:
	region->tsc.start = tsc;
	for (unsigned int i = 0; i < n; i++)
		region->counter[i].start = counter[i];
	perfctr_region_extreme(region, n);
	return;
slow:
	if (perfctr_region_exit_slow(region))
		goto again;
}

/*
 * perfctr_regions_calibrate - measure the counts of an empty pass on this machine, in this program,
 * for PERFCTR_REGIONS_CORRECTED.  array: that of the calling thread.  n: as for
 * perfctr_region_enter().  Call it once in each thread, in code compiled like the regions.  Errors:
 * EPERM (a forked child).
 */
static inline int perfctr_regions_calibrate(struct perfctr_region *array, unsigned int n)
{
	for (unsigned int i = 0; i < PERFCTR_REGION_FIRST + PERFCTR_REGION_REPETITIONS; i++) {
		struct perfctr_region *empty = perfctr_region_empty(array, i);

		if (!empty)
			return -1;
		perfctr_region_enter(empty, n);
		perfctr_region_exit(empty, n);
	}
	return 0;
}
#endif

#ifdef __cplusplus
}

#if defined(__x86_64__) || defined(__i386__)
/* A pass from its definition to the end of its block, no matter how the block is left. */
template <unsigned int n> class perfctr_region_pass {
public:
	__attribute__((always_inline)) explicit perfctr_region_pass(struct perfctr_region *region)
		: region_(region)
	{
		perfctr_region_enter(region, n);
	}
	__attribute__((always_inline)) ~perfctr_region_pass()
	{
		perfctr_region_exit(region_, n);
	}
	perfctr_region_pass(const perfctr_region_pass &) = delete;
	perfctr_region_pass &operator=(const perfctr_region_pass &) = delete;

private:
	struct perfctr_region *region_;
};
#endif
#endif
#endif
