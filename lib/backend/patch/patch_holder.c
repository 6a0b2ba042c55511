// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: names the process that counts the caller already. */
#include "patch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_HOLDERS = 64 };

/* Returns 0 if there is none, or none that can be seen. */
static pid_t parent_of(pid_t pid)
{
	char path[32];
	FILE *file;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

/* Does another process count this one, or one that has started it? */
static bool counts_caller(const struct perfctr_holder *holder)
{
	bool others =
		holder->type == PERFCTR_HOLDS_CONTEXT && holder->pid && holder->pid != getpid();

	for (pid_t pid = getpid(); others && pid > 0; pid = parent_of(pid))
		if (pid == holder->pid || pid == holder->tid)
			return true;
	return false;
}

bool perfctr_patch_name_holder(char *text, size_t size)
{
	struct perfctr_holder holder[MOST_HOLDERS];
	struct perfctr_holders holders = {
		.size = sizeof(holders),
		.room = MOST_HOLDERS,
		.holders = (uintptr_t)holder,
	};
	int device = open(PERFCTR_DEVICE, O_RDONLY | O_CLOEXEC);

	if (device < 0 || ioctl(device, PERFCTR_IOC_HOLDERS, &holders) < 0)
		holders.n = 0;
	if (device >= 0)
		close(device);
	for (uint32_t i = 0; i < holders.n && i < MOST_HOLDERS; i++) {
		if (!counts_caller(&holder[i]))
			continue;
		snprintf(text, size, "process %d (%.*s)", holder[i].pid,
			 (int)sizeof(holder[i].comm), holder[i].comm);
		/* A process chooses its name, which may have control characters. */
		for (; *text; text++)
			if ((unsigned char)*text < ' ' || *text == 0x7f)
				*text = '?';
		return true;
	}
	return false;
}
