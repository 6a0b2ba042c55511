/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts how often any process opens a file, by inotify(7). */
#ifndef OPENS_H
#define OPENS_H

#include <check.h>
#include <sys/inotify.h>
#include <unistd.h>

/*
 * Watches the file, and returns a descriptor for count_opens().  Also watches closes: otherwise the kernel could report
 * two equal events, one after the other, as one.
 */
static inline int watch_opens(const char *path)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(inotify_add_watch(fd, path, IN_OPEN | IN_CLOSE), 0);
	return fd;
}

/* Returns the number of opens since the last call, or since watch_opens(). */
static inline unsigned int count_opens(int fd)
{
	struct inotify_event event[64];
	unsigned int n = 0;
	ssize_t size;

	while ((size = read(fd, event, sizeof(event))) > 0)
		for (ssize_t i = 0; i < size / (ssize_t)sizeof(event[0]); i++)
			n += !!(event[i].mask & IN_OPEN);
	return n;
}

#endif
