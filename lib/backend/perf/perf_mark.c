// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Marks.  perf_events has no marks, so a mark is a list of threads.  Each session that counts the
 * mark opens its events on each thread of the list.  All threads that such a thread creates
 * inherit these events.
 */
#define _GNU_SOURCE
#include "perf_mark.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct perfctr_mark *perfctr_perf_mark_open(uint64_t *id)
{
	static unsigned long last;
	struct perf_mark *mark = calloc(1, sizeof(*mark));

	if (!mark)
		return NULL;
	mark->base.fd = epoll_create1(EPOLL_CLOEXEC);
	if (mark->base.fd < 0) {
		int error = errno;

		free(mark);
		errno = error;
		return NULL;
	}
	*id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return &mark->base;
}

void perfctr_perf_mark_close(struct perfctr_mark *base)
{
	struct perf_mark *mark = (struct perf_mark *)base;

	while (mark->sessions) {
		struct perf_session *first = mark->sessions;

		mark->sessions = perfctr_perf_session_next(first);
		perfctr_perf_session_orphan(first);
	}
	for (unsigned int i = 0; i < mark->n_roots; i++)
		perfctr_perf_watch_close(&mark->root[i].watch);
	free(mark->root);
	close(mark->base.fd);
	free(mark);
}

/* Threads to be marked, each once. */
struct threads {
	pid_t *tid;
	size_t n;
};

static int add_thread(struct threads *threads, pid_t tid)
{
	pid_t *grown;

	for (size_t i = 0; i < threads->n; i++)
		if (threads->tid[i] == tid)
			return 0;
	grown = reallocarray(threads->tid, threads->n + 1, sizeof(*grown));
	if (!grown)
		return -1;
	threads->tid = grown;
	grown[threads->n++] = tid;
	return 0;
}

static int add_process(struct threads *threads, pid_t pid, bool tree);

/* Adds the processes in /proc/PID/task/TID/children, which has numbers separated by spaces. */
static int add_children(struct threads *threads, pid_t pid, pid_t tid)
{
	char path[64];
	int status = 0;
	FILE *file;
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (status == 0 && fscanf(file, "%d", &child) == 1) {
		status = add_process(threads, child, true);
		/* The child may have exited meanwhile. */
		if (status < 0 && errno == ESRCH)
			status = 0;
	}
	fclose(file);
	return status;
}

static int add_process(struct threads *threads, pid_t pid, bool tree)
{
	struct dirent *entry;
	char path[32];
	int status = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks) {
		errno = errno == ENOENT ? ESRCH : errno;
		return -1;
	}
	while (status == 0 && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		status = add_thread(threads, tid);
		if (status == 0 && tree)
			status = add_children(threads, pid, tid);
	}
	closedir(tasks);
	return status;
}

/*
 * Looks for threads until nothing new is found.  All threads are then known before the first one
 * gets events that its children would inherit.
 */
static int find_threads(struct threads *threads, pid_t pid, unsigned int scope)
{
	size_t before;

	if (scope == PERFCTR_MARK_THREAD)
		return add_thread(threads, pid);
	do {
		before = threads->n;
		if (add_process(threads, pid, scope == PERFCTR_MARK_TREE) < 0)
			return -1;
	} while (threads->n > before);
	return 0;
}

static int mark_all(struct perf_mark *mark, const struct threads *threads)
{
	int changed = 0;

	for (size_t i = 0; i < threads->n; i++) {
		int added = perfctr_perf_add_root(mark, threads->tid[i]);

		/* If there are several threads, some of them may exit meanwhile. */
		if (added < 0 && (errno != ESRCH || threads->n == 1))
			return -1;
		changed += added > 0;
	}
	for (struct perf_session *s = mark->sessions; s; s = perfctr_perf_session_next(s))
		if (perfctr_perf_session_follow(s) < 0)
			return -1;
	return changed;
}

/* Forgets all roots but the first n, with the sets that sessions have opened for them. */
static void forget_roots(struct perf_mark *mark, unsigned int n)
{
	for (struct perf_session *s = mark->sessions; s; s = perfctr_perf_session_next(s))
		perfctr_perf_session_keep(s, n);
	perfctr_perf_drop_roots(mark, n);
}

int perfctr_perf_mark_set(struct perfctr_mark *base, pid_t tid, unsigned int scope)
{
	struct perf_mark *mark = (struct perf_mark *)base;
	unsigned int before = mark->n_roots;
	struct threads threads = { 0 };
	int status = -1;

	if (tid < 0 || scope > PERFCTR_MARK_TREE) {
		errno = EINVAL;
		return -1;
	}
	if (!tid)
		tid = scope == PERFCTR_MARK_THREAD ? gettid() : getpid();
	if (find_threads(&threads, tid, scope) == 0)
		status = mark_all(mark, &threads);
	if (status < 0)
		forget_roots(mark, before);
	free(threads.tid);
	return status;
}
