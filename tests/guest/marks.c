// SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Makes one ioctl on the device. */
static int on_device(unsigned long request, void *argument)
{
	int device = device_open(), result, error;

	result = ioctl(device, request, argument);
	error = errno;
	close(device);
	errno = error;
	return result;
}

int mark_open(void)
{
	struct perfctr_open_mark_args open = { .size = sizeof(open) };
	int fd = on_device(PERFCTR_IOC_OPEN_MARK, &open);

	ck_assert_msg(fd >= 0, "open a mark: %s", strerror(errno));
	ck_assert_uint_gt(open.id, 0);
	return fd;
}

int try_mark(uint32_t action, uint32_t scope, pid_t tid, int mark_fd)
{
	struct perfctr_mark_args mark = {
		.size = sizeof(mark), .action = action, .scope = scope, .tid = tid, .mark = mark_fd,
	};
	int result = on_device(PERFCTR_IOC_MARK, &mark);

	return result ? result : (int)mark.changed;
}

void mark(pid_t tid, int mark_fd)
{
	ck_assert_msg(try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, tid, mark_fd) == 1,
		      "mark: %s", strerror(errno));
}

uint64_t mark_of(pid_t tid)
{
	struct perfctr_mark_args mark = {
		.size = sizeof(mark), .action = PERFCTR_MARK_GET, .tid = tid, .mark = -1,
	};

	ck_assert_msg(on_device(PERFCTR_IOC_MARK, &mark) == 0, "mark: %s", strerror(errno));
	return mark.id;
}

uint32_t mark_members(int mark_fd)
{
	struct perfctr_members_args members = { .size = sizeof(members) };

	ck_assert_int_eq(ioctl(mark_fd, PERFCTR_IOC_MEMBERS, &members), 0);
	return members.n;
}

struct perfctr_session_args session_of(int mark_fd, uint32_t policy)
{
	return (struct perfctr_session_args){
		.size = sizeof(struct perfctr_session_args), .mark = mark_fd, .policy = policy,
	};
}

int try_session(struct perfctr_session_args *open)
{
	return on_device(PERFCTR_IOC_SESSION, open);
}

int session_open(int mark_fd, uint32_t policy)
{
	struct perfctr_session_args open = session_of(mark_fd, policy);
	int fd = try_session(&open);

	ck_assert_msg(fd >= 0, "session: %s", strerror(errno));
	return fd;
}

int try_session_control(int session, const struct session_event *events, size_t n,
			struct perfctr_control *control)
{
	*control = (struct perfctr_control){ .size = sizeof(*control), .n_events = (uint32_t)n };
	for (size_t i = 0; i < n; i++) {
		control->event[i].counter = events[i].event.counter;
		control->event[i].evntsel = events[i].event.evntsel;
		control->event[i].flags = events[i].flags;
	}
	return ioctl(session, PERFCTR_IOC_CONTROL, control);
}

void session_control(int session, const struct session_event *events, size_t n)
{
	struct perfctr_control control;

	ck_assert_msg(try_session_control(session, events, n, &control) == 0,
		      "control: %s (event %u, reason %u)", strerror(errno), control.bad_event,
		      control.bad_reason);
}

pid_t marked_start(int mark_fd, int cpu, const char *const command[])
{
	pid_t pid = stopped_start(cpu, command);

	if (mark_fd >= 0)
		mark(pid, mark_fd);
	stopped_go(pid);
	return pid;
}

void expect_success(pid_t pid)
{
	int status;

	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
}
