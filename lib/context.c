// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contexts: opened, told what to count, started and stopped, closed; and their state pages. */
#define _GNU_SOURCE
#include "backend/backend.h"

#include <errno.h>

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

void perfctr_close(struct perfctr *p)
{
	int error = errno;

	if (!p)
		return;
	perfctr_disown(p);
	p->backend->close(p);
	errno = error;
}

int perfctr_set_control(struct perfctr *p, struct perfctr_control *c)
{
	c->bad_event = 0;
	c->bad_reason = 0;
	if (perfctr_refuse_unable(c, p->capabilities) < 0 ||
	    perfctr_control_assign(c, &p->info) < 0)
		return -1;
	return p->backend->control(p, c);
}

int perfctr_start(struct perfctr *p)
{
	return p->backend->start(p);
}

int perfctr_stop(struct perfctr *p)
{
	return p->backend->stop(p);
}

const struct perfctr_page *perfctr_tsc_page(const struct perfctr *p)
{
	return perfctr_is_owner(p) ? p->page : NULL;
}

const struct perfctr_page *perfctr_get_page(const struct perfctr *p)
{
	const struct perfctr_page *page = perfctr_tsc_page(p);

	return page && page->flags & PERFCTR_PAGE_RDPMC ? page : NULL;
}
