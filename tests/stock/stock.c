// SPDX-License-Identifier: GPL-2.0-or-later
#include "stock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int perf_open(uint32_t type, uint64_t config, unsigned int flags, pid_t tid, int group)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = !(flags & PERF_OF_KERNEL),
		.exclude_hv = 1,
		.pinned = !!(flags & PERF_OF_PINNED),
		.inherit = !!(flags & PERF_OF_TREE),
	};

	return syscall(SYS_perf_event_open, &attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

uint64_t perf_read(int fd)
{
	uint64_t value;

	ck_assert_msg(read(fd, &value, sizeof(value)) == sizeof(value), "reading an event: %s",
		      strerror(errno));
	return value;
}
