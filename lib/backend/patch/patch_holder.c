// SPDX-License-Identifier: LGPL-2.1-or-later
/* The kernel patch: names the process that counts the caller already. */
#include "../../holders.h"
#include "patch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns 0 if there is none, or none that can be seen. */
static pid_t parent_of(pid_t pid)
{
	char path[32], line[128];
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file) && sscanf(line, "PPid:%d", &parent) != 1)
		;
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

static void write_name(const struct perfctr_holder *holder, char *text, size_t size)
{
	snprintf(text, size, "process %d (%.*s)", holder->pid, (int)sizeof(holder->comm),
		 holder->comm);
	/* A process chooses its name, which may have control characters. */
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

bool perfctr_patch_name_holder(char *text, size_t size)
{
	uint32_t n, i;
	struct perfctr_holder *holder = perfctr_list_holders(&n);

	for (i = 0; i < n && !counts_caller(&holder[i]); i++)
		;
	if (i < n)
		write_name(&holder[i], text, size);
	free(holder);
	return i < n;
}
