// SPDX-License-Identifier: LGPL-2.1-or-later
/* Marks. */
#include "backend/backend.h"

#include <errno.h>

struct perfctr_mark *perfctr_mark_open_with(const char *name, uint64_t *id)
{
	const struct perfctr_backend *backend = perfctr_choose(name);
	struct perfctr_mark *mark;
	uint64_t number;

	if (!backend)
		return NULL;
	if (!backend->mark_open) {
		errno = ENOTSUP;
		return NULL;
	}
	mark = backend->mark_open(&number);
	if (!mark)
		return NULL;
	mark->backend = backend;
	if (id)
		*id = number;
	return mark;
}

struct perfctr_mark *perfctr_mark_open(uint64_t *id)
{
	return perfctr_mark_open_with(NULL, id);
}

void perfctr_mark_close(struct perfctr_mark *mark)
{
	int error = errno;

	if (mark)
		mark->backend->mark_close(mark);
	errno = error;
}

int perfctr_mark_fd(const struct perfctr_mark *mark)
{
	return mark->fd;
}

int perfctr_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope)
{
	return mark->backend->mark(mark, tid, scope);
}

static int unmark_by(const struct perfctr_backend *backend, struct perfctr_mark *mark, pid_t tid,
		     unsigned int scope)
{
	if (!backend)
		return -1;
	return backend->unmark ? backend->unmark(mark, tid, scope) : perfctr_unable();
}

int perfctr_mark_clear_with(const char *name, pid_t tid, unsigned int scope)
{
	return unmark_by(perfctr_first(name), NULL, tid, scope);
}

int perfctr_mark_clear(struct perfctr_mark *mark, pid_t tid, unsigned int scope)
{
	return unmark_by(mark ? mark->backend : perfctr_first(NULL), mark, tid, scope);
}

int perfctr_mark_get_with(const char *name, pid_t tid, uint64_t *id)
{
	const struct perfctr_backend *backend = perfctr_first(name);

	if (!backend)
		return -1;
	return backend->marked ? backend->marked(tid, id) : perfctr_unable();
}

int perfctr_mark_get(pid_t tid, uint64_t *id)
{
	return perfctr_mark_get_with(NULL, tid, id);
}

int perfctr_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room)
{
	return mark->backend->members(mark, tids, room);
}

int perfctr_segment_begin(struct perfctr_mark *mark)
{
	if (!mark->backend->segment_begin)
		return perfctr_unable();
	return mark->backend->segment_begin(mark);
}

int perfctr_segment_end(struct perfctr_mark *mark)
{
	if (!mark->backend->segment_end)
		return perfctr_unable();
	return mark->backend->segment_end(mark);
}
