// SPDX-License-Identifier: LGPL-2.1-or-later
/* Opening and closing the device, contexts and their state pages. */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static void close_keeping_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

/* A missing device and a missing context shall not look alike: ENOENT is the context's. */
static int open_device(void)
{
	int fd = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		errno = ENODEV;
	return fd;
}

int perfctr_device_call(unsigned long request, void *argument)
{
	int device = open_device();
	int result;

	if (device < 0)
		return -1;
	result = ioctl(device, request, argument);
	close_keeping_errno(device);
	return result;
}

static int get_info(int device, struct perfctr_pmu_info *info, uint32_t holder)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->holder = holder;
	if (ioctl(device, PERFCTR_IOC_INFO, info) < 0)
		return -1;
	if (info->abi_version != PERFCTR_ABI_VERSION) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}

int perfctr_pmu_info(struct perfctr_pmu_info *info)
{
	int device = open_device();
	int result;

	if (device < 0)
		return -1;
	result = get_info(device, info, PERFCTR_HOLDER_ASK);
	close_keeping_errno(device);
	return result;
}

/*
 * Threads by numbers that are not used again.  pthread_self() is: a new thread gets it while the
 * kernel still counts the exit of the one before.  Readable in a signal handler, hence the model.
 */
static __thread unsigned long thread_number __attribute__((tls_model("initial-exec")));

static unsigned long own_number(void)
{
	static unsigned long last;

	if (!thread_number)
		thread_number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return thread_number;
}

/* Without a page, reads are system calls: no reason to fail. */
static void map_page(struct perfctr *p)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, p->fd, 0);

	if (page == MAP_FAILED)
		return;
	p->owner = perfctr_map_wiped(sizeof(*p->owner));
	if (!p->owner) {
		munmap(page, PERFCTR_PAGE_SIZE);
		return;
	}
	p->page = page;
	*p->owner = own_number();
}

struct perfctr *perfctr_open_tid(pid_t tid, unsigned int flags)
{
	struct perfctr_open request = { .size = sizeof(request), .flags = flags, .tid = tid };
	struct perfctr *p = calloc(1, sizeof(*p));
	int device, error;

	if (!p)
		return NULL;
	device = open_device();
	if (device < 0)
		goto free_handle;
	if (get_info(device, &p->info, 0) < 0)
		goto close_device;
	p->fd = ioctl(device, PERFCTR_IOC_OPEN, &request);
	if (p->fd < 0)
		goto close_device;
	close(device);
	if (tid == 0 || tid == gettid()) {
		error = errno;
		map_page(p);
		errno = error;
	}
	return p;

close_device:
	close_keeping_errno(device);
free_handle:
	error = errno;
	free(p);
	errno = error;
	return NULL;
}

struct perfctr *perfctr_open(void)
{
	return perfctr_open_tid(0, PERFCTR_OPEN_CREATE);
}

void perfctr_close(struct perfctr *p)
{
	int error = errno;

	if (!p)
		return;
	if (p->page) {
		/* The kernel does not give a child its parent's page: something else may be there. */
		if (*p->owner)
			munmap((void *)p->page, PERFCTR_PAGE_SIZE);
		munmap(p->owner, sizeof(*p->owner));
	}
	close(p->fd);
	free(p);
	errno = error;
}

int perfctr_fd(const struct perfctr *p)
{
	return p->fd;
}

bool perfctr_is_owner(const struct perfctr *p)
{
	return p->page && *p->owner && *p->owner == thread_number;
}

const struct perfctr_page *perfctr_page(const struct perfctr *p)
{
	if (!perfctr_is_owner(p) || !(p->page->flags & PERFCTR_PAGE_RDPMC))
		return NULL;
	return p->page;
}
