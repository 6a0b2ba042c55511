// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex merge". */
#include "../perfex.h"
#include "../result/merge.h"

struct merge_options {
	const char *format_name; /* NULL: none was given */
	enum { MERGE_TEXT, MERGE_CSV, MERGE_MARKDOWN, MERGE_JSON } format;
};

#define FORMAT_OPTION(name_, letter_, help_, format_)                                              \
	CHOICE_OPTION(name_, letter_, help_, struct merge_options, format, format_name, format_)

static const struct option_row rows[] = {
	FORMAT_OPTION("csv", 0, "write CSV", MERGE_CSV),
	FORMAT_OPTION("json", 'j', "write JSON", MERGE_JSON),
	FORMAT_OPTION("markdown", 0, "write a table of Markdown", MERGE_MARKDOWN),
	{ 0 },
};

static int merge_main(int argc, char **argv);

const struct subcommand merge_subcommand = {
	.name = "merge",
	.summary = "add up what the ranks of a parallel program counted",
	.main = merge_main,
	.help = "Usage: perfex merge [OPTION].. FILE..\n"
		"Show the sum, extremes, mean and imbalance of each event over files that perfex run\n"
		"--json wrote in each rank (-o out.%r.json), or of each region and event over those of\n"
		"--regions=regions.%r.json.\n",
	.options = rows,
};

static int merge_main(int argc, char **argv)
{
	static const enum table_format formats[] = {
		[MERGE_TEXT] = TABLE_TEXT,
		[MERGE_CSV] = TABLE_CSV,
		[MERGE_MARKDOWN] = TABLE_MARKDOWN,
	};
	struct merge_options options = { 0 };
	int n = take_options(&merge_subcommand, &options, argc, argv);
	struct merge merge = { 0 };

	if (argc == n)
		fail("perfex merge needs files, one of each rank; see perfex merge --help");
	merge_make(&merge, argv + n, (size_t)(argc - n));
	if (options.format == MERGE_JSON)
		merge_write_json(stdout, &merge);
	else
		merge_write_table(stdout, &merge, formats[options.format]);
	merge_free(&merge);
	return 0;
}
