// SPDX-License-Identifier: LGPL-2.1-or-later
#define _GNU_SOURCE
#include "tables.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libpfm.h"
#include "../pmu/netburst.h"

#ifndef PERFCTR_EVENTS_DIRECTORY
#define PERFCTR_EVENTS_DIRECTORY "/usr/local/share/perfctr/events"
#endif

#define MAX_PMUS 8

struct reader {
	const struct perfctr_pmu_info *info;
	const char *pmus[MAX_PMUS]; /* names that "pmu" may have for this machine; NULL: the end */
	int (*visit)(const struct table_entry *entry, void *arg);
	void *arg;
	const struct line *line;
	const char *source;
	unsigned int number; /* of the line that is read */
	bool applies;	     /* the last "pmu" is this machine's */
	bool below_event;    /* the line before was an event, or a unit mask of one */
};

#define MALFORMED(reader, format, ...)                                                             \
	perfctr_line_refuse((reader)->line, EINVAL, "%s:%u: " format, (reader)->source,            \
			    (reader)->number, __VA_ARGS__)

/* The next word of *rest, which moves behind it; "" at the end. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");
	char *end = word + strcspn(word, " \t");

	*rest = end;
	if (*end) {
		*end = '\0';
		*rest = end + 1;
	}
	return word;
}

static char *rest_of_line(char *rest)
{
	return rest + strspn(rest, " \t");
}

static bool read_hex(const char *word, uint64_t *value)
{
	char *end;

	if (word[0] != '0' || (word[1] | 0x20) != 'x')
		return false;
	errno = 0;
	*value = strtoull(word, &end, 16);
	return !*end && end > word + 2 && !errno;
}

/* "CODE[SEPARATORSECOND]" */
static bool read_pair(char *word, char separator, uint64_t *first, uint64_t *second)
{
	char *other = strchr(word, separator);

	if (!other)
		return read_hex(word, first);
	*other = '\0';
	return read_hex(word, first) && read_hex(other + 1, second);
}

/* "0-1", "0,2", "any", "any,f0", "f1": *general and *fixed become masks. */
static bool read_counters(char *word, uint64_t *general, uint64_t *fixed)
{
	char *end, *item, *rest = word;

	*general = 0;
	*fixed = 0;
	while ((item = strsep(&rest, ","))) {
		uint64_t *mask = item[0] == 'f' ? fixed : general;
		unsigned long first, last;

		if (strcmp(item, "any") == 0) {
			*general = UINT64_MAX;
			continue;
		}
		item += item[0] == 'f';
		first = strtoul(item, &end, 10);
		if (end == item)
			return false;
		last = first;
		if (*end == '-') {
			item = end + 1;
			last = strtoul(item, &end, 10);
		}
		if (*end || last < first || last > 63)
			return false;
		for (unsigned long i = first; i <= last; i++)
			*mask |= UINT64_C(1) << i;
	}
	return true;
}

static void find_pmus(struct reader *reader)
{
	const struct family *family = perfctr_machine_family(reader->info);
	unsigned int n = 0;

	if (family)
		reader->pmus[n++] = family->name;
	for (unsigned int i = 0; n < MAX_PMUS - 1; i++, n++) {
		reader->pmus[n] = perfctr_libpfm_pmu(reader->info, i);
		if (!reader->pmus[n])
			break;
	}
}

static bool is_this_machine(const struct reader *reader, const char *pattern)
{
	for (unsigned int i = 0; reader->pmus[i]; i++)
		if (fnmatch(pattern, reader->pmus[i], 0) == 0)
			return true;
	return false;
}

static int read_pmu(struct reader *reader, char *rest)
{
	char *word = next_word(&rest);

	if (!*word)
		return MALFORMED(reader, "'%s' needs a name", "pmu");
	reader->applies = false;
	reader->below_event = false;
	for (; *word; word = next_word(&rest))
		reader->applies |= is_this_machine(reader, word);
	return 0;
}

static int read_replay(struct reader *reader, char *rest, struct table_entry *entry)
{
	entry->name = next_word(&rest);
	if (!read_hex(next_word(&rest), &entry->code) || !read_hex(next_word(&rest), &entry->code2))
		return MALFORMED(reader, "replay '%s' needs two numbers like 0x1", entry->name);
	return 0;
}

static int read_escr(struct reader *reader, char *rest, struct table_entry *entry)
{
	entry->name = next_word(&rest);
	entry->general = perfctr_netburst_fed_by(next_word(&rest));
	if (!entry->general)
		return MALFORMED(reader, "escr '%s' needs names like CRU_ESCR2,CRU_ESCR3",
				 entry->name);
	return 0;
}

static int read_restriction(struct reader *reader, char *rest, struct table_entry *entry)
{
	char *word = next_word(&rest);

	entry->mask = 0xff;
	if (!read_pair(word, '/', &entry->code, &entry->mask))
		return MALFORMED(reader, "'%s' is not a code like 0xc0 or 0x01c0/0xffff", word);
	word = next_word(&rest);
	if (!read_counters(word, &entry->general, &entry->fixed))
		return MALFORMED(reader, "'%s' is not a set of counters like 0-1 or any,f0", word);
	return 0;
}

static int read_umask(struct reader *reader, char *rest, struct table_entry *entry)
{
	char *name = next_word(&rest), *code = next_word(&rest);
	size_t length = strlen(name);

	if (!reader->below_event)
		return MALFORMED(reader, "the unit mask '%s' is not below an event", name);
	entry->kind = TABLE_UMASK;
	entry->name = name;
	entry->chosen = name[length - 1] == '*';
	if (entry->chosen)
		name[length - 1] = '\0';
	if (!*name)
		return MALFORMED(reader, "'%s' needs a unit mask in front", "*");
	entry->text = rest_of_line(rest);
	if (!read_hex(code, &entry->code) || entry->code > 0xff)
		return MALFORMED(reader, "'%s' is not a unit mask like 0x0f", code);
	return 0;
}

static int read_event(struct reader *reader, char *rest, struct table_entry *entry)
{
	char *word = next_word(&rest);

	if (strcmp(word, "=") == 0) {
		entry->kind = TABLE_ALIAS;
		entry->text = next_word(&rest);
		if (!*entry->text)
			return MALFORMED(reader, "'%s =' needs a name", entry->name);
		return 0;
	}
	entry->kind = TABLE_EVENT;
	if (!read_pair(word, '/', &entry->code, &entry->code2))
		return MALFORMED(reader, "'%s' is not a code like 0xc0", word);
	word = next_word(&rest);
	if (!read_counters(word, &entry->general, &entry->fixed))
		return MALFORMED(reader, "'%s' is not a set of counters like 0-1 or any", word);
	word = next_word(&rest);
	if (strcmp(word, "duration") && strcmp(word, "occurrence"))
		return MALFORMED(reader, "'%s' is neither 'occurrence' nor 'duration'", word);
	entry->duration = word[0] == 'd';
	entry->text = rest_of_line(rest);
	return 0;
}

static const struct {
	const char *word;
	enum table_kind kind;
	int (*read)(struct reader *reader, char *rest, struct table_entry *entry);
} rules[] = {
	{ "counters", TABLE_COUNTERS, read_restriction },
	{ "replay", TABLE_REPLAY, read_replay },
	{ "escr", TABLE_ESCR, read_escr },
};

/* A line that begins with one of these words, or with the name of an event. */
static int read_entry(struct reader *reader, char *rest, struct table_entry *entry)
{
	entry->name = next_word(&rest);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strcmp(entry->name, rules[i].word) == 0) {
			entry->kind = rules[i].kind;
			return rules[i].read(reader, rest, entry);
		}
	}
	return read_event(reader, rest, entry);
}

/* A line without its end; changed. */
static int read_line(struct reader *reader, char *text)
{
	struct table_entry entry = { .source = reader->source, .text = "", .duration = -1 };
	int status;

	if (!*rest_of_line(text) || text[0] == '#')
		return 0;
	if (strncmp(text, "pmu", 3) == 0 && strcspn(text, " \t") == 3)
		return read_pmu(reader, text + 3);
	if (text[0] == ' ' || text[0] == '\t')
		status = read_umask(reader, text, &entry);
	else
		status = read_entry(reader, text, &entry);
	reader->below_event = entry.kind == TABLE_EVENT || entry.kind == TABLE_UMASK;
	if (status || !reader->applies)
		return status;
	entry.general &= perfctr_machine_general(reader->info);
	entry.fixed &= perfctr_machine_fixed(reader->info);
	return reader->visit(&entry, reader->arg);
}

static int read_table(struct reader *reader, FILE *file, const char *source)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	int status = 0;

	reader->source = source;
	reader->number = 0;
	reader->applies = false;
	reader->below_event = false;
	while (!status && (length = getline(&text, &size, file)) >= 0) {
		reader->number++;
		if (length && text[length - 1] == '\n')
			text[length - 1] = '\0';
		status = read_line(reader, text);
	}
	free(text);
	return status;
}

static int is_table(const struct dirent *entry)
{
	return fnmatch("*.tbl", entry->d_name, FNM_PERIOD) == 0;
}

/* All tables of a directory in the order of their names; it need not exist. */
static int read_directory(struct reader *reader, const char *directory)
{
	struct dirent **entries;
	int status = 0, n = scandir(directory, &entries, is_table, alphasort);

	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		char *path = NULL;
		FILE *file;

		if (!status && asprintf(&path, "%s/%s", directory, entries[i]->d_name) >= 0) {
			file = fopen(path, "re");
			if (file) {
				status = read_table(reader, file, path);
				fclose(file);
			} else {
				status = perfctr_line_refuse(reader->line, EINVAL,
							     "cannot read %s: %m", path);
			}
			free(path);
		}
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* $PERFCTR_EVENTS: directories with ':' between them. */
static int read_path(struct reader *reader, const char *directories)
{
	char *copy = strdup(directories), *rest = copy, *directory;
	int status = 0;

	while (!status && (directory = strsep(&rest, ":")))
		status = read_directory(reader, directory);
	free(copy);
	return status;
}

static int read_below(struct reader *reader, const char *parent, const char *directory)
{
	char *path;
	int status;

	if (asprintf(&path, "%s/%s", parent, directory) < 0)
		return 0;
	status = read_directory(reader, path);
	free(path);
	return status;
}

static int read_users_tables(struct reader *reader)
{
	const char *path = secure_getenv("PERFCTR_EVENTS");
	const char *config = secure_getenv("XDG_CONFIG_HOME");
	const char *home = secure_getenv("HOME");
	int status = 0;

	if (path)
		status = read_path(reader, path);
	if (!status && config && *config)
		status = read_below(reader, config, "perfctr/events");
	else if (!status && home)
		status = read_below(reader, home, ".config/perfctr/events");
	return status ? status : read_directory(reader, PERFCTR_EVENTS_DIRECTORY);
}

int perfctr_tables_visit(const struct perfctr_pmu_info *info,
			 int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			 const struct line *line)
{
	struct reader reader = { .info = info, .visit = visit, .arg = arg, .line = line };
	int status;

	find_pmus(&reader);
	status = read_users_tables(&reader);

	for (const struct table *table = perfctr_tables_built_in; !status && table->name; table++) {
		FILE *file = fmemopen((void *)table->text, strlen(table->text), "r");

		if (!file)
			return perfctr_line_refuse(line, ENOMEM,
						   "cannot read the tables of events: %m");
		status = read_table(&reader, file, table->name);
		fclose(file);
	}
	return status;
}
