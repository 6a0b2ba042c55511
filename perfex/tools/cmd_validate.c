// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex validate: finds out which counts of this machine can be trusted. */
#define _GNU_SOURCE
#include "../groups/groups.h"
#include "../rows.h"
#include "../rules/derive.h"
#include "../textfile.h"
#include "validate/against.h"
#include "validate/validate.h"

#include <stdlib.h>
#include <unistd.h>

struct validate_options {
	struct word_list events, groups;
	unsigned int modes;	/* PERFCTR_MODE_*, for events that name no mode */
	const char *modes_name; /* the option that gave the modes; NULL: none */
	const char *backend;	/* NULL: any backend that counts the events */
	bool all, json;
	const char *supposed; /* the argument of --as */
	const char *picture;
	const char *against; /* the path of another validation's result */
	unsigned int seconds, runs;
};

static const struct option_row rows[] = {
	EVENT_LIST_ROW(offsetof(struct validate_options, events),
		       "examine EVENT; may be repeated; by default all events of a known meaning"),
	GROUP_LIST_ROW(offsetof(struct validate_options, groups),
		       "examine the events of a group; may be repeated"),
	FLAG_OPTION("all", 0, "examine all events that perfex list shows", struct validate_options,
		    all),
	TEXT_OPTION("as", 0, "MEANING",
		    "the meaning of the events, like taken-branches; an unknown MEANING\n"
		    "lists all",
		    struct validate_options, supposed),
	NUMBER_OPTION("repeat", 'r', "N", "count each size N times; the default is 10",
		      struct validate_options, runs, 2, 1000, ""),
	NUMBER_OPTION("time", 0, "SECONDS", "end after SECONDS; the default is 120",
		      struct validate_options, seconds, 1, 86400, " of seconds"),
	TEXT_OPTION("against", 0, "FILE",
		    "show the differences from the JSON of another validation: of the one\n"
		    "in the argument, or else of this machine",
		    struct validate_options, against),
	FLAG_OPTION("json", 'j', "write JSON, with all counts", struct validate_options,
		    json),
	TEXT_OPTION("picture", 0, "FILE", "also draw the counts against the expected counts",
		    struct validate_options, picture),
	MODE_ROWS(offsetof(struct validate_options, modes),
		  offsetof(struct validate_options, modes_name), "; the default", "", ""),
	BACKEND_ROW(offsetof(struct validate_options, backend)),
	{ 0 },
};

static int validate_main(int argc, char **argv);

const struct subcommand validate_subcommand = {
	.name = "validate",
	.summary = "find out whether events count what they should",
	.main = validate_main,
	.help = "Usage: perfex validate [OPTION]..\n"
		"       perfex validate --against=FILE [OPTION].. [FILE]\n"
		"Count programs whose counts are known by hand, and say of each event whether it counts\n"
		"what it should: exactly, with an overhead, by a factor, at random, or something else.\n",
	.options = rows,
	.notes =
		"Exit status: 0 if all events are exact but for an overhead, or alike with --against;\n"
		"1 if one is not, or was not measured; 125 if perfex failed.  After ^C perfex shows the\n"
		"events that it has measured.\n",
};

static volatile sig_atomic_t stop_signal;

static void note_signal(int number)
{
	stop_signal = number;
}

/*
 * Makes SIGINT, SIGTERM and SIGHUP stop the measurement, unless perfex was started to ignore them.
 * SA_RESTART lets a system call of a benchmark go on.
 */
static void catch_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!signal_is_ignored(ending[i]))
			sigaction(ending[i], &action, NULL);
}

static enum quantity find_supposed(const char *name)
{
	enum quantity quantity = name ? quantity_find(name) : NO_QUANTITY;

	if (name && quantity == NO_QUANTITY) {
		fprintf(stderr, "perfex: there is no meaning '%s'; there are:", name);
		for (unsigned int i = 0; i < N_QUANTITIES; i++)
			fprintf(stderr, " %s", quantity_names[i]);
		putc('\n', stderr);
		exit(EXIT_PERFEX);
	}
	return quantity;
}

/*
 * Adds the events of the groups.  Returns false, after an error message, if a group does not exist
 * or has no rules for this machine, or if the backend cannot be opened.
 */
static bool find_events(struct validate_options *options)
{
	struct rules *rules = NULL;

	if (!options->groups.n)
		return true;
	if (!groups_take(&rules, &options->groups, options->backend, options->modes))
		return false;
	derive_link(rules);
	derive_add_events(rules, &options->events);
	rules_free(rules);
	return true;
}

static bool is_trusted(const struct validated *event)
{
	return !event->why[0] && !event->is_found &&
	       (event->fit.error == CLASS_EXACT || event->fit.error == CLASS_OVERHEAD);
}

static int find_status(const struct validation *validation)
{
	if (validation->cut_short)
		return 1;
	for (size_t i = 0; i < validation->n; i++)
		if (!is_trusted(&validation->event[i]))
			return 1;
	return 0;
}

/*
 * Opens the picture before anything is measured, so that an error costs no time.  Returns NULL if
 * path is NULL.
 */
static FILE *open_picture(const char *path)
{
	FILE *file = path ? fopen(path, "we") : NULL;

	if (path && !file)
		fail("cannot write '%s': %m", path);
	return file;
}

static void draw_picture(FILE *file, const char *path, const struct validation *validation)
{
	if (!file)
		return;
	write_validation_picture(file, validation);
	if (fclose(file))
		fail("cannot write '%s': %m", path);
}

/* Frees the text.  Ends perfex with an error message if the text is not a validation. */
static struct validation_file *parse_validation(const char *path, char *text, size_t length)
{
	struct text_error error;
	struct validation_file *file = validation_parse(text, length, &error);

	free(text);
	if (!file)
		textfile_fail(path, &error);
	return file;
}

static struct validation_file *read_validation(const char *path)
{
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	return parse_validation(path, text, length);
}

/* Returns the result as if it had been written to a file and read again. */
static struct validation_file *reread_validation(const struct validation *validation)
{
	struct text text;

	write_validation_json(text_open(&text), validation);
	text_close(&text);
	return parse_validation("this machine", text.text, text.size);
}

/* Frees both results.  Returns the exit status: 0 if the results are alike, else 1. */
static int show_difference(struct validation_file *a, struct validation_file *b)
{
	bool alike = write_against(stdout, a, b);

	validation_file_free(a);
	validation_file_free(b);
	flush_output();
	return alike ? 0 : 1;
}

static int show_validation(const struct validation *validation, bool json)
{
	if (json)
		write_validation_json(stdout, validation);
	else
		write_validation_text(stdout, validation);
	flush_output();
	return find_status(validation);
}

/* other: the result to compare with; NULL: nothing is compared */
static int validate_machine(const struct validate_options *options, struct validation_file *other)
{
	unsigned long long seconds = options->seconds ? options->seconds : 120;
	struct validation validation = {
		.progress = isatty(STDERR_FILENO),
		.runs = options->runs ? options->runs : 10,
		.deadline_ns = now_ns() + seconds * 1000000000,
	};
	struct subjects subjects = {
		.backend = options->backend,
		.event = options->events.word,
		.n = options->events.n,
		.all = options->all,
		.modes = options->modes,
		.supposed = find_supposed(options->supposed),
	};
	FILE *picture;
	int status;

	if (options->supposed && !subjects.n)
		fail("--as=%s: give the events that should count it, with -e", options->supposed);
	if (!subjects_find(&validation, &subjects))
		return EXIT_PERFEX;
	catch_signals();
	picture = open_picture(options->picture);
	validation_measure(&validation, &stop_signal);
	status = other ? show_difference(other, reread_validation(&validation))
		       : show_validation(&validation, options->json);
	draw_picture(picture, options->picture, &validation);
	validation_free(&validation);
	return stop_signal ? exit_as(stop_signal) : status;
}

/* Returns true if an option says what to measure, or how. */
static bool says_what_to_measure(const struct validate_options *options)
{
	return options->events.n || options->groups.n || options->all || options->supposed ||
	       options->picture || options->runs || options->seconds || options->modes_name;
}

static int validate_main(int argc, char **argv)
{
	struct validate_options options = { .modes = PERFCTR_MODE_USER };
	int status, n = take_options(&validate_subcommand, &options, argc, argv);
	struct validation_file *other = NULL;

	if (options.against && argc - n > 1)
		fail("perfex validate --against takes one argument, '%s' is another", argv[n + 1]);
	if (!options.against && n < argc)
		fail("perfex validate takes no argument, '%s' is one; give events with -e",
		     argv[n]);
	if (options.against && options.json)
		fail("--against and --json exclude each other; give one");
	if (options.against)
		other = read_validation(options.against);
	if (n < argc && says_what_to_measure(&options))
		fail("with --against and a file nothing is measured; leave out the file, or the "
		     "options that say what to measure");
	if (n < argc)
		return show_difference(other, read_validation(argv[n]));
	if (!find_events(&options))
		return EXIT_PERFEX;
	status = validate_machine(&options, other);
	free_words(&options.events);
	free_words(&options.groups);
	return status;
}
