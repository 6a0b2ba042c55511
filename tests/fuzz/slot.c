// SPDX-License-Identifier: GPL-2.0-or-later
/* The descriptors, and the calls that any file takes. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct slot *any_slot(struct fuzzer *f, unsigned int kinds)
{
	size_t start = below(f, N_SLOTS);

	for (size_t i = 0; i < N_SLOTS; i++) {
		struct slot *slot = &self.slot[(start + i) % N_SLOTS];

		if (atomic_load(&slot->fd) >= 0 && kinds & 1u << slot->kind)
			return slot;
	}
	return NULL;
}

#define CLAIMED (-2) /* by the thread that fills it in */

static bool claim(struct slot *slot)
{
	int empty = -1;

	return atomic_compare_exchange_strong(&slot->fd, &empty, CLAIMED);
}

/* If there is no room, another descriptor is closed. */
void add_slot(struct fuzzer *f, int fd, const struct slot *held)
{
	struct slot *slot = NULL;

	for (size_t i = 1; i < N_SLOTS && !slot; i++)
		if (claim(&self.slot[i]))
			slot = &self.slot[i];
	while (!slot) {
		slot = &self.slot[1 + below(f, N_SLOTS - 1)];
		close_slot(slot);
		if (!claim(slot))
			slot = NULL;
	}
	slot->kind = held->kind;
	slot->own = held->own;
	slot->n_cpus = held->n_cpus;
	slot->pages_bytes = held->pages_bytes;
	slot->ring_bytes = held->ring_bytes;
	/* Last, because another thread may look, or fork. */
	atomic_store(&slot->fd, fd);
}

void close_slot(struct slot *slot)
{
	int fd = atomic_load(&slot->fd);

	if (fd >= 0 && atomic_compare_exchange_strong(&slot->fd, &fd, -1))
		close(fd);
}

static struct slot *closable_slot(struct fuzzer *f)
{
	struct slot *slot = any_slot(f, ~0u);

	return slot == &self.slot[0] ? NULL : slot;
}

void op_close(struct fuzzer *f)
{
	struct slot *slot = closable_slot(f);

	if (slot)
		close_slot(slot);
}

/* Another thread may put a descriptor of another kind into the slot meanwhile. */
void op_dup(struct fuzzer *f)
{
	struct slot *old = any_slot(f, ~0u);
	int fd = f->alone ? dup(old->fd) : -1;

	if (fd < 0)
		return;
	if (chance(f, 50))
		fcntl(fd, F_SETFD, FD_CLOEXEC); /* otherwise a program inherits it */
	add_slot(f, fd,
		 &(struct slot){ .kind = old->kind,
				 .n_cpus = old->n_cpus,
				 .pages_bytes = old->pages_bytes,
				 .ring_bytes = old->ring_bytes });
}

static void poll_slot(struct fuzzer *f, int fd)
{
	struct pollfd polled = { .fd = fd, .events = next(f) };

	poll(&polled, 1, below(f, 2));
}

static void epoll_slot(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		return;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	epoll_wait(epoll, &event, 1, 0);
	close(epoll);
}

/* Opens the same file again. An anonymous file cannot be opened again. */
static void open_again(struct fuzzer *f, const struct slot *slot)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", slot->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	close(fd);
	if (slot->kind != DEVICE && f->alone)
		finding(f, CHECK_PRIVILEGE, "a descriptor of kind %u was opened again", slot->kind);
}

/* No data can be read or written: any count of bytes is a finding. */
static void transfer(struct fuzzer *f, const struct slot *slot)
{
	ssize_t n = chance(f, 50) ? read(slot->fd, extra(f), below(f, EXTRA_BYTES))
				  : write(slot->fd, extra(f), below(f, EXTRA_BYTES));

	if (n > 0 && f->alone)
		finding(f, CHECK_MEMORY, "read or write of kind %u gave %zd", slot->kind, n);
}

/* Calls that any descriptor takes. */
void op_plain(struct fuzzer *f)
{
	const struct slot *slot = any_slot(f, ~0u);
	struct stat status;

	switch (below(f, 9)) {
	case 0:
	case 1:
		poll_slot(f, slot->fd);
		return;
	case 2:
		epoll_slot(slot->fd);
		return;
	case 3:
		transfer(f, slot);
		return;
	case 4:
		lseek(slot->fd, next(f), below(f, 6));
		return;
	case 5:
		fcntl(slot->fd, F_SETFL, next(f) & (O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT));
		return;
	case 6:
		fstat(slot->fd, &status);
		if (ftruncate(slot->fd, 0) == 0 && f->alone)
			finding(f, CHECK_MEMORY, "truncated kind %u", slot->kind);
		return;
	case 7:
		flock(slot->fd, LOCK_NB | (chance(f, 50) ? LOCK_UN : LOCK_SH));
		return;
	default:
		open_again(f, slot);
	}
}

static union {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
} empty_control;

static void send_slot(struct slot *slot)
{
	typeof(empty_control) control = empty_control;
	struct iovec byte = { .iov_base = (char[]){ slot->kind }, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fd = slot->fd;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	sendmsg(self.pair[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	slot->own = false;
}

static void receive_slot(struct fuzzer *f)
{
	typeof(empty_control) control = empty_control;
	char kind = 0;
	struct iovec byte = { .iov_base = &kind, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	int fd;

	if (recvmsg(self.pair[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_len != CMSG_LEN(sizeof(int)))
		return;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	add_slot(f, fd, &(struct slot){ .kind = kind });
}

/*
 * Passes a descriptor through a socket. No process holds it on its way. The receiver believes what
 * it is told of the descriptor, so nobody may replace it meanwhile.
 */
void op_pass(struct fuzzer *f)
{
	if (chance(f, 50) && f->alone)
		send_slot(any_slot(f, ~0u));
	else
		receive_slot(f);
}

void op_device(struct fuzzer *f)
{
	static const int modes[] = { O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_NONBLOCK };
	int fd = open("/dev/perfctr", modes[below(f, ARRAY_SIZE(modes))] | O_CLOEXEC);

	if (fd >= 0)
		add_slot(f, fd, &(struct slot){ .kind = DEVICE });
}

/* Makes calls while no descriptor is free. */
void op_call_without_descriptors(struct fuzzer *f)
{
	struct rlimit limit, none;

	if (!f->alone || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &none))
		return;
	for (int i = 0; i < 4; i++)
		op_call(f);
	setrlimit(RLIMIT_NOFILE, &limit);
}
