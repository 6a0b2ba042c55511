// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of a machine.  The user's tables are read when the first name is looked up.  The
 * library's tables are read only until a name is found.  All that was read is kept.
 */
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
#include "linux.h"

#ifndef PERFCTR_EVENTS_DIRECTORY
#define PERFCTR_EVENTS_DIRECTORY "/usr/local/share/perfctr/events"
#endif

/* Text that entries point to: lines, and paths of tables. */
struct kept {
	struct kept *next;
	char *text;
};

struct tables {
	const struct perfctr_pmu_info *info;
	struct table_entry *entry;
	size_t n, room;
	struct kept *kept;
	int error; /* 0: none */
	char fault[512];
	bool begun;			       /* the tables in files have been read */
	const struct event_table *const *next; /* of the library; a NULL ends them */
	FILE *file;			       /* the table being read; NULL: none */
	const char *source;
	unsigned int number; /* of the line being read */
	bool applies;	     /* the last "pmu" line names this machine */
	bool below_event;    /* the line before was an event, or a unit mask of one */
};

/* Returns -1, and keeps the message, which each later lookup of a name gives again. */
#define REFUSE(tables, error, ...)                                                                 \
	perfctr_line_refuse(&(struct line){ (tables)->fault, sizeof((tables)->fault) }, error,     \
			    __VA_ARGS__)
#define MALFORMED(tables, format, ...)                                                             \
	REFUSE(tables, EINVAL, "%s:%u: " format, (tables)->source, (tables)->number, __VA_ARGS__)

/* Returns the next word of *rest, "" at the end, and moves *rest behind that word. */
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

/*
 * Reads one number, or two with the separator between them.  Leaves *second alone if there is one.
 */
static bool read_pair(char *word, char separator, uint64_t *first, uint64_t *second)
{
	char *other = strchr(word, separator);

	if (!other)
		return read_hex(word, first);
	*other = '\0';
	return read_hex(word, first) && read_hex(other + 1, second);
}

/* Reads a set of counters, like "0-1", "0,2", "any", "any,f0" or "f1", into masks. */
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

static bool is_this_machine(const struct perfctr_pmu_info *info, const char *pattern)
{
	const struct family *family = perfctr_machine_family(info);
	const char *pmu;

	if (family && fnmatch(pattern, family->name, 0) == 0)
		return true;
	for (unsigned int i = 0; (pmu = perfctr_libpfm_pmu(info, i)); i++)
		if (fnmatch(pattern, pmu, 0) == 0)
			return true;
	return false;
}

static int read_pmu(struct tables *tables, char *rest)
{
	char *word = next_word(&rest);

	if (!*word)
		return MALFORMED(tables, "'%s' needs a name", "pmu");
	tables->applies = false;
	tables->below_event = false;
	for (; *word; word = next_word(&rest))
		tables->applies |= is_this_machine(tables->info, word);
	return 0;
}

static int read_replay(struct tables *tables, char *rest, struct table_entry *entry)
{
	entry->name = next_word(&rest);
	if (!read_hex(next_word(&rest), &entry->code) || !read_hex(next_word(&rest), &entry->code2))
		return MALFORMED(tables, "replay '%s' needs two numbers like 0x1", entry->name);
	return 0;
}

static int read_escr(struct tables *tables, char *rest, struct table_entry *entry)
{
	const struct routes *routes = perfctr_machine_routes(tables->info);

	entry->name = next_word(&rest);
	entry->general = routes ? perfctr_routes_named(routes, next_word(&rest)) : 0;
	if (!entry->general)
		return MALFORMED(tables, "escr '%s' needs names like CRU_ESCR2,CRU_ESCR3",
				 entry->name);
	return 0;
}

static int read_restriction(struct tables *tables, char *rest, struct table_entry *entry)
{
	char *word = next_word(&rest);

	entry->mask = 0xff;
	if (!read_pair(word, '/', &entry->code, &entry->mask))
		return MALFORMED(tables, "'%s' is not a code like 0xc0 or 0x01c0/0xffff", word);
	word = next_word(&rest);
	if (!read_counters(word, &entry->general, &entry->fixed))
		return MALFORMED(tables, "'%s' is not a set of counters like 0-1 or any,f0", word);
	return 0;
}

static int read_umask(struct tables *tables, char *rest, struct table_entry *entry)
{
	char *name = next_word(&rest), *code = next_word(&rest);
	size_t length = strlen(name);

	if (!tables->below_event)
		return MALFORMED(tables, "the unit mask '%s' is not below an event", name);
	entry->kind = TABLE_UMASK;
	entry->name = name;
	entry->chosen = name[length - 1] == '*';
	if (entry->chosen)
		name[length - 1] = '\0';
	if (!*name)
		return MALFORMED(tables, "'%s' needs a unit mask in front", "*");
	entry->text = rest_of_line(rest);
	if (!read_hex(code, &entry->code) || entry->code > 0xff)
		return MALFORMED(tables, "'%s' is not a unit mask like 0x0f", code);
	return 0;
}

/* Splits "CODE,REGISTER=VALUE" at the ',' and returns what follows; NULL: nothing does. */
static const char *split_further(char *word)
{
	char *comma = strchr(word, ',');

	if (comma)
		*comma++ = '\0';
	return comma;
}

/* Returns whether text is like "0x1a6=0x11" or "0x1a6|0x1a7=0x11". */
static bool is_further_register(const char *text)
{
	int one = 0, two = 0;

	sscanf(text, "0x%*x=0x%*x%n", &one);
	sscanf(text, "0x%*x|0x%*x=0x%*x%n", &two);
	return (one && !text[one]) || (two && !text[two]);
}

static int read_event(struct tables *tables, char *rest, struct table_entry *entry)
{
	char *word = next_word(&rest);

	if (strcmp(word, "=") == 0) {
		entry->kind = TABLE_ALIAS;
		entry->text = next_word(&rest);
		if (!*entry->text)
			return MALFORMED(tables, "'%s =' needs a name", entry->name);
		return 0;
	}
	entry->kind = TABLE_EVENT;
	entry->further = split_further(word);
	if (!read_pair(word, '/', &entry->code, &entry->code2))
		return MALFORMED(tables, "'%s' is not a code like 0xc0", word);
	if (entry->further && !is_further_register(entry->further))
		return MALFORMED(tables, "'%s' is not a further register like 0x1a6=0x11",
				 entry->further);
	word = next_word(&rest);
	if (!read_counters(word, &entry->general, &entry->fixed))
		return MALFORMED(tables, "'%s' is not a set of counters like 0-1 or any", word);
	word = next_word(&rest);
	if (strcmp(word, "unknown") == 0)
		entry->duration = -1;
	else if (strcmp(word, "duration") && strcmp(word, "occurrence"))
		return MALFORMED(tables, "'%s' is none of 'occurrence', 'duration', 'unknown'",
				 word);
	else
		entry->duration = word[0] == 'd';
	entry->text = rest_of_line(rest);
	return 0;
}

static const struct {
	const char *word;
	enum table_kind kind;
	int (*read)(struct tables *tables, char *rest, struct table_entry *entry);
} rules[] = {
	{ "counters", TABLE_COUNTERS, read_restriction },
	{ "replay", TABLE_REPLAY, read_replay },
	{ "escr", TABLE_ESCR, read_escr },
};

/* Reads a line that begins with a word of rules[], or with the name of an event. */
static int read_entry(struct tables *tables, char *rest, struct table_entry *entry)
{
	entry->name = next_word(&rest);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (strcmp(entry->name, rules[i].word) == 0) {
			entry->kind = rules[i].kind;
			return rules[i].read(tables, rest, entry);
		}
	}
	return read_event(tables, rest, entry);
}

static int refuse_memory(struct tables *tables)
{
	return REFUSE(tables, ENOMEM, "no memory for the tables of events");
}

static bool keep_text(struct tables *tables, char *text)
{
	struct kept *kept = malloc(sizeof(*kept));

	if (!kept)
		return false;
	*kept = (struct kept){ tables->kept, text };
	tables->kept = kept;
	return true;
}

static bool add_entry(struct tables *tables, const struct table_entry *entry)
{
	if (tables->n == tables->room) {
		size_t room = tables->room ? 2 * tables->room : 64;
		void *grown = reallocarray(tables->entry, room, sizeof(*entry));

		if (!grown)
			return false;
		tables->entry = grown;
		tables->room = room;
	}
	tables->entry[tables->n++] = *entry;
	return true;
}

/*
 * Reads *line, which has no newline, and changes its text.  *line becomes NULL if the tables keep
 * the text, because an entry points to it.
 */
static int read_line(struct tables *tables, char **line)
{
	char *text = *line;
	struct table_entry entry = { .source = tables->source, .text = "", .duration = -1 };
	int status;

	if (strncmp(text, "pmu", 3) == 0 && strcspn(text, " \t") == 3)
		return read_pmu(tables, text + 3);
	if (!tables->applies || text[0] == '#' || !*rest_of_line(text))
		return 0;
	if (text[0] == ' ' || text[0] == '\t')
		status = read_umask(tables, text, &entry);
	else
		status = read_entry(tables, text, &entry);
	tables->below_event = entry.kind == TABLE_EVENT || entry.kind == TABLE_UMASK;
	if (status)
		return status;
	if (!keep_text(tables, text))
		return refuse_memory(tables);
	*line = NULL;
	return add_entry(tables, &entry) ? 0 : refuse_memory(tables);
}

static void begin_table(struct tables *tables, FILE *file, const char *source)
{
	tables->file = file;
	tables->source = source;
	tables->number = 0;
	tables->applies = false;
	tables->below_event = false;
}

static void end_table(struct tables *tables)
{
	if (tables->file)
		fclose(tables->file);
	tables->file = NULL;
}

/* Closes the table at its end. */
static int read_next_line(struct tables *tables)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length = getline(&text, &size, tables->file);
	int status = 0;

	if (length < 0) {
		end_table(tables);
	} else {
		tables->number++;
		if (length && text[length - 1] == '\n')
			text[length - 1] = '\0';
		status = read_line(tables, &text);
	}
	free(text);
	return status;
}

static int is_table(const struct dirent *entry)
{
	return fnmatch("*.tbl", entry->d_name, FNM_PERIOD) == 0;
}

/* Takes over path. */
static int read_file(struct tables *tables, char *path)
{
	int status = 0;
	FILE *file;

	if (!keep_text(tables, path)) {
		free(path);
		return refuse_memory(tables);
	}
	file = fopen(path, "re");
	if (!file)
		return REFUSE(tables, EINVAL, "cannot read %s: %m", path);
	begin_table(tables, file, path);
	while (!status && tables->file)
		status = read_next_line(tables);
	return status;
}

/* Reads all tables of a directory in the order of their names.  The directory need not exist. */
static int read_directory(struct tables *tables, const char *directory)
{
	struct dirent **entries;
	int status = 0, n = scandir(directory, &entries, is_table, alphasort);
	char *path;

	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		if (!status && asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0)
			status = refuse_memory(tables);
		else if (!status)
			status = read_file(tables, path);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Reads the directories of $PERFCTR_EVENTS, which are separated by ':'. */
static int read_path(struct tables *tables, const char *directories)
{
	char *copy = strdup(directories), *rest = copy, *directory;
	int status = 0;

	while (!status && (directory = strsep(&rest, ":")))
		status = read_directory(tables, directory);
	free(copy);
	return status;
}

static int read_below(struct tables *tables, const char *parent, const char *directory)
{
	char *path;
	int status;

	if (asprintf(&path, "%s/%s", parent, directory) < 0)
		return 0;
	status = read_directory(tables, path);
	free(path);
	return status;
}

static int read_users_tables(struct tables *tables)
{
	const char *path = secure_getenv("PERFCTR_EVENTS");
	const char *config = secure_getenv("XDG_CONFIG_HOME");
	const char *home = secure_getenv("HOME");
	int status = 0;

	if (path)
		status = read_path(tables, path);
	if (!status && config && *config)
		status = read_below(tables, config, "perfctr/events");
	else if (!status && home)
		status = read_below(tables, home, ".config/perfctr/events");
	return status ? status : read_directory(tables, PERFCTR_EVENTS_DIRECTORY);
}

static int open_next(struct tables *tables)
{
	const struct event_table *table = *tables->next++;
	FILE *file = fmemopen((void *)table->text, strlen(table->text), "r");

	if (!file)
		return refuse_memory(tables);
	begin_table(tables, file, table->source);
	return 0;
}

/* Reads on until there is another entry.  False: there is none, or an error. */
static bool read_more(struct tables *tables)
{
	size_t before = tables->n;
	int status = 0;

	if (!tables->begun)
		status = read_users_tables(tables);
	tables->begun = true;
	while (!status && tables->n == before && (tables->file || *tables->next))
		status = tables->file ? read_next_line(tables) : open_next(tables);
	if (status)
		tables->error = errno;
	return !status && tables->n > before;
}

static int visit_entries(const struct perfctr_pmu_info *info, struct tables *tables,
			 int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			 const struct line *line)
{
	const uint64_t general = perfctr_machine_general(info);
	const uint64_t fixed = perfctr_machine_fixed(info);
	int status = 0;

	for (size_t i = 0; !status && !tables->error; i++) {
		struct table_entry entry;

		if (i == tables->n && !read_more(tables))
			break;
		entry = tables->entry[i];
		entry.general &= general;
		entry.fixed &= fixed;
		status = visit(&entry, arg);
	}
	if (tables->error)
		return perfctr_line_refuse(line, tables->error, "%s", tables->fault);
	return status;
}

int perfctr_tables_visit(struct perfctr_events *events,
			 int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			 const struct line *line)
{
	return visit_entries(&events->info, events->tables, visit, arg, line);
}

int perfctr_tables_visit_linux(struct perfctr_events *events,
			       int (*visit)(const struct table_entry *entry, void *arg), void *arg,
			       const struct line *line)
{
	struct tables *tables = events->linux_tables;
	char *path;

	if (!tables->begun) {
		path = perfctr_linux_table();
		tables->error = path && read_file(tables, path) < 0 ? errno : 0;
	}
	tables->begun = true;
	return visit_entries(&events->info, tables, visit, arg, line);
}

static struct tables *open_tables(struct perfctr_events *events,
				  const struct event_table *const *library)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (tables) {
		tables->info = &events->info;
		tables->next = library;
	}
	return tables;
}

static void close_tables(struct tables *tables)
{
	if (!tables)
		return;
	end_table(tables);
	for (struct kept *kept = tables->kept, *next; kept; kept = next) {
		next = kept->next;
		free(kept->text);
		free(kept);
	}
	free(tables->entry);
	free(tables);
}

struct perfctr_events *perfctr_events_open(const struct perfctr_pmu_info *info)
{
	static const struct event_table *const none[1];
	const struct family *family = perfctr_machine_family(info);
	struct perfctr_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->info = *info;
	events->tables = open_tables(events, family ? family->table : none);
	events->linux_tables = open_tables(events, none);
	if (events->tables && events->linux_tables)
		return events;
	perfctr_events_close(events);
	errno = ENOMEM;
	return NULL;
}

void perfctr_events_close(struct perfctr_events *events)
{
	if (!events)
		return;
	close_tables(events->tables);
	close_tables(events->linux_tables);
	free(events);
}

const struct perfctr_pmu_info *perfctr_events_info(const struct perfctr_events *events)
{
	return &events->info;
}

int perfctr_events_is_pmu(const struct perfctr_events *events, const char *pattern)
{
	return is_this_machine(&events->info, pattern);
}

const char *perfctr_events_backend(const struct perfctr_events *events)
{
	return events->backend;
}
