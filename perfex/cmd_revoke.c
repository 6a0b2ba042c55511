// SPDX-License-Identifier: GPL-2.0-or-later
/* Who holds the counters of the patch's driver, and how the administrator takes them back. */
#define _GNU_SOURCE
#include "perfex.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perfctr.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE "/dev/perfctr"

/* Those that there are now, or fewer when memory is short; NULL: none, or there is no driver. */
static struct perfctr_holder *get_holders(uint32_t *n)
{
	struct perfctr_holders holders = { .size = sizeof(holders), .room = 64 };
	int device = open(DEVICE, O_RDONLY | O_CLOEXEC);
	struct perfctr_holder *holder = NULL;

	*n = 0;
	if (device < 0)
		return NULL;
	for (;;) {
		holders.n = 0;
		holder = calloc(holders.room, sizeof(*holder));
		holders.holders = (uintptr_t)holder;
		if (!holder || ioctl(device, PERFCTR_IOC_HOLDERS, &holders) < 0)
			break;
		*n = holders.n < holders.room ? holders.n : holders.room;
		if (holders.n <= holders.room)
			break;
		free(holder);
		holders.room = 2 * holders.n;
	}
	close(device);
	return holder;
}

/* Those of the machine: for others getpwuid() would need the shared C library. */
static void print_user(uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd entry = { 0 }, *user = NULL;
	char text[1024];

	while (file && fgetpwent_r(file, &entry, text, sizeof(text), &user) == 0 &&
	       entry.pw_uid != uid)
		;
	if (user)
		printf("%s", user->pw_name);
	else
		printf("%u", uid);
	if (file)
		fclose(file);
}

static void print_holder(const struct perfctr_holder *holder)
{
	printf("held by process %d (%.*s) of ", holder->pid, (int)sizeof(holder->comm),
	       holder->comm);
	print_user(holder->uid);
	fputs(": ", stdout);
	if (holder->kind == PERFCTR_HOLDS_SESSION)
		printf("a session");
	else
		printf("%u threads", holder->started);
	printf(", counters 0x%llx\n", (unsigned long long)holder->counters);
}

void print_holders(void)
{
	struct perfctr_holder *holder;
	uint32_t n;

	holder = get_holders(&n);
	for (uint32_t i = 0; i < n; i++)
		print_holder(&holder[i]);
	free(holder);
}

static const struct option_rule rules[] = {
	{ 0 },
};

static int revoke_main(int argc, char **argv);

const struct subcommand revoke_subcommand = {
	.name = "revoke",
	.summary = "take the counters back from all who count events",
	.main = revoke_main,
	.help = "Usage: perfex revoke [COMMAND [ARGUMENT]..]\n"
		"Stop all contexts and sessions that count events.  Their sums stay right, and say that\n"
		"they cover a shorter time.  Nothing can be started again while COMMAND runs.  This needs\n"
		"CAP_PERFMON.\n",
	.options = rules,
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

		perfctr_open_error_with("patch", ENODEV, error, sizeof(error));
		fail("%s", error);
	}
	if (device < 0 || ioctl(device, PERFCTR_IOC_REVOKE) < 0)
		fail(errno == EACCES ? "perfex revoke needs CAP_PERFMON: run it as root"
				     : "cannot take the counters back: " DEVICE ": %m");
	if (n < argc)
		status = run_command(argv + n);
	close(device);
	return status;
}
