// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay TARGET FILE...: gives each file to the parser, in a process of its own, with a time limit.
 * Writes "ok FILE" or "FAILED FILE" for each.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../perfex/textfile.h"

#define LIMIT_SECONDS 60

static int replay(const struct target *target, const char *path)
{
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text) {
		perror(path);
		return EXIT_FAILURE;
	}
	alarm(LIMIT_SECONDS);
	target->take(text, length);
	free(text);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct target *target = find_target(argc > 1 ? argv[1] : "");
	int failed = 0;

	if (!target)
		return EXIT_FAILURE;
	for (int i = 2; i < argc; i++) {
		int status = -1;
		pid_t pid = fork();

		if (pid == 0)
			exit(replay(target, argv[i]));
		if (pid > 0)
			waitpid(pid, &status, 0);
		printf("%s  %s\n", status ? "FAILED" : "ok    ", argv[i]);
		fflush(stdout);
		failed += status != 0;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
