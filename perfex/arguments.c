// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of a subcommand is read, and its help printed, from one table. */
#include "perfex.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 64, HELP_COLUMN = 22 };

/* For getopt_long() an option without a letter is its place in the table behind all characters. */
enum { LONG_ONLY = 256 };

static const struct option_rule help_rule = {
	.name = "help",
	.letter = 'h',
	.help = "show this",
};

void (*print_subcommands)(void);

struct table {
	struct option names[MAX_OPTIONS + 2];
	char letters[2 * MAX_OPTIONS + 8];
};

static void add_name(struct table *table, const struct option_rule *rule, int n)
{
	size_t length = strlen(table->letters);

	table->names[n] = (struct option){
		.name = rule->name,
		.has_arg = rule->argument ? required_argument : no_argument,
		.val = rule->letter ? rule->letter : LONG_ONLY + n,
	};
	if (!rule->letter)
		return;
	table->letters[length++] = rule->letter;
	if (rule->argument)
		table->letters[length++] = ':';
	table->letters[length] = '\0';
}

static void make_table(struct table *table, const struct subcommand *subcommand)
{
	int n = 0;

	*table = (struct table){ 0 };
	strcpy(table->letters, subcommand->takes_command ? "+:" : ":");
	for (const struct option_rule *rule = subcommand->options; rule && rule->name; rule++)
		add_name(table, rule, n++);
	add_name(table, &help_rule, n);
}

static const struct option_rule *find(const struct subcommand *subcommand, int value)
{
	int n = 0;

	for (const struct option_rule *rule = subcommand->options; rule && rule->name; rule++, n++)
		if (value == (rule->letter ? rule->letter : LONG_ONLY + n))
			return rule;
	return &help_rule;
}

/* getopt has skipped the option that it does not know, or that lacks its argument. */
static const char *bad_option(char **argv, char *text)
{
	if (!optopt || strncmp(argv[optind - 1], "--", 2) == 0)
		return argv[optind - 1];
	text[0] = '-';
	text[1] = (char)optopt;
	text[2] = '\0';
	return text;
}

/* What to type for the help of a subcommand. */
static const char *help_of(const struct subcommand *subcommand, char *text, size_t size)
{
	bool is_default = subcommand->is_default;

	snprintf(text, size, "perfex %s%s--help", is_default ? "" : subcommand->name,
		 is_default ? "" : " ");
	return text;
}

static void print_option(const struct option_rule *rule)
{
	const char *line = rule->help;
	int length;

	if (!line)
		return;
	if (rule->letter)
		length = printf("  -%c, --%s", rule->letter, rule->name);
	else
		length = printf("      --%s", rule->name);
	if (rule->argument)
		length += printf("=%s", rule->argument);
	if (length >= HELP_COLUMN)
		length = printf("\n") - 1;
	for (;;) {
		int n = (int)strcspn(line, "\n");

		printf("%*s%.*s\n", HELP_COLUMN - length, "", n, line);
		if (!line[n])
			return;
		line += n + 1;
		length = 0;
	}
}

static void print_help(const struct subcommand *subcommand)
{
	fputs(subcommand->help, stdout);
	putchar('\n');
	for (const struct option_rule *rule = subcommand->options; rule && rule->name; rule++)
		print_option(rule);
	print_option(&help_rule);
	if (subcommand->notes)
		printf("\n%s", subcommand->notes);
	if (subcommand->is_default && print_subcommands) {
		puts("\nSubcommands, each with a --help of its own:");
		print_subcommands();
	}
}

int take_options(const struct subcommand *subcommand, void *target, int argc, char **argv)
{
	const struct option_rule *rule;
	char bad[3], help[64];
	struct table table;
	int value;

	make_table(&table, subcommand);
	help_of(subcommand, help, sizeof(help));
	while ((value = getopt_long(argc, argv, table.letters, table.names, NULL)) != -1) {
		if (value == ':')
			fail("option '%s' needs an argument; see %s", bad_option(argv, bad), help);
		if (value == '?')
			fail("unknown option '%s'; see %s", bad_option(argv, bad), help);
		rule = find(subcommand, value);
		if (rule == &help_rule) {
			print_help(subcommand);
			exit(0);
		}
		rule->take(target, rule, optarg);
	}
	return optind;
}
