// SPDX-License-Identifier: GPL-2.0-or-later
/* Ending what was started, by the service itself or after it. */
#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define WAIT_TRIES 150 /* times 20 ms */

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

int end_all(int directory, __u32 *undo)
{
	struct perfctr_bpf_info info = { 0 };
	int map = open_info(directory);

	if (map >= 0 && read_info(map, &info) == 0) {
		info.ended = 1;
		write_info(map, &info);
		*undo |= info.undo;
	}
	if (map >= 0)
		close(map);
	if (remove_pins(directory) < 0)
		return -1;
	remove_directory(directory);
	return 0;
}

/* It removes what it has pinned itself. */
static void end_service(int pid)
{
	int fd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd gone = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return;
	if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0)
		poll(&gone, 1, 3000);
	close(fd);
}

/* Who has the lock gives it back when it finds its pins gone. */
static void wait_for_lock(int directory)
{
	struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; i < WAIT_TRIES; i++) {
		if (lock_directory(directory) == 0 || errno != EWOULDBLOCK)
			return;
		nanosleep(&pause, NULL);
	}
}

static int service_of(int directory)
{
	struct perfctr_bpf_info info;
	int map = open_info(directory), pid = 0;

	if (map >= 0 && read_info(map, &info) == 0)
		pid = running_service(&info);
	if (map >= 0)
		close(map);
	return pid;
}

int stop_service(void)
{
	int directory = open_directory(), result;
	__u32 undo = 0;
	bool is_held;

	if (directory < 0 && errno == ENOENT)
		return complain("it is not loaded: there is no " PERFCTR_BPF_DIRECTORY);
	if (directory < 0)
		return -1;
	is_held = lock_directory(directory) < 0;
	if (is_held)
		end_service(service_of(directory));
	result = end_all(directory, &undo);
	if (is_held)
		wait_for_lock(directory);
	close(directory);
	/* What the service itself had not the right to undo. */
	undo_changes(undo);
	return result;
}
