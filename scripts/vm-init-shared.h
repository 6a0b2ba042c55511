/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Physical memory beside that of the kernel, which the host shares with process 1. */
#ifndef SCRIPTS_VM_INIT_SHARED_H
#define SCRIPTS_VM_INIT_SHARED_H

#include <stddef.h>
#include <sys/types.h>

struct shared {
	off_t	address;
	size_t	size;
	size_t	archive_room;	/* the archive of files ends within so many bytes */
};

/*
 * Maps size bytes of it at offset, which is a multiple of the size of a page, until munmap(2).
 * Returns MAP_FAILED with errno set: EFBIG if so much is not there.
 */
void *shared_map(const struct shared *shared, size_t offset, size_t size);

/*
 * Copies size bytes from the beginning of a file to offset. Returns 0, or -1 with errno set: EFBIG as
 * above, EIO if the file is shorter.
 */
int shared_copy(const struct shared *shared, size_t offset, int file, size_t size);

#endif
