/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PAPI's component perf_event, counted by perfctr: declarations that its files share.
 *
 *	component.c	PAPI's table of functions
 *	events.c	turns PAPI's native events into a control, with a counter for each
 *	count.c		starts, reads and stops a control, on a thread or on a CPU
 *	overflow.c	handles the signals at the ends of periods
 *
 * They are compiled as a part of PAPI.  Functions that return int return PAPI_OK or a PAPI_E*.
 */
#ifndef PERFCTR_PAPI_EVENT_SET_H
#define PERFCTR_PAPI_EVENT_SET_H

#include <signal.h>

#include <perfctr.h>
#include <perfctr_events.h>
#include <perfctr_sessions.h>

#include "papi.h"
#include "papi_internal.h"
#include "papi_vector.h"
#include "papi_libpfm4_events.h"

/* Of libperfctr: only the kernel's driver counts without exceptions and in a few instructions. */
#define BACKEND "patch"
/* As in PAPI's own component. */
#define OVERFLOW_SIGNAL (SIGRTMIN + 2)

/* PAPI's name for this is control state. */
struct event_set {
	int domain;		/* PAPI_DOM_* */
	int inherit;		/* count all that the thread creates, too */
	pid_t tid;		/* the thread to which the set is attached; 0: the caller */
	int cpu;		/* to which the set is attached; -1: to none */
	struct perfctr_session *session;	/* of the CPU; NULL: not open */
	unsigned int process;		/* the process that opened it, as count.c numbers them */

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

/* PAPI's name for this is context: one for each thread that PAPI knows, and for each CPU. */
struct counted_thread {
	struct perfctr *context;	/* NULL until something is started */
	unsigned int process;		/* the process that opened it, in the same way */
	uint64_t version;		/* that the context counts */
	int started;
};

/* events.c: the events of the machine, and PAPI's names of them. */
extern struct perfctr_pmu_info machine;
extern struct native_event_table_t native_events;
extern int perfctr_component;	/* our number among PAPI's components */

int events_open(void);
void events_close(void);
/* Can the event of this code ever be counted? */
int events_check(unsigned int code);
/* The events that native[0 .. n - 1] name, in their order. */
int events_replace(struct event_set *set, NativeInfo_t *native, int n);
/* Makes the control again, with the set's present domain and inheritance. */
int events_refresh(struct event_set *set);
/* The same, on counters that no session has now: sessions do not share them. */
int events_avoid_busy(struct event_set *set);
/*
 * After this many events, again and again, the thread gets OVERFLOW_SIGNAL; 0: never.  This lasts
 * until the set has other events.
 */
void events_set_threshold(struct event_set *set, int event, int threshold);

/* count.c */
int count_open(void);
int count_start(struct counted_thread *thread, struct event_set *set);
int count_stop(struct counted_thread *thread, struct event_set *set);
int count_read(struct counted_thread *thread, struct event_set *set);
/* Sets PAPI's counts to these; NULL: 0. */
int count_rebase(struct counted_thread *thread, struct event_set *set, const long long *counts);
/* May the caller count this thread? */
int count_may_attach(pid_t tid);
/* Counts all that runs on this CPU; -1: counts threads. On failure the set stays as it was. */
int count_on_cpu(struct event_set *set, int cpu);
void count_close_session(struct event_set *set);
void count_close_thread(struct counted_thread *thread);
/* Lets the calling thread, which is this one, count again after the end of a period. */
void count_resume(struct counted_thread *thread);
/* Turns the errno of libperfctr into a PAPI_E*. */
int count_error(void);

/* overflow.c */
/* Gives the event of this number of the set the threshold, or none: 0. */
int overflow_set(struct event_set *set, int event, int threshold);
/* Installs a handler if one is needed, after the set's events have changed. */
int overflow_follow(struct event_set *set);
/* The handler of both signals, of periods and of PAPI's timer. */
void overflow_dispatch(int number, hwd_siginfo_t *info, void *ucontext);

#endif
