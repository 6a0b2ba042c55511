/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking through all threads of the machine. */
#ifndef _PERFCTR_THREADS_H
#define _PERFCTR_THREADS_H

#include <linux/types.h>

struct task_struct;

/* Which threads: fn is called under RCU. */
struct perfctr_search {
	struct task_struct *top;	/* NULL: everybody */
	u32 scope;			/* PERFCTR_MARK_*, of top */
	bool once;			/* none twice, but perhaps not those made meanwhile */
	bool (*fn)(struct task_struct *task, const void *arg);
	const void *arg;
};

/* Those found, with a reference to each. */
struct perfctr_threads {
	struct task_struct **task;
	unsigned int n;
	unsigned int room;
	/* By the number of a process: is it known to be below the search's top, or not to be? */
	int n_known;
	unsigned long *known;
	unsigned long *below;
};

/*
 * Finds those of a search: 0, -ENOMEM, or -EINTR when the caller is being killed. When it is not
 * the first search, nothing can fail for want of memory: it finds as many as there is room for.
 */
int perfctr_find_threads(struct perfctr_threads *threads, const struct perfctr_search *search);
void perfctr_put_threads(struct perfctr_threads *threads);	/* leaves the room */
void perfctr_free_threads(struct perfctr_threads *threads);

#endif
