// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex samples". */
#include "samples/show.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FILE "perfex.samples"

struct what;

struct options {
	struct show show;
	const char *event, *output, *debug_directory, *what_name, *format_name;
	const struct what *what; /* NULL: the table */
};

static void take_by(void *target, const struct option_row *row, const char *list)
{
	static const struct {
		const char *name;
		unsigned int by;
	} names[] = {
		{ "process", BY_PROCESS },   { "thread", BY_THREAD }, { "object", BY_OBJECT },
		{ "function", BY_FUNCTION }, { "line", BY_LINE },
	};
	struct options *options = target;

	for (const char *word = list;; word++) {
		size_t length = strcspn(word, ","), i = 0;

		while (i < sizeof(names) / sizeof(names[0]) &&
		       (strlen(names[i].name) != length ||
			strncmp(word, names[i].name, length) != 0))
			i++;
		if (i == sizeof(names) / sizeof(names[0]))
			fail("--by=%s: there are process, thread, object, function and line, "
			     "separated by commas",
			     list);
		options->show.by |= names[i].by;
		word += length;
		if (!*word)
			break;
	}
}

enum { FOLDED, FLAME, RAW, DELTA, SCRIPT, CALLGRIND, PPROF, ANNOTATE };

/*
 * Outputs other than the table.  one: the output shows one event only; rows: it can have each
 * format of tables; binary: it is not for terminals.
 */
static const struct what {
	void (*show)(const struct show *show);
	bool one, rows, binary;
} whats[] = {
	[FOLDED] = { show_folded, .one = true },
	[FLAME] = { show_flame, .one = true },
	[RAW] = { show_raw, .rows = true },
	[DELTA] = { show_delta, .rows = true },
	[SCRIPT] = { show_script },
	[CALLGRIND] = { show_callgrind },
	[PPROF] = { show_pprof, .binary = true },
	[ANNOTATE] = { show_annotate, .one = true, .rows = true },
};

static void take_what(void *target, const struct option_row *row, const char *unused)
{
	struct options *options = target;

	exclude_others(&options->what_name, row);
	options->what = &whats[row->value];
}

static void take_function(void *target, const struct option_row *row, const char *name)
{
	struct options *options = target;

	take_what(target, row, NULL);
	options->show.function = name;
}

static const struct option_row rows[] = {
	CALL_OPTION("by", 0, "LIST",
		    "a row for each process, thread, object, function or line, or for several\n"
		    "of these, separated by commas; by default function",
		    take_by, 0),
	TEXT_OPTION("event", 'e', "EVENT", "show this event, named as perfex record was told",
		    struct options, event),
	NUMBER_OPTION("top", 0, "N", "show the N rows with the most events, the others as one",
		      struct options, show.top, 1, UINT_MAX, " of rows"),
	FLAG_OPTION("no-inline", 0,
		    "count inlined functions as part of the functions that they were inlined into",
		    struct options, show.outermost),
	TEXT_OPTION("debug-files", 0, "DIRECTORY",
		    "look there for separate debugging information; by default\n/usr/lib/debug",
		    struct options, debug_directory),
	CALL_OPTION("annotate", 0, "FUNCTION",
		    "print the function's instructions, each with its events, and lines of source",
		    take_function, ANNOTATE),
	CHOICE_OPTION("csv", 0, "print CSV", struct options, show.format, format_name, TABLE_CSV),
	CHOICE_OPTION("markdown", 0, "print Markdown", struct options, show.format, format_name,
		      TABLE_MARKDOWN),
	CALL_OPTION("folded", 0, NULL,
		    "print a line for each stack, with its events, for flamegraph.pl and\n"
		    "speedscope",
		    take_what, FOLDED),
	CALL_OPTION("flame", 0, NULL, "draw a flame graph: one page that needs no network",
		    take_what, FLAME),
	CALL_OPTION("callgrind", 0, NULL, "print callgrind's format, for KCachegrind", take_what,
		    CALLGRIND),
	CALL_OPTION("pprof", 0, NULL, "write a profile for pprof: go tool pprof FILE", take_what,
		    PPROF),
	CALL_OPTION("perf-script", 0, NULL, "print samples in the format of perf script", take_what, SCRIPT),
	CALL_OPTION("raw", 0, NULL, "print a row for each sample, with all counts of its thread",
		    take_what, RAW),
	CALL_OPTION("delta", 0, NULL, "like --raw, with the counts since the previous sample of the thread",
		    take_what, DELTA),
	TEXT_OPTION("output", 'o', "FILE",
		    "write to FILE, which is no recording, instead of standard output",
		    struct options, output),
	REFUSED_OPTION("input", 'i', "FILE", "give FILE alone"),
	REFUSED_OPTION("sort", 's', "LIST", "--by=LIST"),
	REFUSED_OPTION("stdio", 0, NULL, "it prints; leave it out"),
	REFUSED_OPTION("call-graph", 'g', NULL, "--folded and --flame show callers"),
	REFUSED_OPTION("children", 0, NULL, "--folded and --flame show callers"),
	REFUSED_OPTION("no-children", 0, NULL, "rows are of functions alone; leave it out"),
	REFUSED_OPTION("show-nr-samples", 'n', NULL, "the first column has them; leave it out"),
	{ 0 },
};

static int samples_main(int argc, char **argv);

const struct subcommand samples_subcommand = {
	.name = "samples",
	.summary = "show where the events of a recording happened",
	.main = samples_main,
	.help = "Usage: perfex samples [OPTION].. [FILE]\n"
		"Show where the events of a recorded command happened: the number of events that the\n"
		"samples in FILE (default: perfex.samples) stand for, their share in per cent, and its\n"
		"confidence interval of 95 %.\n",
	.options = rows,
};

/*
 * Returns the index of the event to show, or ALL_EVENTS if the output shows all of them.  Ends
 * perfex with an error message if the choice is not clear.
 */
static uint32_t find_event(const struct options *options, const struct samples *samples)
{
	uint32_t found = ALL_EVENTS, n = 0;

	for (uint32_t i = 0; i < samples->n_events; i++) {
		const struct sampled_event *event = &samples->event[i];

		if (options->event && strcmp(event->name, options->event) == 0 && event->period)
			return i;
		if (event->period) {
			found = i;
			n++;
		}
	}
	if (options->event)
		fail("'%s' has no samples of '%s'; without --event its events are shown",
		     options->show.path, options->event);
	if (!options->what || !options->what->one)
		return ALL_EVENTS;
	if (n != 1)
		fail("'%s' has samples of %u events; choose one by --event=EVENT",
		     options->show.path, n);
	return found;
}

/* Complains about everything that is missing from the recording. */
static void warn_of_loss(const struct samples *samples)
{
	if (samples->lost)
		complain("%llu samples were lost while they were recorded",
			 (unsigned long long)samples->lost);
	if (samples->maps_lost)
		complain("%llu records of what was mapped were lost: some addresses have no name",
			 (unsigned long long)samples->maps_lost);
	if (samples->ended)
		complain("sampling ended before the command did: the samples are of its beginning");
	if (samples->cut)
		complain("the recording is cut off: perfex record did not finish, or the file is "
			 "not all there");
	else if (samples->n_told != samples->n)
		complain("the file has %zu of %llu samples", samples->n,
			 (unsigned long long)samples->n_told);
}

static void write_output(const struct options *options, struct text *text)
{
	text_close(text);
	if (!textfile_show(options->output, text->text, text->size))
		fail("cannot write '%s': %m", options->output ? options->output : "-");
	free(text->text);
}

/*
 * Refuses to overwrite a recording: it took a run to make it, and the output can be shown again at
 * any time.
 */
static void check_output(const char *path)
{
	int is = path && !is_standard(path) ? is_samples_file(path) : 0;

	if (is > 0)
		fail("'%s' is a recording of perfex record: give another --output=FILE", path);
	if (is < 0)
		fail("cannot read '%s', to see that it may be written over: %m", path);
}

static int samples_main(int argc, char **argv)
{
	struct options options = { .show = { .format = TABLE_TEXT, .path = DEFAULT_FILE } };
	int first = take_options(&samples_subcommand, &options, argc, argv);
	struct show *show = &options.show;
	struct samples *samples;
	struct text text;

	if (argc - first > 1)
		fail("give one file of perfex record; see perfex samples --help");
	if (argc > first)
		show->path = argv[first];
	if (options.what && (show->by || show->top))
		fail("--%s has no rows of its own to choose: leave --by and --top out",
		     options.what_name);
	if (options.what && !options.what->rows && options.format_name)
		fail("--%s is a format of its own: leave --%s out", options.what_name,
		     options.format_name);
	if (options.what && options.what->binary &&
	    (!options.output || is_standard(options.output)) && isatty(STDOUT_FILENO))
		fail("--%s is not for a terminal: give --output=FILE", options.what_name);
	check_output(options.output);
	if (!show->by)
		show->by = BY_FUNCTION;
	if (show->by & BY_LINE && !lines_known)
		complain("this perfex was built without libdw: it knows functions, and no lines");
	show->samples = samples = samples_open(show->path);
	show->event = find_event(&options, samples);
	show->places = places_open(samples, options.debug_directory);
	show->file = text_open(&text);
	(options.what ? options.what->show : show_table)(show);
	write_output(&options, &text);
	warn_of_loss(samples);
	places_complain(show->places);
	places_free(show->places);
	samples_free(samples);
	return 0;
}
