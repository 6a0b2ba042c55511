// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex trace". */
#include "session/trace.h"

#include <limits.h>
#include <stdlib.h>

enum { AT = offsetof(struct trace_options, run) };

static const struct option_row rows[] = {
	EVENT_OPTION(AT, "count EVENT; may be repeated; by default: the time stamp alone"),
	MODE_OPTIONS(AT, "; the default", "; this needs CAP_PERFMON", "; this needs CAP_PERFMON"),
	NUMBER_OPTION("ticks", 0, "N", "also write a record every N timer ticks",
		      struct trace_options, ticks, 1, UINT_MAX, " of timer ticks"),
	OUTPUT_OPTION(AT, "write the trace to FILE; required"),
	{ 0 },
};

static int trace_main(int argc, char **argv);

const struct subcommand trace_subcommand = {
	.name = "trace",
	.summary = "record when each process ran, and its counts",
	.main = trace_main,
	.help = "Usage: perfex trace -o FILE [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"Run COMMAND, and record the counts of a CPU at each switch into or out of one of its\n"
		"threads.  perfex report adds the records up.\n",
	.options = rows,
	.takes_command = true,
	.notes = "Exit status: as of perfex run.\n",
};

static int trace_main(int argc, char **argv)
{
	struct trace_options options = { .run = { .modes = PERFCTR_MODE_USER, .passes = 1 } };
	int status;

	options.run.command = argv + take_options(&trace_subcommand, &options, argc, argv);
	if (!options.run.command[0])
		fail("no command given; see perfex trace --help");
	if (!options.run.output)
		fail("no file for the trace; give it by --output=FILE");
	check_recording(&options.run);
	if (!open_events(&options.run, PERFCTR_CAN_TRACE))
		return EXIT_PERFEX;
	separate_ranks(&options.run, NOT_MERGED);
	status = trace_count(&options);
	free_options(&options.run);
	return status;
}
