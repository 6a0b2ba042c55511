// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "vm-init-shared.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *shared_map(const struct shared *shared, size_t offset, size_t size)
{
	void *mapping;
	int fd;

	if (offset > shared->size || size > shared->size - offset) {
		errno = EFBIG;
		return MAP_FAILED;
	}
	fd = open("/dev/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return MAP_FAILED;
	mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, shared->address + offset);
	close(fd);
	return mapping;
}

static int read_all(int file, char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(file, data + done, size - done, done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return -1;
		done += n;
	}
	return 0;
}

int shared_copy(const struct shared *shared, size_t offset, int file, size_t size)
{
	char *mapping;
	int copied;

	if (!size)
		return 0;
	mapping = shared_map(shared, offset, size);
	if (mapping == MAP_FAILED)
		return -1;
	copied = read_all(file, mapping, size);
	munmap(mapping, size);
	return copied;
}
