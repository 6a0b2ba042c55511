// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perfctr 2.6: descriptors, which a process can pass to another.  The library keeps nothing about
 * them, so that a time stamp does not continue under a new control.  Only the kernel driver has
 * descriptors with a state.
 */
#define _GNU_SOURCE
#include "compat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEVICE "/dev/perfctr"

static int open_state(void)
{
	struct perfctr_open_args args = { .size = sizeof(args), .flags = PERFCTR_OPEN_CREATE };
	int device = open(DEVICE, O_RDONLY | O_CLOEXEC);
	int fd, error;

	if (device < 0) {
		if (errno == ENOENT)
			errno = ENODEV;
		return -1;
	}
	fd = ioctl(device, PERFCTR_IOC_OPEN, &args);
	error = errno;
	close(device);
	errno = error;
	return fd;
}

/*
 * Without creat, the descriptor only serves to ask about the machine.  The backend answers, so that
 * any descriptor will do.
 */
int _vperfctr_open(int creat)
{
	struct perfctr_pmu_info info;

	if (creat)
		return open_state();
	return perfctr_get_pmu_info(&info) < 0 ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* 2.6 gives EINVAL for a descriptor without a state. */
static int check_call(int result)
{
	if (result < 0 && errno == ENOTTY)
		errno = EINVAL;
	return result < 0 ? -1 : 0;
}

int _vperfctr_control(int fd, const struct vperfctr_control *control)
{
	struct perfctr_control translated;
	struct perfctr_pmu_info info;

	if (compat_is_stop(&control->cpu_control))
		return check_call(ioctl(fd, PERFCTR_IOC_STOP));
	if (control->preserve) {
		errno = EINVAL;
		return -1;
	}
	if (perfctr_get_pmu_info(&info) < 0 ||
	    compat_translate(&control->cpu_control, &info, control->si_signo, &translated) < 0)
		return -1;
	if (check_call(ioctl(fd, PERFCTR_IOC_CONTROL, &translated)) == 0)
		return 0;
	errno = compat_refusal(errno, &translated);
	return -1;
}

/* Is the state stopped?  Then a control that counts nothing has stopped it, and is what it has. */
static bool is_stopped(int fd)
{
	struct perfctr_counts counts = { .size = sizeof(counts) };

	return ioctl(fd, PERFCTR_IOC_READ, &counts) == 0 &&
	       !(counts.flags & (PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_EXITED));
}

int _vperfctr_read_control(int fd, struct vperfctr_control *control)
{
	struct perfctr_control ours = { .size = sizeof(ours) };
	struct perfctr_pmu_info info;
	int result = ioctl(fd, PERFCTR_IOC_GET_CONTROL, &ours);

	if (result < 0 && errno != ENOENT)
		return check_call(result);
	if (perfctr_get_pmu_info(&info) < 0)
		return -1;
	memset(control, 0, sizeof(*control));
	if (result == 0 && !is_stopped(fd))
		compat_translate_back(&ours, &info, &control->cpu_control);
	return 0;
}

int _vperfctr_read_sum(int fd, struct perfctr_sum_ctrs *sum)
{
	struct perfctr_counts counts = { .size = sizeof(counts) };

	if (check_call(ioctl(fd, PERFCTR_IOC_READ, &counts)) < 0)
		return -1;
	memset(sum, 0, sizeof(*sum));
	sum->tsc = counts.tsc;
	for (unsigned int i = 0; i < counts.n_counters && i < COMPAT_COUNTERS; i++)
		sum->pmc[i] = counts.counter[i];
	return 0;
}

int _perfctr_abi_check_fd(int fd, unsigned int user_abi_version)
{
	if (fcntl(fd, F_GETFD) < 0)
		return -1;
	/* The major versions of the interface and of its processor part must be equal. */
	if ((user_abi_version ^ PERFCTR_ABI_VERSION) & 0xff00ff00) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}

int perfctr_info(int fd, struct perfctr_info *info)
{
	return fcntl(fd, F_GETFD) < 0 ? -1 : perfctr_get_info(info);
}
