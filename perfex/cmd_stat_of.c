// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex stat-of: a file of regions (docs/regions.schema.json) as a table. */
#include "perfex.h"
#include "result/table.h"
#include "textfile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

struct stat_options {
	enum table_format format;
	bool per_thread;
};

static const struct option_rule rules[] = {
	VALUE_OPTION("csv", 0, "write CSV", struct stat_options, format, TABLE_CSV),
	FLAG_OPTION("per-thread", 0, "show each thread; by default their sum", struct stat_options,
		    per_thread),
	{ 0 },
};

static int stat_of_main(int argc, char **argv);

const struct subcommand stat_of_subcommand = {
	.name = "stat-of",
	.summary = "show what a program counted in its regions",
	.main = stat_of_main,
	.help = "Usage: perfex stat-of [OPTION].. FILE\n"
		"Show the passes through the regions of a program.  FILE is the JSON that the program\n"
		"wrote by perfctr_regions_write(3) or perfctr_regions_save_at_exit(3).\n",
	.options = rules,
};

/* The file that is read, for refusals, and its document. */
struct regions_file {
	const char *path;
	json_object *root, *events, *threads;
	size_t n_events, n_threads, n_regions;
};

__attribute__((noreturn)) static void refuse_regions(const struct regions_file *file,
						     const char *what)
{
	fail("'%s': %s; give a file that perfctr_regions_write() wrote as JSON", file->path, what);
}

static json_object *get_member(const struct regions_file *file, json_object *object,
			       const char *key, enum json_type type)
{
	json_object *value;
	char what[128];

	if (json_object_is_type(object, json_type_object) &&
	    json_object_object_get_ex(object, key, &value) && json_object_is_type(value, type))
		return value;
	snprintf(what, sizeof(what), "'%s' is missing or not of type %s", key, json_type_to_name(type));
	refuse_regions(file, what);
}

static const char *get_string(const struct regions_file *file, json_object *object, const char *key)
{
	return json_object_get_string(get_member(file, object, key, json_type_string));
}

static uint64_t get_count(const struct regions_file *file, json_object *object, const char *key)
{
	json_object *value = get_member(file, object, key, json_type_int);
	char what[128];

	if (json_object_get_int64(value) < 0) {
		snprintf(what, sizeof(what), "'%s' is negative", key);
		refuse_regions(file, what);
	}
	return json_object_get_uint64(value);
}

static json_object *region_of(const struct regions_file *file, size_t thread, size_t region)
{
	json_object *object = json_object_array_get_idx(file->threads, thread);

	return json_object_array_get_idx(get_member(file, object, "regions", json_type_array),
					 region);
}

/* Passes through one region, by all threads or one, whose number is thread then. */
struct passes {
	const char *name;
	uint64_t threads, thread;
	uint64_t entries, exits, passes, disturbed;
	uint64_t corrected; /* threads */
};

/* What they counted, by one event or in ticks. */
struct sums {
	long double total, min, max; /* min, max: NAN without a pass */
};

static void add_thread(const struct regions_file *file, size_t thread, size_t region,
		       struct passes *p)
{
	json_object *object = region_of(file, thread, region);
	const char *name = get_string(file, object, "name");

	if (p->name && strcmp(p->name, name) != 0)
		refuse_regions(file, "its threads have different regions");
	p->name = name;
	p->threads++;
	p->thread = get_count(file, json_object_array_get_idx(file->threads, thread), "thread");
	p->entries += get_count(file, object, "entries");
	p->exits += get_count(file, object, "exits");
	p->passes += get_count(file, object, "passes");
	p->disturbed += get_count(file, object, "disturbed");
	p->corrected +=
		json_object_get_boolean(get_member(file, object, "corrected", json_type_boolean));
}

/* number: of the event, 0: the time stamp. */
static void add_sums(const struct regions_file *file, size_t thread, size_t region, size_t number,
		     struct sums *sums)
{
	json_object *object = region_of(file, thread, region), *counts;
	uint64_t passes = get_count(file, object, "passes");

	if (number) {
		counts = get_member(file, object, "counts", json_type_array);
		counts = json_object_array_get_idx(counts, number - 1);
	} else {
		counts = get_member(file, object, "tsc", json_type_object);
	}
	sums->total += get_count(file, counts, "total");
	if (!passes)
		return;
	sums->min = fminl(sums->min, get_count(file, counts, "min"));
	sums->max = fmaxl(sums->max, get_count(file, counts, "max"));
}

static void tell_refusal(const struct regions_file *file, const char *why)
{
	if (!file->n_threads)
		fail("'%s': the program could not count: %s", file->path, why);
	complain("'%s': a thread is missing, because it could not count: %s", file->path, why);
}

static void open_file(struct regions_file *file, const char *path)
{
	enum json_tokener_error error;
	json_object *why;
	size_t length;
	char *text = textfile_read(path, &length);

	*file = (struct regions_file){ .path = path };
	if (!text)
		fail("cannot read '%s': %m", path);
	file->root = json_tokener_parse_verbose(text, &error);
	free(text);
	if (!file->root)
		refuse_regions(file, "it is not JSON");
	if (strcmp(get_string(file, file->root, "schema"), "perfctr-regions") != 0)
		refuse_regions(file, "it has no regions");
	if (get_count(file, file->root, "version") != 2)
		refuse_regions(file, "its version is not 2, the one that this perfex knows");
	file->events = get_member(file, file->root, "events", json_type_array);
	file->threads = get_member(file, file->root, "threads", json_type_array);
	file->n_events = json_object_array_length(file->events);
	file->n_threads = json_object_array_length(file->threads);
	if (json_object_object_get_ex(file->root, "error", &why))
		tell_refusal(file, json_object_get_string(why));
	if (file->n_threads)
		file->n_regions = json_object_array_length(
			get_member(file, json_object_array_get_idx(file->threads, 0), "regions",
				   json_type_array));
}

#define COLUMNS(thread)                                                                            \
	{                                                                                          \
		{ "region", LEFT }, { thread, RIGHT }, { "entries", RIGHT }, { "exits", RIGHT },   \
			{ "disturbed", RIGHT }, { "event", LEFT }, { "modes", LEFT },              \
			{ "total", RIGHT }, { "mean", RIGHT }, { "min", RIGHT }, { "max", RIGHT }, \
		{                                                                                  \
			"corrected", LEFT                                                          \
		}                                                                                  \
	}
static const struct column together[] = COLUMNS("threads"), by_thread[] = COLUMNS("thread");

static const char *corrected_text(const struct passes *p)
{
	if (!p->corrected)
		return "no";
	return p->corrected == p->threads ? "yes" : "some";
}

static void add_row(struct table *table, const struct regions_file *file, const struct passes *p,
		    size_t number, const struct sums *sums)
{
	json_object *event = number ? json_object_array_get_idx(file->events, number - 1) : NULL;

	table_add_text(table, p->name);
	table_add(table, "%" PRIu64, table->column == by_thread ? p->thread : p->threads);
	table_add(table, "%" PRIu64, p->entries);
	table_add(table, "%" PRIu64, p->exits);
	table_add(table, "%" PRIu64, p->disturbed);
	table_add_text(table, number ? get_string(file, event, "name") : "tsc");
	table_add_text(table, number ? get_string(file, event, "modes") : "user+kernel");
	table_add_number(table, sums->total);
	table_add_number(table, p->passes ? sums->total / p->passes : (long double)NAN);
	table_add_number(table, sums->min);
	table_add_number(table, sums->max);
	table_add_text(table, corrected_text(p));
}

/* The rows of one region, from threads first to last; returns what differs. */
static struct passes add_region(struct table *table, const struct regions_file *file, size_t region,
				size_t first, size_t last)
{
	struct passes p = { 0 };

	for (size_t thread = first; thread <= last; thread++)
		add_thread(file, thread, region, &p);
	for (size_t number = 0; number <= file->n_events; number++) {
		struct sums sums = { .min = NAN, .max = NAN };

		for (size_t thread = first; thread <= last; thread++)
			add_sums(file, thread, region, number, &sums);
		add_row(table, file, &p, number, &sums);
	}
	return p;
}

/* "1 entry", "2 entries". */
static void print_times(uint64_t n, const char *one, const char *several)
{
	printf("%" PRIu64 " %s", n, n == 1 ? one : several);
}

static void tell_difference(const struct passes *p)
{
	char *name = text_print("%s", p->name);

	make_printable(name);
	printf("%s: ", name);
	free(name);
	print_times(p->entries, "entry", "entries");
	printf(", ");
	print_times(p->exits, "exit", "exits");
	puts(p->entries > p->exits ? ": an exit is missing, or a thread was inside"
				   : ": an entry is missing");
}

static void show_regions(const struct regions_file *file, const struct stat_options *options)
{
	size_t groups = options->per_thread ? file->n_threads : file->n_threads > 0;
	struct passes *p = calloc(groups * file->n_regions + 1, sizeof(*p));
	struct table table;
	size_t n = 0;

	if (!p)
		fail("out of memory");
	table_begin(&table, options->format, options->per_thread ? by_thread : together,
		    sizeof(together) / sizeof(together[0]));
	for (size_t group = 0; group < groups; group++)
		for (size_t region = 0; region < file->n_regions; region++)
			p[n++] = add_region(&table, file, region, group,
					    options->per_thread ? group : file->n_threads - 1);
	table_end(&table, stdout);
	for (size_t i = 0; i < n && options->format == TABLE_TEXT; i++)
		if (p[i].entries != p[i].exits)
			tell_difference(&p[i]);
	free(p);
}

static int stat_of_main(int argc, char **argv)
{
	struct stat_options options = { .format = TABLE_TEXT };
	int n = take_options(&stat_of_subcommand, &options, argc, argv);
	struct regions_file file;

	if (argc - n != 1)
		fail("perfex stat-of takes one file of regions, not %d; see perfex stat-of --help",
		     argc - n);
	open_file(&file, argv[n]);
	show_regions(&file, &options);
	json_object_put(file.root);
	return 0;
}
