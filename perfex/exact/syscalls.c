// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts the system calls of a command by their numbers, and names them. */
#define _GNU_SOURCE
#include "syscalls.h"
#include "../path.h"
#include "../textfile.h"
#include "tracer.h"

#include <asm/unistd_64.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linux has less than 500.  Larger numbers are no system calls, and share the last count. */
enum { MAX_NUMBER = 1023 };

/* In memory that the process that follows the command shares with perfex. */
struct counting {
	uint64_t count[MAX_NUMBER + 1];
	bool has_begun;
};

static void count_call(void *context, const struct traced_call *call)
{
	struct counting *counting = context;

	counting->has_begun |= call->number == __NR_execve;
	if (counting->has_begun)
		counting->count[call->number < MAX_NUMBER ? call->number : MAX_NUMBER]++;
}

static bool write_counts(const struct counting *counting, const char *path)
{
	struct text text;
	bool written;

	text_open(&text);
	for (unsigned int number = 0; number <= MAX_NUMBER; number++)
		if (counting->count[number])
			fprintf(text.file, "%u %" PRIu64 "\n", number, counting->count[number]);
	text_close(&text);
	written = textfile_output(path, text.text, text.size);
	free(text.text);
	return written;
}

int syscalls_count(char *const *command, const char *input, const char *file)
{
	struct counting *counting = mmap(NULL, sizeof(*counting), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *here = getcwd(NULL, 0);
	char *program = path_find_program(getenv("PATH"), here ? here : "/", command[0]);
	const struct traced traced = {
		.program = program,
		.command = command,
		.environment = environ,
		.input = input ? open(input, O_RDONLY | O_CLOEXEC) : -1,
		.keeps_outputs = true,
		.call = count_call,
		.context = counting,
	};
	int status, ended_by;

	if (counting == MAP_FAILED)
		fail("out of memory");
	if (!program) {
		complain("%s: %m", command[0]);
		return EXIT_NOT_FOUND;
	}
	status = trace_command(&traced, &ended_by);
	if (ended_by)
		return exit_as(W_EXITCODE(0, ended_by));
	if (status < 0)
		fail("cannot follow COMMAND by ptrace(2): %m");
	if (!write_counts(counting, file))
		fail("cannot write '%s': %m", file);
	free(program);
	free(here);
	munmap(counting, sizeof(*counting));
	return exit_as(status);
}

enum { NAME_SIZE = 48 };

/* Reads the machine's table, which has lines "NUMBER NAME". */
static void read_names(const struct machine *machine, char (*names)[NAME_SIZE])
{
	char *path = machine_file(machine, "syscalls"), name[NAME_SIZE];
	FILE *file = fopen(path, "re");
	unsigned int number;

	if (!file)
		fail("cannot read %s: %m; make machine makes it", path);
	while (fscanf(file, "%u %47s", &number, name) == 2)
		if (number < MAX_NUMBER)
			strcpy(names[number], name);
	fclose(file);
	free(path);
}

char *syscalls_name(const struct machine *machine, const struct machine_text *counts)
{
	char(*names)[NAME_SIZE] = allocate(MAX_NUMBER + 1, NAME_SIZE);
	char *lines = text_print("%.*s", (int)counts->size, counts->text), *rest = lines, *line;
	unsigned int number;
	struct text named;
	uint64_t count;

	read_names(machine, names);
	snprintf(names[MAX_NUMBER], NAME_SIZE, "%d+", MAX_NUMBER);
	text_open(&named);
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%u %" SCNu64, &number, &count) != 2 || number > MAX_NUMBER)
			continue;
		if (!*names[number])
			snprintf(names[number], NAME_SIZE, "%u", number);
		fprintf(named.file, "%u %s %" PRIu64 "\n", number, names[number], count);
	}
	free(lines);
	free(names);
	return text_close(&named);
}
