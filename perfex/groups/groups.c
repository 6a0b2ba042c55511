// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "groups.h"
#include "../textfile.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERFCTR_GROUPS_DIRECTORY
#define PERFCTR_GROUPS_DIRECTORY "/usr/local/share/perfctr/groups"
#endif
#define SUFFIX ".group"
#define BLANKS " \t"

/* Includes perfex/groups/NAME.group in the program, so that perfex runs without installed files. */
#define BUILT_IN(name)                                                                             \
	__asm__(".pushsection .rodata\n"                                                           \
		"perfex_group_" #name ":\n"                                                        \
		".incbin \"perfex/groups/" #name ".group\"\n"                                      \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char perfex_group_##name[] __attribute__((visibility("hidden")))

BUILT_IN(BRANCH);
BUILT_IN(CACHE);
BUILT_IN(FLOPS);
BUILT_IN(FLOPS_DP);
BUILT_IN(IPC);
BUILT_IN(L1);
BUILT_IN(TLB);
BUILT_IN(TOPDOWN);

static const struct {
	const char *name, *text;
} built_in[] = {
	{ "BRANCH", perfex_group_BRANCH }, { "CACHE", perfex_group_CACHE },
	{ "FLOPS", perfex_group_FLOPS },   { "FLOPS_DP", perfex_group_FLOPS_DP },
	{ "IPC", perfex_group_IPC },	   { "L1", perfex_group_L1 },
	{ "TLB", perfex_group_TLB },	   { "TOPDOWN", perfex_group_TOPDOWN },
};

enum { N_BUILT_IN = sizeof(built_in) / sizeof(built_in[0]) };

struct names {
	char **name;
	size_t n;
};

static void add_name(struct names *names, const char *name, size_t length)
{
	names->name = realloc(names->name, (names->n + 1) * sizeof(*names->name));
	if (!names->name)
		fail("out of memory");
	names->name[names->n++] = text_print("%.*s", (int)length, name);
}

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
}

static void add_below(struct names *directories, const char *parent, const char *below)
{
	char *path = text_print("%s/%s", parent, below);

	add_name(directories, path, strlen(path));
	free(path);
}

/* Returns the directories of groups in the order in which they are searched, for free_names(). */
static struct names group_directories(void)
{
	const char *path = secure_getenv("PERFCTR_GROUPS");
	const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
	struct names directories = { 0 };

	for (; path; path = path[strcspn(path, ":")] ? path + strcspn(path, ":") + 1 : NULL)
		add_name(&directories, path, strcspn(path, ":"));
	if (config && *config)
		add_below(&directories, config, "perfctr/groups");
	else if (home)
		add_below(&directories, home, ".config/perfctr/groups");
	add_name(&directories, PERFCTR_GROUPS_DIRECTORY, strlen(PERFCTR_GROUPS_DIRECTORY));
	return directories;
}

static bool is_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/');
}

/*
 * Returns false if the directory has no such group.  Ends perfex if the file of the group cannot be
 * read, or has a NUL.
 */
static bool read_group(const char *directory, const char *name, struct group *group)
{
	char *path = text_print("%s/%s" SUFFIX, directory, name);
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text && errno == ENOENT) {
		free(path);
		return false;
	}
	if (!text)
		fail("cannot read '%s': %m", path);
	if (strlen(text) != length)
		fail("'%s' is no text: it has a zero byte", path);
	*group = (struct group){ text_print("%s", name), path, text };
	return true;
}

static bool copy_built_in(const char *name, struct group *group)
{
	for (unsigned int i = 0; i < N_BUILT_IN; i++) {
		if (strcmp(built_in[i].name, name) != 0)
			continue;
		*group = (struct group){ text_print("%s", name),
					 text_print("built in %s" SUFFIX, name),
					 text_print("%s", built_in[i].text) };
		return true;
	}
	return false;
}

bool group_find(const char *name, struct group *group)
{
	struct names directories = group_directories();
	bool found = false;

	for (size_t i = 0; is_name(name) && !found && i < directories.n; i++)
		found = read_group(directories.name[i], name, group);
	free_names(&directories);
	if (found || copy_built_in(name, group))
		return true;
	complain("there is no group '%s'; perfex list --groups shows all", name);
	return false;
}

void group_free(struct group *group)
{
	free(group->name);
	free(group->source);
	free(group->text);
}

static int is_group_file(const struct dirent *entry)
{
	return fnmatch("*" SUFFIX, entry->d_name, FNM_PERIOD) == 0;
}

static void add_names_of(struct names *names, const char *directory)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, is_group_file, alphasort);

	for (int i = 0; i < n; i++) {
		add_name(names, entries[i]->d_name, strlen(entries[i]->d_name) - strlen(SUFFIX));
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void groups_visit(void (*visit)(const struct group *group, void *arg), void *arg)
{
	struct names names = { 0 }, directories = group_directories();
	struct group group;

	for (unsigned int i = 0; i < N_BUILT_IN; i++)
		add_name(&names, built_in[i].name, strlen(built_in[i].name));
	for (size_t i = 0; i < directories.n; i++)
		add_names_of(&names, directories.name[i]);
	qsort(names.name, names.n, sizeof(*names.name), compare_names);
	for (size_t i = 0; i < names.n; i++) {
		if ((!i || strcmp(names.name[i - 1], names.name[i]) != 0) &&
		    group_find(names.name[i], &group)) {
			visit(&group, arg);
			group_free(&group);
		}
	}
	free_names(&directories);
	free_names(&names);
}

/* Returns the text behind the word and blanks if the line begins with the word; otherwise NULL. */
static const char *behind_word(const char *line, const char *word)
{
	line += strspn(line, BLANKS);
	if (strncmp(line, word, strlen(word)) != 0)
		return NULL;
	line += strlen(word);
	return *line == ' ' || *line == '\t' ? line + strspn(line, BLANKS) : NULL;
}

char *group_title(const struct group *group)
{
	const char *line = group->text, *title;

	do {
		title = behind_word(line, "title");
		if (title)
			return text_print("%.*s", (int)strcspn(title, "\r\n"), title);
		line = strchr(line, '\n');
	} while (line++);
	return text_print("%s", group->source);
}

static bool is_for(const char *patterns, const struct perfctr_events *database)
{
	char *copy = text_print("%.*s", (int)strcspn(patterns, "\r\n#"), patterns);
	char *rest = copy, *pattern;
	bool is = false;

	while ((pattern = strsep(&rest, BLANKS)))
		is |= *pattern && perfctr_events_is_pmu(database, pattern);
	free(copy);
	return is;
}

char *group_rules(const struct group *group, const struct perfctr_events *database)
{
	char *rules = text_print("%s", group->text), *line = rules, *end;
	bool applies = true, some = false;
	const char *patterns;

	for (; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		patterns = behind_word(line, "pmu");
		if (patterns)
			applies = is_for(patterns, database);
		if (applies && !patterns && !behind_word(line, "title")) {
			some |= !strchr("#\r\n", line[strspn(line, BLANKS)]);
			continue;
		}
		memset(line, ' ', strcspn(line, "\n"));
	}
	if (some)
		return rules;
	free(rules);
	return NULL;
}
