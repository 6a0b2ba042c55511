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

static const char *corrected_text(const struct passes *p)
{
	if (!p->corrected)
		return "no";
	return p->corrected == p->threads ? "yes" : "some";
}

static void add_passes(struct table *table, const struct passes *p)
{
	table_add_text(table, p->name);
	table_add(table, "%" PRIu64, table->column == by_thread ? p->thread : p->threads);
	table_add(table, "%" PRIu64, p->entries);
	table_add(table, "%" PRIu64, p->exits);
	table_add(table, "%" PRIu64, p->retried);
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
	table_add_text(table, corrected_text(p));
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
		table_add_text(table, corrected_text(p));
	}
	free(result);
}

/*
 * Adds the rows of one region, summed over the threads from first to last.  Returns the passes
 * through the region.
 */
static struct passes add_region(struct table *table, const struct regions_file *file,
				const struct rules *rules, size_t region, size_t first, size_t last)
{
	struct rule_event *event = allocate(file->n_events + 1, sizeof(*event));
	uint64_t *total = allocate(file->n_events + 1, sizeof(*total));
	struct passes p = { 0 };

	for (size_t thread = first; thread <= last; thread++)
		regions_file_add_passes(file, thread, region, &p);
	for (size_t number = 0; number <= file->n_events; number++) {
		struct sums sums = { .min = NAN, .max = NAN };

		for (size_t thread = first; thread <= last; thread++)
			regions_file_add_sums(file, thread, region, number, &sums);
		add_row(table, file, &p, number, &sums);
		total[number] = (uint64_t)fminl(sums.total, UINT64_MAX);
		event[number] = (struct rule_event){ .name = regions_file_event(file, number),
						     .count = &total[number],
						     .runs = 1 };
	}
	if (rules)
		add_derived(table, rules, &p, event, file->n_events + 1);
	free(total);
	free(event);
	return p;
}

/* Prints a number with its noun: "1 entry", "2 entries". */
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
			p[n++] = add_region(&table, file, options->rules, region, group,
					    options->per_thread ? group : file->n_threads - 1);
	table_end(&table, stdout);
	for (size_t i = 0; i < n && options->format == TABLE_TEXT; i++)
		if (p[i].entries != p[i].exits)
			tell_difference(&p[i]);
	free(p);
}

/* Ends perfex if a rule has the name of an event, which would be in two rows. */
static void check_rules(const struct rules *rules, const struct regions_file *file)
{
	struct rule_event *event = allocate(file->n_events + 1, sizeof(*event));
	const char *ambiguous;

	for (size_t number = 0; number <= file->n_events; number++)
		event[number].name = regions_file_event(file, number);
	ambiguous = rules_ambiguous(rules, event, file->n_events + 1);
	if (ambiguous)
		fail("rule '%s' has the name of an event; give it another", ambiguous);
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
