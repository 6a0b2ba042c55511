// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of "perfex trace". */
#include "session/trace.h"

#include <limits.h>
#include <stdlib.h>

static const struct option_row rows[] = {
	CALL_OPTION("event", 'e', "EVENT",
		    "count EVENT; may be repeated; by default: the time stamp alone", take_event,
		    0),
	CALL_OPTION("user", 0, NULL, "count in user mode unless EVENT says otherwise; the default",
		    take_modes, PERFCTR_MODE_USER),
	CALL_OPTION("kernel", 0, NULL, "count in kernel mode; this needs CAP_PERFMON", take_modes,
		    PERFCTR_MODE_KERNEL),
	CALL_OPTION("both", 0, NULL, "count in both modes; this needs CAP_PERFMON", take_modes,
		    PERFCTR_MODE_BOTH),
	NUMBER_OPTION("ticks", 0, "N", "also write a record every N timer ticks",
		      struct trace_options, ticks, 1, UINT_MAX, " of timer ticks"),
	CALL_OPTION("output", 'o', "FILE", "write the trace to FILE; required", take_output,
		    0),
	{ 0 },
};

static int trace_main(int argc, char **argv);

const struct subcommand trace_subcommand = {
	.name = "trace",
	.summary = "record which process ran when and counted what",
	.main = trace_main,
	.help = "Usage: perfex trace -o FILE [OPTION].. [--] COMMAND [ARGUMENT]..\n"
		"Run COMMAND and record the counts on a CPU whenever one of its processes or threads is\n"
		"switched in or out there.  perfex report adds the records up.\n",
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
	if (!open_events(&options.run, PERFCTR_CAN_TRACE))
		return EXIT_PERFEX;
	status = trace_count(&options);
	free_options(&options.run);
	return status;
}
