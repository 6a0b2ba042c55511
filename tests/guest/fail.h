/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first allocation of a call fails, then the second, and so on until it gets through with all
 * it asks for: every failure is told, leaves nothing behind, and disturbs nothing that counts.
 * Only on a kernel with fault injection (vm+fail).
 */
#ifndef FAIL_H
#define FAIL_H

#include "groups.h"

/* More than a call can need. */
#define MAX_ALLOCATIONS 3000

/* Descriptors since fail_begin(): the driver's, and that of the thread's file fail-nth. */
extern int device, fail_nth;
/* What the footprint tells of: the test's context, group and session, or -1. */
extern int own, group, session;

/*
 * Failures are allowed from here on; a counted and a marked program run meanwhile, and must not
 * miss an instruction.  Before the test gets a context or a mark that they would inherit.
 */
void fail_begin(void);
void fail_finish(void);

/* The n-th allocation of the calling thread from now on fails; 0: none.  fd: its fail-nth. */
void fail_allocation(int fd, unsigned int n);
/* Has it? */
bool has_failed(int fd);

/* What a call must not change unless it succeeds. */
struct footprint {
	uint64_t contexts, context_counters, session_counters, rdpmc;
	uint64_t members, own_members, own_counters, own_started, own_mark;
	uint64_t session_events, session_started, descriptors;
};

struct footprint footprint(void);
/* A thread that was waited for may be on its last steps: what is left behind stays. */
void expect_footprint(const struct footprint *expected, const char *call, unsigned int n);

struct call {
	const char *name;
	long (*attempt)(void); /* -1 with errno, or what undo() gets */
	void (*undo)(long result);
	int error;	    /* that may be there instead of ENOMEM */
	unsigned int least; /* failures that the call must have told */
};

/* Each: all its failures, then the call itself. */
void expect_clean_calls(const struct call *calls, size_t n);
/* Two that undo. */
void close_descriptor(long fd);
void nothing_to_undo(long result);

#endif
