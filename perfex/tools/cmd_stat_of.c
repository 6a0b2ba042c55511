// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex stat-of: a file of regions (docs/regions.schema.json) as a table. */
#include "../groups/groups.h"
#include "../perfex.h"
#include "../result/regions_file.h"
#include "../result/table.h"
#include "../rules/derive.h"
#include "../textfile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stat_options {
	enum table_format format;
	bool per_thread;
	struct word_list groups;
	struct rules *rules; /* NULL: none */
};

static const struct option_row rows[] = {
	VALUE_OPTION("csv", 0, "write CSV", struct stat_options, format, TABLE_CSV),
	FLAG_OPTION("per-thread", 0, "show each thread; by default their sum", struct stat_options,
		    per_thread),
	RULE_ROW(offsetof(struct stat_options, rules), 0,
		 "show a value like 'cpi = cycles / instructions'; may be repeated"),
	RULES_ROW(offsetof(struct stat_options, rules), "show the values of the rules in FILE"),
	GROUP_LIST_ROW(offsetof(struct stat_options, groups),
		       "show the values of a group, by its rules for this machine; may be\n"
		       "repeated"),
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
	.options = rows,
};

/* Columns of CSV. */
#define COLUMNS(thread)                                                                            \
	{                                                                                          \
		{ "region", LEFT }, { thread, RIGHT }, { "entries", RIGHT }, { "exits", RIGHT },   \
			{ "retried", RIGHT }, { "event", LEFT }, { "modes", LEFT },                \
			{ "total", RIGHT }, { "mean", RIGHT }, { "min", RIGHT }, { "max", RIGHT }, \
		{                                                                                  \
			"corrected", LEFT                                                          \
		}                                                                                  \
	}
static const struct column together[] = COLUMNS("threads"), by_thread[] = COLUMNS("thread");
/* Of the text, in which each region has a heading and a table. */
static const struct column of_region[] = { { "event", LEFT }, { "modes", LEFT }, { "total", RIGHT },
					   { "mean", RIGHT }, { "min", RIGHT },	 { "max", RIGHT } };

/* The first columns and the last one of CSV. */
static void add_passes(struct table *table, const struct passes *p)
{
	if (table->format != TABLE_CSV)
		return;
	table_add_text(table, p->name);
	table_add(table, "%" PRIu64, table->column == by_thread ? p->thread : p->threads);
	table_add(table, "%" PRIu64, p->entries);
	table_add(table, "%" PRIu64, p->exits);
	table_add(table, "%" PRIu64, p->retried);
}

static void add_corrected(struct table *table, const struct passes *p)
{
	if (table->format == TABLE_CSV)
		table_add_text(table, !p->corrected		   ? "no"
				      : p->corrected == p->threads ? "yes"
								   : "some");
}

static void add_row(struct table *table, const struct regions_file *file, const struct passes *p,
		    size_t number, const struct sums *sums)
{
	add_passes(table, p);
	table_add_text(table, regions_file_event(file, number));
	table_add_text(table, regions_file_modes(file, number));
	table_add_number(table, sums->total);
	table_add_number(table, p->passes ? sums->total / p->passes : (long double)NAN);
	table_add_number(table, sums->min);
	table_add_number(table, sums->max);
	add_corrected(table, p);
}

/* Adds a row for each rule: its value, of the totals of all passes, and nothing of single ones. */
static void add_derived(struct table *table, const struct rules *rules, const struct passes *p,
			const struct rule_event *event, size_t n)
{
	struct rule_result *result = allocate(rules_count(rules), sizeof(*result));

	/* One count of each event has no confidence interval. */
	rules_evaluate(rules, event, n, 0.95, result);
	for (size_t i = 0; i < rules_count(rules); i++) {
		add_passes(table, p);
		table_add_text(table, rules_name(rules, i));
		table_add_text(table, table->format == TABLE_CSV ? "" : "derived");
		if (result[i].state == RULE_UNKNOWN && table->format != TABLE_CSV)
			table_add_text(table, "?");
		else
			table_add_number(table, result[i].state == RULE_VALUE ? result[i].value
									      : (double)NAN);
		for (int column = 0; column < 3; column++)
			table_add_text(table, "");
		add_corrected(table, p);
	}
	free(result);
}

/* Adds the rows of one region, summed over the threads from first to last; p: of the same. */
static void add_region(struct table *table, const struct regions_file *file,
		       const struct rules *rules, const struct passes *p, size_t region,
		       size_t first, size_t last)
{
	struct rule_event *event = allocate(file->n_events + 1, sizeof(*event));
	uint64_t *total = allocate(file->n_events + 1, sizeof(*total));

	for (size_t number = 0; number <= file->n_events; number++) {
		struct sums sums = { .min = NAN, .max = NAN };

		for (size_t thread = first; thread <= last; thread++)
			regions_file_add_sums(file, thread, region, number, &sums);
		add_row(table, file, p, number, &sums);
		total[number] = (uint64_t)fminl(sums.total, UINT64_MAX);
		event[number] = (struct rule_event){ .name = regions_file_event(file, number),
						     .count = &total[number],
						     .runs = 1 };
	}
	if (rules)
		add_derived(table, rules, p, event, file->n_events + 1);
	free(total);
	free(event);
}

/* Writes a number with its noun: "1 entry", "2 entries". */
static void print_times(FILE *file, uint64_t n, const char *one, const char *several)
{
	fprintf(file, "%" PRIu64 " %s, ", n, n == 1 ? one : several);
}

/* Tells what the table below it is of, and in a second line whether an entry or exit is missing. */
static void print_heading(FILE *file, const struct passes *p, bool per_thread)
{
	char *name = text_print("%s", p->name);

	make_printable(name);
	if (per_thread) {
		fprintf(file, "%s, thread %" PRIu64 ": ", name, p->thread);
	} else {
		fprintf(file, "%s: ", name);
		print_times(file, p->threads, "thread", "threads");
	}
	free(name);
	print_times(file, p->entries, "entry", "entries");
	print_times(file, p->exits, "exit", "exits");
	fprintf(file, "%" PRIu64 " retried, %s\n", p->retried,
		!p->corrected		     ? "not corrected"
		: p->corrected == p->threads ? "corrected"
					     : "corrected in some threads");
	if (p->entries > p->exits)
		fputs("an exit is missing, or a thread was inside\n", file);
	if (p->entries < p->exits)
		fputs("an entry is missing\n", file);
}

#define N_COLUMNS(columns) (sizeof(columns) / sizeof((columns)[0]))

/* Writes one region, summed over the threads from first to last: to csv, if it is not NULL. */
static void show_region(FILE *file, struct table *csv, const struct regions_file *from,
			const struct stat_options *options, size_t region, size_t first,
			size_t last)
{
	struct passes p = { 0 };
	struct table table;

	for (size_t thread = first; thread <= last; thread++)
		regions_file_add_passes(from, thread, region, &p);
	if (csv) {
		add_region(csv, from, options->rules, &p, region, first, last);
		return;
	}
	if (region || (first && options->per_thread))
		putc('\n', file);
	print_heading(file, &p, options->per_thread);
	table_begin(&table, TABLE_TEXT, of_region, N_COLUMNS(of_region));
	add_region(&table, from, options->rules, &p, region, first, last);
	table_end(&table, file);
}

/* Prints nothing before all of the file has been read. */
static void show_regions(const struct regions_file *from, const struct stat_options *options)
{
	size_t groups = options->per_thread ? from->n_threads : from->n_threads > 0;
	bool is_csv = options->format == TABLE_CSV;
	struct table table;
	struct text text;
	FILE *file = text_open(&text);

	if (is_csv)
		table_begin(&table, TABLE_CSV, options->per_thread ? by_thread : together,
			    N_COLUMNS(together));
	for (size_t group = 0; group < groups; group++)
		for (size_t region = 0; region < from->n_regions; region++)
			show_region(file, is_csv ? &table : NULL, from, options, region, group,
				    options->per_thread ? group : from->n_threads - 1);
	if (is_csv)
		table_end(&table, file);
	else if (!groups || !from->n_regions)
		fputs("the program has entered no region\n", file);
	text_close(&text);
	fputs(text.text, stdout);
	free(text.text);
}

/*
 * Ends perfex if a rule has the name of an event, which would be in two rows.  Complains of the
 * first name that the file does not have.
 */
static void check_rules(const struct rules *rules, const struct regions_file *file)
{
	struct rule_event *event = allocate(file->n_events + 1, sizeof(*event));
	const char *ambiguous, *missing;

	for (size_t number = 0; number <= file->n_events; number++)
		event[number].name = regions_file_event(file, number);
	ambiguous = rules_ambiguous(rules, event, file->n_events + 1);
	if (ambiguous)
		fail("rule '%s' has the name of an event; give it another", ambiguous);
	missing = rules_missing(rules, event, file->n_events + 1);
	if (missing) {
		struct text names;

		text_open(&names);
		for (size_t number = 0; number <= file->n_events; number++)
			fprintf(names.file, "%s%s", number ? ", " : "", event[number].name);
		text_close(&names);
		complain("'%s' has no '%s', but %s", file->path, missing, names.text);
		free(names.text);
	}
	free(event);
}

static int stat_of_main(int argc, char **argv)
{
	struct stat_options options = { .format = TABLE_TEXT };
	int n = take_options(&stat_of_subcommand, &options, argc, argv);
	struct regions_file file;

	if (argc - n != 1)
		fail("perfex stat-of takes one file of regions, not %d; see perfex stat-of --help",
		     argc - n);
	if (options.groups.n &&
	    !groups_take(&options.rules, &options.groups, NULL, PERFCTR_MODE_USER))
		return EXIT_PERFEX;
	derive_link(options.rules);
	regions_file_open(&file, argv[n]);
	if (options.rules)
		check_rules(options.rules, &file);
	show_regions(&file, &options);
	regions_file_close(&file);
	if (options.rules)
		rules_free(options.rules);
	free_words(&options.groups);
	return 0;
}
