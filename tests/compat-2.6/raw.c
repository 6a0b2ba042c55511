// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors, as perfex of perfctr 2.6 uses them. */
#define _GNU_SOURCE
#include "old.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

bool a_descriptor_asks(void)
{
	struct vperfctr_control control = control_of_all();
	int fd = _vperfctr_open(0);
	struct perfctr_info info;
	struct perfctr_sum_ctrs sum;
	bool good;

	REQUIRE(fd >= 0);
	good = EXPECT(perfctr_abi_check_fd(fd) == 0) &&
	       EXPECT(_perfctr_abi_check_fd(fd, 0x05ff05ff) == 0) &&
	       REFUSED(_perfctr_abi_check_fd(fd, 0x06020501), EPROTO) &&
	       EXPECT(perfctr_info(fd, &info) == 0) && EXPECT(info.cpu_type == machine.cpu_type) &&
	       REFUSED(_vperfctr_control(fd, &control), EINVAL) &&
	       REFUSED(_vperfctr_read_sum(fd, &sum), EINVAL);
	close(fd);
	return good && REFUSED(perfctr_info(fd, &info), EBADF);
}

union descriptor_room {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static bool send_descriptor(int socket, int fd)
{
	union descriptor_room room = { .room = { 0 } };
	struct iovec byte = { "", 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = room.room,
				  .msg_controllen = sizeof(room.room) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_len = CMSG_LEN(sizeof(fd));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1;
}

static int receive_descriptor(int socket)
{
	union descriptor_room room;
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = room.room,
				  .msg_controllen = sizeof(room.room) };
	int fd;

	if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

_Noreturn static void run_child(int socket, uint32_t n)
{
	struct vperfctr_control control = control_of_all();
	int fd = _vperfctr_open(1);

	if (fd < 0 || perfctr_abi_check_fd(fd) < 0 || _vperfctr_control(fd, &control) < 0 ||
	    !send_descriptor(socket, fd))
		_exit(1);
	loop(n);
	_exit(0);
}

static bool reads_back(int fd, const struct vperfctr_control *set)
{
	struct vperfctr_control control;

	memset(&control, 0xff, sizeof(control));
	return EXPECT(_vperfctr_read_control(fd, &control) == 0) &&
	       EXPECT(memcmp(&control, set, sizeof(control)) == 0);
}

/* Before the first control and after the last, nothing is on. */
bool a_control_is_read_back(void)
{
	struct vperfctr_control nothing = { 0 }, control = control_of_all(), signalling = control;
	int fd = _vperfctr_open(1);
	bool good;

	REQUIRE(fd >= 0);
	/* These two fields are not kept. */
	signalling.si_signo = 29;
	signalling.flags = VPERFCTR_CONTROL_CLOEXEC;
	good = reads_back(fd, &nothing) && EXPECT(_vperfctr_control(fd, &control) == 0) &&
	       reads_back(fd, &control) && EXPECT(_vperfctr_control(fd, &signalling) == 0) &&
	       reads_back(fd, &control) && EXPECT(_vperfctr_control(fd, &nothing) == 0) &&
	       reads_back(fd, &nothing);
	close(fd);
	return good;
}

static bool count_child(uint32_t n, struct perfctr_sum_ctrs *sum)
{
	const struct vperfctr_control set = control_of_all();
	int sockets[2], status, fd;
	bool good;
	pid_t pid;

	REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
	pid = fork();
	if (pid == 0)
		run_child(sockets[1], n);
	REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
	fd = receive_descriptor(sockets[0]);
	good = EXPECT(fd >= 0) && EXPECT(_vperfctr_read_sum(fd, sum) == 0) &&
	       EXPECT(sum->tsc > 0) && reads_back(fd, &set);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
	return good;
}

bool a_descriptor_goes_to_another_process(void)
{
	return loops_are_counted(count_child);
}

bool a_state_by_descriptor_needs_the_driver(void)
{
	return REFUSED(_vperfctr_open(1), ENODEV);
}
