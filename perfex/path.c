// SPDX-License-Identifier: GPL-2.0-or-later
#include "path.h"
#include "perfex.h"
#include "textfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directories that execvp(3) searches if PATH is not set. */
#define UNSET_PATH "/bin:/usr/bin"

bool is_executable_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0 || access(path, X_OK) < 0)
		return false;
	errno = EACCES; /* as execve(2) says of a directory */
	return S_ISREG(status.st_mode);
}

static char *seen_from(const char *where, const char *path, size_t length)
{
	if (!length)
		return text_print("%s", where);
	if (*path == '/')
		return text_print("%.*s", (int)length, path);
	return text_print("%s/%.*s", where, (int)length, path);
}

char *path_next_directory(const char **path, const char *where)
{
	size_t length;
	char *directory;

	if (!*path)
		return NULL;
	length = strcspn(*path, ":");
	directory = seen_from(where, *path, length);
	*path = (*path)[length] ? *path + length + 1 : NULL;
	return directory;
}

/* Takes the file.  Returns it if it can be executed. */
static char *keep_executable(char *file)
{
	if (is_executable_file(file))
		return file;
	free(file);
	return NULL;
}

char *path_find_program(const char *path, const char *where, const char *name)
{
	const char *left = path ? path : UNSET_PATH;
	char *directory, *found = NULL;

	if (strchr(name, '/'))
		return keep_executable(seen_from(where, name, strlen(name)));
	while (!found && (directory = path_next_directory(&left, where))) {
		found = keep_executable(text_print("%s/%s", directory, name));
		free(directory);
	}
	return found;
}
