/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches the directories of PATH for programs, as execvp(3) does. */
#ifndef PERFEX_PATH_H
#define PERFEX_PATH_H

#include <stdbool.h>

/* Is it a file that this process may execute?  Returns false with errno set if it is not. */
bool is_executable_file(const char *path);

/*
 * Returns the next directory of *path, which is text like PATH, for free(), and moves *path to the
 * one behind it.  An empty one is where, and relative ones are below where.  At the end *path is
 * NULL, and so is what is returned.
 */
char *path_next_directory(const char **path, const char *where);

/*
 * Returns the first file of this name that can be executed, for free().  Returns NULL with errno
 * set if there is none.  path NULL: PATH is not set.  A name with a slash is itself the path of the
 * file, and is not searched.
 */
char *path_find_program(const char *path, const char *where, const char *name);

#endif
