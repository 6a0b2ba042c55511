// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of the machine, on which only the benchmarks run. Their output goes to the second
 * serial line, and ends with the line "end" if all is well.
 */
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define RESULT_LINE "/dev/ttyS1"

static void mount_on(const char *target, const char *type)
{
	if (mount(type, target, type, 0, NULL) < 0)
		err(1, "%s", target);
}

static void open_result(void)
{
	struct termios line;
	int fd = open(RESULT_LINE, O_WRONLY | O_NOCTTY);

	if (fd < 0 || tcgetattr(fd, &line) < 0)
		err(1, RESULT_LINE);
	cfmakeraw(&line);
	tcsetattr(fd, TCSANOW, &line);
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

/* Returns in a child process, which does the work. */
static void fork_worker(void)
{
	pid_t worker = fork();
	int status = -1;

	if (worker < 0)
		err(1, "fork");
	if (worker == 0)
		return;
	waitpid(worker, &status, 0);
	if (status == 0 && write(STDOUT_FILENO, "end\n", 4) == 4)
		tcdrain(STDOUT_FILENO);
	reboot(RB_AUTOBOOT);
}

void boot_machine(void)
{
	mount_on("/dev", "devtmpfs");
	mount_on("/proc", "proc");
	mount_on("/sys", "sysfs");
	setenv("PATH", "/bin", 1);
	open_result();
	fork_worker();
}
