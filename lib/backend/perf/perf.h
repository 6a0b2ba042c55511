/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf_events: counting by perf_event_open(2).
 *
 * perf.c		contexts
 * perf_info.c		the PMU, and what this user may count
 * perf_machine.c	facts about the processor that perf_events does not give
 * perf_error.c		texts for refusals
 * perf_watch.c		the ends of threads
 * perf_set.c		events that are counted and read together
 * perf_read.c		the counts of these events
 * perf_roots.c		the threads that were given a mark
 * perf_mark.c		marks: adds threads to a mark, and to the sessions that count the mark
 * perf_session.c	sessions: the sets of a mark, or of each CPU
 */
#ifndef PERFCTR_BACKEND_PERF_H
#define PERFCTR_BACKEND_PERF_H

#include "../backend.h"

#include <errno.h>
#include <linux/perf_event.h>

/* perf_event_open(2), close-on-exec. */
int perfctr_perf_event(struct perf_event_attr *attr, pid_t tid, int cpu, int leader);

/* As perfctr_get_pmu_info(). */
int perfctr_perf_info(struct perfctr_pmu_info *info);
void perfctr_perf_machine(struct perfctr_pmu_info *info);
uint32_t perfctr_perf_tsc_khz(void);
/* Returns PERFCTR_CAN_*: what perf_event_open(2) lets this user do. */
uint32_t perfctr_perf_capabilities(const struct perfctr_pmu_info *info);
void perfctr_perf_open_error(int error, char *text, size_t size);
/*
 * Is it the error of a seccomp filter for perf_event_open(2)?  The kernel refuses what a user may
 * not count by EACCES.
 */
static inline bool perfctr_perf_is_forbidden(int error)
{
	return error == EPERM || error == ENOSYS;
}
/*
 * Describes what this user lacks and how to get it.  text is "" before, and stays so if nothing is
 * lacking.
 */
void perfctr_perf_limits(uint32_t capabilities, char *text, size_t size);

/* The place where a set counts: a thread (cpu -1) or a CPU (tid -1). */
struct perf_target {
	pid_t tid;
	int cpu;
	bool inherit;
	unsigned int policy; /* PERFCTR_EXCLUDE_KERNEL and _USER, of events without their own */
};

/*
 * The order of events in a set.  The first is the clock of the thread or CPU: it is the leader of
 * the group of perf_events.  Then come switches and migrations, if the user may count them, and
 * then the events of the control.
 */
enum { PERF_CLOCK, PERF_SWITCHES, PERF_MIGRATIONS, PERF_MAX_OWN };

struct perf_set {
	unsigned int n;	    /* events */
	unsigned int n_own; /* those before the events of the control */
	bool hardware;	    /* some events need counters, of which there may not be enough */
	/*
	 * If hardware: an event that needs no counter.  It is enabled after the set and disabled
	 * before it, so it is never enabled for longer, unless the set has lost its counters.
	 * Before Linux 6.2, software events have a clock of their own; the anchor, a hardware event
	 * in the witness's group that stays disabled, gives the witness the clock of the set.
	 */
	int witness, anchor;
	int fd[PERF_MAX_OWN + PERFCTR_MAX_COUNTERS];
};

/*
 * Opens the events of c, disabled.  -1: the set is empty, and errno, c->bad_event and c->bad_reason
 * are as perfctr_set_control() gives them.
 */
int perfctr_perf_set_open(struct perf_set *set, const struct perf_target *target,
			  const struct perfctr_pmu_info *info, uint32_t capabilities,
			  struct perfctr_control *c);
void perfctr_perf_set_close(struct perf_set *set);
int perfctr_perf_set_enable(const struct perf_set *set, bool on);

/*
 * Checks a hardware event.  Returns 0 or PERFCTR_BAD_*.  An event that the kernel patch would
 * refuse, too, is refused for the same reason.
 */
uint32_t perfctr_perf_check_hardware(const struct perfctr_event_control *event,
				     const struct perfctr_pmu_info *info);
/* Checks event i of c, which may also be a software event, in the same way. */
uint32_t perfctr_perf_check_event(const struct perfctr_control *c, uint32_t i,
				  const struct perfctr_pmu_info *info);
/* Does an earlier event of c have the counter of event i?  Software events have no counter. */
bool perfctr_perf_is_duplicate(const struct perfctr_control *c, uint32_t i);
/*
 * Describes in *attr the event and its modes.  policy: PERFCTR_EXCLUDE_KERNEL and _USER; an event's
 * own policy overrides it.
 */
void perfctr_perf_describe_hardware(struct perf_event_attr *attr,
				    const struct perfctr_event_control *event, unsigned int policy,
				    const struct perfctr_pmu_info *info);

/*
 * Would perf_events count n sets of the events of c at the same time now?  Tries it on the calling
 * thread.  n: 1 or 2.  0, or -1 as perfctr_perf_set_open() or perfctr_perf_set_add().
 */
int perfctr_perf_try(const struct perf_target *target, unsigned int n,
		     const struct perfctr_pmu_info *info, uint32_t capabilities,
		     struct perfctr_control *c);

/*
 * Adds the set's counts to *out, which are of one read(2); a set with hardware events takes a
 * second one.  -1: EBUSY, others had the counters for a while.
 * Adds switches and migrations only if the user may count them.
 */
int perfctr_perf_set_add(const struct perf_set *set, const struct perfctr_pmu_info *info,
			 struct perfctr_counts *out);

/* Events that count nothing and tell when threads end; perf_watch.c. */
struct perf_watch {
	int thread; /* over when the thread has exited */
	int tree;   /* over when the thread and all that it created have exited */
	const struct perf_event_mmap_page *page;
	pid_t maker; /* the process that mapped the page */
};

int perfctr_perf_watch_open(struct perf_watch *watch, pid_t tid);
void perfctr_perf_watch_close(struct perf_watch *watch);
bool perfctr_perf_is_over(int fd);

/* Can the caller be watched, that is, is perf_event_open(2) allowed at all?  0 or -1 with errno. */
int perfctr_perf_may_watch(void);

/*
 * Returns the rate of the time stamp as the kernel's page tells it to programs; 0: the page does
 * not have it.
 */
uint32_t perfctr_perf_khz_of_kernel(void);

#endif
