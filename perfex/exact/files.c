// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts files of the host into the archive.  Follows each link, and puts the links in too. */
#define _GNU_SOURCE
#include "../textfile.h"
#include "exact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FIRST_SECOND: the machine's clock begins on 1 January 2026. */
enum { MAX_LINKS = 40, FIRST_SECOND = 1767225600 };

/* Returns true if the archive had no entry of this name until now. */
static bool is_new(struct files *files, const char *name)
{
	return names_insert(&files->names, text_print("%s", name));
}

/* The machine has files of its own with these names: see scripts/vm-init.c. */
bool files_is_of_machine(const char *path)
{
	static const char *const own[] = { "/dev",     "/driver",  "/init", "/job",
					   "/machine", "/modules", "/proc", "/sys" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (names_is_below(path, own[i]))
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

/* Returns false with errno set.  name: that of the machine */
static bool add_file(struct files *files, const char *path, const char *name)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	bool copied;
	int error;

	if (fd < 0 || fstat(fd, &status) < 0)
		return false;
	if (!files->keeps_times)
		status.st_mtime = FIRST_SECOND;
	copied = archive_copy(&files->archive, name, &status, fd);
	error = errno;
	close(fd);
	if (copied)
		remember_needing(files, path, status.st_mode);
	errno = error;
	return copied;
}

static bool is_left_out(const struct files *files, const char *path)
{
	for (size_t i = 0; i < files->left_out.n; i++)
		if (strcmp(files->left_out.word[i], path) == 0)
			return true;
	return false;
}

/* The path so far, without links, and what is still to be walked. */
struct walk {
	char done[PATH_MAX], rest[2 * PATH_MAX];
	unsigned int links;
};

static void add_link(struct files *files, const char *link, const char *directory,
		     const char *target)
{
	char *name = names_in_machine(&files->renamed, link);
	char *target_name = names_of_target(&files->renamed, directory, target);

	files_add_link(files, name, target_name);
	free(target_name);
	free(name);
}

/* Returns false with errno set. */
static bool follow_link(struct files *files, struct walk *walk, const char *link,
			const char *parent)
{
	char target[PATH_MAX], rest[2 * PATH_MAX];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	add_link(files, link, parent, target);
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

/*
 * The machine need not have the directories above one that has another name there, unless the path
 * leads back to them.
 */
static bool leads_to_renamed(const struct renamed *renamed, const struct walk *walk)
{
	char path[PATH_MAX];

	return renamed->there && !names_is_renamed(renamed, walk->done) &&
	       !names_has_parent(walk->rest) &&
	       snprintf(path, sizeof(path), "%s/%s", walk->done,
			walk->rest + strspn(walk->rest, "/")) < (int)sizeof(path) &&
	       names_is_renamed(renamed, path);
}

/* Returns false with errno set.  path has no links. */
static bool add_entry(struct files *files, const char *path, mode_t mode)
{
	char *name = names_in_machine(&files->renamed, path);
	bool added = true;

	if (is_new(files, name)) {
		if (S_ISDIR(mode))
			archive_directory(&files->archive, name, mode);
		else if (S_ISFIFO(mode))
			archive_pipe(&files->archive, name, mode);
		else if (S_ISREG(mode))
			added = add_file(files, path, name);
	}
	if (!added) {
		int error = errno;

		names_remove(&files->names, name);
		errno = error;
	}
	free(name);
	return added;
}

/* Takes the next name of the path.  Returns false with errno set. */
static bool walk_on(struct files *files, struct walk *walk, const char *name)
{
	char parent[PATH_MAX];
	struct stat status;
	const struct renamed *renamed = &files->renamed;
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
	if (is_left_out(files, walk->done)) {
		errno = ENOENT;
		return false;
	}
	if (renamed->there && !names_is_renamed(renamed, walk->done) &&
	    !leads_to_renamed(renamed, walk) && names_is_below(walk->done, renamed->there)) {
		errno = EXDEV;
		return false;
	}
	if (S_ISLNK(status.st_mode)) {
		char link[PATH_MAX];

		strcpy(link, walk->done);
		return follow_link(files, walk, link, parent);
	}
	if (!S_ISDIR(status.st_mode) && walk->rest[strspn(walk->rest, "/")]) {
		errno = ENOTDIR;
		return false;
	}
	if (files_is_of_machine(walk->done)) {
		errno = EXDEV;
		return false;
	}
	return leads_to_renamed(renamed, walk) || add_entry(files, walk->done, status.st_mode);
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

void files_add_link(struct files *files, const char *name, const char *target)
{
	if (is_new(files, name))
		archive_link(&files->archive, name, target);
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
	return error == EXDEV ? "the machine has its own /dev, /proc and /sys, and nothing else "
				"with the name of --directory"
			      : strerror(error);
}

/* A link to nowhere stays one. */
static void add_from(struct files *files, const char *directory, const char *name)
{
	char *path = names_join(directory, name);
	char *real = files_add(files, path);

	if ((!real && errno != ENOENT && errno != ELOOP && errno != EXDEV) ||
	    (real && is_directory(path) && !add_entries(files, path)))
		complain("warning: %s is not in the machine: %m", path);
	if (real && !is_directory(path) && is_directory(real) && !names_is_below(real, files->tree))
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
		add_from(files, directory, entry[i]->d_name);
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
	char *real = realpath(path, NULL),
	     *name = real ? names_in_machine(&files->renamed, real) : NULL;
	bool has = name && names_contain(&files->names, name);

	free(name);
	free(real);
	return has;
}

bool files_leave_out(struct files *files, const char *path)
{
	char *real = realpath(path, NULL);

	if (real)
		append_word(&files->left_out, real);
	return real;
}

char *files_resolve(const char *path)
{
	size_t length = strlen(path), start;
	char *above, *directory, *name, *resolved = NULL;

	while (length > 1 && path[length - 1] == '/')
		length--;
	for (start = length; start && path[start - 1] != '/'; start--)
		;
	name = text_print("%.*s", (int)(length - start), path + start);
	above = start ? text_print("%.*s", (int)start, path) : text_print(".");
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		resolved = realpath(path, NULL);
	} else {
		directory = realpath(above, NULL);
		if (directory)
			resolved = names_join(directory, name);
		free(directory);
	}
	free(above);
	free(name);
	return resolved;
}

bool files_leave_out_name(struct files *files, const char *path)
{
	char *resolved = files_resolve(path);
	struct stat status;

	if (!resolved)
		return false;
	if (lstat(resolved, &status) < 0) {
		free(resolved);
		return false;
	}
	append_word(&files->left_out, resolved);
	return true;
}

void files_free(struct files *files)
{
	names_free(files->names);
	for (size_t i = 0; i < files->n_needing; i++)
		free(files->needing[i].path);
	free(files->needing);
	free(files->environment);
	free(files->renamed.here);
	free_words(&files->directories);
	free_words(&files->left_out);
}
