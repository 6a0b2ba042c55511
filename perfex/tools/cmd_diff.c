// SPDX-License-Identifier: GPL-2.0-or-later
#include "../result/diff.h"
#include "../perfex.h"

#include <stdlib.h>

static const struct option_row rows[] = {
	DIFF_OPTIONS(0),
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
	.options = rows,
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
	struct diff_options options = { .confidence = 95, .write = diff_write_text };
	int n = take_options(&diff_subcommand, &options, argc, argv);
	struct diff diff = { 0 };
	struct text_error error;
	int status;

	if (argc - n != 2)
		fail("perfex diff takes two recordings, not %d; see perfex diff --help", argc - n);
	diff.a.path = argv[n];
	diff.b.path = argv[n + 1];
	diff.a.document = read_document(diff.a.path);
	diff.b.document = read_document(diff.b.path);
	if (!diff_make_for(&diff, &options, &error))
		fail("'%s' and '%s': %s", diff.a.path, diff.b.path, error.text);
	status = diff_write(stdout, &diff, &options);
	diff_free(&diff);
	document_free(diff.a.document);
	document_free(diff.b.document);
	limits_free(&options.limits);
	return status;
}
