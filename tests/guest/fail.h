/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first allocation of a call fails, then the second, and so on, until the call succeeds. Every
 * failure is reported, leaves nothing behind, and disturbs nothing that counts. Needs a kernel with
 * fault injection (vm+fail).
 */
#ifndef FAIL_H
#define FAIL_H

#include "marks.h"

/* More than any call needs. */
#define MAX_ALLOCATIONS 3000

/* fail_begin() opens them: the driver's device, and the thread's file fail-nth. */
extern int device, fail_nth;
/* The test's context, mark and session, or -1. The footprint describes them. */
extern int own, mark_fd, session;

/*
 * From here on allocations may fail. A counted and a marked program run meanwhile, and must not
 * miss an instruction. Call this before the test gets a context or a mark that they would inherit.
 */
void fail_begin(void);
void fail_finish(void);

/*
 * The n-th allocation of the calling thread from now on fails; 0: none. fd: the thread's file
 * fail-nth.
 */
void fail_allocation(int fd, unsigned int n);
/* Has the allocation failed? */
bool has_failed(int fd);

/* State that a call must not change unless it succeeds. */
struct footprint {
	uint64_t contexts, context_counters, session_counters, rdpmc;
	uint64_t members, own_members, own_counters, own_started, own_mark;
	uint64_t session_events, session_started, descriptors;
};

struct footprint footprint(void);
/* Waits for the footprint, because a thread that was waited for may still be exiting. */
void expect_footprint(const struct footprint *expected, const char *call, unsigned int n);

struct call {
	const char *name;
	long (*attempt)(void); /* returns -1 with errno, or the argument of undo() */
	void (*undo)(long result);
	int error;	    /* allowed instead of ENOMEM */
	unsigned int least; /* number of failures that the call must report */
};

/* For each call: each of its allocations fails in turn, then the call succeeds. */
void expect_clean_calls(const struct call *calls, size_t n);
/* Functions for undo. */
void close_descriptor(long fd);
void nothing_to_undo(long result);

#endif
