// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: marked groups. */
#include "patch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct perfctr_group *perfctr_patch_group_open(uint64_t *id)
{
	struct perfctr_group_args open = { .size = sizeof(open) };
	struct perfctr_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->fd = perfctr_patch_call(PERFCTR_IOC_GROUP, &open);
	if (group->fd < 0) {
		int error = errno;

		free(group);
		errno = error;
		return NULL;
	}
	*id = open.id;
	return group;
}

void perfctr_patch_group_close(struct perfctr_group *group)
{
	close(group->fd);
	free(group);
}

static int change_marks(uint32_t action, const struct perfctr_group *group, pid_t tid,
			unsigned int scope)
{
	struct perfctr_mark_args mark = {
		.size = sizeof(mark),
		.action = action,
		.scope = scope,
		.tid = tid,
		.group = group ? group->fd : -1,
	};

	return perfctr_patch_call(PERFCTR_IOC_MARK, &mark) < 0 ? -1 : (int)mark.changed;
}

int perfctr_patch_mark(struct perfctr_group *group, pid_t tid, unsigned int scope)
{
	return change_marks(PERFCTR_MARK_SET, group, tid, scope);
}

int perfctr_patch_unmark(struct perfctr_group *group, pid_t tid, unsigned int scope)
{
	return change_marks(PERFCTR_MARK_CLEAR, group, tid, scope);
}

int perfctr_patch_marked(pid_t tid, uint64_t *id)
{
	struct perfctr_mark_args mark = {
		.size = sizeof(mark),
		.action = PERFCTR_MARK_GET,
		.tid = tid,
		.group = -1,
	};

	if (perfctr_patch_call(PERFCTR_IOC_MARK, &mark) < 0)
		return -1;
	*id = mark.id;
	return 0;
}

int perfctr_patch_members(const struct perfctr_group *group, pid_t *tids, unsigned int room)
{
	struct perfctr_members_args members = {
		.size = sizeof(members),
		.room = room,
		.tids = (uintptr_t)tids,
	};

	return ioctl(group->fd, PERFCTR_IOC_MEMBERS, &members) < 0 ? -1 : (int)members.n;
}

int perfctr_patch_segment_begin(struct perfctr_group *group)
{
	return ioctl(group->fd, PERFCTR_IOC_ENTER);
}

int perfctr_patch_segment_end(struct perfctr_group *group)
{
	return ioctl(group->fd, PERFCTR_IOC_LEAVE);
}
