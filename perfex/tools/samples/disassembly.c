// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "disassembly.h"
#include "../../perfex.h"
#include "../../textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Starts objdump, and returns its pid.  The caller reads the text of objdump from the descriptor
 * *output.  Ends perfex if objdump cannot be started.
 */
static pid_t start_objdump(const char *path, uint64_t start, uint64_t end, int *output)
{
	char *from = text_print("--start-address=%#" PRIx64, start);
	char *to = text_print("--stop-address=%#" PRIx64, end);
	char *file = text_print("%s", path);
	char *argv[] = { "objdump", "-d", "-C", "--no-show-raw-insn", "-w", from, to,
			 "--",	    file, NULL };
	posix_spawn_file_actions_t actions;
	int error, ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("cannot start objdump: %m");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	free(from);
	free(to);
	free(file);
	if (error)
		fail("cannot start objdump: %s%s", strerror(error),
		     error == ENOENT ? "; instructions need binutils" : "");
	*output = ends[0];
	return pid;
}

/*
 * Adds a line like "    1140:\tmov    $0x1,%eax\n".  Ignores all other lines, which are headings.
 */
static void add_line(struct disassembly *disassembly, char *line)
{
	struct instruction instruction;
	char *end;

	instruction.address = strtoull(line, &end, 16);
	if (end == line || strncmp(end, ":\t", 2) != 0)
		return;
	end += 2;
	end[strcspn(end, "\n")] = '\0';
	for (char *tab = end; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	instruction.text = text_print("%s", end);
	disassembly->instruction =
		grow(disassembly->instruction, disassembly->n, sizeof(*disassembly->instruction));
	disassembly->instruction[disassembly->n++] = instruction;
}

struct disassembly disassembly_make(const char *path, uint64_t start, uint64_t end)
{
	struct disassembly disassembly = { 0 };
	int output, status;
	pid_t pid = start_objdump(path, start, end, &output);
	FILE *file = fdopen(output, "r");
	size_t size = 0;
	char *line = NULL;

	if (!file)
		fail("cannot read what objdump writes: %m");
	while (getline(&line, &size, file) > 0)
		add_line(&disassembly, line);
	free(line);
	fclose(file);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status || !disassembly.n)
		fail("objdump finds no instructions in '%s' from %" PRIx64 " to %" PRIx64, path,
		     start, end);
	return disassembly;
}

void disassembly_free(struct disassembly *disassembly)
{
	for (size_t i = 0; i < disassembly->n; i++)
		free(disassembly->instruction[i].text);
	free(disassembly->instruction);
}
