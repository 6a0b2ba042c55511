/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a file is opened, by whomever: as the kernel tells. */
#ifndef OPENS_H
#define OPENS_H

#include <check.h>
#include <sys/inotify.h>
#include <unistd.h>

/* An open and the close behind it differ, so that the kernel does not take two of them for one. */
static inline int watch_opens(const char *path)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(inotify_add_watch(fd, path, IN_OPEN | IN_CLOSE), 0);
	return fd;
}

/* Since it was watched, or asked last. */
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
