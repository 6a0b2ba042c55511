// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * With a command, the signals that are passed on to it.  Without, those that end the counting, also
 * when perfex was started in the background with SIGINT ignored.
 */
void watch_begin(struct watch *watch, bool with_command)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (!with_command) {
		sigaddset(&set, SIGINT);
		signal(SIGINT, SIG_DFL);
	}
	sigprocmask(SIG_BLOCK, &set, &watch->before);
	watch->signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (watch->signals < 0)
		fail("cannot wait for signals: %m");
}

/* True: it ends the counting. */
static bool take_signal(const struct watch *watch, const struct command *command)
{
	struct signalfd_siginfo info;

	if (read(watch->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (!command->pid)
		return true;
	/* The terminal's own hang-up reaches the command without our help. */
	if (info.ssi_code != SI_KERNEL)
		kill(command->pid, (int)info.ssi_signo);
	return false;
}

/*
 * Returns when the process has ended, or a signal says that it is enough.  Meanwhile it takes the
 * records of the members, of which the kernel does not keep more than PERFCTR_MAX_RECORDS.
 */
void watch_end(const struct watch *watch, int process, const struct command *command,
	       const struct threads *threads, struct members *members)
{
	size_t n = members_wanted(members) ? threads->n : 0;
	struct pollfd *fd = calloc(n + 2, sizeof(*fd));
	bool end = false;

	if (!fd)
		fail("out of memory");
	fd[0] = (struct pollfd){ .fd = watch->signals, .events = POLLIN };
	fd[1] = (struct pollfd){ .fd = process, .events = POLLIN };
	for (size_t i = 0; i < n; i++)
		fd[i + 2] = (struct pollfd){
			.fd = perfctr_fd(threads->thread[i].context), .events = POLLIN,
		};
	while (!end) {
		if (poll(fd, n + 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			fail("cannot wait for the end: %m");
		}
		if (fd[0].revents)
			end = take_signal(watch, command);
		for (size_t i = 0; i < n; i++)
			if (fd[i + 2].revents)
				members_take(members, threads->thread[i].context);
		end |= fd[1].revents != 0;
	}
	free(fd);
}
