// SPDX-License-Identifier: GPL-2.0-or-later
/* One directory of the host may have another name in the machine.  Compares paths as text alone. */
#define _GNU_SOURCE
#include "names.h"
#include "../perfex.h"
#include "../textfile.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

char *names_join(const char *directory, const char *name)
{
	return text_print("%s/%s", strcmp(directory, "/") == 0 ? "" : directory,
			  name + strspn(name, "/"));
}

bool names_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 && (!path[length] || path[length] == '/');
}

bool names_has_parent(const char *path)
{
	const char *found = path;

	while ((found = strstr(found, "/..")) && found[3] && found[3] != '/')
		found++;
	return found;
}

bool names_is_renamed(const struct renamed *renamed, const char *path)
{
	return renamed->there && names_is_below(path, renamed->here) && !names_has_parent(path);
}

char *names_in_machine(const struct renamed *renamed, const char *path)
{
	if (!names_is_renamed(renamed, path))
		return text_print("%s", path);
	return text_print("%s%s", renamed->there, path + strlen(renamed->here));
}

static bool is_name(const char *name, size_t length, const char *other)
{
	return length == strlen(other) && strncmp(name, other, length) == 0;
}

/* Returns a path without ".", ".." and doubled slashes, for free(). */
static char *clean_path(const char *path)
{
	char *clean = allocate(strlen(path) + 1, 1), *end = clean;

	for (const char *name = path + strspn(path, "/"); *name; name += strspn(name, "/")) {
		size_t length = strcspn(name, "/");

		if (is_name(name, length, "..")) {
			while (end > clean && *--end != '/')
				;
		} else if (!is_name(name, length, ".")) {
			*end++ = '/';
			memcpy(end, name, length);
			end += length;
		}
		*end = '\0';
		name += length;
	}
	return clean;
}

static size_t count_slashes(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

bool names_leads_out(const struct renamed *renamed, const char *directory, const char *path)
{
	size_t depth; /* below here */

	if (!renamed->there || *path == '/' || !names_is_renamed(renamed, directory))
		return false;
	depth = count_slashes(directory + strlen(renamed->here));
	for (const char *name = path; *name; name += strspn(name, "/")) {
		size_t length = strcspn(name, "/");

		if (!is_name(name, length, ".."))
			depth += !is_name(name, length, ".");
		else if (!depth--)
			return true;
		name += length;
	}
	return false;
}

char *names_of_target(const struct renamed *renamed, const char *directory, const char *target)
{
	bool is_absolute = *target == '/', leads_out = names_leads_out(renamed, directory, target);
	char *path, *clean, *name;

	if (!is_absolute && !leads_out)
		return text_print("%s", target);
	path = is_absolute ? text_print("%s", target) : text_print("%s/%s", directory, target);
	clean = clean_path(path);
	name = leads_out || names_is_renamed(renamed, clean) ? names_in_machine(renamed, clean)
							     : text_print("%s", target);
	free(clean);
	free(path);
	return name;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

bool names_insert(void **set, char *name)
{
	char **found = tsearch(name, set, compare_names);

	if (!found)
		fail("out of memory");
	if (*found == name)
		return true;
	free(name);
	return false;
}

bool names_contain(void *const *set, const char *name)
{
	return tfind(name, set, compare_names);
}

void names_remove(void **set, const char *name)
{
	char *copy = *(char **)tfind(name, set, compare_names);

	tdelete(name, set, compare_names);
	free(copy);
}

void names_free(void *set)
{
	tdestroy(set, free);
}
