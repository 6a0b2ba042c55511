// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends the service: by the service itself, or by perfctr-bpfd stop. */
#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WAIT_TRIES 250 /* times 20 ms */

void notify(const char *state)
{
	const char *place = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = place ? strlen(place) : 0;
	int fd;

	if (length < 2 || length > sizeof(address.sun_path) || (*place != '/' && *place != '@'))
		return;
	memcpy(address.sun_path, place, length);
	if (*place == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

int end_all(const struct pinned *pinned, __u32 *undo)
{
	const struct perfctr_bpf_kept end = { .action = PERFCTR_BPF_KEEP_END };
	struct perfctr_bpf_info info;

	if (pinned->info >= 0 && read_info(pinned->info, &info) == 0)
		*undo |= info.undo;
	if (pinned->keep >= 0)
		change_info(pinned->keep, &end);
	return remove_pins(pinned->directory);
}

int watch_directory(int directory)
{
	char path[32];
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	if (fd < 0 || inotify_add_watch(fd, path, IN_DELETE) >= 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * The service releases the lock when it finds its pins gone.  It gets no signal: a process number
 * from a map is not to be trusted.  0: no process has the lock; -1: one still has.
 */
static int wait_for_lock(int directory)
{
	struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; i < WAIT_TRIES; i++) {
		if (lock_directory(directory) == 0 || errno != EWOULDBLOCK)
			return 0;
		nanosleep(&pause, NULL);
	}
	return -1;
}

/* pid 0: what named the process was missing. */
static int complain_of_service(__u32 pid)
{
	if (!pid)
		return complain("all is removed, but a perfctr-bpfd has not ended yet; if it is "
				"stopped or frozen let it go on, and it ends");
	return complain(
		"all is removed, but process %u has not ended yet; if it is stopped or frozen "
		"let it go on, and it ends: kill -CONT %u",
		pid, pid);
}

int stop_service(void)
{
	struct pinned pinned = { .directory = open_directory() };
	struct perfctr_bpf_info info;
	__u32 undo = 0, pid = 0;
	int result;

	if (pinned.directory < 0 && errno == ENOENT)
		return complain("it is not loaded: there is no " PERFCTR_BPF_DIRECTORY);
	if (pinned.directory < 0)
		return -1;
	/* A start takes the lock before it pins anything, and needs the directory until then. */
	if (lock_directory(pinned.directory) < 0 && errno == EWOULDBLOCK &&
	    !is_pinned(pinned.directory, PIN_SLOTS)) {
		close(pinned.directory);
		return complain(
			"another perfctr-bpfd is about to start or stop it, or held up; try again");
	}
	open_info(&pinned);
	if (pinned.info >= 0 && read_info(pinned.info, &info) == 0)
		pid = info.pid;
	result = end_all(&pinned, &undo);
	remove_directory(pinned.directory);
	if (result == 0 && wait_for_lock(pinned.directory) < 0)
		result = complain_of_service(pid);
	close_info(&pinned);
	close(pinned.directory);
	/* The service itself had no right to undo these. */
	undo_changes(undo);
	return result;
}
