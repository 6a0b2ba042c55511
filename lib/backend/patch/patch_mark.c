// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: marks. */
#include "patch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct perfctr_mark *perfctr_patch_mark_open(uint64_t *id)
{
	struct perfctr_open_mark_args open = { .size = sizeof(open) };
	struct perfctr_mark *mark = calloc(1, sizeof(*mark));

	if (!mark)
		return NULL;
	mark->fd = perfctr_patch_call(PERFCTR_IOC_OPEN_MARK, &open);
	if (mark->fd < 0) {
		int error = errno;

		free(mark);
		errno = error;
		return NULL;
	}
	*id = open.id;
	return mark;
}

void perfctr_patch_mark_close(struct perfctr_mark *mark)
{
	close(mark->fd);
	free(mark);
}

static int change_marks(uint32_t action, const struct perfctr_mark *mark, pid_t tid,
			unsigned int scope)
{
	struct perfctr_mark_args args = {
		.size = sizeof(args),
		.action = action,
		.scope = scope,
		.tid = tid,
		.mark = mark ? mark->fd : -1,
	};

	return perfctr_patch_call(PERFCTR_IOC_MARK, &args) < 0 ? -1 : (int)args.changed;
}

int perfctr_patch_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope)
{
	return change_marks(PERFCTR_MARK_SET, mark, tid, scope);
}

int perfctr_patch_mark_clear(struct perfctr_mark *mark, pid_t tid, unsigned int scope)
{
	return change_marks(PERFCTR_MARK_CLEAR, mark, tid, scope);
}

int perfctr_patch_mark_get(pid_t tid, uint64_t *id)
{
	struct perfctr_mark_args args = {
		.size = sizeof(args),
		.action = PERFCTR_MARK_GET,
		.tid = tid,
		.mark = -1,
	};

	if (perfctr_patch_call(PERFCTR_IOC_MARK, &args) < 0)
		return -1;
	*id = args.id;
	return 0;
}

int perfctr_patch_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room)
{
	struct perfctr_members_args members = {
		.size = sizeof(members),
		.room = room,
		.tids = (uintptr_t)tids,
	};

	return ioctl(mark->fd, PERFCTR_IOC_MEMBERS, &members) < 0 ? -1 : (int)members.n;
}

int perfctr_patch_segment_begin(struct perfctr_mark *mark)
{
	return ioctl(mark->fd, PERFCTR_IOC_ENTER);
}

int perfctr_patch_segment_end(struct perfctr_mark *mark)
{
	return ioctl(mark->fd, PERFCTR_IOC_LEAVE);
}
