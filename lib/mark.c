// SPDX-License-Identifier: LGPL-2.1-or-later
/* Marked groups. */
#include "backend/backend.h"

#include <errno.h>

struct perfctr_group *perfctr_group_open_with(const char *name, uint64_t *id)
{
	const struct perfctr_backend *backend = perfctr_choose(name);
	struct perfctr_group *group;
	uint64_t number;

	if (!backend)
		return NULL;
	if (!backend->group_open) {
		errno = ENOTSUP;
		return NULL;
	}
	group = backend->group_open(&number);
	if (!group)
		return NULL;
	group->backend = backend;
	if (id)
		*id = number;
	return group;
}

struct perfctr_group *perfctr_group_open(uint64_t *id)
{
	return perfctr_group_open_with(NULL, id);
}

void perfctr_group_close(struct perfctr_group *group)
{
	int error = errno;

	if (group)
		group->backend->group_close(group);
	errno = error;
}

int perfctr_group_fd(const struct perfctr_group *group)
{
	return group->fd;
}

int perfctr_mark(struct perfctr_group *group, pid_t tid, unsigned int scope)
{
	return group->backend->mark(group, tid, scope);
}

static int unmark_by(const struct perfctr_backend *backend, struct perfctr_group *group, pid_t tid,
		     unsigned int scope)
{
	if (!backend)
		return -1;
	return backend->unmark ? backend->unmark(group, tid, scope) : perfctr_unable();
}

int perfctr_unmark_with(const char *name, pid_t tid, unsigned int scope)
{
	return unmark_by(perfctr_first(name), NULL, tid, scope);
}

int perfctr_unmark(struct perfctr_group *group, pid_t tid, unsigned int scope)
{
	return unmark_by(group ? group->backend : perfctr_first(NULL), group, tid, scope);
}

int perfctr_marked_with(const char *name, pid_t tid, uint64_t *id)
{
	const struct perfctr_backend *backend = perfctr_first(name);

	if (!backend)
		return -1;
	return backend->marked ? backend->marked(tid, id) : perfctr_unable();
}

int perfctr_marked(pid_t tid, uint64_t *id)
{
	return perfctr_marked_with(NULL, tid, id);
}

int perfctr_members(const struct perfctr_group *group, pid_t *tids, unsigned int room)
{
	return group->backend->members(group, tids, room);
}

int perfctr_segment_begin(struct perfctr_group *group)
{
	if (!group->backend->segment_begin)
		return perfctr_unable();
	return group->backend->segment_begin(group);
}

int perfctr_segment_end(struct perfctr_group *group)
{
	if (!group->backend->segment_end)
		return perfctr_unable();
	return group->backend->segment_end(group);
}
