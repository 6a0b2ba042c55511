/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a caller asks of perfctr and, side by side in the same process, of perf_event_open(2), of a
 * descriptor of perf_events and of ptrace(2): whoever is refused that must be refused by perfctr.
 */
#ifndef ASKED_H
#define ASKED_H

#include "groups.h"

#define MAX_CALLS 32
#define MAX_CALLERS 4
#define N_LEVELS 2

struct asked {
	unsigned int cells, allowed, refused, wrong; /* refused: by perf_events or ptrace(2) */
	bool allows[MAX_CALLERS][N_LEVELS][MAX_CALLS];
};

/*
 * Each call by each kind of user on each level of perf_event_paranoid, in processes of their own.
 * enter: what such a process does as root, before it makes the threads that it is to count, or
 * after.  These are its children, and do threads_enter before anything else.  NULL: nothing.
 */
struct asker {
	const char *name;
	void (*enter)(const struct asker *asker);
	bool before;
	void (*threads_enter)(void);
};
/* In memory that others see, too. */
const struct asked *ask_all(const struct asker *asker);
/* Nothing is refused by the one that is not refused by the other; prints the rest. */
void expect_same(const struct asked *asked, const struct asked *without);

#endif
