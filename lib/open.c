// SPDX-License-Identifier: LGPL-2.1-or-later
/* Opening and closing contexts, and their state pages. */
#define _GNU_SOURCE
#include "backend/backend.h"
#include "internal.h"

#include <errno.h>
#include <sys/mman.h>

struct perfctr *perfctr_open_with(const char *name, pid_t tid, unsigned int flags)
{
	const struct perfctr_backend *backend = perfctr_choose(name);
	struct perfctr *p = backend ? backend->open(tid, flags) : NULL;

	if (p)
		p->backend = backend;
	return p;
}

struct perfctr *perfctr_open_tid(pid_t tid, unsigned int flags)
{
	return perfctr_open_with(NULL, tid, flags);
}

struct perfctr *perfctr_open(void)
{
	return perfctr_open_tid(0, PERFCTR_OPEN_CREATE);
}

int perfctr_fd(const struct perfctr *p)
{
	return p->fd;
}

uint32_t perfctr_capabilities(const struct perfctr *p)
{
	return p->capabilities;
}

const char *perfctr_backend_name(const struct perfctr *p)
{
	return p->backend->name;
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

bool perfctr_own(struct perfctr *p)
{
	p->owner = perfctr_map_wiped(sizeof(*p->owner));
	if (p->owner)
		*p->owner = own_number();
	return p->owner;
}

void perfctr_own_page(struct perfctr *p, void *page)
{
	if (perfctr_own(p))
		p->page = page;
	else
		munmap(page, PERFCTR_PAGE_SIZE);
}

static void disown(struct perfctr *p)
{
	if (!p->owner)
		return;
	/* A child does not have its parent's page: something else may be there. */
	if (p->page && *p->owner)
		munmap((void *)p->page, PERFCTR_PAGE_SIZE);
	munmap(p->owner, sizeof(*p->owner));
	p->owner = NULL;
}

void perfctr_close(struct perfctr *p)
{
	int error = errno;

	if (!p)
		return;
	disown(p);
	p->backend->close(p);
	errno = error;
}

bool perfctr_is_owner(const struct perfctr *p)
{
	return p->owner && *p->owner && *p->owner == thread_number;
}

const struct perfctr_page *perfctr_tsc_page(const struct perfctr *p)
{
	return perfctr_is_owner(p) ? p->page : NULL;
}

const struct perfctr_page *perfctr_page(const struct perfctr *p)
{
	const struct perfctr_page *page = perfctr_tsc_page(p);

	return page && page->flags & PERFCTR_PAGE_RDPMC ? page : NULL;
}
