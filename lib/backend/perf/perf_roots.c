// SPDX-License-Identifier: LGPL-2.1-or-later
/* Roots: the threads that were given the mark.  Threads that a root creates inherit its events. */
#define _GNU_SOURCE
#include "perf_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

static bool is_root(const struct perf_mark *mark, pid_t tid)
{
	for (unsigned int i = 0; i < mark->n_roots; i++)
		if (mark->root[i].tid == tid && !perfctr_perf_is_over(mark->root[i].watch.thread))
			return true;
	return false;
}

int perfctr_perf_add_root(struct perf_mark *mark, pid_t tid)
{
	struct epoll_event event = { .events = 0 };
	struct perf_root *root;
	struct perf_watch watch;

	if (is_root(mark, tid))
		return 0;
	root = reallocarray(mark->root, mark->n_roots + 1, sizeof(*root));
	if (!root)
		return -1;
	mark->root = root;
	if (perfctr_perf_watch_open(&watch, tid) < 0)
		return -1;
	if (epoll_ctl(mark->base.fd, EPOLL_CTL_ADD, watch.tree, &event) < 0) {
		int error = errno;

		perfctr_perf_watch_close(&watch);
		errno = error;
		return -1;
	}
	root[mark->n_roots++] = (struct perf_root){ .tid = tid, .watch = watch };
	return 1;
}

void perfctr_perf_drop_roots(struct perf_mark *mark, unsigned int n)
{
	int error = errno;

	while (mark->n_roots > n)
		perfctr_perf_watch_close(&mark->root[--mark->n_roots].watch);
	errno = error;
}

/*
 * Counts the marked threads that still run, or that have created others that still run.
 * perf_events tells no more about members.  The watches of all others are closed, so that they wake
 * nobody any more.
 */
int perfctr_perf_members(const struct perfctr_mark *base, pid_t *tids, unsigned int room)
{
	const struct perf_mark *mark = (const struct perf_mark *)base;
	unsigned int n = 0;

	for (unsigned int i = 0; i < mark->n_roots; i++) {
		struct perf_root *root = &mark->root[i];

		if (perfctr_perf_is_over(root->watch.tree)) {
			perfctr_perf_watch_close(&root->watch);
			continue;
		}
		if (n < room)
			tids[n] = root->tid;
		n++;
	}
	return (int)n;
}
