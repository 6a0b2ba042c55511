// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex report: shows a trace as a table, and draws what perfex writes as pictures. */
#include "../perfex.h"
#include "picture/picture.h"
#include "../result/trace_sum.h"
#include "../textfile.h"

#include <inttypes.h>
#include <stdlib.h>

struct report {
	struct picture_options picture;
	enum table_format format;
	const char *format_name; /* NULL: none was given */
	const char *output; /* NULL: standard output */
};

static const struct option_row rows[] = {
	CHOICE_OPTION("csv", 0, "write the table of a trace as CSV", struct report, format,
		      format_name, TABLE_CSV),
	CHOICE_OPTION("html", 0, "draw pictures of each FILE, in a page of HTML", struct report,
		      format, format_name, TABLE_HTML),
	TEXT_OPTION("output", 'o', "FILE", "write to FILE instead of standard output",
		    struct report, output),
	FLAG_OPTION("per-thread", 0, "show each thread; by default each process", struct report,
		    picture.per_thread),
	{ 0 },
};

static int report_main(int argc, char **argv);

const struct subcommand report_subcommand = {
	.name = "report",
	.summary = "add up a trace by process or thread; draw recordings",
	.main = report_main,
	.help = "Usage: perfex report [--csv] [OPTION].. TRACE\n"
		"       perfex report --html [OPTION].. FILE..\n"
		"Add up what each process or thread has counted, from a file of perfex trace.  Or draw\n"
		"traces, and what perfex run, system, diff or compare wrote with --json; two recordings\n"
		"are compared too.\n",
	.options = rows,
};

static void take_sum(void *target, const struct trace_record *record)
{
	trace_sums_add(target, record);
}

static void write_report(const struct report *report, struct text *text)
{
	text_close(text);
	if (!textfile_show(report->output, text->text, text->size))
		fail("cannot write '%s': %m", report->output ? report->output : "-");
	free(text->text);
}

/* Returns true if the parts add up to the totals. */
static bool write_trace(const struct report *report)
{
	struct trace_sums sums;
	struct trace_reader trace = {
		.path = report->picture.path[0],
		.take = take_sum,
		.target = &sums,
	};
	FILE *input = fopen(is_standard(trace.path) ? "/dev/stdin" : trace.path, "re");
	struct text text;
	bool complete;

	if (!input)
		fail("cannot read '%s': %m", trace.path);
	trace_sums_begin(&sums, report->picture.per_thread);
	trace_read(&trace, input);
	fclose(input);
	complete = trace_sums_complete(&sums, &trace);
	trace_sums_print(&sums, &trace, report->format, text_open(&text));
	write_report(report, &text);
	if (complete && sums.lost)
		complain("%" PRIu64 " records were lost; what was counted between is not known to "
			 "be anybody's",
			 sums.lost);
	trace_free(&trace);
	trace_sums_free(&sums);
	return complete;
}

static void write_pictures(const struct report *report)
{
	struct text text;

	picture_write(text_open(&text), &report->picture);
	write_report(report, &text);
}

static int report_main(int argc, char **argv)
{
	struct report report = { .format = TABLE_TEXT };
	int first = take_options(&report_subcommand, &report, argc, argv);

	report.picture.path = (const char *const *)argv + first;
	report.picture.n = (size_t)(argc - first);
	if (report.format == TABLE_HTML && argc == first)
		fail("give files of perfex to draw; see perfex report --help");
	if (report.format != TABLE_HTML && argc - first != 1)
		fail("give one file of perfex trace; see perfex report --help; perfex samples shows what "
		     "perfex record has written");
	if (report.format == TABLE_HTML)
		write_pictures(&report);
	else if (!write_trace(&report))
		fail("the parts do not add up to the totals: the trace is not complete");
	return 0;
}
