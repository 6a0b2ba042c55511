// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates a context for each thread of a running process.  While the contexts are being created,
 * none of them is inherited.  So if a thread already has a context, perfex has not created it.
 */
#define _GNU_SOURCE
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Returns a pidfd of the process, or ends perfex with an error message.  The pidfd cannot come to
 * mean another process, unlike the number.
 */
int attach_find(pid_t pid)
{
	int process;

	if (pid == getpid())
		fail("process %d is perfex itself, which is never counted", pid);
	process = pidfd_open(pid, 0);
	if (process < 0 && errno == ESRCH)
		fail("there is no process %d", pid);
	if (process < 0 && (errno == EINVAL || errno == ENOENT))
		fail("%d is a thread, not a process; give the number of its process", pid);
	if (process < 0)
		fail("cannot watch process %d: %m", pid);
	return process;
}

/* Each thread needs a descriptor: raises the limit as far as perfex may. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static DIR *open_tasks(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

static bool complain_of_thread(const char *backend, pid_t tid, int error)
{
	char text[256];

	perfctr_open_error_with(backend, error, text, sizeof(text));
	complain("thread %d: %s", tid, text);
	return false;
}

/*
 * Creates contexts for the threads that are not in the list yet.  skip_counted: ignores threads
 * that already have a context.  Returns false, after an error message, if a context was refused.
 */
static bool add_new(struct threads *threads, const struct options *options, bool skip_counted)
{
	DIR *tasks = open_tasks(options->process);
	bool good = true;
	struct dirent *entry;

	if (!tasks)
		return errno == ENOENT ||
		       complain_of_thread(options->backend, options->process, errno);
	while (good && (entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);
		struct perfctr *context;

		if (tid <= 0 || threads_know(threads, tid))
			continue;
		context = perfctr_open_with(options->backend, tid, PERFCTR_OPEN_CREATE);
		if (context)
			threads_add(threads, tid, context);
		else if (errno != ESRCH && !(errno == EEXIST && skip_counted))
			good = complain_of_thread(options->backend, tid, errno);
	}
	closedir(tasks);
	return good;
}

static bool add_all(struct threads *threads, const struct options *options)
{
	size_t before;

	do {
		before = threads->n;
		if (!add_new(threads, options, false))
			return false;
	} while (threads->n > before);
	return true;
}

/*
 * Creates contexts for threads that the process has created since add_all().  A new thread has no
 * context yet if its creator did not have the control with PERFCTR_CONTROL_INHERIT at that time.
 * A new thread that has inherited a context is skipped.  Returns false after an error message.
 */
static bool add_latecomers(struct threads *threads, const struct options *options,
			   struct perfctr_control *control, const struct perfctr_pmu_info *info)
{
	size_t before;

	do {
		before = threads->n;
		if (!add_new(threads, options, true) ||
		    !threads_control(threads, before, control, info))
			return false;
	} while (threads->n > before);
	return true;
}

bool attach(struct threads *threads, const struct options *options, struct perfctr_control *control,
	    const struct perfctr_pmu_info *info)
{
	raise_descriptor_limit();
	if (!add_all(threads, options) || !threads_control(threads, 0, control, info))
		return false;
	if ((control->flags & PERFCTR_CONTROL_INHERIT) &&
	    !add_latecomers(threads, options, control, info))
		return false;
	if (!threads->n)
		complain("process %d has no thread to count: it has exited, or belongs to the "
			 "kernel",
			 options->process);
	return threads->n > 0;
}
