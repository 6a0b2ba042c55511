// SPDX-License-Identifier: GPL-2.0-or-later
#include "samples_format.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int is_samples_file(const char *path)
{
	char head[sizeof(SAMPLES_HEAD)] = "";
	struct stat status;
	FILE *file;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	file = fopen(path, "re");
	if (!file)
		return -1;
	fread(head, 1, strlen(SAMPLES_HEAD), file);
	fclose(file);
	return strcmp(head, SAMPLES_HEAD) == 0;
}
