// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the files that COMMAND uses when it runs on the host. */
#define _GNU_SOURCE
#include "../textfile.h"
#include "exact.h"
#include "tracer.h"

#include <asm/unistd_64.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
	{ __NR_access, 0, -1 },	     { __NR_chdir, 0, -1 },	 { __NR_chmod, 0, -1 },
	{ __NR_chown, 0, -1 },	     { __NR_chroot, 0, -1 },	 { __NR_creat, 0, -1 },
	{ __NR_execve, 0, -1 },	     { __NR_execveat, 1, 0 },	 { __NR_faccessat, 1, 0 },
	{ __NR_faccessat2, 1, 0 },   { __NR_fchmodat, 1, 0 },	 { __NR_fchownat, 1, 0 },
	{ __NR_futimesat, 1, 0 },    { __NR_getxattr, 0, -1 },	 { __NR_inotify_add_watch, 1, -1 },
	{ __NR_lchown, 0, -1 },	     { __NR_lgetxattr, 0, -1 },	 { __NR_link, 0, -1 },
	{ __NR_link, 1, -1 },	     { __NR_linkat, 1, 0 },	 { __NR_linkat, 3, 2 },
	{ __NR_listxattr, 0, -1 },   { __NR_llistxattr, 0, -1 }, { __NR_lremovexattr, 0, -1 },
	{ __NR_lsetxattr, 0, -1 },   { __NR_lstat, 0, -1 },	 { __NR_mkdir, 0, -1 },
	{ __NR_mkdirat, 1, 0 },	     { __NR_mknod, 0, -1 },	 { __NR_mknodat, 1, 0 },
	{ __NR_newfstatat, 1, 0 },   { __NR_open, 0, -1 },	 { __NR_openat, 1, 0 },
	{ __NR_openat2, 1, 0 },	     { __NR_readlink, 0, -1 },	 { __NR_readlinkat, 1, 0 },
	{ __NR_removexattr, 0, -1 }, { __NR_rename, 0, -1 },	 { __NR_rename, 1, -1 },
	{ __NR_renameat, 1, 0 },     { __NR_renameat, 3, 2 },	 { __NR_renameat2, 1, 0 },
	{ __NR_renameat2, 3, 2 },    { __NR_rmdir, 0, -1 },	 { __NR_setxattr, 0, -1 },
	{ __NR_stat, 0, -1 },	     { __NR_statfs, 0, -1 },	 { __NR_statx, 1, 0 },
	{ __NR_symlink, 1, -1 },     { __NR_symlinkat, 2, 1 },	 { __NR_truncate, 0, -1 },
	{ __NR_unlink, 0, -1 },	     { __NR_unlinkat, 1, 0 },	 { __NR_utime, 0, -1 },
	{ __NR_utimensat, 1, 0 },    { __NR_utimes, 0, -1 },
};

/*
 * These hold what is of the host alone.  The machine has users of its own, and its loader needs no
 * cache.
 */
static const char *const hosts_own[] = { "/etc/group", "/etc/ld.so.cache", "/etc/passwd" };

/* The first letter of a note. */
enum { OTHER_FILE = 'f', LEADS_OUT = 'l', PROGRAM = 'p' };

/* In the process that follows COMMAND.  The sets are those of names.h. */
struct finding {
	const struct files *files; /* of the machine, without those that are found */
	const char *home;	   /* that COMMAND has on the host alone */
	void *seen;		   /* set of letters of notes, and paths as they were used */
	void *missing; /* set of paths, without links, of files that were not there at first */
	int notes;     /* file of strings: a letter, the time of the last change, a blank, a path */
};

/* Reads the link /proc/THREAD/NAME to a directory.  Returns false if there is none. */
static bool read_directory(pid_t thread, const char *name, char *directory, size_t size)
{
	char *link = text_print("/proc/%d/%s", (int)thread, name);
	ssize_t n = readlink(link, directory, size - 1);

	free(link);
	directory[n > 0 ? n : 0] = '\0';
	return n > 0 && *directory == '/';
}

/*
 * Returns the absolute path of the file, for free(); NULL if there is none.  Sets *leads_out if it
 * is relative, and leaves the directory that has another name in the machine.
 */
static char *find_path(const struct finding *finding, const struct traced_call *call,
		       const struct using_call *using, bool *leads_out)
{
	char path[PATH_MAX], directory[PATH_MAX], name[32] = "cwd";
	const struct renamed *renamed = &finding->files->renamed;

	if (!traced_string(call->thread, call->arguments[using->path], path, sizeof(path)) ||
	    !*path)
		return NULL;
	if (*path == '/') {
		bool has_root = read_directory(call->thread, "root", directory, sizeof(directory));

		return names_join(has_root ? directory : "/", path);
	}
	if (using->directory >= 0 && (int)call->arguments[using->directory] != AT_FDCWD)
		snprintf(name, sizeof(name), "fd/%d", (int)call->arguments[using->directory]);
	if (!read_directory(call->thread, name, directory, sizeof(directory)))
		return NULL;
	*leads_out =
		names_is_renamed(renamed, directory) && names_leads_out(renamed, directory, path);
	return names_join(directory, path);
}

static bool is_missing(const struct finding *finding, const char *path)
{
	char *resolved = files_resolve(path);
	bool missing = resolved && names_contain(&finding->missing, resolved);

	free(resolved);
	return missing;
}

/* Does the path lead by a file, directory or link that was not there at its first use? */
static bool leads_by_missing(const struct finding *finding, const char *path)
{
	bool missing = is_missing(finding, path);

	for (const char *slash = strchr(path + 1, '/'); slash && !missing;
	     slash = strchr(slash + 1, '/')) {
		char *prefix = text_print("%.*s", (int)(slash - path), path);

		missing = is_missing(finding, prefix);
		free(prefix);
	}
	return missing;
}

static bool is_hosts_own(const struct finding *finding, const char *path)
{
	for (size_t i = 0; i < sizeof(hosts_own) / sizeof(hosts_own[0]); i++)
		if (strcmp(hosts_own[i], path) == 0)
			return true;
	return files_is_of_machine(path) || names_is_below(path, finding->home);
}

static void write_note(struct finding *finding, char letter, const struct timespec *changed,
		       const char *path)
{
	char *note = text_print("%c%lld.%09ld %s", letter, (long long)changed->tv_sec,
				changed->tv_nsec, path);

	write_all(finding->notes, note, strlen(note) + 1);
	free(note);
}

/*
 * Notes the file if it is there at its first use.  If it is not, COMMAND makes it, or lacks it, and
 * in the machine, too.
 */
static void note_file(struct finding *finding, const char *path, char letter)
{
	struct stat status;
	char *resolved;

	if (!names_insert(&finding->seen, text_print("%c%s", letter, path)))
		return;
	resolved = files_resolve(path);
	if (!resolved || is_hosts_own(finding, resolved)) {
		free(resolved);
	} else if (lstat(resolved, &status) < 0) {
		names_insert(&finding->missing, resolved);
	} else {
		if (!leads_by_missing(finding, path) &&
		    (letter == PROGRAM || !files_has(finding->files, path)))
			write_note(finding, letter, &status.st_ctim, path);
		free(resolved);
	}
}

static void note_call(void *context, const struct traced_call *call)
{
	bool executes = call->number == __NR_execve || call->number == __NR_execveat;
	struct finding *finding = context;

	for (size_t i = 0; i < sizeof(using_calls) / sizeof(using_calls[0]); i++) {
		bool leads_out = false;
		char *path = NULL;

		if (using_calls[i].number == call->number)
			path = find_path(finding, call, &using_calls[i], &leads_out);
		if (path)
			note_file(finding, path, executes ? PROGRAM : OTHER_FILE);
		if (path && leads_out &&
		    names_insert(&finding->seen, text_print("%c%s", LEADS_OUT, path)))
			write_note(finding, LEADS_OUT, &(struct timespec){ 0 }, path);
		free(path);
	}
}

/* The time of the last change shows whether COMMAND has written to a file. */
static void tell_of_change(const struct files *files, const char *path, const char *changed)
{
	struct stat status;
	char *now;

	if (files_has(files, path))
		return;
	if (lstat(path, &status) < 0) {
		complain(
			"warning: COMMAND has removed %s on the host, so that the machine lacks it",
			path);
		return;
	}
	now = text_print("%lld.%09ld", (long long)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
	if (S_ISREG(status.st_mode) && strcmp(now, changed) != 0)
		complain("warning: COMMAND has changed %s on the host, and the machine has it as "
			 "it is now",
			 path);
	free(now);
}

static void add_note(struct files *files, char *note)
{
	char *path = strchr(note, ' ') + 1;

	path[-1] = '\0';
	if (*note == LEADS_OUT) {
		complain("warning: COMMAND uses %s by a relative path that leads elsewhere from %s",
			 path, files->renamed.there);
		return;
	}
	tell_of_change(files, path, note + 1);
	needs_used(files, path, *note == PROGRAM);
}

/* Compares notes by what is behind the time. */
static int compare_notes(const void *a, const void *b)
{
	const char *note_a = *(char *const *)a, *note_b = *(char *const *)b;
	int order = strcmp(strchr(note_a, ' '), strchr(note_b, ' '));

	return order ? order : *note_a - *note_b;
}

/*
 * Adds what the process that followed COMMAND has noted.  The order is that of the paths: that of
 * the notes depends on the host's scheduler, and would change the counts.
 */
static void add_notes(struct files *files, int fd)
{
	FILE *file = fdopen(fd, "r");
	char **notes = NULL, *note = NULL;
	size_t n = 0, size = 0;

	if (!file)
		fail("out of memory");
	rewind(file);
	while (getdelim(&note, &size, '\0', file) > 0) {
		notes = grow(notes, n, sizeof(*notes));
		notes[n++] = text_print("%s", note);
	}
	if (n)
		qsort(notes, n, sizeof(*notes), compare_notes);
	for (size_t i = 0; i < n; i++) {
		add_note(files, notes[i]);
		free(notes[i]);
	}
	free(notes);
	free(note);
	fclose(file);
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

int used_add(struct files *files, const struct used_command *command)
{
	struct finding finding = { .files = files,
				   .home = command->home,
				   .notes = memfd_create("perfctr-notes", MFD_CLOEXEC) };
	const struct traced traced = { .program = command->program,
				       .command = command->command,
				       .environment = command->environment,
				       .input = command->input,
				       .call = note_call,
				       .context = &finding };
	int status, ended_by;

	if (finding.notes < 0)
		fail("no memory is left for the names of files: %m");
	status = trace_command(&traced, &ended_by);
	if (ended_by || status < 0) {
		close(finding.notes);
		return ended_by ? ended_by : -1;
	}
	tell_of_failure(status);
	add_notes(files, finding.notes);
	return 0;
}
