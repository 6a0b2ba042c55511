// SPDX-License-Identifier: LGPL-2.1-or-later
#define _GNU_SOURCE
#include "linux.h"

#include <cpuid.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PERFCTR_LINUX_DIRECTORY
#define PERFCTR_LINUX_DIRECTORY "/usr/local/share/perfctr/linux-events"
#endif

/*
 * Returns share/perfctr/linux-events beside the directory of the program, as in a build tree.  If
 * that does not exist, returns the directory where the tables are installed.
 */
static char *find_directory(void)
{
	const char *chosen = secure_getenv("PERFCTR_LINUX_EVENTS");
	char program[4096], *path = NULL;
	ssize_t length;

	if (chosen)
		return strdup(chosen);
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (length > 0) {
		program[length] = '\0';
		for (int up = 0; up < 2 && strrchr(program, '/'); up++)
			*strrchr(program, '/') = '\0';
		if (asprintf(&path, "%s/share/perfctr/linux-events", program) < 0)
			return NULL;
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return strdup(PERFCTR_LINUX_DIRECTORY);
}

/* "GenuineIntel-6-55-4": vendor, family, model, stepping, as perf names processors. */
static bool name_processor(char *name, size_t size)
{
	const char *chosen = secure_getenv("PERFCTR_CPUID");
	unsigned int eax, ebx, ecx, edx, vendor[3], family, model;

	if (chosen) {
		snprintf(name, size, "%s", chosen);
		return true;
	}
	if (secure_getenv("LIBPFM_FORCE_PMU"))
		return false;
	__cpuid(0, eax, vendor[0], vendor[2], vendor[1]);
	__cpuid(1, eax, ebx, ecx, edx);
	family = eax >> 8 & 0xf;
	model = eax >> 4 & 0xf;
	if (family == 0xf || family == 6)
		model |= eax >> 12 & 0xf0;
	if (family == 0xf)
		family += eax >> 20 & 0xff;
	snprintf(name, size, "%.12s-%u-%X-%X", (const char *)vendor, family, model, eax & 0xf);
	return true;
}

/* A pattern that has no stepping matches any stepping. */
static bool is_processor(const char *pattern, const char *name)
{
	char *whole;
	regex_t regex;
	bool matches;

	if (asprintf(&whole, "^(%s)(-[0-9A-F]+)?$", pattern) < 0)
		return false;
	matches = regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB) == 0;
	if (matches) {
		matches = regexec(&regex, name, 0, NULL, 0) == 0;
		regfree(&regex);
	}
	free(whole);
	return matches;
}

/*
 * Looks for the first line of the index, "PATTERN TABLE", that matches this processor.  Returns the
 * path of the table.
 */
static char *look_up_table(FILE *index, const char *directory, const char *name)
{
	char pattern[128], table[64], *path = NULL;

	while (fscanf(index, "%127s %63s", pattern, table) == 2)
		if (is_processor(pattern, name))
			return asprintf(&path, "%s/%s.tbl", directory, table) < 0 ? NULL : path;
	return NULL;
}

char *perfctr_linux_table(void)
{
	char name[64], *directory, *path = NULL, *index_path = NULL;
	FILE *index;

	if (!name_processor(name, sizeof(name)))
		return NULL;
	directory = find_directory();
	if (!directory || asprintf(&index_path, "%s/index", directory) < 0) {
		free(directory);
		return NULL;
	}
	index = fopen(index_path, "re");
	if (index) {
		path = look_up_table(index, directory, name);
		fclose(index);
	}
	free(index_path);
	free(directory);
	return path;
}
