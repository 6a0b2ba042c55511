// SPDX-License-Identifier: LGPL-2.1-or-later
/* Contexts: opens, controls, starts, stops, reads and closes them; their state pages. */
#define _GNU_SOURCE
#include "backend/backend.h"

#include <errno.h>
#include <string.h>

struct perfctr *perfctr_open_with(const char *name, pid_t tid, unsigned int flags)
{
	const struct perfctr_backend *backend = perfctr_choose(name);
	struct perfctr *p = backend ? backend->open(tid, flags) : NULL;
	static unsigned long last;

	if (!p)
		return NULL;
	p->backend = backend;
	p->serial = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
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
	return perfctr_shown_name(p->backend);
}

void perfctr_close(struct perfctr *p)
{
	int error = errno;

	if (!p)
		return;
	if (p->owner)
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

int perfctr_get_control(const struct perfctr *p, struct perfctr_control *c)
{
	memset(c, 0, sizeof(*c));
	c->size = sizeof(*c);
	return p->backend->get_control ? p->backend->get_control(p, c) : perfctr_unable();
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

	return page && !p->reordered && page->flags & PERFCTR_PAGE_RDPMC ? page : NULL;
}

int perfctr_read_scope(const struct perfctr *p, unsigned int scope, struct perfctr_counts *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->scope = scope;
	return p->backend->read(p, out);
}

int perfctr_read(const struct perfctr *p, struct perfctr_counts *out)
{
	return perfctr_read_scope(p, PERFCTR_SCOPE_SELF, out);
}

int perfctr_next_exit_record(const struct perfctr *p, struct perfctr_exit_record *record)
{
	memset(record, 0, sizeof(*record));
	record->size = sizeof(*record);
	return p->backend->next_record ? p->backend->next_record(p, record) : perfctr_unable();
}

uint64_t perfctr_read_counter(const struct perfctr *p, unsigned int i)
{
	const struct perfctr_page *page = perfctr_get_page(p);
	struct perfctr_counts counts;
	uint64_t value;

	if (page && i < page->n_counters)
		return perfctr_read_pmc(page, i);
	if (p->backend->read_counter && perfctr_is_owner(p) &&
	    p->backend->read_counter(p, i, &value))
		return value;
	if (perfctr_read(p, &counts) < 0)
		return 0;
	if (i >= counts.n_counters) {
		errno = EINVAL;
		return 0;
	}
	return counts.counter[i];
}
