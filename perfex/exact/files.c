// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts files of the host into the archive.  Follows each link, and puts the links in too. */
#define _GNU_SOURCE
#include "../textfile.h"
#include "exact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FIRST_SECOND: the machine's clock begins on 1 January 2026. */
enum { MAX_LINKS = 40, FIRST_SECOND = 1767225600 };

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Returns true if the archive had no entry of this name until now. */
static bool is_new(struct files *files, const char *name)
{
	char *copy = strdup(name);
	char **found = copy ? tsearch(copy, &files->names, compare_names) : NULL;

	if (!found)
		fail("out of memory");
	if (*found == copy)
		return true;
	free(copy);
	return false;
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 && (!path[length] || path[length] == '/');
}

/* The machine has files of its own with these names: see scripts/vm-init.c. */
static bool is_of_the_machine(const char *path)
{
	static const char *const own[] = { "/dev",     "/driver",  "/init", "/job",
					   "/machine", "/modules", "/proc", "/sys" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (is_below(path, own[i]))
			return true;
	return false;
}

static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/'), *suffix = strstr(slash ? slash : path, ".so");

	return suffix && (!suffix[3] || suffix[3] == '.');
}

static void remember_needing(struct files *files, const char *path, mode_t mode)
{
	if (!(mode & 0111) && !is_library(path))
		return;
	files->needing = grow(files->needing, files->n_needing, sizeof(*files->needing));
	files->needing[files->n_needing].path = strdup(path);
	if (!files->needing[files->n_needing++].path)
		fail("out of memory");
}

/* Returns false with errno set. */
static bool add_file(struct files *files, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	bool copied;
	int error;

	if (fd < 0 || fstat(fd, &status) < 0)
		return false;
	if (!files->keeps_times)
		status.st_mtime = FIRST_SECOND;
	copied = archive_copy(&files->archive, path, &status, fd);
	error = errno;
	close(fd);
	if (copied)
		remember_needing(files, path, status.st_mode);
	errno = error;
	return copied;
}

/* The path so far, without links, and what is still to be walked. */
struct walk {
	char done[PATH_MAX], rest[2 * PATH_MAX];
	unsigned int links;
};

/* Returns false with errno set. */
static bool follow_link(struct files *files, struct walk *walk, const char *link,
			const char *parent)
{
	char target[PATH_MAX], rest[2 * PATH_MAX];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	if (is_new(files, link))
		archive_link(&files->archive, link, target);
	if (++walk->links > MAX_LINKS) {
		errno = ELOOP;
		return false;
	}
	if (snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >= (int)sizeof(rest)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(walk->rest, rest);
	strcpy(walk->done, *target == '/' ? "" : parent);
	return true;
}

/* Takes the next name of the path.  Returns false with errno set. */
static bool walk_on(struct files *files, struct walk *walk, const char *name)
{
	char parent[PATH_MAX];
	struct stat status;
	size_t length = strlen(walk->done);

	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(walk->done, '/');

		if (slash)
			*slash = '\0';
		return true;
	}
	strcpy(parent, walk->done);
	if (snprintf(walk->done + length, sizeof(walk->done) - length, "/%s", name) >=
	    (int)(sizeof(walk->done) - length)) {
		errno = ENAMETOOLONG;
		return false;
	}
	if (lstat(walk->done, &status) < 0)
		return false;
	if (S_ISLNK(status.st_mode)) {
		char link[PATH_MAX];

		strcpy(link, walk->done);
		return follow_link(files, walk, link, parent);
	}
	if (!S_ISDIR(status.st_mode) && walk->rest[strspn(walk->rest, "/")]) {
		errno = ENOTDIR;
		return false;
	}
	if (is_of_the_machine(walk->done)) {
		errno = EXDEV;
		return false;
	}
	if (!is_new(files, walk->done))
		return true;
	if (S_ISDIR(status.st_mode))
		archive_directory(&files->archive, walk->done, status.st_mode);
	else if (S_ISFIFO(status.st_mode))
		archive_pipe(&files->archive, walk->done, status.st_mode);
	else if (S_ISREG(status.st_mode) && !add_file(files, walk->done)) {
		int error = errno;

		tdelete(walk->done, &files->names, compare_names);
		errno = error;
		return false;
	}
	return true;
}

char *files_add(struct files *files, const char *path)
{
	struct walk walk = { .done = "" };
	char *real;

	if (*path != '/' && !getcwd(walk.rest, sizeof(walk.rest) / 2))
		return NULL;
	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	strcat(strcat(walk.rest, "/"), path);
	while (walk.rest[strspn(walk.rest, "/")]) {
		char name[NAME_MAX + 1], *start = walk.rest + strspn(walk.rest, "/");
		size_t length = strcspn(start, "/");

		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return NULL;
		}
		memcpy(name, start, length);
		name[length] = '\0';
		memmove(walk.rest, start + length, strlen(start + length) + 1);
		if (!walk_on(files, &walk, name))
			return NULL;
	}
	real = strdup(walk.done[0] ? walk.done : "/");
	if (!real)
		fail("out of memory");
	return real;
}

void files_add_directory(struct files *files, const char *name, mode_t mode)
{
	if (is_new(files, name))
		archive_directory(&files->archive, name, mode);
}

void files_add_text(struct files *files, const char *name, mode_t mode, const char *text,
		    size_t size)
{
	if (is_new(files, name))
		archive_text(&files->archive, name, mode, text, size);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool add_entries(struct files *files, const char *directory);

const char *files_error(int error)
{
	return error == EXDEV ? "the machine has its own /dev, /proc and /sys" : strerror(error);
}

/* A link to nowhere stays one. */
static void add_entry(struct files *files, const char *directory, const char *name)
{
	char *path = text_print("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
	char *real = files_add(files, path);

	if ((!real && errno != ENOENT && errno != ELOOP && errno != EXDEV) ||
	    (real && is_directory(path) && !add_entries(files, path)))
		complain("warning: %s is not in the machine: %m", path);
	if (real && !is_directory(path) && is_directory(real) && !is_below(real, files->tree))
		complain("warning: %s leads to %s, which is empty in the machine without "
			 "--with=PATH",
			 path, real);
	free(real);
	free(path);
}

static bool add_entries(struct files *files, const char *directory)
{
	struct dirent **entry;
	int n = scandir(directory, &entry, is_entry, by_bytes);

	for (int i = 0; i < n; i++) {
		add_entry(files, directory, entry[i]->d_name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return n >= 0;
}

bool files_add_tree(struct files *files, const char *path)
{
	char *real = files_add(files, path);
	bool added;

	files->tree = real;
	added = real && (!is_directory(real) || add_entries(files, real));
	files->tree = NULL;
	free(real);
	return added;
}

bool files_has(const struct files *files, const char *path)
{
	char *real = realpath(path, NULL);
	bool has = real && tfind(real, &files->names, compare_names);

	free(real);
	return has;
}

void files_leave_out(struct files *files, const char *path)
{
	char *real = realpath(path, NULL);

	if (real)
		is_new(files, real);
	free(real);
}

void files_free(struct files *files)
{
	tdestroy(files->names, free);
	for (size_t i = 0; i < files->n_needing; i++)
		free(files->needing[i].path);
	free(files->needing);
	free_words(&files->directories);
}
