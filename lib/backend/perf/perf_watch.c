// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tells the end of a thread, and of all that it creates.  poll(2) on an event gives POLLHUP when
 * the event's thread and all that inherited the event have exited.  But poll(2) always gives
 * POLLHUP for an event without a buffer, and an inherited event cannot map one.  It can use the
 * buffer of another event on the same thread.
 */
#include "perf.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_event(pid_t tid, bool inherit)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.inherit = inherit,
	};

	return perfctr_perf_event(&attr, tid, -1, -1);
}

static int fill_in(struct perf_watch *watch, pid_t tid)
{
	void *page;

	watch->thread = open_event(tid, false);
	if (watch->thread < 0)
		return -1;
	watch->tree = open_event(tid, true);
	if (watch->tree < 0)
		return -1;
	page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, watch->thread, 0);
	if (page == MAP_FAILED)
		return -1;
	watch->page = page;
	return ioctl(watch->tree, PERF_EVENT_IOC_SET_OUTPUT, watch->thread);
}

int perfctr_perf_watch_open(struct perf_watch *watch, pid_t tid)
{
	int error;

	*watch = (struct perf_watch){ .thread = -1, .tree = -1, .maker = getpid() };
	if (fill_in(watch, tid) == 0)
		return 0;
	error = errno;
	perfctr_perf_watch_close(watch);
	errno = error;
	return -1;
}

void perfctr_perf_watch_close(struct perf_watch *watch)
{
	/* A forked child does not have the page: something else may be mapped there. */
	if (watch->page && watch->maker == getpid())
		munmap((void *)watch->page, PERFCTR_PAGE_SIZE);
	if (watch->thread >= 0)
		close(watch->thread);
	if (watch->tree >= 0)
		close(watch->tree);
	*watch = (struct perf_watch){ .thread = -1, .tree = -1 };
}

bool perfctr_perf_is_over(int fd)
{
	struct pollfd event = { .fd = fd };

	return fd < 0 || (poll(&event, 1, 0) > 0 && event.revents & POLLHUP);
}

int perfctr_perf_may_watch(void)
{
	int fd = open_event(0, false);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

uint32_t perfctr_perf_khz_of_kernel(void)
{
	const struct perf_event_mmap_page *page;
	struct perf_watch watch;
	uint32_t khz = 0;

	if (perfctr_perf_watch_open(&watch, 0) < 0)
		return 0;
	page = watch.page;
	if (page->cap_user_time && page->time_mult)
		khz = (uint32_t)((UINT64_C(1000000) << page->time_shift) / page->time_mult);
	perfctr_perf_watch_close(&watch);
	return khz;
}
