// SPDX-License-Identifier: GPL-2.0-or-later
#include "syscalls.h"
#include "../run/syscalls.h"

#include <stdlib.h>

/* scripts/build-machine makes this file. */
#define NAMES "syscalls"

void syscalls_add_names(struct archive *archive, const struct machine *machine)
{
	machine_add(archive, machine, NAMES, SYSCALL_NAMES);
}

bool syscalls_has_name(const struct machine *machine, const char *name)
{
	char *path = machine_file(machine, NAMES);
	FILE *table = fopen(path, "re");
	bool found;

	if (!table)
		fail("cannot read %s: %m; make machine makes it", path);
	found = syscalls_is_name(table, name);
	fclose(table);
	free(path);
	return found;
}
