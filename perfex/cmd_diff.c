// SPDX-License-Identifier: GPL-2.0-or-later
#include "result/diff.h"
#include "perfex.h"

#include <stdlib.h>

typedef void write_function(FILE *file, const struct diff *diff);

static write_function *const writers[] = { diff_write_text, diff_write_csv, diff_write_json };

struct diff_options {
	double confidence; /* per cent */
	size_t writer;
};

static void take_confidence(void *target, const struct option_rule *rule, const char *text)
{
	struct diff_options *options = target;
	char *end;

	options->confidence = strtod(text, &end);
	if (end == text || *end || !(options->confidence > 0 && options->confidence < 100))
		fail("'%s' is not a confidence; give per cent between 0 and 100, like 95", text);
}

static void take_writer(void *target, const struct option_rule *rule, const char *unused)
{
	struct diff_options *options = target;

	if (options->writer && options->writer != (size_t)rule->value)
		fail("--csv and --json exclude each other; give one");
	options->writer = (size_t)rule->value;
}

static const struct option_rule rules[] = {
	CALL_OPTION("confidence", 0, "PERCENT", "confidence of the intervals; default: 95",
		    take_confidence, 0),
	CALL_OPTION("csv", 0, NULL, "write CSV", take_writer, 1),
	CALL_OPTION("json", 0, NULL, "write JSON", take_writer, 2),
	{ 0 },
};

static int diff_main(int argc, char **argv);

const struct subcommand diff_subcommand = {
	.name = "diff",
	.summary = "compare two recordings",
	.main = diff_main,
	.help = "Usage: perfex diff [OPTION].. A B\n"
		"Compare the recordings A and B of perfex run --json event by event: the difference\n"
		"of the means, its interval, and how certain it is that there is one.\n",
	.options = rules,
};

static struct document *read_document(const char *path)
{
	struct text_error error;
	struct document *document;
	size_t length;
	char *text = textfile_read(path, &length);

	if (!text)
		fail("cannot read '%s': %m", path);
	document = document_parse(text, length, &error);
	if (!document)
		textfile_fail(path, &error);
	free(text);
	return document;
}

static int diff_main(int argc, char **argv)
{
	struct diff_options options = { .confidence = 95 };
	int n = take_options(&diff_subcommand, &options, argc, argv);
	struct diff diff = { .confidence = options.confidence };
	struct text_error error;

	if (argc - n != 2)
		fail("perfex diff takes two recordings, not %d; see perfex diff --help", argc - n);
	diff.a.path = argv[n];
	diff.b.path = argv[n + 1];
	diff.a.document = read_document(diff.a.path);
	diff.b.document = read_document(diff.b.path);
	if (!compare(diff.a.document, diff.b.document, diff.confidence / 100, &diff.comparisons,
		     &error))
		fail("'%s' and '%s': %s", diff.a.path, diff.b.path, error.text);
	writers[options.writer](stdout, &diff);
	comparisons_free(&diff.comparisons);
	document_free(diff.a.document);
	document_free(diff.b.document);
	return 0;
}
