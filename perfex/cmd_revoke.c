// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex revoke: the administrator takes back the counters of the kernel driver. */
#define _GNU_SOURCE
#include "perfex.h"
#include "../lib/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perfctr.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct option_row rows[] = {
	{ 0 },
};

static int revoke_main(int argc, char **argv);

const struct subcommand revoke_subcommand = {
	.name = "revoke",
	.summary = "take the counters back from everybody",
	.main = revoke_main,
	.help = "Usage: perfex revoke [COMMAND [ARGUMENT]..]\n"
		"Stop all contexts and sessions that count events.  Their sums stay right, and are\n"
		"marked as incomplete.  Nothing can be started again while COMMAND runs.  This needs\n"
		"CAP_PERFMON.\n",
	.options = rows,
};

static int run_command(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		fail("cannot start %s: %m", command[0]);
	if (pid == 0) {
		execvp(command[0], command);
		fail("cannot execute %s: %m", command[0]);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("cannot wait for %s: %m", command[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int revoke_main(int argc, char **argv)
{
	int n = take_options(&revoke_subcommand, NULL, argc, argv), device, status = 0;

	device = open(DEVICE, O_RDONLY | O_CLOEXEC);
	if (device < 0 && errno == ENOENT) {
		char error[256];

		perfctr_open_error_with(DRIVER, ENODEV, error, sizeof(error));
		fail("%s", error);
	}
	if (device < 0 || ioctl(device, PERFCTR_IOC_REVOKE) < 0) {
		if (errno == EACCES)
			fail("perfex revoke needs CAP_PERFMON: run it as %s", perfctr_root());
		fail("cannot take the counters back: " DEVICE ": %m");
	}
	if (n < argc)
		status = run_command(argv + n);
	close(device);
	return status;
}
