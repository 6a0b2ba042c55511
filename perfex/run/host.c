// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the machine that counts: host name, kernel, CPU and rank. */
#define _GNU_SOURCE
#include "rank.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Takes the name of the first processor from its line "model name\t: NAME" of /proc/cpuinfo. */
static void find_cpu(char *name, size_t size)
{
	static const char key[] = "model name";
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *value;
	size_t room = 0;

	while (file && !*name && getline(&line, &room, file) >= 0) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		value = line + strcspn(line, ":");
		value += strspn(value, ": ");
		snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
	}
	free(line);
	if (file)
		fclose(file);
}

void host_find(struct host *host)
{
	struct utsname name = { 0 };

	uname(&name);
	snprintf(host->name, sizeof(host->name), "%s", name.nodename);
	snprintf(host->kernel, sizeof(host->kernel), "%s", name.release);
	find_cpu(host->cpu, sizeof(host->cpu));
	host->has_rank = rank_find(&host->rank);
}
