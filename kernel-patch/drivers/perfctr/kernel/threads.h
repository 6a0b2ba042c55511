/* SPDX-License-Identifier: GPL-2.0-only */
/* A walk over all threads of the machine. */
#ifndef _PERFCTR_THREADS_H
#define _PERFCTR_THREADS_H

#include <linux/types.h>

struct task_struct;

/* Which threads to find: those in scope for which fn returns true. fn is called under RCU. */
struct perfctr_search {
	struct task_struct *top;	/* NULL: all threads */
	u32 scope;			/* PERFCTR_MARK_*, of top */
	bool once;			/* visits none twice; may miss threads created meanwhile */
	bool (*fn)(struct task_struct *task, const void *arg);
	const void *arg;
};

/* The threads that were found, with a reference to each. */
struct perfctr_threads {
	struct task_struct **task;
	unsigned int n;
	unsigned int room;
	/* Bits by process number: is the process below top, and is that bit known to be right? */
	int n_known;
	unsigned long *known;
	unsigned long *below;
};

/*
 * Adds to threads those that search finds. 0; -ENOMEM; -EINTR: the caller is being killed. Only the
 * first search with threads allocates memory. Later ones find as many as there is room for.
 */
int perfctr_find_threads(struct perfctr_threads *threads, const struct perfctr_search *search);
void perfctr_put_threads(struct perfctr_threads *threads);	/* leaves the room */
void perfctr_free_threads(struct perfctr_threads *threads);

#endif
