/* SPDX-License-Identifier: GPL-2.0-only */
/* A walk over all threads of the machine. */
#ifndef _PERFCTR_THREADS_H
#define _PERFCTR_THREADS_H

#include <linux/types.h>

struct task_struct;

/* Matches the threads in scope for which fn returns true. fn is called under RCU. */
struct perfctr_search {
	struct task_struct *top;	/* NULL: all threads */
	u32 scope;			/* PERFCTR_MARK_*, of top */
	bool once;			/* visits none twice; may miss threads created meanwhile */
	bool (*fn)(struct task_struct *task, const void *arg);
	const void *arg;
};

/* The threads found by a search, with a reference to each. Empty if all members are 0. */
struct perfctr_threads {
	struct task_struct **task;
	unsigned int n;
	unsigned int room;		/* the number of elements of task[] */
	/*
	 * Bitmaps of n_known bits, indexed by tgid. A bit of below is set if the process is top's
	 * or below it. It is valid only if the same bit of known is set.
	 */
	int n_known;
	unsigned long *known;
	unsigned long *below;
};

/*
 * Adds the threads that search matches to the struct threads. May sleep. 0; -ENOMEM; -EINTR: the
 * caller is being killed. Only the first search with this struct allocates memory. A later search
 * returns 0 when there is no more room.
 */
int perfctr_find_threads(struct perfctr_threads *threads, const struct perfctr_search *search);
void perfctr_put_threads(struct perfctr_threads *threads);	/* empties it, and keeps the room */
void perfctr_free_threads(struct perfctr_threads *threads);

#endif
