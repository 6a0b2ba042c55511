// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses command lines and prints their help from one table of options; parses lists of events. */
#define _GNU_SOURCE
#include "perfex.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <perfctr_events.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPTIONS = 128, HELP_COLUMN = 22 };

/* getopt_long() returns LONG_ONLY + n for option n of the table if the option has no letter. */
enum { LONG_ONLY = 256 };

static const struct option_row help_row = {
	.name = "help",
	.letter = 'h',
	.help = "show this",
};

void (*print_subcommands)(void);
bool (*is_subcommand)(const char *name);

struct table {
	struct option names[MAX_OPTIONS + 2];
	char letters[2 * MAX_OPTIONS + 8];
};

static void add_name(struct table *table, const struct option_row *row, int n)
{
	size_t length = strlen(table->letters);

	assert(n < MAX_OPTIONS);
	table->names[n] = (struct option){
		.name = row->name,
		.has_arg = row->argument ? required_argument : no_argument,
		.val = row->letter ? row->letter : LONG_ONLY + n,
	};
	if (!row->letter)
		return;
	table->letters[length++] = row->letter;
	if (row->argument)
		table->letters[length++] = ':';
	table->letters[length] = '\0';
}

static void make_table(struct table *table, const struct subcommand *subcommand)
{
	int n = 0;

	*table = (struct table){ 0 };
	strcpy(table->letters, subcommand->takes_command ? "+:" : ":");
	for (const struct option_row *row = subcommand->options; row && row->name; row++)
		add_name(table, row, n++);
	add_name(table, &help_row, n);
}

static const struct option_row *find_option(const struct subcommand *subcommand, int value)
{
	int n = 0;

	for (const struct option_row *row = subcommand->options; row && row->name; row++, n++)
		if (value == (row->letter ? row->letter : LONG_ONLY + n))
			return row;
	return &help_row;
}

/*
 * Returns the bad option as the user typed it; text has room for "-x".  getopt_long() has already
 * skipped the option, which is unknown or lacks its argument.
 */
static const char *bad_option(char **argv, char *text)
{
	if (!optopt || strncmp(argv[optind - 1], "--", 2) == 0)
		return argv[optind - 1];
	text[0] = '-';
	text[1] = (char)optopt;
	text[2] = '\0';
	return text;
}

/* Writes the command that shows the help of a subcommand into text, and returns text. */
static const char *help_of(const struct subcommand *subcommand, char *text, size_t size)
{
	bool is_default = subcommand->is_default;

	snprintf(text, size, "perfex %s%s--help", is_default ? "" : subcommand->name,
		 is_default ? "" : " ");
	return text;
}

static void print_option(const struct option_row *row)
{
	int length;

	if (!row->help)
		return;
	if (row->letter)
		length = printf("  -%c, --%s", row->letter, row->name);
	else
		length = printf("      --%s", row->name);
	if (row->argument)
		length += printf("=%s", row->argument);
	if (length >= HELP_COLUMN)
		length = printf("\n") - 1;
	write_words(stdout, row->help, strlen(row->help), (size_t)length, HELP_COLUMN);
}

static void print_help(const struct subcommand *subcommand)
{
	write_paragraphs(stdout, subcommand->help);
	putchar('\n');
	for (const struct option_row *row = subcommand->options; row && row->name; row++)
		print_option(row);
	print_option(&help_row);
	if (subcommand->notes) {
		putchar('\n');
		write_paragraphs(stdout, subcommand->notes);
	}
	if (subcommand->is_default && print_subcommands) {
		puts("\nSubcommands, each with a --help of its own:");
		print_subcommands();
	}
}

pid_t parse_pid(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || pid < 1 || pid > INT_MAX)
		fail("'%s' is not a process number; give one of /proc, like %d", text, getppid());
	return (pid_t)pid;
}

void take_confidence(void *member, const struct option_row *row, const char *text)
{
	char *end;
	double confidence = strtod(text, &end);

	if (!isdigit((unsigned char)text[0]) || *end || confidence < 50 || confidence > 99.99)
		fail("--confidence=%s: give per cent, from 50 to 99.99; 95 and 99 are usual", text);
	*(double *)member = confidence;
}

bool parse_number(const char *text, unsigned int *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || value > UINT_MAX)
		return false;
	*number = (unsigned int)value;
	return true;
}

bool parse_period(const char *text, uint64_t *period)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	*period = number;
	return isdigit((unsigned char)*text) && !*end && !errno && number && number <= INT64_MAX;
}

void exclude_others(const char **chosen, const struct option_row *row)
{
	if (*chosen && strcmp(*chosen, row->name) != 0)
		fail("--%s and --%s exclude each other; give one", *chosen, row->name);
	*chosen = row->name;
}

void append_word(struct word_list *list, const char *word)
{
	list->word = grow(list->word, list->n, sizeof(*list->word));
	list->word[list->n++] = word;
}

/* An empty text becomes one empty word: an event without a name, which is refused later. */
void append_events(struct word_list *list, const char *text)
{
	char error[512], (*spec)[PERFCTR_REQUEST_NAME];
	int count = *text ? perfctr_events_split(text, NULL, 0, error, sizeof(error)) : 1;

	if (count < 0)
		fail("%s", error);
	spec = allocate((size_t)count, sizeof(*spec));
	if (*text)
		perfctr_events_split(text, spec, (unsigned int)count, error, sizeof(error));
	for (int i = 0; i < count; i++) {
		char *copy = strdup(spec[i]);

		if (!copy)
			fail("out of memory");
		append_word(list, copy);
	}
	free(spec);
}

void free_words(struct word_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free((char *)list->word[i]);
	free(list->word);
}

static void take_number(const struct option_row *row, unsigned int *number, const char *text)
{
	if (parse_number(text, number) && *number >= row->min && *number <= row->max)
		return;
	if (row->max == UINT_MAX)
		fail("--%s=%s: give a number%s, %u or more", row->name, text, row->unit,
		     row->min);
	fail("--%s=%s: give a number%s from %u to %u", row->name, text, row->unit, row->min,
	     row->max);
}

__attribute__((noreturn)) static void refuse_option(const struct subcommand *subcommand,
						    const struct option_row *row)
{
	const char *name = subcommand->is_default ? "" : subcommand->name;
	const char *space = *name ? " " : "";

	if (row->letter)
		fail("perfex%s%s has no option -%c, --%s as perf has: %s", space, name,
		     row->letter, row->name, row->answer);
	fail("perfex%s%s has no option --%s as perf has: %s", space, name, row->name,
	     row->answer);
}

static void take_option(const struct subcommand *subcommand, void *target,
			const struct option_row *row, const char *argument)
{
	void *field = (char *)target + row->field;

	switch (row->kind) {
	case OPTION_CALL:
		row->take(field, row, argument);
		break;
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_VALUE:
		*(int *)field = row->value;
		break;
	case OPTION_CHOICE:
		exclude_others((const char **)((char *)target + row->chosen), row);
		*(int *)field = row->value;
		break;
	case OPTION_NUMBER:
		take_number(row, field, argument);
		break;
	case OPTION_TEXT:
		*(const char **)field = argument;
		break;
	case OPTION_REFUSED:
		refuse_option(subcommand, row);
	}
}

int take_options(const struct subcommand *subcommand, void *target, int argc, char **argv)
{
	const struct option_row *row;
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
		row = find_option(subcommand, value);
		if (row == &help_row) {
			print_help(subcommand);
			exit(0);
		}
		if (row->may_lack && optarg == argv[optind - 1] && *optarg == '-') {
			optarg = NULL;
			optind--;
		}
		take_option(subcommand, target, row, optarg);
	}
	return optind;
}

bool is_named(const struct perfctr_request *request, const char *name)
{
	size_t length = strlen(name);

	return strncmp(request->name, name, length) == 0 && strchr(":", request->name[length]);
}

const char *mode_name(unsigned int modes)
{
	switch (modes & PERFCTR_MODE_BOTH) {
	case PERFCTR_MODE_USER:
		return "user";
	case PERFCTR_MODE_KERNEL:
		return "kernel";
	case PERFCTR_MODE_BOTH:
		return "user+kernel";
	}
	return "none";
}
