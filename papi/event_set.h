/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PAPI's component perf_event, counted by perfctr: what its files share.
 *
 *	component.c	PAPI's table of functions
 *	events.c	PAPI's native events become a control, with a counter for each
 *	count.c		a control is started, read and stopped, on a thread or on a CPU
 *	overflow.c	ends of periods are signals
 *
 * They are compiled as a part of PAPI.  Functions that return int return PAPI_OK or a PAPI_E*.
 */
#ifndef PERFCTR_PAPI_EVENT_SET_H
#define PERFCTR_PAPI_EVENT_SET_H

#include <signal.h>

#include <perfctr.h>
#include <perfctr_events.h>
#include <perfctr_groups.h>

#include "papi.h"
#include "papi_internal.h"
#include "papi_vector.h"
#include "papi_libpfm4_events.h"

/* Of libperfctr: the kernel's driver alone counts without exceptions and in a few instructions. */
#define BACKEND "patch"
/* As of PAPI's own component. */
#define OVERFLOW_SIGNAL (SIGRTMIN + 2)

/* What PAPI calls a control state. */
struct event_set {
	int domain;		/* PAPI_DOM_* */
	int inherit;		/* what the thread creates is counted, too */
	pid_t tid;		/* the thread that it is attached to; 0: its own */
	int cpu;		/* that it is attached to; -1: to none */
	struct perfctr_session *session;	/* of the CPU; NULL: not open */
	unsigned int process;		/* that opened it: of count.c's numbers */

	int native[PERFCTR_MAX_COUNTERS];	/* places in native_events */
	int threshold[PERFCTR_MAX_COUNTERS];	/* of PAPI_overflow(), in events; 0: none */
	int overflows;		/* number of them that are not 0 */
	int has_handler;	/* PAPI knows that OVERFLOW_SIGNAL needs it */
	struct perfctr_control control;		/* of these */
	uint64_t version;	/* of the control: no other has the same */
	uint64_t session_version;		/* that the session counts */

	const struct perfctr_page *page;	/* of its thread; NULL: read by a call */
	uint64_t base[PERFCTR_MAX_COUNTERS];	/* the sums at which PAPI's count is 0 */
	long long counts[PERFCTR_MAX_COUNTERS];
};

/* What PAPI calls a context: one for each thread that PAPI knows, and for each CPU. */
struct counted_thread {
	struct perfctr *context;	/* NULL until something is started */
	unsigned int process;		/* that opened it, likewise */
	uint64_t version;		/* that the context counts */
	int started;
};

/* events.c: what the machine has, and what PAPI knows of that. */
extern struct perfctr_pmu_info machine;
extern struct native_event_table_t native_events;
extern int perfctr_component;	/* our number among PAPI's components */

int events_open(void);
void events_close(void);
/* Can the event of this code ever be counted? */
int events_check(unsigned int code);
/* The events that native[0 .. n - 1] name, in their order. */
int events_replace(struct event_set *set, NativeInfo_t *native, int n);
/* Once more with the set's domain or inheritance as they are now. */
int events_refresh(struct event_set *set);
/* Likewise, on counters that nobody has now who shares none. */
int events_avoid_busy(struct event_set *set);
/*
 * After so many events, again and again, the thread gets OVERFLOW_SIGNAL; 0: never.  It lasts until
 * the set has other events.
 */
void events_set_threshold(struct event_set *set, int event, int threshold);

/* count.c */
int count_open(void);
int count_start(struct counted_thread *thread, struct event_set *set);
int count_stop(struct counted_thread *thread, struct event_set *set);
int count_read(struct counted_thread *thread, struct event_set *set);
/* From now on PAPI's counts are these; NULL: 0. */
int count_rebase(struct counted_thread *thread, struct event_set *set, const long long *counts);
/* May the caller count this thread? */
int count_may_attach(pid_t tid);
/* Count on this CPU, whoever runs there; -1: count threads. On failure the set is as it was. */
int count_on_cpu(struct event_set *set, int cpu);
void count_close_session(struct event_set *set);
void count_close_thread(struct counted_thread *thread);
/* The calling thread, which is this one, goes on counting after the end of a period. */
void count_resume(struct counted_thread *thread);
/* A PAPI_E* for what libperfctr left in errno. */
int count_error(void);

/* overflow.c */
/* The event of this number of the set has the threshold, or none: 0. */
int overflow_set(struct event_set *set, int event, int threshold);
/* There is a handler if one is needed, after the set's events have changed. */
int overflow_follow(struct event_set *set);
/* The handler of both signals, of periods and of PAPI's timer. */
void overflow_dispatch(int number, hwd_siginfo_t *info, void *ucontext);

#endif
