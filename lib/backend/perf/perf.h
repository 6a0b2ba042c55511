/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf_events: counting by perf_event_open(2).
 *
 * perf.c	contexts
 * perf_info.c	what there is, and what this user may count
 * perf_machine.c	the processor, as far as perf_events does not say
 * perf_error.c	refusals in words
 * perf_watch.c	the ends of threads
 * perf_set.c	events that are counted and read together
 * perf_read.c	their counts
 * perf_roots.c	the marked threads of a group
 * perf_group.c	groups: threads whose descendants inherit the events
 * perf_session.c	sessions: the sets of a group, or of each CPU
 */
#ifndef PERFCTR_BACKEND_PERF_H
#define PERFCTR_BACKEND_PERF_H

#include "../backend.h"

#include <linux/perf_event.h>

/* perf_event_open(2), close-on-exec. */
int perfctr_perf_event(struct perf_event_attr *attr, pid_t tid, int cpu, int leader);

/* As perfctr_get_pmu_info(). */
int perfctr_perf_info(struct perfctr_pmu_info *info);
void perfctr_perf_machine(struct perfctr_pmu_info *info);
uint32_t perfctr_perf_tsc_khz(void);
/* PERFCTR_CAN_*: what perf_event_open(2) lets this user do. */
uint32_t perfctr_perf_capabilities(const struct perfctr_pmu_info *info);
void perfctr_perf_open_error(int error, char *text, size_t size);
/* Why there is more to be had: an empty text if there is not. */
void perfctr_perf_limits(uint32_t capabilities, char *text, size_t size);

/* Where a set counts: on a thread (cpu -1), or on a CPU (tid -1). */
struct perf_target {
	pid_t tid;
	int cpu;
	bool inherit;
	unsigned int policy; /* PERFCTR_EXCLUDE_KERNEL and _USER, of events without their own */
};

/*
 * The clock leads, of a thread or a CPU; then come switches and migrations where the user may count
 * them, then the events of the control.
 */
enum { PERF_CLOCK, PERF_SWITCHES, PERF_MIGRATIONS, PERF_MAX_OWN };

struct perf_set {
	unsigned int n;	    /* events */
	unsigned int n_own; /* of them not the control's */
	bool hardware;	    /* some are, so that there may not be enough counters */
	int fd[PERF_MAX_OWN + PERFCTR_MAX_COUNTERS];
};

/*
 * Opens c's events, disabled.  -1: errno, and c->bad_event and bad_reason, as of
 * perfctr_set_control(); the set is empty.
 */
int perfctr_perf_set_open(struct perf_set *set, const struct perf_target *target,
			  const struct perfctr_pmu_info *info, uint32_t capabilities,
			  struct perfctr_control *c);
void perfctr_perf_set_close(struct perf_set *set);
int perfctr_perf_set_enable(const struct perf_set *set, bool on);

/*
 * Of events that are not software's.  0, or PERFCTR_BAD_*: one that the kernel patch would refuse
 * too is refused for the same reason.
 */
uint32_t perfctr_perf_check_hardware(const struct perfctr_event_control *event,
				     const struct perfctr_pmu_info *info);
/* Likewise of any event of c. */
uint32_t perfctr_perf_check_event(const struct perfctr_control *c, uint32_t i,
				  const struct perfctr_pmu_info *info);
/* Event i of c has the counter of an earlier one; those of software have none. */
bool perfctr_perf_is_duplicate(const struct perfctr_control *c, uint32_t i);
/*
 * Fills in what and in which modes; policy: PERFCTR_EXCLUDE_KERNEL and _USER, but where the event
 * has one.
 */
void perfctr_perf_describe_hardware(struct perf_event_attr *attr,
				    const struct perfctr_event_control *event, unsigned int policy,
				    const struct perfctr_pmu_info *info);

/* Would perf_events count c's events now?  As perfctr_perf_set_open(), on the calling thread. */
int perfctr_perf_try(const struct perf_target *target, const struct perfctr_pmu_info *info,
		     uint32_t capabilities, struct perfctr_control *c);

/*
 * Adds the set's counts to out, in one read(2).  -1: EBUSY, others had the counters for a while.
 * A set of a CPU is no thread's: of its switches and migrations nothing is said.
 */
int perfctr_perf_set_add(const struct perf_set *set, const struct perfctr_pmu_info *info,
			 struct perfctr_counts *out);

/* Events that count nothing, to know ends by; perf_watch.c. */
struct perf_watch {
	int thread; /* over when the thread has exited */
	int tree;   /* over when all that it created have exited too */
	const struct perf_event_mmap_page *page;
	pid_t maker; /* of the page */
};

int perfctr_perf_watch_open(struct perf_watch *watch, pid_t tid);
void perfctr_perf_watch_close(struct perf_watch *watch);
bool perfctr_perf_is_over(int fd);

/* Can the caller be watched, that is, is perf_event_open(2) allowed at all?  0 or -1 with errno. */
int perfctr_perf_may_watch(void);

/* The rate of the time stamp in the page that programs may compute times by; 0: not there. */
uint32_t perfctr_perf_khz_of_kernel(void);

#endif
