/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks perfctr and, side by side in the same process, perf_event_open(2), descriptors of
 * perf_events and ptrace(2) the same questions. If one of them refuses the caller, perfctr must
 * refuse it, too.
 */
#ifndef ASKED_H
#define ASKED_H

#include "marks.h"

#define MAX_CALLS 32
#define MAX_CALLERS 4
#define N_LEVELS 2

struct asked {
	unsigned int cells, allowed, refused, wrong; /* refused: by perf_events or ptrace(2) */
	bool allows[MAX_CALLERS][N_LEVELS][MAX_CALLS];
};

/*
 * Makes each call as each kind of user on each level of perf_event_paranoid, in processes of their
 * own. Such a process calls enter() as root, before or after it makes the threads that it will
 * count. The threads are its children, and call threads_enter() first. NULL: nothing is called.
 */
struct asker {
	const char *name;
	void (*enter)(const struct asker *asker);
	bool before;
	void (*threads_enter)(void);
};
/* The result is in memory that the processes share. */
const struct asked *ask_all(const struct asker *asker);
/* Fails unless both were refused the same calls. Prints the differences. */
void expect_same(const struct asked *asked, const struct asked *without);

#endif
