// SPDX-License-Identifier: GPL-2.0-or-later
/* A command under perfex and under perf stat, including the launcher's own start and output. */
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 7

extern char **environ;

/* Raw event c0: instructions retired, in user mode. */
static char *const launchers[N_BY][8] = {
	[BY_NOTHING] = { "true" },
	[BY_PERFCTR] = { "perfex", "-e", "0x004100c0", "true" },
	[BY_PERF_EVENTS] = { "perf", "stat", "-e", "r00c0:u", "true" },
};

/* perf may be missing: it is not needed for the bars. */
static bool is_there(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/bin/%s", name);
	return access(path, X_OK) == 0;
}

static void launch(void *argument)
{
	char *const *command = argument;
	posix_spawn_file_actions_t actions;
	int status, error;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		errx(1, "%s cannot be started", command[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "%s: wait status %#x", command[0], status);
}

void bench_launches(const struct options *options)
{
	(void)options;
	for (enum by by = BY_NOTHING; by < N_BY; by++) {
		struct cost cost;

		if (!wanted(by) || !is_there(launchers[by][0]))
			continue;
		cost = measure(launch, (void *)launchers[by], ROUNDS);
		print_row("launch", "true", 1, by ? "all; inherited" : "none", !!by, by, &cost);
	}
}
