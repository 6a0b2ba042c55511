// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts, by the bare ABI. */
#include "families.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int device_open(void)
{
	return open("/dev/perfctr", O_RDONLY | O_CLOEXEC);
}

bool expect_equal(const char *file, int line, const char *what, uint64_t got, uint64_t expected)
{
	if (got == expected)
		return true;
	printf("%s:%d: %s is %llu instead of %llu\n", file, line, what, (unsigned long long)got,
	       (unsigned long long)expected);
	return false;
}

int device_call(unsigned long request, void *argument)
{
	int device = device_open();
	int result, error;

	if (device < 0)
		return -1;
	result = ioctl(device, request, argument);
	error = errno;
	close(device);
	errno = error;
	return result;
}

int context_open(pid_t tid)
{
	struct perfctr_open_args open = { .size = sizeof(open),
				     .flags = PERFCTR_OPEN_CREATE,
				     .tid = tid };

	return device_call(PERFCTR_IOC_OPEN, &open);
}

int mark_open(void)
{
	struct perfctr_open_mark_args open = { .size = sizeof(open) };

	return device_call(PERFCTR_IOC_OPEN_MARK, &open);
}

bool mark(int mark_fd, pid_t tid)
{
	struct perfctr_mark_args mark = {
		.size = sizeof(mark),
		.action = PERFCTR_MARK_SET,
		.scope = PERFCTR_MARK_PROCESS,
		.tid = tid,
		.mark = mark_fd,
	};

	return EXPECT(device_call(PERFCTR_IOC_MARK, &mark) == 0 && mark.changed == 1);
}

int session_open(int mark_fd, uint32_t policy)
{
	struct perfctr_session_args open = { .size = sizeof(open),
					     .mark = mark_fd,
					     .policy = policy };

	return device_call(PERFCTR_IOC_SESSION, &open);
}

struct perfctr_control control_empty(uint32_t flags)
{
	return (struct perfctr_control){ .size = sizeof(struct perfctr_control), .flags = flags };
}

void control_add(struct perfctr_control *control, const struct counting *counting, enum mode mode)
{
	struct perfctr_event_control *e = &control->event[control->n_events++];

	e->counter = counting->counter;
	e->evntsel = counting->event.evntsel;
	e->evntsel2 = counting->event.evntsel2;
	if (mode & USER) {
		e->evntsel |= profile.user.evntsel;
		e->evntsel2 |= profile.user.evntsel2;
	}
	if (mode & KERNEL) {
		e->evntsel |= profile.kernel.evntsel;
		e->evntsel2 |= profile.kernel.evntsel2;
	}
}

struct perfctr_control control_one(const struct counting *counting, enum mode mode)
{
	struct perfctr_control control = control_empty(0);

	control_add(&control, counting, mode);
	return control;
}

bool is_told(int fd, const struct perfctr_control *control)
{
	struct perfctr_control told = { .size = sizeof(told) };

	return ioctl(fd, PERFCTR_IOC_GET_CONTROL, &told) == 0 &&
	       memcmp(&told, control, sizeof(told)) == 0;
}

bool context_control(int fd, const struct perfctr_control *control)
{
	struct perfctr_control copy = *control;

	errno = 0;
	if (!ioctl(fd, PERFCTR_IOC_CONTROL, &copy))
		return true;
	printf("control: %s, event %u, reason %u\n", strerror(errno), copy.bad_event,
	       copy.bad_reason);
	return false;
}

struct perfctr_counts counts_of(int fd, uint32_t scope)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = scope };

	if (ioctl(fd, PERFCTR_IOC_READ, &counts))
		memset(&counts, 0, sizeof(counts));
	return counts;
}

struct perfctr_counts counts_at_rest(int fd)
{
	struct perfctr_counts counts = counts_of(fd, PERFCTR_SCOPE_SELF), before;

	do {
		before = counts;
		counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	} while (counts.tsc != before.tsc);
	return counts;
}

struct perfctr_pmu_info machine_info(void)
{
	struct perfctr_pmu_info info = { .size = sizeof(info) };
	int device = device_open();

	if (device < 0 || ioctl(device, PERFCTR_IOC_INFO, &info))
		memset(&info, 0, sizeof(info));
	close(device);
	return info;
}

bool pin(pid_t tid, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(tid, sizeof(set), &set);
}
