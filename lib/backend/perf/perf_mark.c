// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Groups.  perf_events has no marks.  A thread is marked if events were opened on it, and all that
 * it creates inherits them.  Only the group that marked it knows which threads these are.
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

struct perfctr_group *perfctr_perf_group_open(uint64_t *id)
{
	static unsigned long last;
	struct perf_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->base.fd = epoll_create1(EPOLL_CLOEXEC);
	if (group->base.fd < 0) {
		int error = errno;

		free(group);
		errno = error;
		return NULL;
	}
	*id = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return &group->base;
}

void perfctr_perf_group_close(struct perfctr_group *base)
{
	struct perf_group *group = (struct perf_group *)base;

	while (group->sessions) {
		struct perf_session *first = group->sessions;

		group->sessions = perfctr_perf_session_next(first);
		perfctr_perf_session_orphan(first);
	}
	for (unsigned int i = 0; i < group->n_roots; i++)
		perfctr_perf_watch_close(&group->root[i].watch);
	free(group->root);
	close(group->base.fd);
	free(group);
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

static int mark_all(struct perf_group *group, const struct threads *threads)
{
	int changed = 0;

	for (size_t i = 0; i < threads->n; i++) {
		int added = perfctr_perf_add_root(group, threads->tid[i]);

		/* If there are several threads, some of them may exit meanwhile. */
		if (added < 0 && (errno != ESRCH || threads->n == 1))
			return -1;
		changed += added > 0;
	}
	for (struct perf_session *s = group->sessions; s; s = perfctr_perf_session_next(s))
		if (perfctr_perf_session_follow(s) < 0)
			return -1;
	return changed;
}

int perfctr_perf_mark(struct perfctr_group *base, pid_t tid, unsigned int scope)
{
	struct perf_group *group = (struct perf_group *)base;
	unsigned int before = group->n_roots;
	struct threads threads = { 0 };
	int status = -1;

	if (tid < 0 || scope > PERFCTR_MARK_TREE) {
		errno = EINVAL;
		return -1;
	}
	if (!tid)
		tid = scope == PERFCTR_MARK_THREAD ? gettid() : getpid();
	if (find_threads(&threads, tid, scope) == 0)
		status = mark_all(group, &threads);
	if (status < 0)
		perfctr_perf_drop_roots(group, before);
	free(threads.tid);
	return status;
}
