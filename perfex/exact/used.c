// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the files that COMMAND uses when it runs on the host. */
#define _GNU_SOURCE
#include "../textfile.h"
#include "exact.h"
#include "tracer.h"

#include <asm/unistd_64.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* System calls that use a file: which argument is its path, and which its directory. */
static const struct using_call {
	unsigned short number;
	signed char path, directory; /* -1: the current one */
} using_calls[] = {
	{ __NR_access, 0, -1 },	   { __NR_chdir, 0, -1 },     { __NR_execve, 0, -1 },
	{ __NR_execveat, 1, 0 },   { __NR_faccessat, 1, 0 },  { __NR_faccessat2, 1, 0 },
	{ __NR_getxattr, 0, -1 },  { __NR_lgetxattr, 0, -1 }, { __NR_lstat, 0, -1 },
	{ __NR_newfstatat, 1, 0 }, { __NR_open, 0, -1 },      { __NR_openat, 1, 0 },
	{ __NR_openat2, 1, 0 },	   { __NR_readlink, 0, -1 },  { __NR_readlinkat, 1, 0 },
	{ __NR_stat, 0, -1 },	   { __NR_statfs, 0, -1 },    { __NR_statx, 1, 0 },
	{ __NR_truncate, 0, -1 },  { __NR_mkdir, 0, -1 },     { __NR_mkdirat, 1, 0 },
	{ __NR_rename, 1, -1 },	   { __NR_renameat, 3, 2 },   { __NR_renameat2, 3, 2 },
	{ __NR_link, 1, -1 },	   { __NR_linkat, 3, 2 },     { __NR_symlink, 1, -1 },
	{ __NR_symlinkat, 2, 1 },  { __NR_creat, 0, -1 },     { __NR_mknod, 0, -1 },
	{ __NR_mknodat, 1, 0 },
};

/*
 * These hold what is of the host alone.  The machine has users of its own, and its loader needs no
 * cache.
 */
static const char *const hosts_own[] = { "/etc/group", "/etc/ld.so.cache", "/etc/passwd" };

enum { PROGRAM = 'p', OTHER_FILE = 'f' };

/* What the process that follows COMMAND finds.  The trees are of tsearch(3). */
struct finding {
	void *missing; /* paths, without links, of files that were not there at their first use */
	void *noted;   /* the strings of "found" */
	int found;     /* file with strings: PROGRAM or OTHER_FILE, and a path as it was used */
};

static int compare_strings(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Takes the string, which is from malloc().  Returns true if it was not in the tree. */
static bool insert(void **tree, char *string)
{
	char **found = tsearch(string, tree, compare_strings);

	if (!found)
		fail("out of memory");
	if (*found == string)
		return true;
	free(string);
	return false;
}

static const struct using_call *find_call(uint64_t number)
{
	for (size_t i = 0; i < sizeof(using_calls) / sizeof(using_calls[0]); i++)
		if (using_calls[i].number == number)
			return &using_calls[i];
	return NULL;
}

/* Reads the link /proc/THREAD/NAME to a directory.  Returns false if there is none. */
static bool read_directory(pid_t thread, const char *name, char *directory, size_t size)
{
	char *link = text_print("/proc/%d/%s", (int)thread, name);
	ssize_t n = readlink(link, directory, size - 1);

	free(link);
	directory[n > 0 ? n : 0] = '\0';
	return n > 0 && *directory == '/';
}

/* Returns the absolute path of the file, for free(); NULL if there is none. */
static char *find_path(const struct traced_call *call, const struct using_call *using)
{
	char path[PATH_MAX], directory[PATH_MAX], name[32] = "cwd";

	if (!traced_string(call->thread, call->arguments[using->path], path, sizeof(path)) ||
	    !*path)
		return NULL;
	if (*path == '/')
		return text_print("%s", path);
	if (using->directory >= 0 && (int)call->arguments[using->directory] != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", (int)call->arguments[using->directory]);
	if (!read_directory(call->thread, name, directory, sizeof(directory)))
		return NULL;
	return text_print("%s/%s", directory, path);
}

/* Returns the path without links on the way to the file, for free(); NULL if there is none. */
static char *resolve(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char *above, *directory, *resolved;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return realpath(path, NULL);
	above = text_print("%.*s", (int)(name - path), path);
	directory = realpath(above, NULL);
	resolved = directory ? text_print("%s/%s", directory, name) : NULL;
	free(directory);
	free(above);
	return resolved;
}

/*
 * Notes the file if it is there at its first use.  If it is not, COMMAND itself makes it, and does
 * so in the machine, too.
 */
static void note_file(struct finding *finding, const char *path, char kind)
{
	char *resolved = resolve(path);
	struct stat status;

	if (!resolved)
		return;
	if (lstat(resolved, &status) < 0) {
		insert(&finding->missing, resolved);
		return;
	}
	if (!tfind(resolved, &finding->missing, compare_strings)) {
		char *note = text_print("%c%s", kind, path);

		if (insert(&finding->noted, note))
			write_all(finding->found, note, strlen(note) + 1);
	}
	free(resolved);
}

static void note_call(void *context, const struct traced_call *call)
{
	const struct using_call *using = find_call(call->number);
	char *path = using ? find_path(call, using) : NULL;

	if (!path)
		return;
	note_file(context, path,
		  using->number == __NR_execve || using->number == __NR_execveat ? PROGRAM
										 : OTHER_FILE);
	free(path);
}

static bool is_hosts_own(const char *path)
{
	for (size_t i = 0; i < sizeof(hosts_own) / sizeof(hosts_own[0]); i++)
		if (strcmp(hosts_own[i], path) == 0)
			return true;
	return false;
}

/* Reads what the process that followed COMMAND has written. */
static void add_found(struct files *files, int fd)
{
	FILE *found = fdopen(fd, "r");
	char *note = NULL;
	size_t size = 0;

	if (!found)
		fail("out of memory");
	rewind(found);
	while (getdelim(&note, &size, '\0', found) > 0)
		if (!is_hosts_own(note + 1))
			needs_used(files, note + 1, *note == PROGRAM);
	free(note);
	fclose(found);
}

static bool has_variable(char *const *environment, const char *variable)
{
	size_t length = strcspn(variable, "=") + 1;

	for (; *environment; environment++)
		if (strncmp(*environment, variable, length) == 0)
			return true;
	return false;
}

/* Returns the machine's environment with the caller's PATH, for free(). */
static char **make_environment(const struct files *files, char *path)
{
	size_t n = 0;
	char **environment;

	while (files->environment[n])
		n++;
	environment = allocate(n + 2, sizeof(char *));
	memcpy(environment, files->environment, n * sizeof(char *));
	if (!has_variable(environment, path))
		environment[n] = path;
	return environment;
}

static void tell_of_failure(int status)
{
	if (WIFSIGNALED(status))
		complain("warning: a signal has ended COMMAND on the host: %s",
			 strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		complain("warning: COMMAND has ended on the host with status %d",
			 WEXITSTATUS(status));
}

void used_add(struct files *files, const char *program, char *const *command, int input)
{
	struct finding finding = { .found = memfd_create("perfctr-found", MFD_CLOEXEC) };
	char *path = text_print("PATH=%s", needs_callers_path());
	char **environment = make_environment(files, path);
	const struct traced traced = { .program = program,
				       .command = command,
				       .environment = environment,
				       .input = input,
				       .call = note_call,
				       .context = &finding };
	off_t start = lseek(input, 0, SEEK_CUR);
	int status;

	if (finding.found < 0)
		fail("out of memory");
	status = trace_command(&traced);
	if (status < 0)
		fail("--find-files: cannot follow COMMAND by ptrace(2): %m; give its files by "
		     "--with=PATH");
	tell_of_failure(status);
	lseek(input, start, SEEK_SET);
	add_found(files, finding.found);
	free(environment);
	free(path);
}
