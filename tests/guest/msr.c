// SPDX-License-Identifier: GPL-2.0-or-later
#include "msr.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int msr_open(int cpu, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, flags | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	return fd;
}

uint64_t msr_read(int cpu, uint32_t msr)
{
	int fd = msr_open(cpu, O_RDONLY);
	uint64_t value;

	ck_assert_msg(pread(fd, &value, sizeof(value), msr) == sizeof(value), "MSR %#x: %s", msr,
		      strerror(errno));
	close(fd);
	return value;
}

void msr_write(int cpu, uint32_t msr, uint64_t value)
{
	int fd = msr_open(cpu, O_WRONLY);

	ck_assert_msg(pwrite(fd, &value, sizeof(value), msr) == sizeof(value), "MSR %#x: %s", msr,
		      strerror(errno));
	close(fd);
}
