// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows which processes hold the counters of the kernel driver. */
#define _GNU_SOURCE
#include "perfex.h"
#include "../lib/holders.h"
#include "../lib/privilege.h"

#include <dirent.h>
#include <linux/perfctr.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOLD 4 /* most holders that one error message names */

/*
 * Writes the name of a user in /etc/passwd, or else the number.  getpwuid() also knows other users,
 * but needs the shared C library for them.
 */
static void write_user(FILE *to, uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd entry = { 0 }, *user = NULL;
	char text[1024];

	while (file && fgetpwent_r(file, &entry, text, sizeof(text), &user) == 0 &&
	       entry.pw_uid != uid)
		;
	if (user)
		fprintf(to, "%s", user->pw_name);
	else
		fprintf(to, "%u", uid);
	if (file)
		fclose(file);
}

static bool read_line(FILE *file, const char *name, char *value, size_t size)
{
	char line[512];
	size_t length = strlen(name);

	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, length) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, size, "%s", line + length);
		return true;
	}
	return false;
}

/*
 * Returns true if path describes a descriptor of a session with these counters.  Writes the list of
 * the session's CPUs into cpus.
 */
static bool describes_session(const char *path, uint64_t counters, char *cpus, size_t size)
{
	FILE *file = fopen(path, "re");
	char text[32];
	bool found;

	if (!file)
		return false;
	found = read_line(file, "perfctr-counters:\t", text, sizeof(text)) &&
		strtoull(text, NULL, 16) == counters &&
		read_line(file, "perfctr-cpus:\t", cpus, size);
	fclose(file);
	return found;
}

/*
 * Writes the list of the CPUs of the holder's session into cpus.  Writes "" if the session has all
 * possible CPUs, or if no descriptor of it can be seen in the holder's process.
 */
static void find_cpus(const struct perfctr_holder *holder, char *cpus, size_t size)
{
	FILE *possible = fopen("/sys/devices/system/cpu/possible", "re");
	char directory[32], path[64], all[256] = "";
	const struct dirent *entry;
	bool found = false;
	DIR *dir;

	if (possible) {
		read_line(possible, "", all, sizeof(all));
		fclose(possible);
	}
	snprintf(directory, sizeof(directory), "/proc/%d/fdinfo", holder->pid);
	dir = opendir(directory);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%.16s", directory, entry->d_name);
		found = describes_session(path, holder->counters, cpus, size);
	}
	if (dir)
		closedir(dir);
	if (!found || strcmp(cpus, all) == 0)
		*cpus = '\0';
}

static void write_holder(FILE *to, const struct perfctr_holder *holder)
{
	char cpus[256];

	fprintf(to, "held by process %d (%.*s) of ", holder->pid, (int)sizeof(holder->comm),
		holder->comm);
	write_user(to, holder->uid);
	fputs(": ", to);
	if (holder->type == PERFCTR_HOLDS_SESSION) {
		find_cpus(holder, cpus, sizeof(cpus));
		fprintf(to, "a session%s%s", *cpus ? " on CPUs " : "", cpus);
	} else {
		fprintf(to, "%u thread%s", holder->started, holder->started == 1 ? "" : "s");
	}
	fprintf(to, ", counters 0x%llx", (unsigned long long)holder->counters);
}

void print_holders(void)
{
	struct perfctr_holder *holder;
	uint32_t n;

	holder = perfctr_list_holders(&n);
	for (uint32_t i = 0; i < n; i++) {
		write_holder(stdout, &holder[i]);
		putchar('\n');
	}
	free(holder);
}

char *name_holders(bool wanted)
{
	struct perfctr_holder *holder;
	struct text text;
	FILE *to = text_open(&text);
	uint32_t n;

	if (!wanted)
		return text_close(&text);
	holder = perfctr_list_holders(&n);
	for (uint32_t i = 0; i < n && i < MOST_TOLD; i++) {
		fputs("; ", to);
		write_holder(to, &holder[i]);
	}
	if (n > MOST_TOLD)
		fprintf(to, "; and %u more, see: perfex info", n - MOST_TOLD);
	free(holder);
	fprintf(to,
		n ? "; end them, or as %s: perfex revoke"
		  : "; %s sees who, by: perfex info, and takes them back by: perfex revoke",
		perfctr_root());
	return text_close(&text);
}
