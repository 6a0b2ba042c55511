// SPDX-License-Identifier: GPL-2.0-or-later
#include "stock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

pid_t stopped_start(const char *const command[])
{
	pid_t pid = fork();
	int status;

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(command[0], (char *const *)command);
		_exit(127);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSTOPPED(status), "%s did not start", command[0]);
	return pid;
}

void stopped_finish(pid_t pid)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(status == 0, "wait status %#x", status);
}
