// SPDX-License-Identifier: LGPL-2.1-or-later
/* Marked groups. */
#include "internal.h"
#include <perfctr_groups.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int perfctr_group_open(uint64_t *id)
{
	struct perfctr_group_open open = { .size = sizeof(open) };
	int fd = perfctr_device_call(PERFCTR_IOC_GROUP, &open);

	if (fd >= 0 && id)
		*id = open.id;
	return fd;
}

static int change(uint32_t action, int group, pid_t tid, unsigned int scope)
{
	struct perfctr_mark mark = {
		.size = sizeof(mark), .action = action, .scope = scope, .tid = tid, .group = group,
	};

	return perfctr_device_call(PERFCTR_IOC_MARK, &mark) < 0 ? -1 : (int)mark.changed;
}

int perfctr_mark(int group, pid_t tid, unsigned int scope)
{
	return change(PERFCTR_MARK_SET, group, tid, scope);
}

int perfctr_unmark(int group, pid_t tid, unsigned int scope)
{
	return change(PERFCTR_MARK_CLEAR, group, tid, scope);
}

int perfctr_marked(pid_t tid, uint64_t *id)
{
	struct perfctr_mark mark = {
		.size = sizeof(mark), .action = PERFCTR_MARK_GET, .tid = tid, .group = -1,
	};

	if (perfctr_device_call(PERFCTR_IOC_MARK, &mark) < 0)
		return -1;
	*id = mark.id;
	return 0;
}

int perfctr_members(int group, pid_t *tids, unsigned int room)
{
	struct perfctr_members members = {
		.size = sizeof(members), .room = room, .tids = (uintptr_t)tids,
	};

	return ioctl(group, PERFCTR_IOC_MEMBERS, &members) < 0 ? -1 : (int)members.n;
}

int perfctr_segment_begin(int group)
{
	return ioctl(group, PERFCTR_IOC_ENTER);
}

int perfctr_segment_end(int group)
{
	return ioctl(group, PERFCTR_IOC_LEAVE);
}
