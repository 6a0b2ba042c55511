// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the system calls that perfex exact has counted. */
#include "syscalls.h"
#include "../perfex.h"

#include <inttypes.h>
#include <stdlib.h>

static bool take_line(struct syscalls *syscalls, const char *line)
{
	struct syscall_count call;

	if (*line == '\n')
		return true;
	if (sscanf(line, "%u %47s %" SCNu64, &call.number, call.name, &call.count) != 3)
		return false;
	syscalls->call = grow(syscalls->call, syscalls->n, sizeof(*syscalls->call));
	syscalls->call[syscalls->n++] = call;
	syscalls->total += call.count;
	return true;
}

bool syscalls_read(struct syscalls *syscalls, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool good = true;

	if (!file) {
		complain("cannot read the system calls in %s: %m", path);
		return false;
	}
	while (good && getline(&line, &size, file) > 0)
		good = take_line(syscalls, line);
	if (!good)
		complain("the system calls in %s cannot be read", path);
	free(line);
	fclose(file);
	return good;
}
